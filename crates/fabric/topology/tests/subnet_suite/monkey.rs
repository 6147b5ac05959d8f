//! Damaged texts: no reader and no join panics, an error has a line of the text, and joined tables
//! can be followed and proved.

use crate::support::{ring, ring_tables};
use gingham_topology::Fabric;
use gingham_topology::format::FormatError;
use gingham_topology::routing::{LaneMap, Lanes, RouteSet, ServiceLevels, prove};
use gingham_topology::subnet::{
    LaneDump, LevelDump, Lids, TableDump, arbitration, join, join_lanes, join_levels,
};
use proptest::prelude::*;

/// Places are fractions of the text.
#[derive(Debug, Clone)]
enum Damage {
    Cut(f64),
    Remove(f64, usize),
    Insert(f64, String),
    Repeat(f64, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    const PIECES: [&str; 18] = [
        "0x",
        "255",
        "256",
        "000",
        "65536",
        ":",
        "\n",
        "#",
        "'",
        " ",
        ",",
        "|",
        "é",
        "guid 0x10",
        "Unicast lids",
        "dump_ucast_routes: Switch 0x11\n",
        "9 lids dumped\n",
        "qos TRUE\n",
    ];
    let place = || 0.0..1.0;
    let piece = proptest::sample::select(PIECES.to_vec()).prop_map(str::to_owned);
    prop_oneof![
        1 => place().prop_map(Damage::Cut),
        3 => (place(), 1..6_usize).prop_map(|(at, count)| Damage::Remove(at, count)),
        3 => (place(), piece).prop_map(|(at, text)| Damage::Insert(at, text)),
        1 => (place(), 1..4_usize).prop_map(|(at, count)| Damage::Repeat(at, count)),
    ]
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "any place will do"
)]
fn offset(text: &str, at: f64) -> usize {
    let mut offset = (text.len() as f64 * at) as usize;
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn apply(mut text: String, damage: &Damage) -> String {
    match damage {
        Damage::Cut(at) => text.truncate(offset(&text, *at)),
        Damage::Remove(at, count) => {
            let start = offset(&text, *at);
            let length: usize = text[start..].chars().take(*count).map(char::len_utf8).sum();
            text.replace_range(start..start + length, "");
        }
        Damage::Insert(at, piece) => text.insert_str(offset(&text, *at), piece),
        Damage::Repeat(at, count) => {
            let start = text[..offset(&text, *at)].rfind('\n').map_or(0, |newline| newline + 1);
            let lines: String = text[start..].split_inclusive('\n').take(*count).collect();
            text.insert_str(start, &lines);
        }
    }
    text
}

fn assert_placed<T>(
    text: &str,
    result: Result<T, FormatError>,
) -> Result<Option<T>, TestCaseError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) => {
            let lines = u32::try_from(text.split('\n').count()).expect("a short text");
            prop_assert!(error.line <= lines, "{error}");
            prop_assert!(!error.message.is_empty() && !error.expected.is_empty());
            Ok(None)
        }
    }
}

fn damaged(text: &str, damages: &[Damage]) -> String {
    damages.iter().fold(text.to_owned(), apply)
}

fn with_lids(lmc: u8) -> (Fabric, Lids) {
    let fabric = ring(lmc);
    let lids = Lids::of(&fabric).expect("a sound fabric");
    (fabric, lids)
}

const SL2VL: &str = include_str!("../fixtures/opensm-ring/opensm-sl2vl.dump");

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn damaged_tables(lmc in 0..3_u8, damages in proptest::collection::vec(damage(), 1..8)) {
        let (fabric, lids) = with_lids(lmc);
        let text = damaged(&ring_tables(lmc), &damages);
        let joined = TableDump::read(&text).and_then(|dump| join(&fabric, &lids, &dump));
        if let Some(forwarding) = assert_placed(&text, joined)? {
            for routes in &forwarding.routes {
                let trace = routes.trace(&fabric);
                let strayed: u64 = trace.faults.iter().map(|fault| fault.sources).sum();
                prop_assert_eq!(trace.arrived_pairs + strayed, 12);
            }
            prove(&fabric, RouteSet::new(&forwarding.routes, None));
        }
    }

    #[test]
    fn damaged_fdbs(damages in proptest::collection::vec(damage(), 1..8)) {
        let text = damaged(include_str!("../fixtures/opensm-ring/opensm.fdbs"), &damages);
        assert_placed(&text, TableDump::read(&text))?;
    }

    #[test]
    fn damaged_lanes(damages in proptest::collection::vec(damage(), 1..8)) {
        let (fabric, lids) = with_lids(0);
        // GUIDs of the fixture's ring become those of this one.
        let text = SL2VL.replace("0x000050000000000", "0x1").replace("0x000040000000000", "0x20");
        let text = damaged(&text, &damages);
        let joined = LaneDump::read(&text).and_then(|dump| join_lanes(&fabric, &lids, &dump));
        if let Some((map, _)) = assert_placed(&text, joined)? {
            let routes = TableDump::read(&ring_tables(0)).and_then(|d| join(&fabric, &lids, &d));
            let lanes = Lanes::new(&fabric, map, ServiceLevels::zero(&fabric));
            let routes = routes.expect("sound tables").routes;
            prove(&fabric, RouteSet::new(&routes, Some(&lanes)));
        }
    }

    #[test]
    fn damaged_levels(damages in proptest::collection::vec(damage(), 1..5)) {
        let (fabric, lids) = with_lids(1);
        let text = "source_lid,destination_lid,sl\n1,2,3\n16,20,1\n17,0x15,2\n20,4,15\n";
        let text = damaged(text, &damages);
        let joined = LevelDump::read(&text).and_then(|dump| join_levels(&fabric, &lids, &dump));
        if let Some((levels, _)) = assert_placed(&text, joined)? {
            let lanes = Lanes::new(&fabric, LaneMap::uniform(&fabric, LaneMap::DEFAULT), levels);
            prop_assert!(lanes.count() <= 15);
        }
    }

    #[test]
    fn arbitrary_text_causes_no_panic(text in "\\PC{0,80}") {
        let _ = TableDump::read(&text);
        let _ = LaneDump::read(&text);
        let _ = LevelDump::read(&text);
        let _ = arbitration::read(&text);
    }
}
