//! DSCP and ECN of packets and of their outer datagrams.
//!
//! Source: RFC 2474 and RFC 3168 (header field), RFC 2983 (pipe and uniform model), RFC 6040 (ECN
//! in tunnels).
//!
//! Invariant: an outer congestion mark reaches the inner transport as a mark or as a loss.

use gingham_entry::{Ecn, TunnelMode, decapsulate, encapsulate};
use serde::{Deserialize, Serialize};

use crate::packet::{set_ecn, traffic_class};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "DscpText")]
pub(crate) enum Dscp {
    /// Fixed value, independent of the inner packet (pipe model).
    Fixed(u8),
    /// Value of the inner packet (uniform model, except that changes in transit are not copied
    /// back).
    Copied,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum DscpText {
    Number(i64),
    Name(String),
}

impl TryFrom<DscpText> for Dscp {
    type Error = String;
    fn try_from(text: DscpText) -> Result<Self, String> {
        let wrong = |text: &str| format!("{text} is not a DSCP: 0 to 63, or \"copy\"");
        match text {
            DscpText::Number(number) => match u8::try_from(number) {
                Ok(dscp) if dscp < 64 => Ok(Self::Fixed(dscp)),
                _ => Err(wrong(&number.to_string())),
            },
            DscpText::Name(name) if name == "copy" => Ok(Self::Copied),
            DscpText::Name(name) => Err(wrong(&format!("`{name}`"))),
        }
    }
}

impl Default for Dscp {
    fn default() -> Self {
        Self::Fixed(0)
    }
}

impl Dscp {
    pub(crate) const fn of_messages(self) -> u8 {
        match self {
            Self::Fixed(dscp) => dscp,
            Self::Copied => 0,
        }
    }

    pub(crate) fn outside(self, packet: &[u8], is_marked: bool) -> u8 {
        let inner = traffic_class(packet);
        let ecn = if is_marked { Ecn::Ce } else { Ecn::of_traffic_class(inner) };
        let dscp = match self {
            Self::Fixed(dscp) => dscp << 2,
            Self::Copied => inner,
        };
        encapsulate(ecn, TunnelMode::Normal).in_traffic_class(dscp)
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// Packets delivered with CE from the outer header.
    pub(crate) marked: u64,
    /// Packets dropped because the outer header had CE and the packet was not ECN-capable.
    pub(crate) dropped: u64,
    /// Packets with an unexpected combination of inner and outer ECN fields, including dropped
    /// packets.
    pub(crate) unexpected: u64,
}

impl Marks {
    pub(crate) fn passes(&mut self, packet: &mut [u8], outer: u8) -> bool {
        let outer = Ecn::of_traffic_class(outer);
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

    fn packet(version: u8, class: u8) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = version << 4 | if version == 6 { class >> 4 } else { 5 };
        packet[1] = if version == 6 { class << 4 } else { class };
        packet
    }

    #[test]
    fn outer_dscp_is_configured_or_copied_and_ecn_is_the_inner() {
        for version in [4, 6] {
            for ecn in 0..4 {
                let packet = packet(version, 0b1011_1000 | ecn);
                assert_eq!(Dscp::Fixed(10).outside(&packet, false), 10 << 2 | ecn);
                assert_eq!(Dscp::Copied.outside(&packet, false), 0b1011_1000 | ecn);
            }
            let packet = packet(version, 0b10);
            assert_eq!(Dscp::default().outside(&packet, true), 0b11);
        }
        assert_eq!(Dscp::Copied.outside(&[], false), 0);
        assert_eq!((Dscp::Fixed(46).of_messages(), Dscp::Copied.of_messages()), (46, 0));
    }

    /// Checks figure 4 of RFC 6040. Rows: inner Not-ECT, ECT(1), ECT(0), CE; columns: outer fields
    /// in the same order; entries: field on delivery.
    #[test]
    fn outer_ecn_marks_are_propagated_on_delivery() {
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
    fn arbitrary_bytes_are_handled() {
        for bytes in [&[][..], &[0x45], &[0x60], &[0x45, 3], &[0xff; 3]] {
            for outer in 0..4 {
                Marks::default().passes(&mut bytes.to_vec(), outer);
            }
        }
    }
}
