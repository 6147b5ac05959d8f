//! Service level (SL) of each pair of endpoints.
//!
//! Routing engines assign levels to pairs so that the lanes of their packets form no cycle;
//! adapters obtain the level from a path record.

use super::map::LEVELS;
use crate::{EndpointId, Fabric};

/// Service level of every ordered pair, for each LID of its destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServiceLevels {
    endpoint_count: usize,
    /// Levels ordered by LID offset, source and destination; empty if all levels are 0.
    levels: Vec<u8>,
}

impl ServiceLevels {
    /// Assigns level 0 to every pair.
    pub fn zero(fabric: &Fabric) -> Self {
        Self { endpoint_count: fabric.endpoints().len(), levels: Vec::new() }
    }

    /// Assigns levels from `level(from, to, lid_offset)`, which must return less than 16.
    pub fn by_pair(
        fabric: &Fabric,
        lid_offsets: u8,
        mut level: impl FnMut(EndpointId, EndpointId, u8) -> u8,
    ) -> Self {
        let endpoint_count = fabric.endpoints().len();
        let mut levels = Vec::with_capacity(usize::from(lid_offsets) * endpoint_count.pow(2));
        for lid_offset in 0..lid_offsets {
            for from in fabric.endpoint_ids() {
                for to in fabric.endpoint_ids() {
                    let level = level(from, to, lid_offset);
                    assert!(usize::from(level) < LEVELS, "a level has four bits");
                    levels.push(level);
                }
            }
        }
        Self { endpoint_count, levels }
    }

    pub(super) fn add_ports_0(&mut self, fabric: &Fabric) {
        let known = std::mem::replace(self, Self::zero(fabric));
        if known.are_zero() {
            return;
        }
        let is_known = |endpoint: &EndpointId| endpoint.index() < known.endpoint_count;
        let lid_offsets = known.levels.len() / known.endpoint_count.pow(2);
        let lid_offsets = u8::try_from(lid_offsets).expect("an LMC has three bits");
        *self = Self::by_pair(fabric, lid_offsets, |from, to, lid_offset| {
            let beside = || fabric.beside_port_0(from);
            let from = if is_known(&from) { Some(from) } else { beside() };
            let pair = from.zip(Some(to).filter(is_known));
            pair.map_or(0, |(from, to)| known.level(from, to, lid_offset))
        });
    }

    pub(super) fn are_zero(&self) -> bool {
        self.levels.is_empty()
    }

    pub(crate) fn in_use(&self) -> u16 {
        if self.levels.is_empty() {
            return 1;
        }
        self.levels.iter().fold(0, |levels, level| levels | 1 << level)
    }

    /// Applies the levels of base LIDs to all LIDs.
    #[must_use]
    pub fn of_base_lids(mut self) -> Self {
        self.levels.truncate(self.endpoint_count.pow(2));
        self
    }

    /// Returns the level of packets to a LID of `to`; LID offsets beyond its last LID use the level
    /// of the last LID.
    pub fn level(&self, from: EndpointId, to: EndpointId, lid_offset: u8) -> u8 {
        if self.levels.is_empty() {
            return 0;
        }
        let lid_offsets = self.levels.len() / self.endpoint_count.pow(2);
        let lid_offset = usize::from(lid_offset).min(lid_offsets - 1);
        let row = lid_offset * self.endpoint_count + from.index();
        self.levels[row * self.endpoint_count + to.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Generator, Star};

    #[test]
    fn base_lid_levels_apply_to_all_lids() {
        let fabric = Generator::Star(Star { hosts: 2, rails: 1 }).generate(0).unwrap();
        let levels = ServiceLevels::by_pair(&fabric, 2, |from, _, lid_offset| {
            4 * lid_offset + u8::try_from(from.index()).unwrap()
        });
        let [a, b] = [0, 1].map(EndpointId::new);
        let found = |levels: &ServiceLevels| [0, 1, 2].map(|of| levels.level(b, a, of));
        assert_eq!(found(&levels), [1, 5, 5]);
        assert_eq!(found(&levels.of_base_lids()), [1, 1, 1]);
        assert_eq!(found(&ServiceLevels::zero(&fabric).of_base_lids()), [0; 3]);
    }
}
