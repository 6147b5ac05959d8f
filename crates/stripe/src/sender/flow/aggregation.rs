//! How far reports run ahead of the rate, since they come in bursts.
//!
//! ```text
//!   accounted for          .---'   |
//!                    .----'  ' .   | ahead: what must be in flight beside what the way holds, or the
//!              .----' ' .  '       |        channel falls idle between reports
//!                ' rate
//! ```
//!
//! Source: the extra acknowledged bytes of BBR (`bbr_update_ack_aggregation` of Linux, and its
//! draft): counted from whenever reports were last no further than the rate, the most of the last
//! while, and no more than a tenth of a second's worth.

use super::units::carried;

/// The most by which reports may be ahead: what the rate carries in this time.
const AHEAD_NS_MAX: u64 = 100_000_000;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// Since when, and how much was accounted for since.
    since_ns: u64,
    bytes: u64,
    /// The most since half a while began, and in the half before.
    most_bytes: [u64; 2],
    half_since_ns: u64,
}

impl Aggregation {
    pub(super) fn bytes(&self) -> u64 {
        self.most_bytes[0].max(self.most_bytes[1])
    }

    /// So many bytes more are accounted for; the most is remembered for twice `half_ns`.
    pub(super) fn take(&mut self, now_ns: u64, bytes: u64, rate: u64, half_ns: u64) {
        self.half_since_ns = self.half_since_ns.min(now_ns);
        let since = |then_ns: u64| now_ns.saturating_sub(then_ns);
        if self.bytes <= carried(rate, since(self.since_ns)) {
            (self.since_ns, self.bytes) = (now_ns, 0);
        }
        self.bytes = self.bytes.saturating_add(bytes);
        let ahead_bytes = self.bytes.saturating_sub(carried(rate, since(self.since_ns)));
        if since(self.half_since_ns) >= half_ns {
            self.most_bytes = [0, self.most_bytes[0]];
            self.half_since_ns = now_ns;
        }
        let ahead_bytes = ahead_bytes.min(carried(rate, AHEAD_NS_MAX));
        self.most_bytes[0] = self.most_bytes[0].max(ahead_bytes);
    }
}

#[cfg(test)]
impl Aggregation {
    pub(super) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.since_ns, self.bytes) = (words(), words());
        (self.most_bytes, self.half_since_ns) = ([words(), words()], words());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte a nanosecond. 100 at 100 begin anew; 150 more 100 later are 150 ahead of the 100 due;
    /// 50 at 300 are 100 ahead; nothing for long, then anew.
    #[test]
    fn what_is_ahead_of_the_rate_is_remembered_for_a_while() {
        let mut aggregation = Aggregation::default();
        let mut take = |now_ns, bytes| {
            aggregation.take(now_ns, bytes, 1_000_000_000, 1_000);
            aggregation.bytes()
        };
        assert_eq!(take(100, 100), 100);
        assert_eq!(take(200, 150), 150);
        assert_eq!(take(300, 50), 150);
        assert_eq!(take(1_000, 10), 150);
        assert_eq!(take(1_999, 10), 150);
        assert_eq!(take(2_010, 10), 10);
    }
}
