//! What sets routers apart in what columns do, and which lanes an output can give.

use super::column::Column;
use crate::lanes::layout::LANES;
use gingham_net::{Allocator, Crossbar, PipelinePlan, Reallocation};

/// What the stages ask of the plan of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) crossbar: Crossbar,
    pub(crate) allocator: Allocator,
    /// Whether flits take their credits as they cross.
    pub(crate) pays_at_crossing: bool,
    /// Whether an output that waits is to look again where credits come.
    pub(crate) counts_credits: bool,
    /// Whether an output lane that nobody holds can be given to any head.
    pub(crate) gives_at_once: bool,
    pub(crate) reallocation: Reallocation,
    /// Lanes by which packets go only with credits for all of their flits.
    cut_through: u16,
    depths: [u32; LANES],
}

impl Rules {
    pub(crate) fn new(lanes: &PipelinePlan) -> Self {
        Self {
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

    /// Of each lane of an output that nobody holds, the most flits of a packet to which it can be
    /// given.
    ///
    /// Nothing but what is in the output lane was promised credits that are not spent: all else of
    /// the packets before has gone.
    pub(crate) fn most_flits<const L: usize>(&self, column: &Column<L>, bit: usize) -> [u32; L] {
        let to_host = column.to_host >> bit & 1 == 1;
        std::array::from_fn(|lane| {
            let fill = u32::from(column.fill.get(lane, bit));
            let credit = u32::from(column.credit.get(lane, bit));
            let is_ready = match self.reallocation {
                Reallocation::Tail => true,
                Reallocation::AfterTail => column.released[lane] >> bit & 1 == 0,
                Reallocation::TailCredit => {
                    to_host || fill == 0 && credit == self.depths[lane % LANES]
                }
            };
            if !is_ready {
                0
            } else if to_host || self.cut_through >> lane & 1 == 0 {
                u32::MAX
            } else {
                credit.saturating_sub(fill)
            }
        })
    }
}

impl<const L: usize> Column<L> {
    /// Output lanes whose next flit has no credit, where that is taken as a flit crosses.
    #[inline(always)]
    pub(crate) fn unpaid(&self, lane: usize) -> u64 {
        !self.credited[lane] & !self.to_host
    }

    /// Output lanes that were full, and of which the link has just taken a flit, or which have a
    /// credit.
    #[inline(always)]
    pub(crate) fn roomy(&self, rules: &Rules) -> [u64; L] {
        let mut roomy = [0; L];
        for lane in 0..L {
            roomy[lane] = self.full[lane] & self.sent[lane];
        }
        if rules.pays_at_crossing {
            for lane in 0..L {
                // It holds one flit.
                let stays = self.filled[lane] & !self.sent[lane] | self.unpaid(lane);
                roomy[lane] = self.full[lane] & !stays;
            }
        }
        roomy
    }
}
