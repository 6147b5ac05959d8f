//! Priority levels: the highest level with an eligible queue is served, unless it yields.
//!
//! ```text
//!   level 2   queue  3                 the highest level with an eligible queue is served,
//!   level 1   queues 0, 6 (weighted)   in the order of the level's own arbiter
//!   level 0   queues 2, 5
//!                                      levels served if `yield_after` is 2: 2 2 1 2 2 1 2 2 0   repeated
//! ```
//!
//! With yielding after `n` packets, a level may be served `n` times while a lower level is eligible;
//! then the same rule chooses one of the lower levels. Service of a lower level resets the counts
//! of all higher levels. A level that has an eligible queue and `k` levels above it is served at least
//! once in `2 (n + 1)^k` services.
//!
//! Sources: strict priority, Kwan et al. 1996, section 3.3; levels with weights, InfiniBand's
//! "two-level scheme" as described by Yum et al. 2002, section 3.3. Yielding among more than two
//! levels is our extension.

use core::num::NonZeroU32;

use crate::error::check_count;
use crate::{
    Arbiter, GeneralisedRoundRobin, Ready, RoundRobin, SchedulerError, WeightedRoundRobin,
};

/// Arbiter with priority levels and a separate arbiter for each level.
#[derive(Clone, Debug)]
pub struct Priority<A, const CAPACITY: usize> {
    levels: [Level<A>; CAPACITY],
    yield_after: Option<NonZeroU32>,
}

/// Strict priority with round robin within a level.
pub type StrictPriority<const CAPACITY: usize> = Priority<RoundRobin, CAPACITY>;

/// Strict or yielding priority with weighted round robin within a level.
pub type PriorityWeightedRoundRobin<const CAPACITY: usize> =
    Priority<WeightedRoundRobin<CAPACITY>, CAPACITY>;

#[derive(Clone, Debug)]
struct Level<A> {
    queues: u64,
    turn: A,
    /// Services of this level since a lower level was last served, counted while a lower level is
    /// eligible.
    served: u32,
}

impl<const CAPACITY: usize> StrictPriority<CAPACITY> {
    /// Creates an arbiter from each queue's level, from 0 (lowest) to `CAPACITY` - 1.
    pub fn new(levels: &[usize]) -> Result<Self, SchedulerError> {
        Self::over(levels, &RoundRobin::new(levels.len()), None)
    }
}

impl<const CAPACITY: usize> PriorityWeightedRoundRobin<CAPACITY> {
    /// Creates an arbiter from each queue's level (0 is the lowest) and packets per turn
    /// (`weights`). A level yields after `yield_after` packets, or never if `None`. Panics if
    /// `levels` and `weights` differ in length.
    pub fn new(
        levels: &[usize],
        weights: &[u32],
        yield_after: Option<NonZeroU32>,
    ) -> Result<Self, SchedulerError> {
        assert_eq!(levels.len(), weights.len(), "each queue has a level and a weight");
        let turn = WeightedRoundRobin::new(GeneralisedRoundRobin::new(weights)?);
        Self::over(levels, &turn, yield_after)
    }
}

impl<const CAPACITY: usize> PriorityWeightedRoundRobin<CAPACITY> {
    /// Changes a queue's packets per turn from the next round of its level on.
    pub fn change(&mut self, queue: usize, packets: u32) -> Result<(), SchedulerError> {
        let holds = |level: &&mut Level<_>| level.queues >> queue & 1 == 1;
        // No level contains a nonexistent queue, so the lowest level reports the error.
        let [lowest, others @ ..] = &mut self.levels[..] else {
            return Err(SchedulerError::NoChannels);
        };
        let level = others.iter_mut().find(holds).unwrap_or(lowest);
        level.turn.scheduler_mut().change(queue, packets)
    }
}

impl<A: Clone, const CAPACITY: usize> Priority<A, CAPACITY> {
    fn over(
        levels: &[usize],
        turn: &A,
        yield_after: Option<NonZeroU32>,
    ) -> Result<Self, SchedulerError> {
        check_count::<CAPACITY>(levels.len())?;
        let fresh = |_| Level { queues: 0, turn: turn.clone(), served: 0 };
        let mut all: [Level<A>; CAPACITY] = core::array::from_fn(fresh);
        for (queue, &level) in levels.iter().enumerate() {
            let too_high = SchedulerError::LevelTooHigh { queue, level, level_max: CAPACITY - 1 };
            all.get_mut(level).ok_or(too_high)?.queues |= 1 << queue;
        }
        Ok(Self { levels: all, yield_after })
    }
}

impl<A, const CAPACITY: usize> Priority<A, CAPACITY> {
    fn choose(&self, eligible: u64) -> Option<(usize, u64, u64)> {
        let (mut chosen, mut left) = (None, eligible);
        for (index, level) in self.levels.iter().enumerate().rev() {
            let own = level.queues & left;
            if own == 0 {
                continue;
            }
            left &= !own;
            chosen = Some((index, own, left));
            let yields = self.yield_after.is_some_and(|after| level.served >= after.get());
            if left == 0 || !yields {
                break;
            }
        }
        chosen
    }
}

impl<A: Arbiter + Clone, const CAPACITY: usize> Arbiter for Priority<A, CAPACITY> {
    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
        let (chosen, own, below) = self.choose(word(ready))?;
        for above in &mut self.levels[chosen + 1..] {
            above.served = 0;
        }
        let level = &mut self.levels[chosen];
        if let Some(after) = self.yield_after.filter(|_| below != 0) {
            level.served = level.served.saturating_add(1).min(after.get());
        }
        level.turn.serve(&Ready::alike(&[own]))
    }

    fn peek(&self, ready: &Ready<'_>) -> Option<usize> {
        let (chosen, own, _) = self.choose(word(ready))?;
        self.levels[chosen].turn.peek(&Ready::alike(&[own]))
    }
}

fn word(ready: &Ready<'_>) -> u64 {
    let &[eligible] = ready.eligible() else { panic!("at most 64 queues are a word") };
    eligible
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Head;

    fn weighted<const COUNT: usize>(
        levels: [usize; COUNT],
        weights: [u32; COUNT],
        yield_after: u32,
    ) -> PriorityWeightedRoundRobin<8> {
        PriorityWeightedRoundRobin::new(&levels, &weights, NonZeroU32::new(yield_after)).unwrap()
    }

    fn order<const COUNT: usize>(
        arbiter: &mut impl Arbiter,
        eligible: [u64; COUNT],
    ) -> [Option<usize>; COUNT] {
        eligible.map(|eligible| arbiter.serve(&Ready::alike(&[eligible])))
    }

    #[test]
    fn highest_level_is_served_first_and_levels_keep_their_turn() {
        let mut arbiter = StrictPriority::<8>::new(&[0, 1, 0, 1, 7]).unwrap();
        let heads = [Head::default(); 5];
        let order = [0b11111, 0b01111, 0b01111, 0b00101, 0b01111, 0b00101, 0]
            .map(|eligible| arbiter.serve(&Ready::new(&[eligible], &heads)));
        assert_eq!(order, [Some(4), Some(1), Some(3), Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn level_above_the_maximum_is_refused() {
        let refused = StrictPriority::<4>::new(&[3, 4]).unwrap_err();
        assert_eq!(refused, SchedulerError::LevelTooHigh { queue: 1, level: 4, level_max: 3 });
    }

    #[test]
    fn weights_share_a_level_and_lower_levels_starve() {
        let mut arbiter = weighted([1, 1, 0], [2, 1, 5], 0);
        let expected = [0, 0, 1, 0, 0, 1, 0].map(Some);
        assert_eq!(order(&mut arbiter, [0b111; 7]), expected);
        assert_eq!(order(&mut arbiter, [0b110, 0b111, 0b100, 0b111]), [1, 0, 2, 0].map(Some));
    }

    #[test]
    fn level_yields_once_after_the_configured_services() {
        let mut arbiter = weighted([1, 1, 0], [2, 1, 5], 4);
        let expected = [0, 0, 1, 0, 2, 0, 1, 0, 0, 2, 1, 0, 0, 1, 2].map(Some);
        assert_eq!(order(&mut arbiter, [0b111; 15]), expected);
    }

    #[test]
    fn each_of_three_levels_yields_to_all_lower_levels() {
        let mut arbiter = weighted([2, 1, 0], [1; 3], 2);
        let round = [0, 0, 1, 0, 0, 1, 0, 0, 2].map(Some);
        assert_eq!(order(&mut arbiter, [0b111; 9]), round);
        assert_eq!(order(&mut arbiter, [0b111; 9]), round);
    }

    #[test]
    fn services_without_lower_demand_do_not_count() {
        let mut arbiter = weighted([1, 0], [1; 2], 2);
        assert_eq!(order(&mut arbiter, [0b01; 3]), [Some(0); 3]);
        assert_eq!(order(&mut arbiter, [0b11; 3]), [0, 0, 1].map(Some));
        assert_eq!(order(&mut arbiter, [0b11, 0b10]), [0, 1].map(Some));
        assert_eq!(order(&mut arbiter, [0b11; 3]), [0, 0, 1].map(Some));
        assert_eq!(order(&mut arbiter, [0b11, 0b11, 0b01, 0b11]), [0, 0, 0, 1].map(Some));
    }

    #[test]
    fn weights_change_at_the_round_end_of_their_level() {
        let mut arbiter = weighted([1, 1, 0, 0], [2, 1, 1, 1], 1);
        assert_eq!(order(&mut arbiter, [0b1111; 2]), [0, 2].map(Some));
        for (queue, packets) in [(0, 1), (1, 2), (2, 3), (3, 1)] {
            arbiter.change(queue, packets).unwrap();
        }
        let expected = [0, 3, 1, 2, 0, 2, 1, 2, 1, 3, 0, 2].map(Some);
        assert_eq!(order(&mut arbiter, [0b1111; 12]), expected);
        let gone = SchedulerError::NoSuchChannel { channel: 4, count: 4 };
        assert_eq!(arbiter.change(4, 1), Err(gone));
    }

    #[test]
    fn peek_returns_the_queue_served_next() {
        let mut arbiter = weighted([2, 2, 1, 0], [1, 2, 1, 1], 2);
        for eligible in (0..200_u64).map(|step| step * 7 % 16) {
            let eligible = [eligible];
            let ready = Ready::alike(&eligible);
            assert_eq!(arbiter.peek(&ready), arbiter.clone().serve(&ready));
            assert_eq!(arbiter.peek(&ready), arbiter.serve(&ready));
        }
    }
}
