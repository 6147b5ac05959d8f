//! Adapter from a round-based scheduler to an arbiter.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 3.1, on skipping empty queues.
//!
//! Invariant: while every queue is eligible, the arbiter makes the same choices as the causal
//! scheduler.

use crate::{Arbiter, GeneralisedRoundRobin, Ready, Rounds};

/// Arbiter that runs a round-based scheduler and skips ineligible queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassingOver<S> {
    scheduler: S,
}

/// Weighted round robin over eligible queues.
pub type WeightedRoundRobin<const CAPACITY: usize> = PassingOver<GeneralisedRoundRobin<CAPACITY>>;

impl<S: Rounds> PassingOver<S> {
    /// Creates an arbiter that behaves like `scheduler` with only the eligible queues.
    pub const fn new(scheduler: S) -> Self {
        Self { scheduler }
    }

    /// Returns the wrapped scheduler.
    pub const fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// Returns the wrapped scheduler, mutably.
    pub const fn scheduler_mut(&mut self) -> &mut S {
        &mut self.scheduler
    }
}

impl<S: Rounds> Arbiter for PassingOver<S> {
    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
        if ready.is_empty() {
            return None;
        }
        let mut queue = self.scheduler.current();
        while !ready.has(queue) {
            self.scheduler.pass();
            queue = self.scheduler.current();
        }
        self.scheduler.charge(ready.head(queue).length_bytes);
        Some(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Head, Number, Round, SurplusRoundRobin};

    #[test]
    fn emptied_queue_forfeits_the_rest_of_its_turn() {
        let weights = GeneralisedRoundRobin::<2>::new(&[3, 1]).unwrap();
        let mut arbiter = WeightedRoundRobin::new(weights);
        let heads = [Head::default(); 2];
        let mut serve = |eligible| arbiter.serve(&Ready::new(&[eligible], &heads));
        assert_eq!([serve(0b11), serve(0b10), serve(0b11)], [Some(0), Some(1), Some(0)]);
        assert_eq!([serve(0b00), serve(0b11), serve(0b11)], [None, Some(0), Some(0)]);
        assert_eq!(serve(0b11), Some(1));
    }

    /// The quantum is 500 bytes. Queue 0 sends 300 bytes, becomes empty and loses the remaining
    /// bytes. Queue 1 sends 200 and 450 bytes, overdraws by 150, and keeps this debt during an idle
    /// round.
    #[test]
    fn emptied_queue_loses_credit_but_keeps_debt() {
        let mut arbiter = PassingOver::new(SurplusRoundRobin::<3>::new(500, &[500; 3]).unwrap());
        let mut serve = |eligible, length_bytes| {
            let heads = [Head { length_bytes, arrival_ps: 0 }; 3];
            let queue = arbiter.serve(&Ready::new(&[eligible], &heads));
            (queue, [0, 1, 2].map(|queue| arbiter.scheduler().number(queue)))
        };
        let number = |round, deficit_bytes| Number { round: Round::new(round), deficit_bytes };

        let (queue, numbers) = serve(0b111, 300);
        assert_eq!((queue, numbers[0]), (Some(0), number(1, 200)));
        let (queue, numbers) = serve(0b110, 200);
        assert_eq!((queue, numbers[0], numbers[1]), (Some(1), number(2, 500), number(1, 300)));
        let (queue, numbers) = serve(0b110, 450);
        assert_eq!((queue, numbers[1]), (Some(1), number(2, 350)));
        assert_eq!(serve(0b100, 500).0, Some(2));
        let (queue, numbers) = serve(0b100, 500);
        assert_eq!(queue, Some(2));
        assert_eq!(numbers, [number(3, 500), number(3, 350), number(3, 500)]);
    }

    #[test]
    fn passing_over_idle_queues_ends_the_round() {
        let weights = GeneralisedRoundRobin::<3>::new(&[3, 1, 2]).unwrap();
        let mut arbiter = WeightedRoundRobin::new(weights);
        assert_eq!(arbiter.serve(&Ready::alike(&[0b101])), Some(0));
        arbiter.scheduler_mut().change(0, 1).unwrap();
        arbiter.scheduler_mut().change(2, 1).unwrap();
        let order: [_; 7] = core::array::from_fn(|_| arbiter.serve(&Ready::alike(&[0b101])));
        assert_eq!(order, [0, 0, 2, 2, 0, 2, 0].map(Some));
        arbiter.scheduler_mut().change(1, 2).unwrap();
        assert_eq!(arbiter.serve(&Ready::alike(&[0])), None);
        let order: [_; 4] = core::array::from_fn(|_| arbiter.serve(&Ready::alike(&[0b010])));
        assert_eq!(order, [Some(1); 4]);
        assert_eq!(arbiter.serve(&Ready::alike(&[0b111])), Some(1));
        assert_eq!(arbiter.serve(&Ready::alike(&[0b111])), Some(2));
    }

    #[test]
    fn quantum_change_applies_to_rounds_not_yet_entered() {
        let mut arbiter = PassingOver::new(SurplusRoundRobin::<2>::new(1, &[500, 500]).unwrap());
        let heads = [Head { length_bytes: 250, arrival_ps: 0 }; 2];
        let serve = |arbiter: &mut PassingOver<SurplusRoundRobin<2>>| {
            arbiter.serve(&Ready::new(&[0b11], &heads)).unwrap()
        };
        let order: [_; 3] = core::array::from_fn(|_| serve(&mut arbiter));
        assert_eq!(order, [0, 0, 1]);
        arbiter.scheduler_mut().change_soon(0, 200).unwrap();
        arbiter.scheduler_mut().change_soon(1, 200).unwrap();
        let order: [_; 9] = core::array::from_fn(|_| serve(&mut arbiter));
        assert_eq!(order, [1, 0, 0, 1, 0, 1, 0, 1, 0]);
        let number = |round, deficit_bytes| Number { round: Round::new(round), deficit_bytes };
        assert_eq!(
            [0, 1].map(|queue| arbiter.scheduler().number(queue)),
            [number(6, 50), number(5, 50)]
        );
    }

    #[test]
    fn debt_is_charged_against_the_new_quantum() {
        let mut scheduler = SurplusRoundRobin::<2>::new(300, &[500, 500]).unwrap();
        for queue in 0..2 {
            scheduler.change(queue, Change { from: Round::new(2), quantum_bytes: 300 }).unwrap();
        }
        let mut arbiter = PassingOver::new(scheduler);
        let heads = [300, 250].map(|length_bytes| Head { length_bytes, arrival_ps: 0 });
        let order = [0b11, 0b11, 0b11, 0b11, 0b10].map(|eligible| {
            let queue = arbiter.serve(&Ready::new(&[eligible], &heads));
            (queue, arbiter.scheduler().number(0).deficit_bytes)
        });
        let expected = [(0, 200), (0, 200), (1, 200), (1, 200), (1, 200)];
        assert_eq!(order, expected.map(|(queue, deficit)| (Some(queue), deficit)));
        let owing = Number { round: Round::new(3), deficit_bytes: 200 };
        assert_eq!(arbiter.scheduler().number(0), owing);
    }
}
