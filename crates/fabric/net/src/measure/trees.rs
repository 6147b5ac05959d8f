//! Congestion trees over time, from periodic inspections.
//!
//! Trees with the same root at consecutive inspections count as one tree; all knots (waits in a
//! cycle) of an inspection count as one tree.
//!
//! Invariant: an inspection sees all events before its time, and no event at its time.

use super::follow::Steps;
use crate::congestion::Tree;
use crate::{FlowKey, Plan};
use gingham_kernel::Time;
use gingham_topology::ChannelId;
use std::collections::{BTreeMap, BTreeSet};

/// Congestion tree at one inspection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeStep {
    /// Time of the inspection.
    pub time: Time,
    /// Root channel; `None` for a knot.
    pub root: Option<ChannelId>,
    /// Number of branches, counted as lanes.
    pub branches: usize,
    /// Number of leaves among the branches.
    pub leaves: usize,
    /// Number of branches from the farthest leaf to the root.
    pub depth: usize,
    /// Number of hosts whose injection channel is a branch.
    pub hosts: usize,
    /// Number of flows that feed the tree.
    pub feeding: usize,
    /// Number of victim flows.
    pub victims: usize,
    /// Number of packets in the tree.
    pub packets: usize,
}

/// Congestion tree from its birth to its death.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeLife {
    /// Root channel; `None` for a knot.
    pub root: Option<ChannelId>,
    /// Time of the first inspection that found the tree.
    pub born: Time,
    /// Time of the first inspection without the tree; `None` if the last one still found it.
    pub died: Option<Time>,
    /// Number of inspections that found the tree.
    pub samples: usize,
    /// State at the first inspection with the maximum number of branches.
    pub greatest: TreeStep,
}

/// Number of inspections that found a channel in each role, in any tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelRoles {
    /// Inspections in which the channel was a root.
    pub root: usize,
    /// Inspections in which the channel was a branch, on any lane.
    pub branch: usize,
    /// Inspections in which the channel was a leaf, on any lane.
    pub leaf: usize,
}

/// Number of inspections that found a flow in each role, in any tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowRoles {
    /// Inspections in which the flow fed a tree.
    pub feeding: usize,
    /// Inspections in which the flow was a victim of a tree, but fed none.
    pub victim: usize,
}

/// Congestion trees of a run.
#[derive(Clone, Debug)]
pub struct Trees {
    samples: Steps,
    times: Vec<Time>,
    steps: Vec<TreeStep>,
    channels: BTreeMap<ChannelId, ChannelRoles>,
    flows: BTreeMap<FlowKey, FlowRoles>,
}

impl Trees {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            samples: Steps::every(plan.measure.tree_step.unwrap_or_default(), plan.stop.time),
            times: Vec::new(),
            steps: Vec::new(),
            channels: BTreeMap::new(),
            flows: BTreeMap::new(),
        }
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.samples.end_of(self.times.len())
    }

    pub(super) fn add(&mut self, time: Time, trees: &[Tree]) {
        assert_eq!(Some(time), self.next(), "samples are at the ends of steps");
        self.times.push(time);
        self.steps.extend(trees.iter().map(|tree| TreeStep {
            time,
            root: tree.root,
            branches: tree.branches.len(),
            leaves: tree.leaves.len(),
            depth: tree.depth,
            hosts: tree.hosts.len(),
            feeding: tree.feeding.len(),
            victims: tree.victims.len(),
            packets: tree.packets,
        }));
        let roots: BTreeSet<_> = trees.iter().filter_map(|tree| tree.root).collect();
        let channels = |of: fn(&Tree) -> &Vec<gingham_topology::routing::Buffer>| -> BTreeSet<_> {
            trees.iter().flat_map(of).map(|lane| lane.channel).collect()
        };
        for channel in roots {
            self.channels.entry(channel).or_default().root += 1;
        }
        for channel in channels(|tree| &tree.branches) {
            self.channels.entry(channel).or_default().branch += 1;
        }
        for channel in channels(|tree| &tree.leaves) {
            self.channels.entry(channel).or_default().leaf += 1;
        }
        let feeding: BTreeSet<_> = trees.iter().flat_map(|tree| &tree.feeding).collect();
        let victims: BTreeSet<_> = trees.iter().flat_map(|tree| &tree.victims).collect();
        for flow in &feeding {
            self.flows.entry(**flow).or_default().feeding += 1;
        }
        for flow in victims.difference(&feeding) {
            self.flows.entry(**flow).or_default().victim += 1;
        }
    }

    /// Returns the number of inspections.
    pub fn samples(&self) -> usize {
        self.times.len()
    }

    /// Returns the trees, ordered by inspection and then by root.
    pub fn steps(&self) -> &[TreeStep] {
        &self.steps
    }

    /// Returns the channels that were in any tree, ascending.
    pub fn channels(&self) -> impl Iterator<Item = (ChannelId, ChannelRoles)> {
        self.channels.iter().map(|(channel, roles)| (*channel, *roles))
    }

    /// Returns the flows with packets in any tree, ascending.
    pub fn flows(&self) -> impl Iterator<Item = (FlowKey, FlowRoles)> {
        self.flows.iter().map(|(flow, roles)| (*flow, *roles))
    }

    /// Returns the lifetimes of the trees, ordered by birth and then by root, knots last.
    pub fn lives(&self) -> Vec<TreeLife> {
        let mut lives: Vec<TreeLife> = Vec::new();
        let mut alive: BTreeMap<Option<ChannelId>, usize> = BTreeMap::new();
        let mut steps = self.steps.iter().peekable();
        for time in &self.times {
            let mut before = std::mem::take(&mut alive);
            while let Some(step) = steps.next_if(|step| step.time == *time) {
                let known = alive.get(&step.root).copied().or_else(|| before.remove(&step.root));
                let place = known.unwrap_or_else(|| {
                    let TreeStep { root, time: born, .. } = *step;
                    lives.push(TreeLife { root, born, died: None, samples: 0, greatest: *step });
                    lives.len() - 1
                });
                let life = &mut lives[place];
                life.samples += usize::from(alive.insert(step.root, place).is_none());
                if step.branches > life.greatest.branches {
                    life.greatest = *step;
                }
            }
            for place in before.into_values() {
                lives[place].died = Some(*time);
            }
        }
        lives
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Span;
    use gingham_topology::routing::Buffer;

    /// Inspects a 60 ps run every 10 ps. `branches` lists the tree's size at each inspection; 0
    /// means no tree.
    fn run(root: usize, branches: &[usize]) -> Trees {
        let mut trees = Trees {
            samples: Steps::every(Span::from_ps(10), Time::from_ps(60)),
            times: Vec::new(),
            steps: Vec::new(),
            channels: BTreeMap::new(),
            flows: BTreeMap::new(),
        };
        for (sample, branches) in (1..).zip(branches) {
            let lanes = |count| (0..count).map(|id| Buffer::from(ChannelId::new(id))).collect();
            let tree = Tree {
                root: Some(ChannelId::new(root)),
                branches: lanes(*branches),
                leaves: lanes(1),
                depth: 1,
                hosts: BTreeSet::new(),
                feeding: BTreeSet::new(),
                victims: BTreeSet::new(),
                packets: 1,
            };
            let found = if *branches > 0 { vec![tree] } else { Vec::new() };
            trees.add(Time::from_ps(10 * sample), &found);
        }
        trees
    }

    #[test]
    fn tree_lives_while_samples_find_its_root() {
        let lives = run(9, &[0, 3, 5, 5, 0, 1]).lives();
        let [first, second] = &lives[..] else { panic!("two trees: {lives:?}") };
        assert_eq!((first.born, first.died), (Time::from_ps(20), Some(Time::from_ps(50))));
        assert_eq!((first.samples, first.greatest.branches), (3, 5));
        assert_eq!(first.greatest.time, Time::from_ps(30));
        assert_eq!((second.born, second.died, second.samples), (Time::from_ps(60), None, 1));
    }

    #[test]
    fn sampling_ends_with_the_run_and_counts_channel_roles() {
        let trees = run(9, &[2, 1, 0, 0, 0, 0]);
        assert_eq!((trees.next(), trees.samples()), (None, 6));
        let roles: BTreeMap<_, _> = trees.channels().collect();
        let of = |channel| roles[&ChannelId::new(channel)];
        assert_eq!(of(0), ChannelRoles { root: 0, branch: 2, leaf: 2 });
        assert_eq!(of(1), ChannelRoles { root: 0, branch: 1, leaf: 0 });
        assert_eq!(of(9), ChannelRoles { root: 2, branch: 0, leaf: 0 });
    }
}
