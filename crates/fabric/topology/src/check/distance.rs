//! Distances between switches.
//!
//! ```text
//!   bit i of reached[v]: source i of this batch has reached switch v
//!   one step: next[v] = OR of frontier[neighbours of v], without the bits of reached[v]
//! ```
//!
//! Breadth-first search from 64 sources at a time: Then et al., "The More the Merrier: Efficient
//! Multi-Source Graph Traversal", PVLDB 8(4), 2014. Time is O(switches / 64 x diameter x cables).

use crate::{Fabric, NodeId};

const BATCH: usize = 64;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Distances {
    /// Largest diameter of any connected component, in cables.
    pub(super) diameter: u32,
    /// Number of connected ordered pairs of different host ports.
    pub(super) pairs: u128,
    /// Number of switches on shortest paths, summed over `pairs`.
    pub(super) hops: u128,
}

pub(super) fn distances(fabric: &Fabric, host_ports: &[usize]) -> Distances {
    let neighbours = neighbours(fabric);
    let mut sum = Distances::default();
    for start in (0..neighbours.len()).step_by(BATCH) {
        add_batch(&mut sum, &neighbours, host_ports, start);
    }
    sum
}

fn neighbours(fabric: &Fabric) -> Vec<Vec<usize>> {
    let of = |id: NodeId| {
        let targets = fabric.channels_from(id).map(|channel| fabric.target(channel).node);
        let switches = targets.filter(|target| *target != id && fabric.node(*target).is_switch());
        let mut found: Vec<usize> = switches.map(NodeId::index).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    fabric.switches().map(of).collect()
}

fn add_batch(sum: &mut Distances, neighbours: &[Vec<usize>], host_ports: &[usize], start: usize) {
    let count = neighbours.len();
    let mut reached = vec![0_u64; count];
    for (bit, own) in reached.iter_mut().skip(start).take(BATCH).enumerate() {
        *own = 1 << bit;
    }
    let mut frontier = reached.clone();
    let mut distance = 0;
    while frontier.iter().any(|bits| *bits != 0) {
        sum.diameter = sum.diameter.max(distance);
        for (switch, bits) in frontier.iter().enumerate() {
            add_pairs(sum, host_ports, switch, start, *bits, distance);
        }
        let mut next = vec![0_u64; count];
        for (switch, near) in neighbours.iter().enumerate() {
            let arriving = near.iter().fold(0, |bits, neighbour| bits | frontier[*neighbour]);
            next[switch] = arriving & !reached[switch];
            reached[switch] |= next[switch];
        }
        frontier = next;
        distance += 1;
    }
}

fn add_pairs(
    sum: &mut Distances,
    host_ports: &[usize],
    switch: usize,
    start: usize,
    mut bits: u64,
    distance: u32,
) {
    let here = host_ports[switch] as u128;
    while here > 0 && bits != 0 {
        let source = start + bits.trailing_zeros() as usize;
        bits &= bits - 1;
        let there = host_ports[source] as u128;
        let pairs = if source == switch { here * (here - 1) } else { here * there };
        sum.pairs += pairs;
        sum.hops += pairs * u128::from(distance + 1);
    }
}
