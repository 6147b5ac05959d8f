//! Strict priority: the highest level that has an eligible queue, round robin among its queues.
//!
//! ```text
//!   level 1   queues 3, 6      the highest level that has one eligible is served,
//!   level 0   queues 0, 2, 5   and there the first queue after its last winner
//! ```
//!
//! Source: Kwan et al. 1996, section 3.3, for hosts and switches.
//!
//! Invariants: nobody is served while a higher level is eligible, so a lower level may starve; an
//! eligible queue of the highest level waits for each of its equals once at most.

use crate::error::check_count;
use crate::{Arbiter, Ready, RoundRobin, SchedulerError};

/// Strict priority over round robin.
#[derive(Clone, Debug)]
pub struct StrictPriority<const CAPACITY: usize> {
    levels: [Level; CAPACITY],
}

#[derive(Clone, Debug)]
struct Level {
    /// The queues of this level, as bits.
    queues: u64,
    turn: RoundRobin,
}

impl<const CAPACITY: usize> StrictPriority<CAPACITY> {
    /// The level of each queue, 0 the lowest, below `CAPACITY`.
    pub fn new(levels: &[usize]) -> Result<Self, SchedulerError> {
        check_count::<CAPACITY>(levels.len())?;
        let fresh = |_| Level { queues: 0, turn: RoundRobin::new(levels.len()) };
        let mut all: [Level; CAPACITY] = core::array::from_fn(fresh);
        for (queue, &level) in levels.iter().enumerate() {
            let too_high = SchedulerError::LevelTooHigh { queue, level, level_max: CAPACITY - 1 };
            all.get_mut(level).ok_or(too_high)?.queues |= 1 << queue;
        }
        Ok(Self { levels: all })
    }
}

impl<const CAPACITY: usize> Arbiter for StrictPriority<CAPACITY> {
    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
        let &[eligible] = ready.eligible() else { panic!("at most 64 queues are a word") };
        let of_level =
            |level: &mut Level| level.turn.serve(&Ready::alike(&[level.queues & eligible]));
        self.levels.iter_mut().rev().find_map(of_level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Head;

    #[test]
    fn the_highest_level_goes_first_and_each_remembers_its_turn() {
        let mut arbiter = StrictPriority::<8>::new(&[0, 1, 0, 1, 7]).unwrap();
        let heads = [Head::default(); 5];
        let order = [0b11111, 0b01111, 0b01111, 0b00101, 0b01111, 0b00101, 0]
            .map(|eligible| arbiter.serve(&Ready::new(&[eligible], &heads)));
        assert_eq!(order, [Some(4), Some(1), Some(3), Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn a_level_beyond_the_room_is_refused() {
        let refused = StrictPriority::<4>::new(&[3, 4]).unwrap_err();
        assert_eq!(refused, SchedulerError::LevelTooHigh { queue: 1, level: 4, level_max: 3 });
    }
}
