//! Individual message records: none, a sample, or all.
//!
//! The sample consists of the deliveries with the smallest hashes of seed and message identity, up
//! to a fixed number (bottom-k sampling: Cohen and Kaplan, "Summarizing Data using Bottom-k
//! Sketches", PODC 2007).
//!
//! The sampled messages created in the window are a uniform sample of the window. Since the hash
//! depends only on a message's source and its number at that source, samples from parts of a run
//! can be merged.

use crate::{Delivery, KeptMessages, MeasurePlan, Message};
use gingham_kernel::{Counted, Purpose};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

#[derive(Clone, Debug)]
pub(super) struct Records {
    messages: KeptMessages,
    /// All deliveries so far; in a sampled run, replaced by `sample` once their number exceeds the
    /// sample size.
    all: Vec<Delivery>,
    sample: BinaryHeap<Sampled>,
    sample_size: usize,
    hashes: Counted,
}

#[derive(Clone, Debug)]
struct Sampled {
    hash: u64,
    delivery: Delivery,
}

impl Records {
    pub(super) fn new(seed: u64, plan: &MeasurePlan) -> Self {
        let hashes = Counted::new(seed, "message records", Purpose::Sample);
        let MeasurePlan { messages, sample_size, .. } = *plan;
        Self { messages, all: Vec::new(), sample: BinaryHeap::new(), sample_size, hashes }
    }

    #[inline]
    pub(super) fn offer(&mut self, delivery: &Delivery) {
        match self.messages {
            KeptMessages::None => {}
            KeptMessages::All => self.all.push(*delivery),
            KeptMessages::Sample => self.sample(delivery),
        }
    }

    #[inline]
    fn sample(&mut self, delivery: &Delivery) {
        if self.sample.is_empty() {
            self.all.push(*delivery);
            if self.all.len() > self.sample_size {
                self.begin_sample();
            }
            return;
        }
        let sampled = Sampled::new(self.hashes, delivery);
        // A delivery with an equal hash is not rejected here, because the message identity breaks
        // the tie.
        if self.sample.peek().is_some_and(|last| sampled.hash <= last.hash) {
            self.keep(sampled);
        }
    }

    #[inline(never)]
    fn begin_sample(&mut self) {
        let all = std::mem::take(&mut self.all);
        self.sample = all.iter().map(|delivery| Sampled::new(self.hashes, delivery)).collect();
        self.sample.pop();
    }

    #[inline(never)]
    fn keep(&mut self, sampled: Sampled) {
        self.sample.push(sampled);
        self.sample.pop();
    }

    pub(super) fn kept(&self) -> impl Iterator<Item = &Delivery> {
        self.all.iter().chain(self.sample.iter().map(|sampled| &sampled.delivery))
    }

    pub(super) fn take(&mut self) -> Vec<Delivery> {
        match self.messages {
            KeptMessages::All => std::mem::take(&mut self.all),
            KeptMessages::None | KeptMessages::Sample => Vec::new(),
        }
    }
}

impl Sampled {
    #[inline]
    fn new(hashes: Counted, delivery: &Delivery) -> Self {
        let Message { source, number, .. } = delivery.message;
        let hash = hashes.of(source.index() as u64).bits(number.index() as u64);
        Self { hash, delivery: *delivery }
    }

    fn key(&self) -> impl Ord + use<> {
        (self.hash, self.delivery.message.id())
    }
}

impl PartialEq for Sampled {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Sampled {}

impl PartialOrd for Sampled {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sampled {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
