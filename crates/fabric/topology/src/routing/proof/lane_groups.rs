//! Groups of equivalent lanes: packets may take all lanes of a group, or none.
//!
//! ```text
//!   VC class 0: lanes 0 1 2 3     groups   {0 1}  {2}  {3}
//!   VC class 1: lanes 2 3 4                {4}
//!   a dateline class: lanes 0 1 2
//! ```
//!
//! The lanes of a group have equal dependencies and share one vertex, which reduces the number of
//! dependencies. A shortest cycle never needs two lanes of a group on one channel, and the
//! lexicographically least cycle uses the lowest lane of each group.

use crate::routing::lanes::set::LaneSet;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LaneGroups {
    members: Vec<LaneSet>,
    of: Vec<u8>,
}

impl LaneGroups {
    pub(super) fn new(lane_count: usize, sets: &[LaneSet]) -> Self {
        let lanes = || (0..=u8::MAX).take(lane_count);
        let is_alike = |a: u8, b: u8| sets.iter().all(|set| set.contains(a) == set.contains(b));
        let mut members: Vec<LaneSet> = Vec::new();
        for lane in lanes() {
            let same = members.iter_mut().find(|group| {
                let lowest = group.lowest().expect("a group has a lane");
                is_alike(lowest, lane)
            });
            match same {
                Some(group) => *group = *group | LaneSet::one(lane),
                None => members.push(LaneSet::one(lane)),
            }
        }
        let group_of = |lane| {
            let group = (0..=u8::MAX).zip(&members).find(|(_, group)| group.contains(lane));
            group.expect("every lane is in a group").0
        };
        let of = lanes().map(group_of).collect();
        Self { members, of }
    }

    pub(super) fn count(&self) -> usize {
        self.members.len()
    }

    pub(super) fn lane_count(&self) -> usize {
        self.of.len()
    }

    pub(super) fn of(&self, lane: usize) -> usize {
        self.of[lane].into()
    }

    pub(super) fn lanes(&self, group: usize) -> LaneSet {
        self.members[group]
    }

    /// Returns the groups within `lanes`, which must contain each group completely or not at all.
    pub(super) fn within(&self, lanes: LaneSet) -> impl Iterator<Item = usize> {
        let is_within = move |group: &usize| !(self.members[*group] & lanes).is_empty();
        (0..self.members.len()).filter(is_within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_in_exactly_the_same_sets_form_one_group() {
        let set = |lanes: &[u8]| lanes.iter().copied().collect::<LaneSet>();
        let groups = LaneGroups::new(5, &[set(&[0, 1, 2, 3]), set(&[2, 3, 4]), set(&[0, 1, 2])]);
        let members: Vec<_> = (0..groups.count()).map(|group| groups.lanes(group)).collect();
        assert_eq!(members, [set(&[0, 1]), set(&[2]), set(&[3]), set(&[4])]);
        assert_eq!((groups.of(1), groups.of(3), groups.lane_count()), (0, 2, 5));
        assert!(groups.within(set(&[2, 3, 4])).eq([1, 2, 3]));
        assert_eq!(LaneGroups::new(16, &[LaneSet::first_n(16)]).count(), 1);
        assert_eq!(LaneGroups::new(2, &[set(&[0]), set(&[1])]).count(), 2);
    }
}
