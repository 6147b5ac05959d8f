//! Derivation of congestion trees from waiting packets.
//!
//! A branch is a lane needed by a packet that is blocked on all of its lanes.

use super::goes_over::PathCache;
use super::{Onward, Waiter};
use crate::{FlowKey, Plan};
use gingham_topology::routing::Buffer;
use gingham_topology::{ChannelId, EndpointId};
use std::collections::{BTreeMap, BTreeSet};

/// Congestion tree at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// Channel that all packets of the tree ultimately wait for; `None` for a knot of packets that
    /// wait for one another.
    pub root: Option<ChannelId>,
    /// Lanes without space, ascending.
    pub branches: Vec<Buffer>,
    /// Branches without another branch of the tree upstream.
    pub leaves: Vec<Buffer>,
    /// Maximum distance of a leaf from the root, in branches; 0 for a knot.
    pub depth: usize,
    /// Hosts whose injection channel is a branch.
    pub hosts: BTreeSet<EndpointId>,
    /// Flows with a packet that will traverse the root; in a knot, all flows with packets in the
    /// knot.
    pub feeding: BTreeSet<FlowKey>,
    /// Flows whose packets in the tree all leave it before the root.
    pub victims: BTreeSet<FlowKey>,
    /// Number of packets in the tree.
    pub packets: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Target {
    Branch(Buffer),
    Root(ChannelId),
}

#[derive(Debug)]
struct Stand<'a> {
    waiters: &'a [Waiter],
    branches: BTreeSet<Buffer>,
    onward: BTreeMap<Buffer, BTreeSet<Target>>,
    behind: BTreeMap<Target, BTreeSet<Buffer>>,
}

/// Derives all congestion trees, by ascending root, followed by knots.
pub fn trees(plan: &Plan, waiters: &[Waiter]) -> Vec<Tree> {
    let strict = Stand::new(waiters, Rule::BranchesAreNoRoots);
    let mut path_cache = PathCache::new(plan);
    let mut left = strict.branches.clone();
    let mut found = Vec::new();
    strict.add_rooted(plan, &mut path_cache, &mut left, &mut found);
    if left.is_empty() {
        return found;
    }
    // A branch that shorter packets can still use does not form a knot.
    let stand = Stand::new(waiters, Rule::AnyMayBeRoot);
    stand.add_rooted(plan, &mut path_cache, &mut left, &mut found);
    while let Some(first) = left.first().copied() {
        let knot = stand.joined_with(first, &left);
        left.retain(|branch| !knot.contains_key(branch));
        found.push(stand.tree(plan, &mut path_cache, None, &knot));
    }
    found.sort_by_key(|tree| (tree.root.is_none(), tree.root));
    found
}

/// Rule for channels that block longer packets but still have space for shorter packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// The channel is a branch for all packets, and never a root.
    BranchesAreNoRoots,
    AnyMayBeRoot,
}

fn awaited(onward: Onward) -> impl Iterator<Item = Buffer> {
    let lanes = onward.lanes.lanes().take(if onward.is_blocked() { usize::MAX } else { 0 });
    lanes.map(move |lane| Buffer { channel: onward.output, lane })
}

fn open(onward: Onward) -> impl Iterator<Item = Buffer> {
    let is_blocked = move |lane: &u8| onward.blocked.bits() >> lane & 1 == 1;
    let lanes = onward.lanes.lanes().filter(move |lane| !is_blocked(lane));
    lanes.map(move |lane| Buffer { channel: onward.output, lane })
}

impl<'a> Stand<'a> {
    fn new(waiters: &'a [Waiter], rule: Rule) -> Self {
        let firsts = || waiters.iter().filter_map(|waiter| Some((waiter.at, waiter.onward?)));
        let branches: BTreeSet<Buffer> = firsts().flat_map(|(_, onward)| awaited(onward)).collect();
        let targets = |of: Onward| -> Vec<Target> {
            if of.is_blocked() {
                return awaited(of).map(Target::Branch).collect();
            }
            let is_free = |lane: &Buffer| !branches.contains(lane);
            if rule == Rule::AnyMayBeRoot || open(of).any(|lane| is_free(&lane)) {
                return vec![Target::Root(of.output)];
            }
            open(of).map(Target::Branch).collect()
        };
        let mut onward: BTreeMap<Buffer, BTreeSet<Target>> = BTreeMap::new();
        for (at, of) in firsts() {
            if let Some(at) = at.filter(|at| branches.contains(at)) {
                onward.entry(at).or_default().extend(targets(of));
            }
        }
        for branch in &branches {
            // If no packet is at the end of a branch, space is about to return there, so the branch
            // is its own root.
            let own = || BTreeSet::from([Target::Root(branch.channel)]);
            onward.entry(*branch).or_insert_with(own);
        }
        let mut behind: BTreeMap<Target, BTreeSet<Buffer>> = BTreeMap::new();
        for (branch, targets) in &onward {
            for target in targets {
                behind.entry(*target).or_default().insert(*branch);
            }
        }
        Self { waiters, branches, onward, behind }
    }

    /// Adds each tree whose root is reachable from branches in `left`, and removes these branches
    /// from `left`.
    fn add_rooted(
        &self,
        plan: &Plan,
        path_cache: &mut PathCache<'_>,
        left: &mut BTreeSet<Buffer>,
        found: &mut Vec<Tree>,
    ) {
        let asked = left.clone();
        for target in self.behind.keys() {
            let Target::Root(root) = *target else { continue };
            let mut levels = self.levels_behind(*target);
            levels.retain(|branch, _| asked.contains(branch));
            left.retain(|branch| !levels.contains_key(branch));
            if !levels.is_empty() {
                found.push(self.tree(plan, path_cache, Some(root), &levels));
            }
        }
    }

    fn behind(&self, target: Target) -> impl Iterator<Item = Buffer> {
        self.behind.get(&target).into_iter().flatten().copied()
    }

    fn levels_behind(&self, root: Target) -> BTreeMap<Buffer, usize> {
        let mut levels = BTreeMap::new();
        let (mut level, mut found): (_, BTreeSet<Buffer>) = (1, self.behind(root).collect());
        while !found.is_empty() {
            levels.extend(found.iter().map(|branch| (*branch, level)));
            let next = found.iter().flat_map(|branch| self.behind(Target::Branch(*branch)));
            found = next.filter(|branch| !levels.contains_key(branch)).collect();
            level += 1;
        }
        levels
    }

    fn joined_with(&self, first: Buffer, among: &BTreeSet<Buffer>) -> BTreeMap<Buffer, usize> {
        let mut joined = BTreeMap::from([(first, 0)]);
        let mut to_visit = vec![first];
        while let Some(branch) = to_visit.pop() {
            let ahead = self.onward[&branch].iter().filter_map(|target| match target {
                Target::Branch(branch) => Some(*branch),
                Target::Root(_) => None,
            });
            for other in ahead.chain(self.behind(Target::Branch(branch))) {
                if among.contains(&other) && joined.insert(other, 0).is_none() {
                    to_visit.push(other);
                }
            }
        }
        joined
    }

    fn tree(
        &self,
        plan: &Plan,
        path_cache: &mut PathCache<'_>,
        root: Option<ChannelId>,
        levels: &BTreeMap<Buffer, usize>,
    ) -> Tree {
        let is_leaf = |branch: &Buffer| self.behind(Target::Branch(*branch)).next().is_none();
        let host = |branch: &Buffer| plan.fabric.endpoint_at(plan.ends(branch.channel).source);
        let (mut feeding, mut victims, mut packets) = (BTreeSet::new(), BTreeSet::new(), 0);
        for waiter in self.waiters_of(root, levels) {
            packets += 1;
            let feeds = root.is_none_or(|root| path_cache.goes_over(waiter, root));
            if feeds { &mut feeding } else { &mut victims }.insert(waiter.flow);
        }
        victims.retain(|flow| !feeding.contains(flow));
        Tree {
            root,
            branches: levels.keys().copied().collect(),
            leaves: levels.keys().copied().filter(is_leaf).collect(),
            depth: levels.values().max().copied().unwrap_or(0),
            hosts: levels.keys().filter_map(host).collect(),
            feeding,
            victims,
            packets,
        }
    }

    /// Returns the packets of a tree: at the end of a branch, or waiting for a branch, for the
    /// root, or behind a packet that waits for a branch.
    fn waiters_of(
        &self,
        root: Option<ChannelId>,
        levels: &BTreeMap<Buffer, usize>,
    ) -> Vec<&'a Waiter> {
        let waits_for_branch = |waiter: &Waiter| {
            let mut awaited = waiter.onward.into_iter().flat_map(awaited);
            awaited.any(|branch| levels.contains_key(&branch))
        };
        let goes_by_root = |waiter: &Waiter| {
            waiter.onward.is_some_and(|of| !of.is_blocked() && Some(of.output) == root)
        };
        let held = self.waiters.iter().filter(|waiter| waits_for_branch(waiter));
        let held: BTreeSet<Buffer> = held.filter_map(|waiter| waiter.at).collect();
        let is_of_tree = |waiter: &&Waiter| {
            let is_there = |at: Buffer| levels.contains_key(&at) || held.contains(&at);
            waiter.at.is_some_and(is_there) || waits_for_branch(waiter) || goes_by_root(waiter)
        };
        self.waiters.iter().filter(is_of_tree).collect()
    }
}
