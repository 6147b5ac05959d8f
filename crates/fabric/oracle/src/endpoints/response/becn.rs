//! BECN: marks raise the flow's index into a table of delays, and a timer lowers it (InfiniBand
//! Architecture Specification, Volume 1, annex A10).

use super::{Law, Limits, Rate};
use gingham_kernel::{Span, Time};
use gingham_net::Delay;

const UNIT_PS: u64 = 1_024_000;

pub(super) struct Becn {
    of: gingham_net::Becn,
    rate: Rate,
    index: u16,
    /// Time when a mark raised the index from its minimum, or when the timer last expired.
    since: Time,
}

impl Becn {
    pub(super) fn new(of: &gingham_net::Becn, limits: &Limits) -> Self {
        let shares = (of.min..=of.limit).map(|index| share(of, index));
        let lowest = shares.fold(1.0, f64::min);
        let rate = Rate::highest(lowest, limits);
        Self { of: of.clone(), rate, index: of.min, since: Time::ZERO }
    }

    fn expire(&mut self, now: Time) {
        let timer = Span::from_ps(UNIT_PS * u64::from(self.of.timer));
        while self.index > self.of.min && self.since + timer <= now {
            self.index -= 1;
            self.since += timer;
        }
    }

    fn apply(&mut self, limits: &mut Limits) {
        let share = share(&self.of, self.index);
        self.rate.set(share, limits);
    }
}

/// Returns the rate at an index as a share of the highest rate. A packet that takes time `t` is
/// followed by a delay of `t multiplier / 2^shift`. If the table is empty, the index is the
/// multiplier.
fn share(of: &gingham_net::Becn, index: u16) -> f64 {
    let factor = of.table.get(usize::from(index)).copied().map_or(f64::from(index), factor);
    1.0 / (1.0 + factor)
}

fn factor(delay: Delay) -> f64 {
    let entry = delay.to_string();
    let (shift, multiplier) = entry.split_once(':').expect("an entry is shift:multiplier");
    let number = |text: &str| text.parse::<u32>().expect("a number");
    f64::from(number(multiplier)) / f64::from(1_u32 << number(shift))
}

impl Law for Becn {
    fn marked(&mut self, limits: &mut Limits, now: Time) {
        self.expire(now);
        if self.index == self.of.min {
            self.since = self.since.max(now);
        }
        self.index = (self.index + u16::from(self.of.increase)).min(self.of.limit);
        self.apply(limits);
    }

    fn starts(&mut self, _payload_bytes: u32, limits: &mut Limits, now: Time) {
        self.expire(now);
        self.apply(limits);
    }
}
