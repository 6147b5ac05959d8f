//! Channels that pass frames however long they are, since what is below cuts them and puts them
//! together, as TCP does: nothing is to be found out.

use super::{Search, SizeState, Sizes};
use crate::Numbered;
use crate::sender::Sender;

impl Sizes {
    /// What is known of a channel at first.
    pub(super) fn initial_on(&self, channel: usize) -> Search {
        let initial = self.initial();
        match &self.plan {
            Some(plan) if self.whole & 1 << channel != 0 => Search {
                state: SizeState::SearchComplete,
                frame_bytes: plan.max,
                probe_bytes: 0,
                is_unknown: false,
                ..initial
            },
            _ => initial,
        }
    }
}

impl<S: Numbered> Sender<S> {
    /// A channel passes frames however long they are, or may not: then sizes are found as on others.
    pub fn set_passes_all(&mut self, channel: usize, passes_all: bool) {
        let bit = 1 << channel;
        let before = self.sizes.whole;
        self.sizes.whole = if passes_all { before | bit } else { before & !bit };
        if before != self.sizes.whole {
            self.sizes.begin(channel);
        }
    }
}

#[cfg(test)]
mod tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{ControlPlan, Epoch, Instant, Order, SenderOptions, SizePlan};

    #[test]
    fn what_passes_all_is_neither_probed_nor_short() {
        let now = Instant::from_nanoseconds(50_000_000);
        let scheduler = SurplusRoundRobin::<2>::new(9_000, &[9_000, 9_000]).expect("quanta");
        let options = SenderOptions {
            order: Order::Free,
            control: Some(ControlPlan::default()),
            sizes: Some(SizePlan { max: 9_000, ..SizePlan::default() }),
            ..SenderOptions::default()
        };
        let mut sender =
            Sender::synchronised(scheduler, options, Epoch::new(1), now).expect("options");
        sender.set_passes_all(1, true);
        let mut padded = 0;
        while let Some((channel, _)) = sender.poll_message(now) {
            assert!(channel == 0 || sender.padded_bytes(channel) == 0);
            padded += usize::from(sender.padded_bytes(channel) > 0);
        }
        assert_eq!(padded, 1);
        assert_eq!(sender.size(1).state, SizeState::SearchComplete);
        assert_eq!(sender.handle_packet(now, 8_900), Ok(1));
        // Also where it comes back, and after a reset.
        assert!(sender.lose_channel(now, 1));
        sender.revive(now, 1);
        sender.reset(now);
        assert_eq!(sender.size(1).state, SizeState::SearchComplete);
        sender.set_passes_all(1, false);
        assert_eq!(sender.size(1).state, SizeState::Base);
    }
}
