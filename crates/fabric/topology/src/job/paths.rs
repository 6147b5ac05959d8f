//! Channels of the flow between two nodes of a job, computed once per pair.
//!
//! With adaptive routing, each switch spreads the flow evenly over its channels on shortest paths.
//! Fractions are multiples of 1/[`WHOLE`], so loads add up and cancel exactly.

use super::Placement;
use crate::routing::{Hop, Routes, SwitchGraph, UNREACHED, joins_switches, switch_of};
use crate::{ChannelId, EndpointId, Fabric, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Load of one flow; divisible by all numbers up to 16, so that a flow splits into exactly equal
/// parts.
pub(super) const WHOLE: u64 = WHOLE_PART as u64;

const WHOLE_PART: u32 = 720_720;

/// Forwarding rule of the switches.
#[derive(Debug, Clone, Copy)]
pub enum Forwarding<'a> {
    /// Forwarding along given routes.
    Routes(&'a Routes),
    /// Forwarding on any shortest path to the destination's switch.
    Adaptive,
}

/// Channel of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Traversed channel.
    pub channel: ChannelId,
    /// Fraction of the flow on the channel, in units of 1/720,720.
    pub part: u32,
}

/// Reason why a path is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// No route between two endpoints.
    #[error("no route leads from {from} to {to}")]
    Unreached {
        /// Name of the sender.
        from: String,
        /// Name of the receiver.
        to: String,
    },
}

/// Paths between the nodes of a placement.
#[derive(Debug)]
pub struct Paths<'a> {
    fabric: &'a Fabric,
    placement: &'a Placement,
    forwarding: Forwarding<'a>,
    graph: SwitchGraph,
    ranges: Vec<BTreeMap<u32, (u32, u32)>>,
    steps: Vec<Step>,
    between_leaves: BTreeMap<(NodeId, NodeId), Vec<Step>>,
    distances: BTreeMap<NodeId, Vec<u32>>,
}

impl<'a> Paths<'a> {
    /// Creates an empty store, which computes each path on first use.
    pub fn new(fabric: &'a Fabric, placement: &'a Placement, forwarding: Forwarding<'a>) -> Self {
        let senders = placement.len() * placement.rails.len();
        Self {
            fabric,
            placement,
            forwarding,
            graph: SwitchGraph::new(fabric),
            ranges: vec![BTreeMap::new(); senders],
            steps: Vec::new(),
            between_leaves: BTreeMap::new(),
            distances: BTreeMap::new(),
        }
    }

    /// Returns the number of rails.
    pub fn rails(&self) -> usize {
        self.placement.rails.len()
    }

    /// Returns the fabric.
    pub fn fabric(&self) -> &'a Fabric {
        self.fabric
    }

    /// Returns the placement.
    pub fn placement(&self) -> &'a Placement {
        self.placement
    }

    /// Returns the channels between switches from one node to another on a rail.
    pub fn between(&mut self, from: usize, to: usize, rail: usize) -> Result<&[Step], PathError> {
        let fits = "paths of a job fit 32 bits";
        let receiver = u32::try_from(to).expect(fits);
        let sender = rail * self.placement.len() + from;
        let known = self.ranges[sender].get(&receiver).copied();
        let (begin, count) = if let Some(range) = known {
            range
        } else {
            let ends = [from, to].map(|node| self.placement.endpoint(node, rail));
            let begin = self.steps.len();
            self.find(ends[0], ends[1])?;
            let count = self.steps.len() - begin;
            let range = [begin, count].map(|number| u32::try_from(number).expect(fits)).into();
            self.ranges[sender].insert(receiver, range);
            range
        };
        Ok(&self.steps[begin as usize..][..count as usize])
    }

    pub(super) fn ends(&self, from: usize, to: usize, rail: usize) -> [ChannelId; 2] {
        let [from, to] = [from, to].map(|node| self.placement.endpoint(node, rail));
        [self.fabric.endpoint_channel(from), self.graph.ejection(to)]
    }

    pub(super) fn adapter_channels(&self) -> impl Iterator<Item = ChannelId> {
        let nodes = 0..self.placement.len();
        nodes.flat_map(move |node| {
            (0..self.rails()).flat_map(move |rail| self.ends(node, node, rail))
        })
    }

    /// Returns a lower bound on the load of the busiest uplink of any leaf: one flow or, with
    /// adaptive routing, one flow divided by the number of uplinks; 0 if all nodes share a leaf on
    /// each rail.
    pub(super) fn least_share_of_a_leaf(&self) -> u64 {
        let mut least = 0;
        for rail in 0..self.rails() {
            let nodes = 0..self.placement.len();
            let leaf = |node| switch_of(self.fabric, self.placement.endpoint(node, rail));
            let leaves: BTreeSet<NodeId> = nodes.filter_map(leaf).collect();
            if leaves.len() < 2 {
                continue;
            }
            for leaf in leaves {
                let uplinks = self.graph.hops_from(leaf).len() as u64;
                least = least.max(match self.forwarding {
                    Forwarding::Routes(_) => WHOLE,
                    Forwarding::Adaptive => WHOLE / uplinks.max(1),
                });
            }
        }
        least
    }

    fn find(&mut self, from: EndpointId, to: EndpointId) -> Result<(), PathError> {
        let unreached = || PathError::Unreached {
            from: self.fabric.endpoint_name(from),
            to: self.fabric.endpoint_name(to),
        };
        match self.forwarding {
            Forwarding::Routes(routes) => {
                let path = routes.path(self.fabric, from, to).ok_or_else(unreached)?;
                let trunks =
                    path.channels().iter().filter(|one| joins_switches(self.fabric, **one));
                self.steps
                    .extend(trunks.map(|channel| Step { channel: *channel, part: WHOLE_PART }));
            }
            Forwarding::Adaptive => {
                let leaves = switch_of(self.fabric, from).zip(switch_of(self.fabric, to));
                let (one, other) = leaves.ok_or_else(unreached)?;
                if !self.between_leaves.contains_key(&(one, other)) {
                    let spread = self.spread(one, other).ok_or_else(unreached)?;
                    self.between_leaves.insert((one, other), spread);
                }
                self.steps.extend_from_slice(&self.between_leaves[&(one, other)]);
            }
        }
        Ok(())
    }

    fn spread(&mut self, from: NodeId, to: NodeId) -> Option<Vec<Step>> {
        let distances = self.distances.entry(to).or_insert_with(|| self.graph.distances(to));
        if distances[from.index()] == UNREACHED {
            return None;
        }
        let mut steps = Vec::new();
        let mut front: BTreeMap<NodeId, u32> = BTreeMap::from([(from, WHOLE_PART)]);
        while let Some((&first, _)) = front.first_key_value() {
            if first == to {
                break;
            }
            let mut next: BTreeMap<NodeId, u32> = BTreeMap::new();
            for (switch, load) in front {
                let nearer =
                    |hop: &&Hop| distances[hop.to.index()] + 1 == distances[switch.index()];
                let hops: Vec<_> = self.graph.hops_from(switch).iter().filter(nearer).collect();
                let count = u32::try_from(hops.len()).expect("ports are few");
                let (each, rest) = (load / count, load % count);
                for (position, hop) in hops.into_iter().enumerate() {
                    let part = each + u32::from(u32::try_from(position).is_ok_and(|at| at < rest));
                    if part > 0 {
                        steps.push(Step { channel: hop.channel, part });
                        *next.entry(hop.to).or_default() += part;
                    }
                }
            }
            front = next;
        }
        Some(steps)
    }
}
