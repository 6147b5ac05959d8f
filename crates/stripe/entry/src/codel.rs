//! Controlled delay: when the packets of one queue are marked or dropped.
//!
//! ```text
//!   sojourn  │          .─.                        above the target for an interval:
//!            │      .──'   '─.      .──            a drop, and another after I, I/√2, I/√3 ...
//!    target  ┤ · ·/· · · · · ·\· ·/· · ·           until it is below
//!            └───┴────────┴────────────► time
//!                │← interval →│ x    x   x
//! ```
//!
//! Source: RFC 8289, section 5, whose names the fields have; a mark takes the place of a drop as in
//! Linux's (RFC 8290, section 5.2.6): the packet that was due goes on with it.
//!
//! Invariant: nothing is marked or dropped before the sojourn was above the target for an interval.

use core::time::Duration;

/// Parameters of CoDel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoDelPlan {
    /// What a standing queue may take: 5 ms (RFC 8290, section 5.2.2) unless given.
    pub target_ns: u64,
    /// How long the sojourn is above the target before the first drop, about a round trip of those
    /// who send: 100 ms (RFC 8290, section 5.2.1) unless given.
    pub interval_ns: u64,
    /// The longest packet: a queue of no more bytes does not stand.
    pub longest_bytes: u32,
}

impl CoDelPlan {
    /// The target of RFC 8290, section 5.2.2.
    pub const TARGET_NS: u64 = 5_000_000;
    /// The interval of RFC 8290, section 5.2.1.
    pub const INTERVAL_NS: u64 = 100_000_000;

    /// The target before a pipe of which this is the round trip without a queue: no less than that.
    /// A pipe of several paths that keeps their order has the round trip of the longest. A window
    /// that is cut to a share b of itself leaves nothing idle if (1 - b) / b round trips waited
    /// before: .43 of one with CUBIC's .7, a whole one with Reno's half.
    pub fn target_before(round_trip: Duration) -> u64 {
        u64::try_from(round_trip.as_nanos()).unwrap_or(u64::MAX).max(Self::TARGET_NS)
    }

    /// The interval before that pipe: no less than that of RFC 8290. Who sends answers a drop after a
    /// round trip, and the queue shows it once what stood before the answer has gone: after another
    /// target. A drop that comes sooner may be taken for a second congestion, and halves the window
    /// where one drop was meant.
    pub fn interval_before(round_trip: Duration) -> u64 {
        let target_ns = Self::target_before(round_trip);
        target_ns.saturating_mul(2).max(Self::INTERVAL_NS)
    }
}

impl Default for CoDelPlan {
    fn default() -> Self {
        Self { target_ns: Self::TARGET_NS, interval_ns: Self::INTERVAL_NS, longest_bytes: 1_500 }
    }
}

/// What a queue gives CoDel to judge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Popped<T> {
    /// The packet.
    pub(crate) packet: T,
    /// How long it was in the queue.
    pub(crate) sojourn_ns: u64,
    /// Bytes that are left there.
    pub(crate) left_bytes: u64,
    /// Whether it can be marked.
    pub(crate) markable: bool,
}

/// What CoDel gives out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged<T> {
    pub(crate) popped: Popped<T>,
    pub(crate) marked: bool,
}

/// The state of one queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CoDel {
    dropping: bool,
    /// When the sojourn will have been above the target for an interval, if it is above.
    first_above_time: Option<u64>,
    drop_next: u64,
    count: u64,
    lastcount: u64,
}

impl CoDel {
    pub(crate) const NEW: Self =
        Self { dropping: false, first_above_time: None, drop_next: 0, count: 0, lastcount: 0 };

    /// A packet that may go on now, of those that `pop` gives in the order of the queue; those that
    /// are dropped before it go to `dropped`.
    pub(crate) fn dequeue<T>(
        &mut self,
        now: u64,
        plan: &CoDelPlan,
        mut pop: impl FnMut() -> Option<Popped<T>>,
        mut dropped: impl FnMut(T),
    ) -> Option<Judged<T>> {
        let mut next = pop();
        let mut ok_to_drop = self.ok_to_drop(now, plan, next.as_ref());
        if !self.dropping
            && ok_to_drop
            && let Some(first) = next
        {
            self.begin_dropping(now, plan);
            if first.markable {
                return Some(Judged { popped: first, marked: true });
            }
            dropped(first.packet);
            next = pop();
            self.ok_to_drop(now, plan, next.as_ref());
            return next.map(|popped| Judged { popped, marked: false });
        }
        self.dropping &= ok_to_drop;
        while self.dropping && now >= self.drop_next {
            self.count += 1;
            let due = next?;
            if due.markable {
                self.drop_next = control_law(self.drop_next, plan.interval_ns, self.count);
                return Some(Judged { popped: due, marked: true });
            }
            dropped(due.packet);
            next = pop();
            ok_to_drop = self.ok_to_drop(now, plan, next.as_ref());
            if ok_to_drop {
                self.drop_next = control_law(self.drop_next, plan.interval_ns, self.count);
            }
            self.dropping = ok_to_drop;
        }
        next.map(|popped| Judged { popped, marked: false })
    }

    /// `dodequeue`: whether the sojourn has been above the target for an interval.
    fn ok_to_drop<T>(&mut self, now: u64, plan: &CoDelPlan, popped: Option<&Popped<T>>) -> bool {
        let stands = popped.is_some_and(|popped| {
            popped.sojourn_ns >= plan.target_ns && popped.left_bytes > u64::from(plan.longest_bytes)
        });
        if !stands {
            self.first_above_time = None;
            return false;
        }
        now >= *self.first_above_time.get_or_insert(now.saturating_add(plan.interval_ns))
    }

    /// Where the queue stood a short while ago, the rate of drops that held it then is where to
    /// begin.
    fn begin_dropping(&mut self, now: u64, plan: &CoDelPlan) {
        let delta = self.count - self.lastcount;
        let is_recent = now.saturating_sub(self.drop_next) < plan.interval_ns.saturating_mul(16);
        self.count = if delta > 1 && is_recent { delta } else { 1 };
        self.lastcount = self.count;
        self.drop_next = control_law(now, plan.interval_ns, self.count);
        self.dropping = true;
    }
}

/// The next drop: an interval by the square root of the count later, in whole nanoseconds.
fn control_law(from_ns: u64, interval_ns: u64, count: u64) -> u64 {
    let square = u128::from(interval_ns) * u128::from(interval_ns);
    let span = (square / u128::from(count)).isqrt();
    from_ns.saturating_add(u64::try_from(span).expect("no longer than the interval"))
}

#[cfg(test)]
mod tests;
