//! Choices of an algorithm: the legal next channels of each state, towards one destination switch.
//!
//! Most algorithms have one phase. Up*/down* with source routes has two: before and after going
//! down.
//!
//! ```text
//!   s0 (2 hops) ──► s1 (1 hop) ──► t      choices of s0: s1 or s2
//!         └───────► s2 (1 hop) ────┘      choices of s1 and s2: t
//! ```
//!
//! Invariant: every choice reduces the remaining hops by exactly one, so packets arrive.

use crate::routing::paths::graph::{UNREACHED, largest_first};
use crate::{ChannelId, NodeId};
use gingham_kernel::id_type;

id_type!(
    /// Switch and phase: `switch * phases + phase`.
    State
);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    pub(crate) channel: ChannelId,
    pub(crate) to: State,
}

#[derive(Debug)]
pub(super) struct Choices {
    phases: usize,
    hops: Vec<u32>,
    first: Vec<usize>,
    onward: Vec<Choice>,
}

impl Choices {
    /// Keeps the legal `moves` that lead one hop nearer to the destination; `hops` are the
    /// remaining hops of each state.
    pub(super) fn one_hop_nearer<M: Iterator<Item = Choice>>(
        phases: usize,
        hops: Vec<u32>,
        moves: impl Fn(State) -> M,
    ) -> Self {
        let (mut first, mut onward) = (vec![0], Vec::new());
        for (state, &left) in hops.iter().enumerate() {
            if left != 0 && left != UNREACHED {
                let nearer = |choice: &Choice| hops[choice.to.index()] == left - 1;
                onward.extend(moves(State::new(state)).filter(nearer));
                assert!(onward.len() > first[state], "a state with hops left has a way on");
            }
            first.push(onward.len());
        }
        Self { phases, hops, first, onward }
    }

    pub(crate) fn start(&self, switch: NodeId) -> State {
        State::new(switch.index() * self.phases)
    }

    pub(super) fn state_count(&self) -> usize {
        self.hops.len()
    }

    pub(crate) fn hops(&self, state: State) -> u32 {
        self.hops[state.index()]
    }

    pub(crate) fn from(&self, state: State) -> &[Choice] {
        &self.onward[self.first[state.index()]..self.first[state.index() + 1]]
    }

    /// Returns whether each switch has at most one choice, which is the same in all phases.
    pub(super) fn are_none(&self) -> bool {
        let starts = (0..self.hops.len()).step_by(self.phases).map(State::new);
        let mut is_seen = vec![false; self.hops.len()];
        let mut ahead: Vec<State> = starts.collect();
        while let Some(state) = ahead.pop() {
            if std::mem::replace(&mut is_seen[state.index()], true) {
                continue;
            }
            let start = State::new(state.index() / self.phases * self.phases);
            let channel = |state| self.from(state).first().map(|choice| choice.channel);
            if self.from(state).len() > 1 || channel(state) != channel(start) {
                return false;
            }
            ahead.extend(self.from(state).iter().map(|choice| choice.to));
        }
        true
    }

    pub(crate) fn retain(&mut self, keeps: impl Fn(State, Choice) -> bool) {
        let mut kept = Vec::new();
        let mut first = vec![0];
        for state in State::first(self.hops.len()) {
            kept.extend(self.from(state).iter().filter(|choice| keeps(state, **choice)));
            first.push(kept.len());
        }
        (self.first, self.onward) = (first, kept);
    }

    pub(super) fn farthest_first(&self) -> Vec<State> {
        largest_first(&self.hops, UNREACHED).into_iter().map(State::new).collect()
    }
}
