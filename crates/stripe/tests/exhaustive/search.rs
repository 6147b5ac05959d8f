//! Every state that can be reached, each once, depth first; from each of them the pipe recovers.
//!
//! ```text
//!   state -- Send, Arrive, Lose, ... --> states      known by fingerprint: left alone
//!     |
//!     +-- at rest: channels are kind from here on, packets go, time passes --> in order, nothing waits
//! ```
//!
//! Where something is on its way, that it gets there is one of the events, which takes nothing of
//! what may still happen. So each state leads to one at rest by what kind channels do, through
//! states that are searched too, and it is enough to look from there.
//!
//! Invariant: what is found comes with the events that led there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use gingham_stripe::Discard;

use crate::rules::Rules;
use crate::world::{CHANNELS, Event, INTERVAL, Left, World};

/// Within so many intervals of markers order is exact again.
const RECOVERY_STEPS: u32 = 150;
/// In order for so many in a row is recovered: more than a wait.
const STEPS_IN_ORDER: u32 = 12;

/// What was found wrong.
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

/// What was seen.
#[derive(Default)]
pub(crate) struct Search {
    visited: BTreeSet<u128>,
    trace: Vec<Event>,
    pub(crate) events: u64,
    pub(crate) at_rest: u64,
    pub(crate) depth_max: usize,
    pub(crate) recovery_max: u32,
    pub(crate) kinds: BTreeMap<String, u64>,
    pub(crate) outcomes: BTreeSet<&'static str>,
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} states by {} events, at most {} one after another; recovery from {} at rest, in at most {} intervals; {:?}; {:?}",
            self.states(),
            self.events,
            self.depth_max,
            self.at_rest,
            self.recovery_max,
            self.kinds,
            self.outcomes
        )
    }
}

/// All that can happen to such a pipe.
pub(crate) fn search(rules: Rules, left: Left) -> Result<Search, Failure> {
    let mut search = Search::default();
    let result = search.explore(World::new(rules, left));
    result.map_err(|what| Failure { what, trace: search.trace.clone() }).map(|()| search)
}

impl Search {
    pub(crate) fn states(&self) -> usize {
        self.visited.len()
    }

    fn explore(&mut self, mut world: World) -> Result<(), String> {
        if !self.visited.insert(world.print()) {
            return Ok(());
        }
        self.note(&world);
        if world.is_at_rest() {
            self.recover(&world)?;
        }
        for event in world.events() {
            self.trace.push(event);
            self.depth_max = self.depth_max.max(self.trace.len());
            self.events += 1;
            *self.kinds.entry(kind(event)).or_default() += 1;
            let mut next = world.clone();
            next.apply(event)?;
            self.explore(next)?;
            self.trace.pop();
        }
        Ok(())
    }

    /// Channels are kind from now on: after a while each packet comes at once and in order, and
    /// nothing waits any more.
    fn recover(&mut self, world: &World) -> Result<(), String> {
        let (mut world, sent) = (world.clone().forgetful(), world.sent);
        let mut in_order = 0;
        self.at_rest += 1;
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

    /// What the ends have come to.
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
        assert_eq!((reception.unsound, sending.unsound), (0, 0), "nothing leads there");
    }
}

fn kind(event: Event) -> String {
    let text = format!("{event:?}");
    let name = text.split('(').next().unwrap_or_default();
    match event {
        Event::Pass(_) => text,
        _ => name.to_owned(),
    }
}
