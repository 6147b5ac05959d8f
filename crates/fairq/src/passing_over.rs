//! A round-based scheduler as an arbiter: it passes over the queues that have nothing to send.
//!
//! ```text
//!   current 1, not eligible -> pass      current 2, eligible -> charge its head, serve 2
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 3.1: skipping empty queues is what makes a
//! scheduler non-causal, and under backlog there are none. What a queue that is passed over loses
//! is the scheduler's to say ([`crate::Rounds::pass`]).
//!
//! Invariants: with every queue eligible it is the causal scheduler, packet for packet; between two
//! services each queue is passed over at most once.

use crate::{Arbiter, GeneralisedRoundRobin, Ready, Rounds};

/// The arbiter that a round-based scheduler makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassingOver<S> {
    scheduler: S,
}

/// Weighted round robin: so many packets a turn for each queue that has some.
pub type WeightedRoundRobin<const CAPACITY: usize> = PassingOver<GeneralisedRoundRobin<CAPACITY>>;

impl<S: Rounds> PassingOver<S> {
    /// Arbitrates as `scheduler` would, were there only the queues that can send.
    pub const fn new(scheduler: S) -> Self {
        Self { scheduler }
    }

    /// The scheduler within.
    pub const fn scheduler(&self) -> &S {
        &self.scheduler
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
    fn a_queue_that_runs_dry_leaves_the_rest_of_its_turn() {
        let weights = GeneralisedRoundRobin::<2>::new(&[3, 1]).unwrap();
        let mut arbiter = WeightedRoundRobin::new(weights);
        let heads = [Head::default(); 2];
        let mut serve = |eligible| arbiter.serve(&Ready::new(&[eligible], &heads));
        assert_eq!([serve(0b11), serve(0b10), serve(0b11)], [Some(0), Some(1), Some(0)]);
        assert_eq!([serve(0b00), serve(0b11), serve(0b11)], [None, Some(0), Some(0)]);
        assert_eq!(serve(0b11), Some(1));
    }

    /// Quanta of 500. Queue 0 sends 300 and runs dry: the 200 left are lost. Queue 1 sends 200 and
    /// 450, which overdraws by 150, and is then idle for a round: the debt waits for it.
    #[test]
    fn an_emptied_queue_loses_what_it_had_and_keeps_what_it_owes() {
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
        // Round 2: nobody but queue 2.
        let (queue, numbers) = serve(0b100, 500);
        assert_eq!(queue, Some(2));
        assert_eq!(numbers, [number(3, 500), number(3, 350), number(3, 500)]);
    }

    /// Quanta of 500 become 300 in round 2. Queue 0 overdraws by 100 in round 1 and is idle when
    /// round 2 begins: it owes the same 100 out of 300.
    #[test]
    fn what_is_owed_is_owed_to_new_quanta_too() {
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
        // 500 - 300 = 200 | 200 - 300 = -100, of 300 leaves 200 | queue 1 sends 500 to the byte.
        let expected = [(0, 200), (0, 200), (1, 200), (1, 200), (1, 200)];
        assert_eq!(order, expected.map(|(queue, deficit)| (Some(queue), deficit)));
        let owing = Number { round: Round::new(3), deficit_bytes: 200 };
        assert_eq!(arbiter.scheduler().number(0), owing);
    }
}
