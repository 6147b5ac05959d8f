//! The size of the whole, for who fills the pipe.
//!
//! ```text
//!   channel 0   1,472                         the bundle: 1,252, the smallest that is known
//!   channel 1   1,252
//!   channel 2   1,200 at least: just there    is left out until it is known
//! ```
//!
//! A size that follows each channel that comes would fall to the base and rise again, and what is
//! told of it, as the MTU of an interface, lasts. So a channel counts once it is known what it
//! passes, and as long as nothing is known of any, packets wait for what is found, and are not
//! refused.

use super::Sender;
use crate::Numbered;

impl<S: Numbered> Sender<S> {
    /// The longest packet, in bytes, that all channels take that are in and of which that is known:
    /// what whoever fills the pipe had better send. What the scheduler takes as long as it is known
    /// of none.
    pub fn bundle_bytes(&self) -> u32 {
        let is_known =
            |channel: &usize| self.carries(*channel) && !self.sizes.channels[*channel].is_unknown;
        let known = (0..self.scheduler.channels()).filter(is_known);
        let longest = known.map(|channel| self.sizes.longest_bytes(channel));
        longest.fold(self.scheduler.longest_bytes(), u32::min)
    }

    /// Whether a channel that is in, and of which it is not known what it passes, may turn out to
    /// pass packets of so many bytes: one that fits nowhere is worth to wait.
    pub fn may_fit(&self, length_bytes: u32) -> bool {
        let frame_bytes = length_bytes.saturating_add(self.sizes.header_bytes);
        let may_take = |channel: usize| {
            let one = &self.sizes.channels[channel];
            one.is_unknown && frame_bytes < one.too_long_bytes && self.carries(channel)
        };
        (0..self.scheduler.channels()).any(may_take)
    }
}

#[cfg(test)]
mod tests {
    use gingham_fairq::SurplusRoundRobin;

    use crate::{ControlPlan, Epoch, Instant, Order, Sender, SenderOptions, SizePlan};

    /// As long as nothing is known, all that the scheduler takes may fit; what is refused does not.
    #[test]
    fn a_channel_counts_once_it_is_known() {
        let scheduler = SurplusRoundRobin::<2>::new(1_500, &[1_500; 2]).expect("quanta");
        let options = SenderOptions {
            order: Order::Free,
            control: Some(ControlPlan::default()),
            sizes: Some(SizePlan { max: 1_512, ..SizePlan::default() }),
            ..SenderOptions::default()
        };
        let now = Instant::ORIGIN;
        let mut sender =
            Sender::synchronised(scheduler, options, Epoch::new(1), now).expect("options");
        assert_eq!((sender.bundle_bytes(), sender.longest_bytes()), (1_500, 1_188));
        assert!(sender.may_fit(1_500) && !sender.may_fit(1_501));
        assert!(!sender.fits_somewhere(1_500));
        sender.handle_refused(now, 0, 1_200).expect("sizes are found");
        assert_eq!(sender.bundle_bytes(), 1_188);
        assert!(sender.may_fit(1_500), "the other channel may take it");
        sender.handle_refused(now, 1, 1_512).expect("sizes are found");
        assert!(!sender.may_fit(1_500));
    }
}
