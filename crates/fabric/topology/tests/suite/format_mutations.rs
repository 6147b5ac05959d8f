//! Damaged dumps: each ends with typed faults or with a fabric that is written and read back
//! unchanged; if one mutation changes the cables, a fault or finding reports it.
//!
//! `GINGHAM_DUMP_MUTATIONS` sets the number of damaged dumps, `GINGHAM_DUMP_SEED` the seed.

use gingham_kernel::{Purpose, Stream};
use gingham_topology::format::{self, Format, Parsed};
use gingham_topology::{Fabric, FindingKind, PortRef};
use std::collections::BTreeSet;

const SHIPPED: &str =
    include_str!("../../../../../python/gingham/examples/irregular-32.ibnetdiscover");
const DUMPS: [&str; 5] = [
    include_str!("../fixtures/plain.ibnetdiscover"),
    include_str!("../fixtures/chassis.ibnetdiscover"),
    include_str!("../fixtures/broken.ibnetdiscover"),
    include_str!("../fixtures/by_hand.net"),
    SHIPPED,
];

const BY_HAND: usize = 3;

const NOISE: [&str; 5] = [
    "[root@node1 ~]# ibnetdiscover",
    "Script started on 2026-03-01 10:00:00+01:00",
    "-W- 2 ports are DOWN",
    "Warning: Permanently added 'node1' (ED25519) to the list of known hosts.",
    "\u{1b}[01;32mroot@node1\u{1b}[00m:~# exit",
];

#[derive(Debug, Default)]
struct Ends {
    refused: u32,
    loaded: u32,
    with_other_cables: u32,
}

fn place(stream: &mut Stream, count: usize) -> usize {
    usize::try_from(stream.below(count as u64)).expect("it is below a length")
}

/// Whether the damage was noise.
fn damage(bytes: &mut Vec<u8>, stream: &mut Stream) -> bool {
    let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let at = place(stream, lines.len());
    let kind = stream.below(10);
    match kind {
        0 | 1 => {
            let noise = NOISE[place(stream, NOISE.len())].as_bytes().to_vec();
            // Text after the last line break is not a line.
            lines.insert(at.min(lines.len() - 1), noise);
        }
        2 => drop(lines.remove(at)),
        3 => lines.insert(at, lines[at].clone()),
        4 => {
            let other = place(stream, lines.len());
            lines.swap(at, other);
        }
        5 if !lines[at].is_empty() => {
            let length = place(stream, lines[at].len());
            lines[at].truncate(length);
        }
        6 if at > 0 => {
            let line = lines.remove(at);
            lines[at - 1].extend(line);
        }
        7 if stream.below(20) == 0 => lines.truncate(at + 1),
        _ if !lines[at].is_empty() => {
            let column = place(stream, lines[at].len());
            lines[at][column] = u8::try_from(stream.below(256)).expect("it is a byte");
        }
        _ => {}
    }
    *bytes = lines.join(&b'\n');
    kind < 2
}

/// Cabled ports, by GUID or name.
fn cables(fabric: &Fabric) -> BTreeSet<[(String, u16); 2]> {
    let end = |end: PortRef| {
        let node = fabric.node(end.node);
        (node.dump_id().unwrap_or_else(|| node.name.clone()), end.port)
    };
    fabric.cables().iter().map(|cable| cable.ends.map(end)).collect()
}

fn assert_written_back(fabric: &Fabric) {
    for format in [Format::Toml, Format::Ibnetdiscover] {
        let written = format::write(fabric, format).expect("both formats take any fabric");
        let back = format::read(&written.text, format).expect("what was written reads").fabric;
        if written.notes.is_empty() {
            assert_eq!(&back, fabric, "{format}");
        } else {
            assert_ne!(format, Format::Toml, "it holds everything");
            assert_eq!(back.cables().len(), fabric.cables().len(), "{:?}", written.notes);
        }
    }
}

fn assert_read(
    bytes: &[u8],
    whole: &Parsed,
    [is_noise, is_single_act]: [bool; 2],
    ends: &mut Ends,
) {
    let decoded = match format::decode(bytes) {
        Ok(decoded) => decoded,
        Err(error) => {
            assert!(bytes.contains(&0) && error.line > 0, "only a NUL byte is refused: {error}");
            ends.refused += 1;
            return;
        }
    };
    let lines = u32::try_from(decoded.text.split('\n').count()).expect("a short text");
    match format::read(&decoded.text, Format::Ibnetdiscover) {
        Err(faults) => {
            assert!(!is_noise, "noise is no fault: {faults}");
            assert!((1..=20).contains(&faults.named().len()), "{faults}");
            assert!(u32::try_from(faults.total()).is_ok_and(|total| total <= lines), "{faults}");
            let is_placed = |line| (1..=lines).contains(&line);
            // A text cut before its first node has no line.
            let is_whole = faults.total() == 1 && faults.first().line == 0;
            let all_placed = || faults.named().iter().all(|fault| is_placed(fault.line));
            assert!(is_whole || all_placed(), "{faults}");
            ends.refused += 1;
        }
        Ok(Parsed { fabric, findings }) => {
            assert!(findings.iter().all(|found| found.line.is_none_or(|line| line <= lines)));
            assert_written_back(&fabric);
            if is_noise {
                assert_eq!(&fabric, &whole.fabric);
                assert!(findings.iter().any(|found| found.kind == FindingKind::Noise));
            }
            if cables(&fabric) != cables(&whole.fabric) {
                ends.with_other_cables += 1;
                let is_silent = is_single_act && findings == whole.findings;
                assert!(!is_silent, "nothing is said of other cables");
            }
            ends.loaded += 1;
        }
    }
}

#[test]
fn damaged_dumps_give_faults_or_fabrics_that_round_trip() {
    let (count, seed) = (number("GINGHAM_DUMP_MUTATIONS", 300), number("GINGHAM_DUMP_SEED", 1));
    let mut stream = Stream::new(seed, "damaged dumps", Purpose::Corruption);
    let whole = DUMPS.map(|text| format::read(text, Format::Ibnetdiscover).expect("it is whole"));
    let mut ends = Ends::default();
    for _ in 0..count {
        let at = place(&mut stream, DUMPS.len());
        let mut bytes = DUMPS[at].as_bytes().to_vec();
        let acts = 1 + stream.below(4);
        let is_noise = (0..acts).fold(true, |all, _| damage(&mut bytes, &mut stream) && all);
        // A printed dump has two lines a cable: a single mutation leaves one.
        let is_single_act = acts == 1 && at != BY_HAND;
        let read = std::panic::AssertUnwindSafe(|| {
            let mut ends = Ends::default();
            assert_read(&bytes, &whole[at], [is_noise, is_single_act], &mut ends);
            ends
        });
        let Ok(one) = std::panic::catch_unwind(read) else {
            panic!("with seed {seed}:\n{}", String::from_utf8_lossy(&bytes));
        };
        ends.refused += one.refused;
        ends.loaded += one.loaded;
        ends.with_other_cables += one.with_other_cables;
    }
    assert!(ends.refused > 0 && ends.loaded > 0, "{ends:?}");
    #[expect(clippy::print_stdout, reason = "who runs it by hand wants to know")]
    {
        println!("{count} damaged dumps: {ends:?}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a test run by hand takes its size from outside")]
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a whole number"))
}
