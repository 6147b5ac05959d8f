//! Traffic classes, which are DSCP and ECN: that of a packet, and that of the datagram in which it
//! goes.
//!
//! ```text
//!   inner DSCP ── as it is ─────────────────────────────────────────────────► as it was
//!   inner ECN ──┬───────────────── inside ──────────────────┬──► both together, or dropped
//!               └─► outer ECN ~~~ marked on the way ~~~ ────┘
//! ```
//!
//! Source: RFC 2474 and RFC 3168 (the field), RFC 2983 (pipe and uniform model), RFC 6040 (ECN in
//! tunnels).
//!
//! Invariant: a mark that was set on the way is heard by who sends, as one or as a loss.

use gingham_entry::{Ecn, TunnelMode, decapsulate, encapsulate};
use serde::{Deserialize, Serialize};

use crate::packet::{set_ecn, traffic_class};

/// The DSCP outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "DscpText")]
pub(crate) enum Dscp {
    /// This one, whatever is inside (the pipe model).
    Told(u8),
    /// That of the packet (the uniform model, but that what is changed on the way stays outside).
    Copied,
}

/// What a file says of it.
#[derive(Deserialize)]
#[serde(untagged)]
enum DscpText {
    Number(i64),
    Name(String),
}

impl TryFrom<DscpText> for Dscp {
    type Error = String;
    fn try_from(text: DscpText) -> Result<Self, String> {
        let wrong = |text: &str| format!("{text} is no DSCP: 0 to 63, or \"copy\"");
        match text {
            DscpText::Number(number) => match u8::try_from(number) {
                Ok(dscp) if dscp < 64 => Ok(Self::Told(dscp)),
                _ => Err(wrong(&number.to_string())),
            },
            DscpText::Name(name) if name == "copy" => Ok(Self::Copied),
            DscpText::Name(name) => Err(wrong(&format!("`{name}`"))),
        }
    }
}

impl Default for Dscp {
    /// Best effort, which all have that ask for nothing (RFC 2474, section 4.1).
    fn default() -> Self {
        Self::Told(0)
    }
}

impl Dscp {
    /// That of what the protocol itself says.
    pub(crate) const fn of_messages(self) -> u8 {
        match self {
            Self::Told(dscp) => dscp,
            Self::Copied => 0,
        }
    }

    /// The class of the datagram of a packet, which may be marked here.
    pub(crate) fn outside(self, packet: &[u8], is_marked: bool) -> u8 {
        let inner = traffic_class(packet);
        let ecn = if is_marked { Ecn::Ce } else { Ecn::of_traffic_class(inner) };
        let dscp = match self {
            Self::Told(dscp) => dscp << 2,
            Self::Copied => inner,
        };
        encapsulate(ecn, TunnelMode::Normal).in_traffic_class(dscp)
    }
}

/// What marks of the way did to packets.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// Those that came out marked because of it.
    pub(crate) marked: u64,
    /// Those that did not come out, since who sends reads no marks.
    pub(crate) dropped: u64,
    /// Those whose fields should not have come together, with the ones that were dropped.
    pub(crate) unexpected: u64,
}

impl Marks {
    /// Whether a packet comes out that came with this ECN field outside.
    pub(crate) fn passes(&mut self, packet: &mut [u8], outer: u8) -> bool {
        let outer = Ecn::of_traffic_class(outer);
        // As it is: so is the first column of the table.
        if outer == Ecn::NotEct {
            return true;
        }
        let inner = Ecn::of_traffic_class(traffic_class(packet));
        let (leaves, unexpected) = decapsulate(inner, outer);
        self.unexpected += u64::from(unexpected.is_some());
        let Some(ecn) = leaves else {
            self.dropped += 1;
            return false;
        };
        if ecn != inner {
            self.marked += u64::from(ecn == Ecn::Ce);
            set_ecn(packet, ecn);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of IPv4 or IPv6 with this class.
    fn packet(version: u8, class: u8) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = version << 4 | if version == 6 { class >> 4 } else { 5 };
        packet[1] = if version == 6 { class << 4 } else { class };
        packet
    }

    #[test]
    fn the_dscp_outside_is_told_or_copied_and_the_ecn_field_is_that_inside() {
        for version in [4, 6] {
            for ecn in 0..4 {
                let packet = packet(version, 0b1011_1000 | ecn);
                assert_eq!(Dscp::Told(10).outside(&packet, false), 10 << 2 | ecn);
                assert_eq!(Dscp::Copied.outside(&packet, false), 0b1011_1000 | ecn);
            }
            let packet = packet(version, 0b10);
            assert_eq!(Dscp::default().outside(&packet, true), 0b11);
        }
        assert_eq!(Dscp::Copied.outside(&[], false), 0);
        assert_eq!((Dscp::Told(46).of_messages(), Dscp::Copied.of_messages()), (46, 0));
    }

    /// Not-ECT, ECT(1), ECT(0), CE inside; what leaves where these come outside.
    #[test]
    fn marks_of_the_way_come_in() {
        let figure_4 = [
            [Some(0), Some(0), Some(0), None],
            [Some(1), Some(1), Some(1), Some(3)],
            [Some(2), Some(1), Some(2), Some(3)],
            [Some(3), Some(3), Some(3), Some(3)],
        ];
        for version in [4, 6] {
            let mut marks = Marks::default();
            for (inner, row) in (0..).zip(figure_4) {
                for (outer, leaves) in (0..).zip(row) {
                    let mut packet = packet(version, 0b1010_1000 | inner);
                    let passes = marks.passes(&mut packet, outer);
                    let left = passes.then(|| traffic_class(&packet));
                    assert_eq!(left, leaves.map(|ecn| 0b1010_1000 | ecn), "{inner} {outer}");
                }
            }
            assert_eq!((marks.marked, marks.dropped, marks.unexpected), (2, 1, 5));
        }
    }

    #[test]
    fn any_bytes_are_taken() {
        for bytes in [&[][..], &[0x45], &[0x60], &[0x45, 3], &[0xff; 3]] {
            for outer in 0..4 {
                Marks::default().passes(&mut bytes.to_vec(), outer);
            }
        }
    }
}
