//! Rules of router variants for the column stepper, and the output lanes that can be granted.

use super::column::Column;
use crate::lanes::layout::LANES;
use gingham_net::{Allocator, Crossbar, Islip, PipelinePlan, Reallocation, VcAllocator};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) crossbar: Crossbar,
    pub(crate) allocator: Allocator,
    pub(crate) pays_at_crossing: bool,
    pub(crate) counts_credits: bool,
    pub(crate) gives_at_once: bool,
    pub(crate) reallocation: Reallocation,
    /// Maximum number of iterations of iSLIP over lanes in a tick; 0 with another VC allocator.
    pub(crate) matching_iterations: u32,
    /// Bit set of lanes that need credits for all flits of a packet before it starts.
    cut_through: u16,
    depths: [u32; LANES],
}

impl Rules {
    pub(crate) fn new(lanes: &PipelinePlan, lane_count: u8) -> Self {
        let matching_iterations = match lanes.vc_allocator {
            VcAllocator::Islip(Islip { iterations }) if lane_count > 1 => iterations,
            VcAllocator::Islip(_) | VcAllocator::Maximal => 0,
        };
        Self {
            matching_iterations,
            crossbar: lanes.crossbar,
            allocator: lanes.allocator,
            pays_at_crossing: lanes.pays_at_crossing(),
            counts_credits: lanes.counts_credits(),
            gives_at_once: lanes.gives_at_once(),
            reallocation: lanes.reallocation,
            cut_through: lanes.cut_through.bits(),
            depths: lanes.depths_flits,
        }
    }

    /// Returns whether lanes are allocated by iSLIP.
    pub(crate) fn matches_lanes(&self) -> bool {
        self.matching_iterations > 0
    }

    /// Returns, for each free lane of an output, the length in flits of the longest packet that can
    /// be granted the lane. Earlier packets still need credits only for their flits in the output
    /// lane.
    pub(crate) fn most_flits<const L: usize>(&self, column: &Column<L>, bit: usize) -> [u32; L] {
        let to_host = column.to_host >> bit & 1 == 1;
        std::array::from_fn(|lane| {
            let fill = || u32::from(column.fill.get(lane, bit));
            let credit = || u32::from(column.credit.get(lane, bit));
            let is_ready = match self.reallocation {
                Reallocation::Tail => true,
                Reallocation::AfterTail => column.released[lane] >> bit & 1 == 0,
                Reallocation::TailCredit => {
                    to_host || fill() == 0 && credit() == self.depths[lane % LANES]
                }
            };
            if !is_ready {
                0
            } else if to_host || self.cut_through >> lane & 1 == 0 {
                u32::MAX
            } else {
                credit().saturating_sub(fill())
            }
        })
    }
}

/// Returns the lanes that can be granted to a packet of `flits` flits, given the result of
/// [`Rules::most_flits`].
#[inline(always)]
pub(crate) fn fitting<const L: usize>(most: &[u32; L], flits: u32) -> u16 {
    (0..L).fold(0, |lanes, lane| lanes | u16::from(most[lane] >= flits) << lane)
}

impl<const L: usize> Column<L> {
    #[inline(always)]
    pub(crate) fn unpaid(&self, lane: usize) -> u64 {
        !self.credited[lane] & !self.to_host
    }

    /// Returns the output lanes that were full and have space again, because the link took a flit
    /// or a credit arrived.
    #[inline(always)]
    pub(crate) fn roomy(&self, rules: &Rules) -> [u64; L] {
        let mut roomy = [0; L];
        for lane in 0..L {
            roomy[lane] = self.full[lane] & self.sent[lane];
        }
        if rules.pays_at_crossing {
            for lane in 0..L {
                let stays = self.filled[lane] & !self.sent[lane] | self.unpaid(lane);
                roomy[lane] = self.full[lane] & !stays;
            }
        }
        roomy
    }
}
