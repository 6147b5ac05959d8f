//! Controlled delay (CoDel): marks or drops packets of a standing queue.
//!
//! ```text
//!   sojourn  │          .─.                        above the target for an interval I:
//!            │      .──'   '─.      .──            a drop, then after I, I/√2, I/√3 ...
//!    target  ┤ · ·/· · · · · ·\· ·/· · ·           until it is below
//!            └───┴────────┴────────────► time
//!                │← interval →│ x    x   x
//! ```
//!
//! Source: RFC 8289, section 5, with its names. ECN-capable packets are marked instead of dropped
//! (RFC 8290, section 5.2.6).

use core::time::Duration;

/// CoDel parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoDelPlan {
    /// Acceptable sojourn time in a standing queue, in ns.
    pub target_ns: u64,
    /// Minimum time above the target before the first drop, in ns; about a round-trip time.
    pub interval_ns: u64,
    /// Longest packet in bytes; CoDel never drops packets while the backlog is at most this long.
    pub longest_bytes: u32,
}

impl CoDelPlan {
    /// Default target (RFC 8290, section 5.2.2).
    pub const TARGET_NS: u64 = 5_000_000;
    /// Default interval (RFC 8290, section 5.2.1).
    pub const INTERVAL_NS: u64 = 100_000_000;

    /// Returns the target in ns for a queue whose longest path has this unloaded round-trip time:
    /// that time, but at least 5 ms. After a window reduction to a fraction b, the path stays busy
    /// if (1 - b) / b round trips of data were queued: 0.43 for CUBIC (b = 0.7), 1 for Reno (b =
    /// 0.5).
    pub fn target_before(round_trip: Duration) -> u64 {
        u64::try_from(round_trip.as_nanos()).unwrap_or(u64::MAX).max(Self::TARGET_NS)
    }

    /// Returns the interval in ns for the same queue: twice the target, but at least the interval
    /// of RFC 8290. The sender's reaction to a drop reaches the queue only after the round trip and
    /// the queueing delay; an earlier second drop might halve the window again.
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

#[derive(Clone, Copy, Debug)]
pub(crate) struct Popped<T> {
    pub(crate) packet: T,
    pub(crate) sojourn_ns: u64,
    pub(crate) left_bytes: u64,
    pub(crate) markable: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged<T> {
    pub(crate) popped: Popped<T>,
    pub(crate) marked: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CoDel {
    dropping: bool,
    /// End of the first interval above the target; `None` below the target.
    first_above_time: Option<u64>,
    drop_next: u64,
    count: u64,
    lastcount: u64,
}

impl CoDel {
    pub(crate) const NEW: Self =
        Self { dropping: false, first_above_time: None, drop_next: 0, count: 0, lastcount: 0 };

    /// Returns the next packet to forward. `pop` removes packets in queue order; `dropped` receives
    /// the dropped packets.
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

    /// Returns whether the packet may be dropped (`dodequeue` of RFC 8289, section 5).
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

    /// Starts a dropping phase; if the previous phase was recent, its drop rate is resumed.
    fn begin_dropping(&mut self, now: u64, plan: &CoDelPlan) {
        let delta = self.count - self.lastcount;
        let is_recent = now.saturating_sub(self.drop_next) < plan.interval_ns.saturating_mul(16);
        self.count = if delta > 1 && is_recent { delta } else { 1 };
        self.lastcount = self.count;
        self.drop_next = control_law(now, plan.interval_ns, self.count);
        self.dropping = true;
    }
}

/// Returns the next drop time: `from_ns` plus `interval_ns` / √`count`, in whole ns.
fn control_law(from_ns: u64, interval_ns: u64, count: u64) -> u64 {
    let square = u128::from(interval_ns) * u128::from(interval_ns);
    let span = (square / u128::from(count)).isqrt();
    from_ns.saturating_add(u64::try_from(span).expect("no longer than the interval"))
}

#[cfg(test)]
mod tests;
