//! Patterns of collectives: pairs of positions in the node order that exchange data, by phase.
//!
//! Sources: ring and tree as in NCCL (`src/graph/rings.cc`, `src/graph/trees.cc`); double binary
//! trees: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
//! scan", Parallel Computing 35 (2009); halving and doubling: Thakur, Rabenseifner, Gropp,
//! "Optimization of collective communication operations in MPICH", IJHPCA 19 (2005), section 4.5.

/// Exchange pattern of a collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// Ring on each rail: all-reduce, all-gather and reduce-scatter of large messages.
    Ring,
    /// Two complementary trees on each rail: all-reduce.
    DoubleBinaryTree,
    /// Flow from each node to every other node on each rail.
    AllToAll,
    /// Recursive vector halving with distance doubling, then the reverse: all-reduce.
    HalvingDoubling,
    /// Flows between given positions.
    Pairs(Vec<Edge>),
}

/// Flow between two positions in the node order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Position of the sender.
    pub from: u32,
    /// Position of the receiver.
    pub to: u32,
}

impl Edge {
    pub(super) fn nodes(self, order: &[usize]) -> (usize, usize) {
        (order[self.from as usize], order[self.to as usize])
    }
}

/// Concurrent flows with equal numbers of bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Flows on each rail.
    pub edges: Vec<Edge>,
    /// Bytes per flow, as a fraction of the buffer.
    pub share: f64,
}

impl Pattern {
    /// Returns the name used in results and options.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::DoubleBinaryTree => "tree",
            Self::AllToAll => "all-to-all",
            Self::HalvingDoubling => "halving-doubling",
            Self::Pairs(_) => "pairs",
        }
    }

    /// Returns the pattern called `name`; `None` for pairs and unknown names.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Ring, Self::DoubleBinaryTree, Self::AllToAll, Self::HalvingDoubling]
            .into_iter()
            .find(|pattern| pattern.name() == name)
    }

    /// Returns whether all node orders produce the same loads.
    pub const fn is_order_free(&self) -> bool {
        matches!(self, Self::AllToAll)
    }

    /// Returns the phases for `nodes` nodes with `ranks` ranks in total.
    pub fn phases(&self, nodes: usize, rails: usize, ranks: usize) -> Vec<Phase> {
        let count = u32::try_from(nodes).expect("positions are 32 bits");
        if count < 2 || rails == 0 {
            return Vec::new();
        }
        let (nodes, rails, ranks) = (real(nodes), real(rails), real(ranks));
        match self {
            Self::Ring => {
                let share = 2.0 * (ranks - 1.0) / ranks / rails;
                vec![Phase { edges: ring(count), share }]
            }
            Self::DoubleBinaryTree => {
                vec![Phase { edges: double_binary_tree(count), share: 0.5 / rails }]
            }
            Self::AllToAll => {
                let share = ranks / nodes / (nodes * rails);
                vec![Phase { edges: all_to_all(count), share }]
            }
            Self::HalvingDoubling => halving_doubling(count, 1.0 / rails),
            Self::Pairs(edges) => vec![Phase { edges: edges.clone(), share: 1.0 / rails }],
        }
    }

    /// Returns the bus bandwidth of `nccl-tests` for a buffer of one byte, in bytes per second: the
    /// algorithm bandwidth times 2(n-1)/n for all-reduce, (n-1)/n for all-to-all or 1 for pairs,
    /// with n ranks.
    pub fn bus_bandwidth(&self, ranks: usize, seconds: f64) -> f64 {
        let others = (real(ranks) - 1.0) / real(ranks);
        let factor = match self {
            Self::Ring | Self::DoubleBinaryTree | Self::HalvingDoubling => 2.0 * others,
            Self::AllToAll => others,
            Self::Pairs(_) => 1.0,
        };
        factor / seconds
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn real(count: usize) -> f64 {
    count as f64
}

fn ring(count: u32) -> Vec<Edge> {
    (0..count).map(|from| Edge { from, to: (from + 1) % count }).collect()
}

fn all_to_all(count: u32) -> Vec<Edge> {
    let from = |from| (0..count).filter(move |to| *to != from).map(move |to| Edge { from, to });
    (0..count).flat_map(from).collect()
}

/// Returns the edges of both trees in both directions. The second tree, whose leaves are the
/// parents of the first, is the mirror image of the first for an even number of nodes, and
/// otherwise the first shifted by one position.
fn double_binary_tree(count: u32) -> Vec<Edge> {
    let first = (0..count).filter_map(|child| Some((child, parent(child, count)?)));
    let second = |position: u32| {
        if count.is_multiple_of(2) { count - 1 - position } else { (position + 1) % count }
    };
    let pairs: Vec<(u32, u32)> = first.collect();
    let mirrored = pairs.iter().map(|(child, parent)| (second(*child), second(*parent)));
    let both = pairs.iter().copied().chain(mirrored);
    both.flat_map(|(child, parent)| {
        [Edge { from: child, to: parent }, Edge { from: parent, to: child }]
    })
    .collect()
}

/// Returns the parent in the in-order binary tree with leaves at odd positions and the root at
/// position 0; `None` for the root.
fn parent(child: u32, count: u32) -> Option<u32> {
    if child == 0 {
        return None;
    }
    let bit = 1 << child.trailing_zeros();
    let up = (child ^ bit) | (bit << 1);
    Some(if up >= count { child ^ bit } else { up })
}

/// Returns the phases with distances of 1, 2, 4, ... positions and halved shares, then the same
/// phases in reverse order. If the number of nodes is not a power of two, the first positions
/// combine their data in pairs beforehand, and distribute the result afterwards.
fn halving_doubling(count: u32, whole: f64) -> Vec<Phase> {
    let power = 1 << count.ilog2();
    let surplus = count - power;
    let member = |number: u32| if number < surplus { 2 * number + 1 } else { number + surplus };
    let mut halving = Vec::new();
    let (mut distance, mut share) = (1, whole / 2.0);
    while distance < power {
        let edge = |from: u32| Edge { from: member(from), to: member(from ^ distance) };
        halving.push(Phase { edges: (0..power).map(edge).collect(), share });
        (distance, share) = (2 * distance, share / 2.0);
    }
    let doubling: Vec<Phase> = halving.iter().rev().cloned().collect();
    let pair = |number: u32| (2 * number, 2 * number + 1);
    let joins = (0..surplus).map(pair).map(|(from, to)| Edge { from, to });
    let parts = (0..surplus).map(pair).map(|(to, from)| Edge { from, to });
    let join = Phase { edges: joins.collect(), share: whole };
    let part = Phase { edges: parts.collect(), share: whole };
    let phases = std::iter::once(join).chain(halving).chain(doubling).chain(std::iter::once(part));
    phases.filter(|phase| !phase.edges.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn double_binary_tree_has_full_edge_count_and_degree_at_most_5() {
        for count in 2..70 {
            let edges = double_binary_tree(count);
            assert_eq!(edges.len(), 4 * (count as usize - 1), "{count}");
            let mut sent: BTreeMap<u32, usize> = BTreeMap::new();
            for edge in &edges {
                assert_ne!(edge.from, edge.to);
                *sent.entry(edge.from).or_default() += 1;
            }
            // A node has up to three neighbours in one tree and one in the other; an end position
            // of a shifted tree may have one more.
            let most = sent.values().max().copied().unwrap_or(0);
            assert!(most <= 5, "{count}: {most}");
        }
    }

    #[test]
    fn binary_tree_of_8_matches_nccl() {
        let parents: Vec<_> = (0..8).map(|child| parent(child, 8)).collect();
        let expected = [None, Some(2), Some(4), Some(2), Some(0), Some(6), Some(4), Some(6)];
        assert_eq!(parents, expected);
    }

    #[test]
    fn halving_doubling_moves_twice_the_buffer_less_one_part() {
        for count in [2, 4, 8, 16] {
            let phases = halving_doubling(count, 1.0);
            let moved: f64 = phases.iter().map(|phase| phase.share).sum();
            assert!((moved - 2.0 * (1.0 - 1.0 / f64::from(count))).abs() < 1e-12);
        }
        let phases = halving_doubling(6, 1.0);
        assert_eq!(phases.len(), 6);
        assert_eq!(phases[0].edges, [Edge { from: 0, to: 1 }, Edge { from: 2, to: 3 }]);
        let members: Vec<u32> = phases[1].edges.iter().map(|edge| edge.from).collect();
        assert_eq!(members, [1, 3, 4, 5]);
    }
}
