//! Explicit congestion notification at both ends of a tunnel.
//!
//! ```text
//!    inner ──encapsulate──► outer ~~~ marked in transit ~~ outer ──decapsulate──► inner, or dropped
//!      └──────────────────────── carried inside ───────────────────────┘
//! ```
//!
//! Source: RFC 6040, sections 4.1 (figure 3) and 4.2 (figure 4); code points: RFC 3168, section 5.
//!
//! Invariant: a CE mark on the inner packet or in transit is never lost.

/// ECN field of an IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0b00,
    /// ECT(1).
    Ect1 = 0b01,
    /// ECT(0).
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// Returns the ECN field, the last two bits of a traffic class or TOS byte.
    pub const fn of_traffic_class(byte: u8) -> Self {
        match byte & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Returns `byte` with this ECN field.
    pub const fn in_traffic_class(self, byte: u8) -> u8 {
        byte & !0b11 | self as u8
    }

    /// Returns whether the packet can be marked instead of dropped.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// Encapsulation mode (RFC 6040, section 4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TunnelMode {
    /// The outer header copies the inner ECN field; the far end copies marks to the inner header.
    #[default]
    Normal,
    /// The outer header is not ECN-capable, as the far end may ignore marks.
    Compatibility,
}

/// Returns the ECN field of the outer header.
pub const fn encapsulate(inner: Ecn, mode: TunnelMode) -> Ecn {
    match mode {
        TunnelMode::Normal => inner,
        TunnelMode::Compatibility => Ecn::NotEct,
    }
}

/// Unexpected combination of inner and outer fields (RFC 6040, figure 4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unexpected {
    /// Currently unused, `(!)` in the figure.
    Unused,
    /// Currently unused and potentially dangerous, `(!!!)` in the figure.
    Dangerous,
}

/// Returns the ECN field after decapsulation, or `None` if the packet must be dropped because it
/// was marked but is not ECN-capable.
pub const fn decapsulate(inner: Ecn, outer: Ecn) -> (Option<Ecn>, Option<Unexpected>) {
    use Ecn::{Ce, Ect0, Ect1, NotEct};
    match (inner, outer) {
        (NotEct, NotEct) => (Some(NotEct), None),
        (NotEct, Ect0 | Ect1) => (Some(NotEct), Some(Unexpected::Dangerous)),
        (NotEct, Ce) => (None, Some(Unexpected::Dangerous)),
        (Ect0, NotEct | Ect0) => (Some(Ect0), None),
        (Ect0 | Ect1, Ect1) | (Ect1, NotEct) => (Some(Ect1), None),
        (Ect1, Ect0) => (Some(Ect1), Some(Unexpected::Unused)),
        (Ect0 | Ect1 | Ce, Ce) | (Ce, NotEct | Ect0) => (Some(Ce), None),
        (Ce, Ect1) => (Some(Ce), Some(Unexpected::Dangerous)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [(&str, Ecn); 4] =
        [("Not-ECT", Ecn::NotEct), ("ECT(0)", Ecn::Ect0), ("ECT(1)", Ecn::Ect1), ("CE", Ecn::Ce)];

    fn named(text: &str) -> Ecn {
        FIELDS.iter().find(|(name, _)| *name == text).expect("a code point").1
    }

    /// Checks every combination: rows are the inner field, columns the outer field.
    #[test]
    fn decapsulation_matches_rfc_6040_figure_4() {
        let figure_4 = "
            Not-ECT | Not-ECT | Not-ECT(!!!) | Not-ECT(!!!) | <drop>(!!!)
            ECT(0)  | ECT(0)  | ECT(0)       | ECT(1)       | CE
            ECT(1)  | ECT(1)  | ECT(1)(!)    | ECT(1)       | CE
            CE      | CE      | CE           | CE(!!!)      | CE";
        let mut cells = 0;
        for row in figure_4.trim().lines() {
            let row: Vec<_> = row.split('|').map(str::trim).collect();
            for (cell, (_, outer)) in row[1..].iter().zip(FIELDS) {
                let sign =
                    |sign, unexpected| cell.strip_suffix(sign).map(|rest| (rest, unexpected));
                let (text, unexpected) = sign("(!!!)", Some(Unexpected::Dangerous))
                    .or(sign("(!)", Some(Unexpected::Unused)))
                    .unwrap_or((cell, None));
                let leaves = (text != "<drop>").then(|| named(text));
                assert_eq!(decapsulate(named(row[0]), outer), (leaves, unexpected), "{row:?}");
                cells += 1;
            }
        }
        assert_eq!(cells, 16);
    }

    #[test]
    fn encapsulation_matches_rfc_6040_figure_3() {
        for (_, inner) in FIELDS {
            assert_eq!(encapsulate(inner, TunnelMode::Normal), inner);
            assert_eq!(encapsulate(inner, TunnelMode::Compatibility), Ecn::NotEct);
        }
    }

    #[test]
    fn ecn_field_is_the_last_two_bits() {
        let points = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for (bits, point) in (0..4_u8).zip(points) {
            assert_eq!(Ecn::of_traffic_class(0b1011_1000 | bits), point);
            assert_eq!(point.in_traffic_class(0b1011_1011), 0b1011_1000 | bits);
            assert_eq!(point.is_capable(), bits != 0);
        }
    }
}
