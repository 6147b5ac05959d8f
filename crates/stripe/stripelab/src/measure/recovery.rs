//! Recovery time: time from a loss to the last out-of-order delivery before the next loss.
//!
//! ```text
//!   lost          lost
//!   ─x────o──o────x─────o────────────       o: delivered out of order
//!    └─────────┘  └─────┘                   zero if no delivery is out of order
//!      recovery    recovery
//! ```
//!
//! Reordering within channels also counts.

use gingham_kernel::Time;

#[derive(Debug, Default)]
pub(crate) struct Recovery {
    last_loss: Option<Time>,
    last_out_of_order: Option<Time>,
    losses: u64,
    sum_ns: u128,
    longest_ns: u64,
}

impl Recovery {
    pub(crate) fn lost(&mut self, now: Time) {
        self.settle();
        self.losses += 1;
        self.last_loss = Some(self.last_loss.map_or(now, |last| last.max(now)));
    }

    pub(crate) fn out_of_order(&mut self, now: Time) {
        self.last_out_of_order = Some(now);
    }

    fn settle(&mut self) {
        let present_ns = self.present_ns().unwrap_or_default();
        self.sum_ns += u128::from(present_ns);
        self.longest_ns = self.longest_ns.max(present_ns);
    }

    fn present_ns(&self) -> Option<u64> {
        let loss = self.last_loss?;
        let last = self.last_out_of_order.filter(|last| *last > loss);
        Some(last.map_or(0, |last| last.since(loss).as_ps() / 1_000))
    }

    pub(crate) fn last_loss(&self) -> Option<Time> {
        self.last_loss
    }

    pub(crate) fn last_out_of_order(&self) -> Option<Time> {
        self.last_out_of_order
    }

    pub(crate) fn mean_and_longest_ns(&self) -> Option<(u64, u64)> {
        let present_ns = self.present_ns()?;
        let sum_ns = self.sum_ns + u128::from(present_ns);
        let mean_ns = u64::try_from(sum_ns / u128::from(self.losses)).expect("a mean of 64 bits");
        Some((mean_ns, self.longest_ns.max(present_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_ends_with_last_reordering_before_the_next_loss() {
        let at = |us: u64| Time::from_ps(us * 1_000_000);
        let mut recovery = Recovery::default();
        recovery.out_of_order(at(1));
        assert_eq!(recovery.mean_and_longest_ns(), None);
        recovery.lost(at(10));
        recovery.out_of_order(at(12));
        recovery.out_of_order(at(16));
        recovery.lost(at(20));
        recovery.lost(at(30));
        recovery.out_of_order(at(33));
        assert_eq!(recovery.mean_and_longest_ns(), Some((3_000, 6_000)));
    }
}
