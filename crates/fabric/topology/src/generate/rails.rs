//! Disjoint copies of a shape, for nodes with several adapters.
//!
//! ```text
//!   star = { hosts = 2, rails = 2 }
//!
//!             r0-s0               r1-s0          a copy for each rail, without cables between copies
//!            /     \             /     \
//!   h0 mlx5_0   h1 mlx5_0   h0 mlx5_1   h1 mlx5_1
//!     └─────────────┼──────────┘            │    adapters of one node: equal names before the space
//!                   └───────────────────────┘
//! ```
//!
//! Adapter r of node k is host k of copy r. A node's adapters are adjacent in canonical order. All
//! copies of a random shape are equal.

use super::GenerateError;
use super::draft::{Draft, Size};
use crate::{DraftNode, Fabric, Node, NodeId};

#[derive(Debug, Clone, Copy)]
pub(super) struct Copies {
    pub(super) parameter: &'static str,
    pub(super) count: u32,
    pub(super) letter: char,
}

impl Copies {
    pub(super) fn of(self, shape: &Fabric) -> Result<Fabric, GenerateError> {
        self.check(shape)?;
        let mut draft = Draft::default();
        let mut nodes: Vec<Vec<DraftNode>> =
            (0..self.count).map(|copy| self.add_switches(&mut draft, shape, copy)).collect();
        for host in hosts(shape) {
            for (rail, copy) in (0..).zip(&mut nodes) {
                copy.push(draft.adapter(&host.name, rail));
            }
        }
        for copy in &nodes {
            for cable in shape.cables() {
                let [a, b] = cable.ends.map(|end| (copy[end.node.index()], end.port.into()));
                draft.cable(a, b);
            }
        }
        Ok(draft.build())
    }

    fn add_switches(self, draft: &mut Draft, shape: &Fabric, copy: u32) -> Vec<DraftNode> {
        let name = |node: &Node| format!("{}{copy}-{}", self.letter, node.name);
        let switches = shape.switches().map(|id| shape.node(id));
        switches.map(|node| draft.switch(&name(node), node.ports.into())).collect()
    }

    fn check(self, shape: &Fabric) -> Result<(), GenerateError> {
        let count = u128::from(self.count);
        let ports = shape.switches().map(|id| shape.node(id).ports).max().unwrap_or(0);
        let size = Size {
            switches: count * shape.switches().len() as u128,
            hosts: count * hosts(shape).count() as u128,
            ports_per_switch: ports.into(),
        };
        size.check(self.parameter, &self.count)
    }
}

fn hosts(shape: &Fabric) -> impl Iterator<Item = &Node> {
    let ids = shape.node_ids().skip(shape.switches().len());
    ids.map(|id: NodeId| shape.node(id))
}
