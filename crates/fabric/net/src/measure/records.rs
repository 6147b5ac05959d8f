//! Messages kept one by one: none, a sample, or all.
//!
//! The sample is uniform over all deliveries and of bounded size (Vitter, "Random Sampling with a
//! Reservoir", ACM TOMS 11(1), 1985, algorithm R), seeded, so that the same run keeps the same
//! messages. Because each delivery is as likely to be in it as any other, what is left after
//! filtering it to the window is a uniform sample of the window's.

use crate::{Delivery, KeptMessages, MeasurePlan};
use gingham_kernel::{Purpose, Stream};

/// Deliveries that were kept.
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

    /// Keeps a delivery, or not.
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

    /// What is kept, in no order that means anything.
    pub(super) fn kept(&self) -> &[Delivery] {
        &self.kept
    }

    /// Empties the buffer of a run that keeps all; nothing otherwise.
    pub(super) fn take(&mut self) -> Vec<Delivery> {
        match self.messages {
            KeptMessages::All => std::mem::take(&mut self.kept),
            KeptMessages::None | KeptMessages::Sample => Vec::new(),
        }
    }
}
