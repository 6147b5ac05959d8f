//! Valid texts after damage: no reader panics, and an error has its place.

use crate::format_fabrics::any_fabric;
use gingham_topology::format::{self, Format};
use proptest::collection::vec;
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
    const PIECES: [&str; 16] = [
        "\"",
        "[",
        "]",
        "(",
        ")",
        "#",
        "=",
        "\n",
        "\t",
        "0x",
        "99999",
        "65535",
        "lid ",
        "-",
        "é",
        "router 0 node 0\n",
    ];
    let place = || 0.0..1.0;
    let piece = prop_oneof![
        4 => proptest::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
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

/// Only errors about the whole text have no line.
fn assert_reads(text: &str, format: Format) -> Result<(), TestCaseError> {
    let lines = u32::try_from(text.split('\n').count()).expect("a short text");
    match format::read(text, format).map_err(|faults| faults.first().clone()) {
        Ok(reading) => {
            for finding in reading.findings {
                prop_assert!(finding.line.is_none_or(|line| (1..=lines).contains(&line)));
            }
        }
        Err(error) if error.line == 0 => {
            let is_whole = error.message.contains("empty") || error.message.contains("no node");
            prop_assert!(is_whole, "{error}");
        }
        Err(error) => {
            prop_assert!(error.line <= lines, "{error}");
            prop_assert!(!error.message.is_empty() && !error.expected.is_empty());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn damaged_dumps(fabric in any_fabric(), damages in vec(damage(), 1..6)) {
        let text = format::write(&fabric, Format::Ibnetdiscover).unwrap().text;
        let text = damages.iter().fold(text, apply);
        assert_reads(&text, Format::Ibnetdiscover)?;
    }

    #[test]
    fn damaged_toml(fabric in any_fabric(), damages in vec(damage(), 1..4)) {
        let text = format::write(&fabric, Format::Toml).unwrap().text;
        let text = damages.iter().fold(text, apply);
        assert_reads(&text, Format::Toml)?;
    }

    #[test]
    fn damaged_anynet(damages in vec(damage(), 1..8)) {
        let text = include_str!("../fixtures/mesh.anynet").to_owned();
        let text = damages.iter().fold(text, apply);
        assert_reads(&text, Format::Anynet)?;
    }

    #[test]
    fn damaged_fixtures(
        text in prop_oneof![
            Just(include_str!("../fixtures/plain.ibnetdiscover")),
            Just(include_str!("../fixtures/chassis.ibnetdiscover")),
            Just(include_str!("../fixtures/broken.ibnetdiscover")),
            Just(include_str!("../fixtures/by_hand.net")),
        ],
        damages in vec(damage(), 1..10),
    ) {
        let text = damages.iter().fold(text.to_owned(), apply);
        assert_reads(&text, Format::Ibnetdiscover)?;
    }

    #[test]
    fn arbitrary_bytes_cause_no_panic(bytes in vec(any::<u8>(), 0..60)) {
        match format::decode(&bytes) {
            Ok(format::Decoded { text, .. }) => {
                for format in Format::ALL {
                    let _ = format::read(&text, format);
                }
                let _ = Format::detect(&text);
            }
            Err(error) => prop_assert!(!error.message.is_empty()),
        }
    }
}
