//! Individual records of messages: none, a sample, or all.
//!
//! The sample is uniform over all deliveries and of bounded size (Vitter, "Random Sampling with a
//! Reservoir", ACM TOMS 11(1), 1985, algorithm R), with a seed, so that the same run keeps the same
//! messages. Since every delivery has the same probability, the part of the sample in the window is
//! a uniform sample of the window.

use crate::{Delivery, KeptMessages, MeasurePlan};
use gingham_kernel::{Purpose, Stream};

#[derive(Clone, Debug)]
pub(super) struct Records {
    messages: KeptMessages,
    kept: Vec<Delivery>,
    sample_size: usize,
    seen: u64,
    stream: Stream,
}

impl Records {
    pub(super) fn new(seed: u64, plan: &MeasurePlan) -> Self {
        let stream = Stream::new(seed, "message records", Purpose::Shuffle);
        let MeasurePlan { messages, sample_size, .. } = *plan;
        Self { messages, kept: Vec::new(), sample_size, seen: 0, stream }
    }

    /// Records a delivery if it is selected.
    #[inline]
    pub(super) fn offer(&mut self, delivery: &Delivery) {
        match self.messages {
            KeptMessages::None => {}
            KeptMessages::All => self.kept.push(*delivery),
            KeptMessages::Sample => self.sample(delivery),
        }
    }

    #[inline(never)]
    fn sample(&mut self, delivery: &Delivery) {
        self.seen += 1;
        if self.kept.len() < self.sample_size {
            self.kept.push(*delivery);
            return;
        }
        let place = usize::try_from(self.stream.below(self.seen)).expect("64-bit platform");
        if let Some(slot) = self.kept.get_mut(place) {
            *slot = *delivery;
        }
    }

    pub(super) fn kept(&self) -> &[Delivery] {
        &self.kept
    }

    /// Returns and removes all records if the run keeps all messages; otherwise returns nothing.
    pub(super) fn take(&mut self) -> Vec<Delivery> {
        match self.messages {
            KeptMessages::All => std::mem::take(&mut self.kept),
            KeptMessages::None | KeptMessages::Sample => Vec::new(),
        }
    }
}
