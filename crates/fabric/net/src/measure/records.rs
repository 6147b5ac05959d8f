//! Individual message records: none, a sample, or all.
//!
//! The sample consists of the deliveries with the smallest hashes of seed and message identity, up
//! to a fixed number (bottom-k sampling: Cohen and Kaplan, "Summarizing Data using Bottom-k
//! Sketches", PODC 2007).
//!
//! The sampled messages created in the window are a uniform sample of the window. Since the hash
//! depends only on a message's source and its number at that source, samples from parts of a run
//! can be merged.

use crate::{Delivery, KeptMessages, MeasurePlan, MessageNumber};
use gingham_kernel::{Counted, Purpose};
use gingham_topology::EndpointId;

#[derive(Clone, Debug)]
pub(super) struct Records {
    messages: KeptMessages,
    /// All deliveries so far or, in a sampled run, all that may belong to the sample: at most twice
    /// the sample size.
    kept: Vec<Delivery>,
    /// Highest rank that may belong to the sample; `None` until a delivery was left out.
    highest: Option<Rank>,
    sample_size: usize,
    hashes: Counted,
}

/// Rank of a delivery in the sample. The identity of the message decides between equal hashes.
type Rank = (u64, (EndpointId, MessageNumber));

impl Records {
    pub(super) fn new(seed: u64, plan: &MeasurePlan) -> Self {
        let hashes = Counted::new(seed, "message records", Purpose::Sample);
        let MeasurePlan { messages, sample_size, .. } = *plan;
        Self { messages, kept: Vec::new(), highest: None, sample_size, hashes }
    }

    #[inline]
    pub(super) fn offer(&mut self, delivery: &Delivery) {
        match self.messages {
            KeptMessages::None => {}
            KeptMessages::All => self.kept.push(*delivery),
            KeptMessages::Sample => self.sample(delivery),
        }
    }

    #[inline]
    fn sample(&mut self, delivery: &Delivery) {
        if self.highest.is_some_and(|highest| rank(self.hashes, delivery) > highest) {
            return;
        }
        self.kept.push(*delivery);
        if self.kept.len() >= 2 * self.sample_size {
            self.leave_out();
        }
    }

    #[inline(never)]
    fn leave_out(&mut self) {
        self.highest = self.highest_of_sample();
        let Self { kept, hashes, .. } = self;
        if let Some(highest) = self.highest {
            kept.retain(|of| rank(*hashes, of) <= highest);
        }
    }

    /// Returns the highest rank among the `sample_size` lowest.
    fn highest_of_sample(&self) -> Option<Rank> {
        let mut ranks: Vec<Rank> = self.kept.iter().map(|of| rank(self.hashes, of)).collect();
        let last = self.sample_size.checked_sub(1)?;
        (last < ranks.len()).then(|| *ranks.select_nth_unstable(last).1)
    }

    pub(super) fn kept(&self) -> impl Iterator<Item = &Delivery> {
        let is_sample = matches!(self.messages, KeptMessages::Sample);
        let is_too_long = is_sample && self.kept.len() > self.sample_size;
        let highest = if is_too_long { self.highest_of_sample() } else { None };
        let is_kept =
            move |of: &&Delivery| highest.is_none_or(|highest| rank(self.hashes, of) <= highest);
        self.kept.iter().filter(is_kept)
    }

    pub(super) fn take(&mut self) -> Vec<Delivery> {
        match self.messages {
            KeptMessages::All => std::mem::take(&mut self.kept),
            KeptMessages::None | KeptMessages::Sample => Vec::new(),
        }
    }
}

#[inline]
fn rank(hashes: Counted, delivery: &Delivery) -> Rank {
    let id = delivery.message.id();
    let (source, number) = id;
    (hashes.of(source.index() as u64).bits(number.index() as u64), id)
}
