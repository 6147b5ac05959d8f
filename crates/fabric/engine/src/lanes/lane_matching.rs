//! VC allocation by iSLIP ([`gingham_net::VcAllocator`]) between the lanes of an output and the
//! heads that request the output.
//!
//! ```text
//!   free lane ── grants ──► the first head, by round robin, that could take the lane
//!   head      ── accepts ─► the first lane, by round robin, that granted the head      (n iterations)
//! ```
//!
//! Pointers move only for matches of the first iteration. Outputs are matched independently because
//! a head requests only one output. An output that granted a lane in its last iteration is visited
//! again in the next tick.

use crate::lanes::context::Context;
use crate::lanes::layout::{LANES, SHIFT, lanes_of};
use crate::lanes::network::Network;
use crate::lanes::requests::Requests;
use gingham_net::{Islip, PipelinePlan, VcAllocator};

#[derive(Clone, Debug)]
pub(crate) struct LaneMatching {
    iterations: u32,
    /// Round-robin pointer of each output lane and level: the bit after the last head that accepted
    /// a grant, in the words of `Requests`.
    heads: Vec<u16>,
    /// Round-robin pointer of each input lane: the output lane that follows the last accepted
    /// output lane, numbered within the switch.
    lanes: Vec<usize>,
    grants: Vec<(usize, u16)>,
}

impl LaneMatching {
    pub(crate) fn new(
        plan: &PipelinePlan,
        requests: &Requests,
        lane_count: usize,
    ) -> Option<Box<Self>> {
        let VcAllocator::Islip(Islip { iterations }) = plan.vc_allocator else { return None };
        let heads = vec![0; lane_count * requests.level_count];
        let lanes = vec![0; lane_count];
        Some(Box::new(Self { iterations, heads, lanes, grants: Vec::new() }))
    }
}

impl Network {
    /// Matches heads with lanes at outputs that changed or may grant more lanes.
    pub(crate) fn allocate_lanes_by_islip(&mut self, context: &Context) {
        let Some(mut matching) = self.lane_matching.take() else { return };
        let is_short_noted = context.lanes.counts_credits() && self.adaptive.is_none();
        for word in 0..context.layout.first_host / 64 {
            let mut ports = self.switches.allocating.take(word) & self.requests.requested(word);
            while ports != 0 {
                let port = word * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                let mut iteration = 0;
                while iteration < matching.iterations
                    && self.match_heads(port, iteration, &mut matching, &context.lanes)
                {
                    iteration += 1;
                }
                if iteration == matching.iterations {
                    self.switches.allocating.insert(port);
                }
                if is_short_noted {
                    self.note_short(port, &context.lanes);
                }
            }
        }
        self.lane_matching = Some(matching);
        self.end_allocation(context);
    }

    fn match_heads(
        &mut self,
        port: usize,
        iteration: u32,
        matching: &mut LaneMatching,
        plan: &PipelinePlan,
    ) -> bool {
        let switch = *self.switches.port(port);
        let base = switch.base as usize;
        let levels = self.requests.level_count;
        matching.grants.clear();
        for lane in lanes_of(self.all_lanes & !self.links.port(port).held) {
            let pointers = &matching.heads[(port << SHIFT | lane) * levels..];
            let grantable =
                |input: usize| self.grantable_lanes(port, base + input, plan) & 1 << lane;
            let winner = self.requests.winner_from(pointers, port, base, grantable);
            let Some((head, bit)) = winner else { continue };
            match matching.grants.iter_mut().find(|(input, _)| *input == head) {
                Some((_, lanes)) => *lanes |= bit,
                None => matching.grants.push((head, bit)),
            }
        }
        let any = !matching.grants.is_empty();
        let first_lane = (port << SHIFT) - base;
        for (head, lanes) in matching.grants.drain(..) {
            let pointer = matching.lanes[base + head].saturating_sub(first_lane);
            let onward = if pointer < LANES { lanes & u16::MAX << pointer } else { 0 };
            let lane = if onward == 0 { lanes } else { onward }.trailing_zeros() as usize;
            if iteration == 0 {
                let level = self.requests.level_of(base + head);
                let place = (port << SHIFT | lane) * levels + level;
                matching.heads[place] = self.requests.after(head, &switch);
                matching.lanes[base + head] = first_lane + lane + 1;
            }
            self.requests.withdraw(port, head);
            if let Some(heads) = &mut self.adaptive {
                heads.on_granted(base + head);
            }
            self.connect(base + head, port << SHIFT | lane, plan);
        }
        any
    }
}
