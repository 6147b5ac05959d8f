//! Comments of a dump, after `#`: LIDs, speeds, and the description between them.
//!
//! ```text
//!   # lid 52 lmc 0 "any characters" lid 9 4xQDR s=4 w=2 v=5 (scp)
//!     └── head ──┘  └description─┘  └─────── tail ──────────┘
//! ```
//!
//! Words that no version of the tools prints are permitted, but reported as a finding.

use super::cursor::{Cursor, LineError};
use crate::speed::ReportedSpeed;
use crate::{Generation, LinkSpeed, PartialSpeed};

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words<'a> {
    pub(super) lid: Option<u16>,
    pub(super) no_lid: Option<NoLid>,
    pub(super) lmc: Option<u8>,
    pub(super) enhanced_port0: Option<bool>,
    /// Whether the comment has a speed, possibly the unknown speed `???`.
    pub(super) has_speed: bool,
    pub(super) speed: ReportedSpeed,
    pub(super) options: Options,
    pub(super) unknown: Option<&'a str>,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) enum NoLid {
    Empty,
    Negative,
}

/// Port options with bit masks: `w=2 s=4`.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
pub(super) struct Options {
    width_mask: Option<u8>,
    speed_mask: Option<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Comment<'a> {
    Free(&'a str),
    Described { head: Words<'a>, description: &'a str, tail: Words<'a> },
}

pub(super) fn comment(cursor: Cursor<'_>) -> Result<Comment<'_>, LineError> {
    let rest = cursor.rest();
    let Some(first) = rest.find('"') else {
        return Ok(Comment::Free(rest.trim()));
    };
    let last = rest.rfind('"').expect("there is one");
    if first == last {
        let (_, after) = cursor.split(first, 0);
        return Err(after.error_saying(
            "this description has no closing quotation mark",
            "expected a description between two",
        ));
    }
    let ((head, _), (_, tail)) = (cursor.split(first, 1), cursor.split(last, 1));
    let description = &rest[first + 1..last];
    Ok(Comment::Described { head: words(head)?, description, tail: words(tail)? })
}

pub(super) fn words(mut cursor: Cursor<'_>) -> Result<Words<'_>, LineError> {
    let mut found = Words::default();
    cursor.skip_blanks();
    while !cursor.is_at_end() {
        let start = cursor;
        match cursor.word() {
            "lid" => match no_lid(&mut cursor) {
                None => found.lid = Some(number(&mut cursor, "a LID")?),
                none => found.no_lid = none,
            },
            "lmc" => found.lmc = Some(number(&mut cursor, "an LMC")?),
            "slot" => drop(number::<u16>(&mut cursor, "a slot")?),
            "enhanced" => found.enhanced_port0 = Some(port0(&mut cursor, true)?),
            "base" => found.enhanced_port0 = Some(port0(&mut cursor, false)?),
            "(scp)" => {}
            word if is_speed(word) => {
                found.has_speed = true;
                found.speed = speed(word).ok_or_else(|| start.error(SPEED))?;
            }
            word if word.contains('=') => option(&mut found.options, start, word)?,
            word => found.unknown = found.unknown.or(Some(word)),
        }
        cursor.skip_blanks();
    }
    Ok(found)
}

const SPEED: &str = "a width (1x, 2x, 4x, 8x, 12x or ??) and a speed (SDR, DDR, QDR, FDR10, \
                     FDR, EDR, HDR, NDR, XDR or ???), such as 4xNDR";

fn number<T: std::str::FromStr>(cursor: &mut Cursor<'_>, what: &str) -> Result<T, LineError> {
    cursor.skip_blanks();
    cursor.number(what)
}

fn no_lid(cursor: &mut Cursor<'_>) -> Option<NoLid> {
    let mut after = *cursor;
    let word = after.word();
    if word.is_empty() || word == "lmc" || is_speed(word) {
        return Some(NoLid::Empty);
    }
    let digits = word.strip_prefix('-')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| {
        *cursor = after;
        NoLid::Negative
    })
}

fn port0(cursor: &mut Cursor<'_>, enhanced: bool) -> Result<bool, LineError> {
    cursor.skip_blanks();
    if cursor.take("port 0") { Ok(enhanced) } else { Err(cursor.error("\"port 0\"")) }
}

fn is_speed(word: &str) -> bool {
    let after_digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
    word.starts_with("??") || (after_digits.len() < word.len() && after_digits.starts_with('x'))
}

fn speed(word: &str) -> Option<ReportedSpeed> {
    if matches!(word, "???" | "?????") {
        return Some(ReportedSpeed::default());
    }
    if let Ok(partial) = word.parse::<PartialSpeed>() {
        return Some(partial.into());
    }
    match word.parse() {
        Ok(known @ LinkSpeed::InfiniBand { .. }) => Some(known.into()),
        _ => None,
    }
}

fn option(options: &mut Options, start: Cursor<'_>, word: &str) -> Result<(), LineError> {
    let (key, value) = word.split_once('=').expect("the word holds one");
    let value =
        value.parse().map_err(|_| start.error("an option such as \"w=2\", \"s=4\" or \"v=5\""))?;
    match key {
        "w" => options.width_mask = Some(value),
        "s" => options.speed_mask = Some(value),
        _ => {}
    }
    Ok(())
}

/// Pairs of width mask bit and number of lanes, in descending order of width.
pub(super) const WIDTH_BITS: [(u8, u8); 5] = [(8, 12), (4, 8), (2, 4), (16, 2), (1, 1)];

/// Pairs of speed mask bit and generation, fastest first; generations after QDR use other masks.
pub(super) const SPEED_BITS: [(u8, Generation); 3] =
    [(4, Generation::Qdr), (2, Generation::Ddr), (1, Generation::Sdr)];

impl Options {
    /// Returns the highest speed that the masks allow, which the ends of a cable negotiate. As in
    /// ibsim, the default is 4x SDR.
    pub(super) fn speed(self) -> Option<LinkSpeed> {
        if self == Self::default() {
            return None;
        }
        let (width_mask, speed_mask) = (self.width_mask.unwrap_or(2), self.speed_mask.unwrap_or(1));
        let (_, width) = WIDTH_BITS.into_iter().find(|(bit, _)| width_mask & bit != 0)?;
        let (_, generation) = SPEED_BITS.into_iter().find(|(bit, _)| speed_mask & bit != 0)?;
        Some(LinkSpeed::InfiniBand { width, generation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QDR: LinkSpeed = LinkSpeed::InfiniBand { width: 4, generation: Generation::Qdr };

    #[test]
    fn description_spans_from_the_first_quote_to_the_last() {
        let text = " lid 52 lmc 1 \"a\" lid 7 4xSDR \"b # [1]\" lid 9 4xQDR s=4 w=2 v=5 (scp)";
        let Ok(Comment::Described { head, description, tail }) = comment(Cursor::new(text)) else {
            panic!("there is a description");
        };
        assert_eq!((head.lid, head.lmc), (Some(52), Some(1)));
        assert_eq!(description, "a\" lid 7 4xSDR \"b # [1]");
        assert_eq!((tail.lid, tail.speed.known, tail.unknown), (Some(9), Some(QDR), None));
    }

    #[test]
    fn partially_unknown_speeds_are_accepted_invalid_ones_refused() {
        assert_eq!(speed("4xQDR"), Some(QDR.into()));
        let halves = [
            ("???", None),
            ("?????", None),
            ("4x???", Some(PartialSpeed::Width(4))),
            ("??SDR", Some(PartialSpeed::Generation(Generation::Sdr))),
        ];
        for (unknown, partial) in halves {
            assert_eq!(speed(unknown), Some(ReportedSpeed { known: None, partial }), "{unknown}");
            assert!(is_speed(unknown));
        }
        for nonsense in ["4xND", "3xNDR", "4x", "x", "??", "99999xNDR"] {
            assert_eq!(speed(nonsense), None, "{nonsense}");
        }
        assert!(words(Cursor::new("lid 4 4xND")).is_err());
    }

    #[test]
    fn masks_mean_the_highest_allowed_speed() {
        let speed = |text| words(Cursor::new(text)).unwrap().options.speed();
        assert_eq!(speed("w=2 s=4"), Some(QDR));
        assert_eq!(speed("s=7"), Some(QDR));
        let wide = LinkSpeed::InfiniBand { width: 12, generation: Generation::Sdr };
        assert_eq!(speed("w=8"), Some(wide));
        assert_eq!(speed("v=5"), None);
        assert_eq!(speed("w=0"), None);
        assert!(words(Cursor::new("w=")).is_err());
    }

    #[test]
    fn missing_or_negative_lid_is_accepted_invalid_one_refused() {
        let read =
            |text| words(Cursor::new(text)).map(|found| (found.lid, found.no_lid, found.lmc));
        assert_eq!(read("lid lmc 1"), Ok((None, Some(NoLid::Empty), Some(1))));
        assert_eq!(read("lid"), Ok((None, Some(NoLid::Empty), None)));
        assert_eq!(read("lid -1 lmc 2"), Ok((None, Some(NoLid::Negative), Some(2))));
        assert_eq!(read("lid 65535"), Ok((Some(65535), None, None)));
        let found = words(Cursor::new("lid 4xQDR")).unwrap();
        assert_eq!((found.no_lid, found.speed.known), (Some(NoLid::Empty), Some(QDR)));
        for nonsense in ["lid x", "lid - 1", "lid 65536", "lid -x"] {
            assert!(words(Cursor::new(nonsense)).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn unknown_words_are_reported() {
        let found = words(Cursor::new("lid 4 planarized twice 4xQDR")).unwrap();
        assert_eq!((found.unknown, found.speed.known), (Some("planarized"), Some(QDR)));
    }
}
