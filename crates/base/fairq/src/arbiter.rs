//! Arbiters, which choose the queue whose head packet a channel sends next.
//!
//! ```text
//!   queue 0  [1000 B, arrived  70 ns]   eligible  \    `serve` returns 2
//!   queue 1  [ 200 B, arrived  10 ns]   no credit  >   and counts its
//!   queue 2  [ 500 B, arrived  40 ns]   eligible  /    head as sent
//! ```
//!
//! A queue is ineligible while it is empty or its head cannot be sent, for example for lack of
//! credits.
//!
//! Invariants: an arbiter always serves a queue if at least one is eligible; otherwise its state
//! does not change.

/// Packet at the head of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Packet length in bytes.
    pub length_bytes: u32,
    /// Arrival time at the queue, in ps.
    pub arrival_ps: u64,
}

/// Eligible queues and their head packets at the time of a choice.
#[derive(Clone, Copy, Debug)]
pub struct Ready<'a> {
    eligible: &'a [u64],
    heads: &'a [Head],
}

impl<'a> Ready<'a> {
    /// Describes eligible queues by a bit mask (queue 0 is the lowest bit of the first word) and
    /// the head packet of each queue.
    ///
    /// Panics if `eligible` has bits for queues without a head.
    pub fn new(eligible: &'a [u64], heads: &'a [Head]) -> Self {
        let ready = Self { eligible, heads };
        assert!(ready.queues().all(|queue| queue < heads.len()), "an eligible queue has a head");
        ready
    }

    /// Describes eligible queues without head packets: each head counts as a zero-length packet
    /// that arrived at time 0.
    pub const fn alike(eligible: &'a [u64]) -> Self {
        Self { eligible, heads: &[] }
    }

    /// Returns the bit mask of eligible queues.
    pub const fn eligible(&self) -> &'a [u64] {
        self.eligible
    }

    /// Returns whether no queue is eligible.
    pub fn is_empty(&self) -> bool {
        self.eligible.iter().all(|word| *word == 0)
    }

    /// Returns whether a queue is eligible.
    pub const fn has(&self, queue: usize) -> bool {
        self.eligible[queue / 64] >> (queue % 64) & 1 == 1
    }

    /// Returns the head packet of a queue.
    pub const fn head(&self, queue: usize) -> Head {
        if self.heads.is_empty() {
            return Head { length_bytes: 0, arrival_ps: 0 };
        }
        self.heads[queue]
    }

    /// Iterates over the eligible queues in ascending order.
    pub fn queues(&self) -> impl Iterator<Item = usize> {
        self.eligible.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            (0..word.count_ones()).map(move |_| {
                let queue = index * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                queue
            })
        })
    }
}

/// Scheduler that may consider head packet lengths, arrival times and empty queues.
///
/// ```
/// use gingham_fairq::{Arbiter, DeficitRoundRobin, Head, Ready};
///
/// let mut arbiter = DeficitRoundRobin::<8>::new(1_500, &[1_500, 3_000, 1_500])?;
/// let heads = [1_000, 1_500, 200].map(|length_bytes| Head { length_bytes, arrival_ps: 0 });
/// let mut serve = |eligible| arbiter.serve(&Ready::new(&[eligible], &heads));
/// assert_eq!(serve(0b110), Some(1)); // queue 0 is empty
/// assert_eq!(serve(0b111), Some(1)); // 1,500 of the 3,000 bytes are left
/// assert_eq!(serve(0b111), Some(2));
/// assert_eq!(serve(0b000), None);
/// # Ok::<(), gingham_fairq::SchedulerError>(())
/// ```
pub trait Arbiter {
    /// Chooses an eligible queue and counts its head as sent. `ready` must describe all queues
    /// of the arbiter; otherwise the call may panic or starve a queue.
    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize>;

    /// Returns the queue that [`Self::serve`] would choose, without changing the state.
    fn peek(&self, ready: &Ready<'_>) -> Option<usize>
    where
        Self: Clone,
    {
        self.clone().serve(ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_queues_are_iterated_in_order() {
        let heads = [Head::default(); 70];
        let ready = Ready::new(&[1 << 63 | 0b1010, 0, 0], &heads);
        assert!(ready.queues().eq([1, 3, 63]));
        assert!(ready.has(63) && !ready.has(62) && !ready.has(127));
        assert!(Ready::new(&[2, 0b10_0001], &heads).queues().eq([1, 64, 69]));
        assert!(Ready::new(&[0, 0], &heads).is_empty());
        assert!(!Ready::alike(&[0, 1]).is_empty());
        assert_eq!(Ready::alike(&[0, 1]).head(64), Head::default());
    }

    #[test]
    #[should_panic(expected = "an eligible queue has a head")]
    fn ready_set_with_an_absent_queue_panics() {
        let _ = Ready::new(&[0b100], &[Head::default(); 2]);
    }
}
