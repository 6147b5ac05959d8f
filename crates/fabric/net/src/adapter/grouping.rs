//! Grouping of an endpoint's packets by their permitted lanes.

use gingham_topology::routing::{LaneSet, VcClass};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Grouping {
    pub(super) lanes: Box<[LaneSet]>,
    group_of: Box<[u8]>,
}

impl Grouping {
    /// Groups the VC classes with equal entries in `lanes`. No packet uses a VC class whose entry
    /// is empty.
    pub(super) fn new(lanes: &[LaneSet]) -> Self {
        let mut sets = lanes.to_vec();
        sets.sort_unstable();
        sets.dedup();
        let group_of = |of: &LaneSet| {
            let place = sets.partition_point(|set| set < of);
            u8::try_from(place).expect("a group a VC class at the most")
        };
        let group_of = lanes.iter().map(group_of).collect();
        Self { lanes: sets.into(), group_of }
    }

    #[inline]
    pub(super) fn group_of(&self, vc_class: VcClass) -> usize {
        self.group_of[usize::from(vc_class.0)].into()
    }
}
