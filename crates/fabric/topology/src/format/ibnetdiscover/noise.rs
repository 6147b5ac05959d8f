//! Lines that are not part of a dump: prompts, `Script started`, ssh warnings, `-W-`.
//!
//! Damaged dump lines must not be skipped. The functions below therefore search for any feature of
//! a record, since damage to a few characters leaves at least one feature intact:
//!
//! ```text
//!   [1](3048c749cd0001)  "S-0008f10500200b50"[4]  # lid 72 lmc 0 "spine" lid 9 4xDDR
//!   └port┘└──────┘       └──────id──────────┘└─┘         └──tail────────────────────┘
//!         beside         └──────────────beside
//! ```

use super::comment::{Words, words};
use super::cursor::Cursor;

const BEGINNINGS: [&str; 16] = [
    "vendid",
    "devid",
    "sysimgguid",
    "switchguid",
    "caguid",
    "hcaguid",
    "rtguid",
    "Switch",
    "Ca",
    "Hca",
    "Rt",
    "Chassis",
    "Hostname",
    "Non-Chassis",
    "#",
    "[",
];

pub(super) fn could_be_a_record(line: &str) -> bool {
    has_id(line)
        || has_port_beside(line)
        || is_port(line)
        || is_identity(line)
        || is_node(line)
        || has_tail(line)
}

pub(super) fn could_be_a_beginning(line: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| beginning.starts_with(line))
}

fn has_id(line: &str) -> bool {
    const DIGITS_MIN: usize = 8;
    let digits = |after: &str| {
        let bare = after.strip_prefix("0x").unwrap_or(after);
        bare.bytes().take_while(u8::is_ascii_hexdigit).count()
    };
    ["S-", "H-", "R-"]
        .into_iter()
        .any(|kind| line.match_indices(kind).any(|(at, _)| digits(&line[at + 2..]) >= DIGITS_MIN))
}

/// Returns whether a port is next to an id or GUID: `"[1]`, `[1] "`, `](`.
fn has_port_beside(line: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    line.match_indices("\"[").any(|(at, _)| line[at + 2..].starts_with(is_digit))
        || line.match_indices(']').any(|(at, _)| {
            let after = &line[at + 1..];
            after.starts_with('(') || after.trim_start_matches([' ', '\t']).starts_with('"')
        })
}

/// Returns whether the line starts with `[1` or `[x]`, unlike a prompt such as `[root@node1 ~]#`.
fn is_port(line: &str) -> bool {
    const LENGTH_MAX: usize = 3;
    line.strip_prefix('[').is_some_and(|after| {
        let length = after.find(']').unwrap_or(after.len());
        after.starts_with(|c: char| c.is_ascii_digit()) || length <= LENGTH_MAX
    })
}

/// Returns whether the line has the form `key=0x2c9`, or its first word contains an identity key.
fn is_identity(line: &str) -> bool {
    const KEY_MAX: usize = 12;
    let code =
        line.split([' ', '\t']).take_while(|word| *word != "#").collect::<Vec<_>>().join(" ");
    let code = code.trim();
    let first = code.split([' ', '\t']).next().unwrap_or("");
    let is_number = |text: &str| {
        let of_number = |byte: u8| byte.is_ascii_hexdigit() || b"xX()".contains(&byte);
        !text.is_empty() && text.bytes().all(of_number)
    };
    let is_key = |text: &str| !text.is_empty() && text.len() <= KEY_MAX && !is_message(text);
    ["vendid", "devid", "guid"].iter().any(|key| first.contains(key))
        || code
            .split_once('=')
            .is_some_and(|(key, value)| is_key(key.trim_end()) && is_number(value.trim_start()))
}

fn is_message(line: &str) -> bool {
    matches!(line.as_bytes(), [b'-', b'E' | b'W' | b'I', b'-', ..])
}

/// Returns whether a number precedes a quotation mark. In short lines, the number may be the end of
/// a word.
fn is_node(line: &str) -> bool {
    const WORDS_MAX: usize = 3;
    let is_digit = |c: char| c.is_ascii_digit();
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    words.windows(2).any(|pair| {
        let is_number = pair[0].chars().all(is_digit);
        let ends_in_one = words.len() <= WORDS_MAX && pair[0].ends_with(is_digit);
        (is_number || ends_in_one) && pair[1].starts_with('"')
    })
}

fn has_tail(line: &str) -> bool {
    let is_whole = |found: Words<'_>| found.unknown.is_none() && found != Words::default();
    line.contains("\" lid ")
        || line.contains("# lid ")
        || words(Cursor::new(line)).is_ok_and(is_whole)
}

#[cfg(test)]
mod tests {
    use super::super::line::{Statement, statement};
    use super::*;

    #[test]
    fn prompts_and_messages_are_noise() {
        for line in [
            "[root@node1 ~]# ibnetdiscover > cluster.ibnetdiscover",
            "[root@node1 ~]# ssh node2 \"ibnetdiscover -f\"",
            "user@node1:~$ ibnetdiscover",
            "\u{1b}[01;32mroot@node1\u{1b}[00m:~# exit",
            "Script started on 2026-03-01 10:00:00+01:00 [TERM=\"xterm\" TTY=\"/dev/pts/0\"]",
            "Script done on 2026-03-01 10:00:07+01:00 [COMMAND_EXIT_CODE=\"0\"]",
            "-E- Link: S1/P3 lid=0x0003 dev=51000 was found DOWN",
            "-W- Switch guid=0x0002c90200417670 has 2 nodes",
            "-I- Discovering ... 40 nodes",
            "-------------------------------------------------",
            "Warning: Permanently added 'node1,10.0.0.1' (ED25519) to the list of known hosts.",
            "Last login: Mon Mar  2 10:00:00 2026 from 10.0.0.7",
            "Connection to node1 closed.",
            "^C",
            "logout",
        ] {
            assert!(!could_be_a_record(line), "{line}");
            assert!(!could_be_a_beginning(line), "{line}");
        }
    }

    #[test]
    fn record_with_one_damaged_character_is_not_noise() {
        let lines = [
            "vendid=0x2c9",
            "sysimgguid=0x13",
            "switchguid=0x10(1010)",
            "Switch\t4 \"S-0000000000000010\"\t\t# \"leaf\" enhanced port 0 lid 3 lmc 0",
            "[1]\t\"H-00000000000000a1\"[1](a1) \t\t# \"h1\" lid 11 4xNDR",
            "[1](a9) \t\"S-0000000000000010\"[1]\t\t# lid 11 lmc 0 \"s0\" lid 1 4xNDR",
            "Switch 8 \"Sw1\"",
            "[3] \"Sw1\" w=2 s=4",
            "[3]\t\"Hca1\"[2]",
        ];
        for line in lines {
            for at in 0..line.len() {
                for damaged in ["", "#", "x", "7", " ", "\u{1b}"] {
                    let text = format!("{}{damaged}{}", &line[..at], &line[at + 1..]);
                    assert_ne!(statement(&text), Ok(Statement::Noise), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn halves_of_a_broken_line_are_not_both_noise() {
        let line = "[1](a9) \t\"S-0000000000000010\"[1]\t\t# lid 11 lmc 0 \"s0\" lid 1 4xNDR";
        for at in 1..line.len() {
            let halves = [&line[..at], &line[at..]];
            assert!(halves.iter().any(|half| could_be_a_record(half.trim())), "{halves:?}");
        }
    }

    #[test]
    fn truncated_first_word_may_begin_a_record() {
        for beginning in ["v", "sys", "switchgui", "Swi", "C", "[", "Non-"] {
            assert!(could_be_a_beginning(beginning), "{beginning}");
        }
    }
}
