//! Tree levels of switches.

use crate::routing::trees;
use crate::{Fabric, NodeId};

pub(super) struct Levels {
    /// By switch: level, increasing downwards from 1 at the tops of the first tree; the numbering
    /// continues in further trees. Switches outside trees have level 0.
    levels: Vec<usize>,
}

impl Levels {
    pub(super) fn of(fabric: &Fabric) -> Self {
        let mut levels = vec![0; fabric.switches().len()];
        let mut next = 1;
        for tree in trees(fabric) {
            for (level, of_tree) in tree.levels.iter().enumerate() {
                for switch in &of_tree.switches {
                    levels[switch.index()] = next + level;
                }
            }
            next += tree.levels.len();
        }
        Self { levels }
    }

    pub(super) fn between(&self, a: NodeId, b: NodeId) -> [usize; 2] {
        let mut levels = [a, b].map(|switch| self.levels[switch.index()]);
        levels.sort_unstable();
        levels
    }

    pub(super) fn of_switch(&self, switch: NodeId) -> Option<usize> {
        Some(self.levels[switch.index()]).filter(|level| *level > 0)
    }
}
