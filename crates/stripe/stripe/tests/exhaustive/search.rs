//! Depth-first search of every reachable state, once each: first without faults, then with one, and
//! so on.
//!
//! ```text
//!   state -- Send, Arrive, Lose, ... --> states      known or covered: left alone
//!     |
//!     +-- at rest: no more faults, packets go, time passes --> in order, nothing waits
//! ```
//!
//! While a frame is in flight, its arrival is one of the events, and costs no budget: each state
//! leads to one at rest by fault-free events, and it is enough to check recovery from there.
//!
//! Partial-order reduction, by persistent sets (Godefroid, "Partial-Order Methods for the
//! Verification of Concurrent Systems", LNCS 1032, 1996, section 4). While frames are in flight on
//! both channels, steps of the sender only add frames behind. All steps of the receiver are
//! therefore explored first. This reaches the same states at rest, with at least the guarantees of
//! the other order, since a loss before a marker relaxes less than one after it. The reduction is
//! invalid if time passes, which both ends observe, or if the sender has gone back to an earlier
//! epoch, in which its markers guarantee less after arrivals.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use gingham_stripe::Discard;

use crate::event::{Event, Left};
use crate::rules::Rules;
use crate::visited::{Known, Visited};
use crate::world::{CHANNELS, INTERVAL, World};

/// Marker intervals within which the order becomes exact again.
const RECOVERY_STEPS: u32 = 150;
/// Intervals in order that count as recovery: more than a wait.
const STEPS_IN_ORDER: u32 = 12;

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) what: String,
    pub(crate) trace: Vec<Event>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.what, self.trace)
    }
}

type Walk = std::vec::IntoIter<Option<Event>>;

#[derive(Default)]
pub(crate) struct Search {
    visited: Visited,
    trace: Vec<Event>,
    /// In preorder: down by an event, or up.
    walk: Vec<Option<Event>>,
    pub(crate) events: u64,
    /// Fingerprints of states at rest.
    at_rest: BTreeSet<u128>,
    pub(crate) depth_max: usize,
    pub(crate) recovery_max: u32,
    pub(crate) kinds: BTreeMap<&'static str, u64>,
    pub(crate) outcomes: BTreeSet<&'static str>,
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} states by {} events, at most {} one after another; {} at rest, recovery in at most {} intervals; {:?}; {:?}",
            self.states(),
            self.events,
            self.depth_max,
            self.at_rest.len(),
            self.recovery_max,
            self.kinds,
            self.outcomes
        )
    }
}

pub(crate) fn search(rules: Rules, left: Left) -> Result<Search, Failure> {
    search_from(&World::new(rules, left))
}

fn search_from(start: &World) -> Result<Search, Failure> {
    let mut search = Search::default();
    let result = search.run(start);
    result.map_err(|what| Failure { what, trace: search.trace.clone() }).map(|()| search)
}

impl Search {
    pub(crate) fn states(&self) -> usize {
        self.visited.states()
    }

    fn run(&mut self, start: &World) -> Result<(), String> {
        self.explore(start)?;
        for unkind in 1..=start.left.faults + start.left.pauses {
            let known = std::mem::take(&mut self.walk);
            self.again(start, unkind, &mut known.into_iter())?;
        }
        Ok(())
    }

    /// Adds one more fault or pause to the explored states.
    fn again(&mut self, world: &World, unkind: u8, walk: &mut Walk) -> Result<(), String> {
        if world.unkind + 1 == unkind {
            for event in world.events().into_iter().filter(|event| !event.is_kind()) {
                self.follow(world, event)?;
            }
        }
        while let Some(Some(event)) = walk.next() {
            let next = self.down(world, event)?;
            self.again(&next, unkind, walk)?;
            self.up();
        }
        Ok(())
    }

    /// Explores the fault-free successors.
    fn explore(&mut self, world: &World) -> Result<(), String> {
        for event in world.events().into_iter().filter(|event| event.is_kind()) {
            self.follow(world, event)?;
        }
        Ok(())
    }

    fn follow(&mut self, world: &World, event: Event) -> Result<(), String> {
        self.events += 1;
        *self.kinds.entry(event.kind()).or_default() += 1;
        let mut next = self.down(world, event)?;
        self.note(&next);
        let known = self.visited.enter(next.print(), next.left, next.ledger);
        if next.is_at_rest() {
            self.at_rest.insert(next.print());
            if known == Known::Nothing {
                self.recover(&next)?;
            }
        }
        if known == Known::Explored {
            self.walk.pop();
            self.trace.pop();
        } else {
            self.explore(&next)?;
            self.up();
        }
        Ok(())
    }

    fn down(&mut self, world: &World, event: Event) -> Result<World, String> {
        self.trace.push(event);
        self.walk.push(Some(event));
        self.depth_max = self.depth_max.max(self.trace.len());
        let mut next = world.clone();
        next.apply(event)?;
        Ok(next)
    }

    fn up(&mut self) {
        self.trace.pop();
        self.walk.push(None);
    }

    /// After a while each packet arrives at once and in order, and nothing waits.
    fn recover(&mut self, world: &World) -> Result<(), String> {
        let (mut world, sent) = (world.clone().forgetful(), world.sent);
        let mut in_order = 0;
        for step in 1..=RECOVERY_STEPS {
            world.given.clear();
            let first = world.sent;
            world.pass(INTERVAL)?;
            world.settle()?;
            (0..2).for_each(|_| world.send(None));
            world.settle()?;
            let is_in = |channel| !world.sender.state.is_dead(channel);
            let all_in = (0..CHANNELS).all(is_in);
            let comes =
                all_in && first < world.sent && world.given.iter().copied().eq(first..world.sent);
            in_order = if comes { in_order + 1 } else { 0 };
            if in_order == STEPS_IN_ORDER {
                self.recovery_max = self.recovery_max.max(step - STEPS_IN_ORDER);
                let waiting = world.waiting();
                return if waiting > 0 {
                    Err(format!("{waiting} packets wait after all"))
                } else {
                    world.ledger.end(sent)
                };
            }
        }
        Err(format!("no order after {RECOVERY_STEPS} intervals: {:?} given", world.given))
    }

    fn note(&mut self, world: &World) {
        let (reception, sending) = (world.receiver.state.reception(), world.sender.state.sending());
        let discarded = |reason| reception.discards.of(reason) > 0;
        let outcomes = [
            ("all given out", world.left.packets == 0 && world.is_at_rest()),
            ("marker ahead", reception.ahead > 0),
            ("marker late", reception.late > 0),
            ("passed over", reception.passed > 0),
            ("silence", reception.silences > 0),
            ("given up", reception.given_up > 0),
            ("repaired", reception.repaired > 0),
            ("departure", reception.departures > 0),
            ("death", sending.deaths > 0),
            ("channel back", sending.changes > 0),
            ("reset requested", reception.requests > 0),
            ("request heeded", sending.resets > 0 && reception.requests > 0),
            ("request too soon", sending.discards.of(Discard::TooSoon) > 0),
            ("flushed", reception.epochs > 1 && !world.given.is_empty()),
            ("thrown away at a reset", discarded(Discard::Reset)),
            ("repeated", discarded(Discard::Repeated)),
            ("too late", discarded(Discard::TooLate)),
            ("stale epoch", discarded(Discard::StaleEpoch)),
            ("repeated reset", discarded(Discard::RepeatedReset)),
            ("unsynchronised", discarded(Discard::Unsynchronised)),
            ("channel out", discarded(Discard::ChannelOut)),
        ];
        self.outcomes.extend(outcomes.iter().filter(|(_, is)| *is).map(|(name, _)| *name));
        assert_eq!((reception.corrupt, sending.corrupt), (0, 0), "nothing leads there");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Mode;

    #[test]
    fn reduced_search_reaches_the_same_states_at_rest() {
        let left = Left {
            packets: 4,
            faults: 2,
            losses: 2,
            repeats: 1,
            restarts: 1,
            outages: 0,
            pauses: 0,
        };
        for mode in [Mode::Quasi, Mode::Guaranteed, Mode::Repairing, Mode::Free] {
            let start = World::new(Rules { mode, flaw: None }, left);
            let reduced = search_from(&start).expect("nothing is wrong");
            let full = search_from(&start.in_full()).expect("nothing is wrong");
            assert!(reduced.states() < full.states(), "nothing is left out: {mode:?}");
            assert!(reduced.at_rest == full.at_rest, "{mode:?}");
        }
    }
}
