//! A bounded, seeded sample of deliveries: all of them up to a limit, then a uniform sample
//! (Vitter, "Random Sampling with a Reservoir", ACM TOMS 11(1), 1985, algorithm R).

use crate::Delivery;
use gingham_kernel::{Purpose, Stream};

/// Deliveries kept at the most.
pub const RECORDS_MAX: usize = 1_000_000;

/// A sample of deliveries.
#[derive(Clone, Debug)]
pub struct Records {
    kept: Vec<Delivery>,
    limit: usize,
    seen: u64,
    stream: Stream,
}

impl Records {
    /// An empty sample of at most `limit` deliveries.
    pub fn new(seed: u64, limit: usize) -> Self {
        let stream = Stream::new(seed, "message records", Purpose::Shuffle);
        Self { kept: Vec::new(), limit, seen: 0, stream }
    }

    /// Offers a delivery to the sample.
    pub fn offer(&mut self, delivery: Delivery) {
        self.seen += 1;
        if self.kept.len() < self.limit {
            self.kept.push(delivery);
            return;
        }
        let place = usize::try_from(self.stream.below(self.seen)).unwrap_or(usize::MAX);
        if let Some(slot) = self.kept.get_mut(place) {
            *slot = delivery;
        }
    }

    /// The sample in order of creation.
    pub fn sorted(&self) -> Vec<Delivery> {
        let mut sample = self.kept.clone();
        sample.sort_by_key(|delivery| delivery.message.id);
        sample
    }

    /// How many deliveries were offered.
    pub fn seen(&self) -> u64 {
        self.seen
    }
}
