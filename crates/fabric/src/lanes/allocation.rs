//! Stages 2 and 3: routing, and virtual-channel (VC) allocation.
//!
//! ```text
//!   head there at h ── routing ──► request at h + 1 + R ──► output: the first head, round robin, that a free lane would do for,
//!                                      is granted the first, round robin, of those lanes ──► holds it, may cross next tick
//! ```
//!
//! An output allocates when something changed for it: a head makes a request, a lane of it is
//! released, or credits came where a whole packet needs them. What it grants, and to whom, depends
//! on no other output, for a head requests one output alone: that of its path, or one that it chooses
//! (`adaptive`).
//!
//! The worm goes into the queue of the next input lane as the lane is granted: worms come out of an
//! output lane in the order in which it was held.

use crate::lanes::context::Context;
use crate::lanes::layout::{NONE, SHIFT, bit_of, lanes_of, number_of, round_robin};
use crate::lanes::links::TO_HOST;
use crate::lanes::network::Network;
use gingham_kernel::Time;
use gingham_model::{PipelinePlan, Reallocation};

/// What a head requests: any of some lanes of an output, by its port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    pub(crate) output: usize,
    pub(crate) lanes: u16,
    pub(crate) level: usize,
}

impl Network {
    /// Heads whose routing is over make their requests.
    pub(crate) fn route(&mut self, context: &mut Context, tick: u64) {
        if self.columns.is_some() {
            return self.route_by_columns(context, tick);
        }
        let mut due = self.switches.heads.take(tick);
        if context.endpoints.wanted().read {
            self.tell_read(&mut due, tick, context);
        }
        if self.adaptive.is_some() {
            self.choose_outputs(&due, context, tick);
        } else {
            for &lane in &due {
                self.request(lane as usize, context);
            }
        }
        context.clock.count(due.len() as u64);
        self.switches.heads.give_back(tick, due);
    }

    /// Tells the endpoints of the heads whose routing is over, in the order of switch, port and
    /// lane.
    #[inline(never)]
    fn tell_read(&self, due: &mut [u32], tick: u64, context: &mut Context) {
        let (plan, layout) = (&context.plan, &context.layout);
        due.sort_unstable_by_key(|lane| {
            let lane = *lane as usize;
            let target = plan.ends(layout.channel_into(lane >> SHIFT)).target;
            (target.node, target.port, number_of(lane))
        });
        let arriving = self.links.arriving(tick);
        for lane in due.iter().map(|lane| *lane as usize) {
            let input = context.layout.channel_into(lane >> SHIFT);
            // A channel brings one flit a tick at the most.
            let comes = arriving.binary_search_by_key(&lane, |to| *to as usize).is_ok();
            let waiting_flits = u64::from(self.buffers.lane(lane).present) + u64::from(comes);
            let worm = context.worms.get_mut(self.buffers.worm(lane));
            let lane = u8::try_from(number_of(lane)).expect("lanes are few");
            let (now, packet) = (Time::from_ps(context.clock.now()), &mut worm.packet);
            let diverted = context.endpoints.read(now, (input, lane), waiting_flits, packet);
            if let Some(into_end) = diverted {
                worm.divert(plan, into_end);
            }
        }
    }

    /// The head of an input lane requests the output on its way.
    fn request(&mut self, lane: usize, context: &mut Context) {
        let Wanted { output, lanes, level } = self.wanted(lane, context);
        let input = lane - self.switches.port(lane >> SHIFT).base as usize;
        self.requests.insert(output, input, lane, lanes, level);
        self.switches.allocating.insert(output);
    }

    /// What the head of an input lane, whose routing is over, is to request: the output on its way.
    pub(crate) fn wanted(&self, lane: usize, context: &mut Context) -> Wanted {
        let Context { plan, lanes: lane_plan, layout, worms, .. } = context;
        let incoming = layout.channel(self.links.port(lane >> SHIFT).peer as usize);
        let worm = worms.get_mut(self.buffers.worm(lane));
        let outgoing = worm.output(plan, || plan.ends(incoming).target.node);
        worm.position += 1;
        let (lanes, dateline_class) = worm.lanes_onward(plan, incoming, outgoing);
        worm.dateline_class = dateline_class;
        debug_assert!(!lanes.is_empty(), "a packet has a lane wherever it goes");
        let level = lane_plan.arbitration.level(worm.packet.priority);
        Wanted { output: layout.port(outgoing), lanes: lanes.bits(), level }
    }

    /// Outputs for which something changed grant what they can.
    pub(crate) fn allocate_lanes(&mut self, context: &Context) {
        if self.columns.is_some() {
            return self.allocate_lanes_by_columns();
        }
        if self.lane_matching.is_some() {
            return self.allocate_lanes_by_islip(context);
        }
        let is_short_noted = context.lanes.counts_credits() && self.adaptive.is_none();
        for word in 0..context.layout.first_host / 64 {
            let mut ports = self.switches.allocating.take(word) & self.requests.requested(word);
            while ports != 0 {
                let port = word * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                while self.grant_lane(port, &context.lanes) {}
                if is_short_noted {
                    self.note_short(port, &context.lanes);
                }
            }
        }
        self.end_allocation(context);
    }

    /// Finishes VC allocation after all outputs have granted their lanes.
    pub(crate) fn end_allocation(&mut self, context: &Context) {
        if self.adaptive.is_some() && context.lanes.counts_credits() {
            self.note_short_choices(context);
        }
        self.links.end_release(&mut self.switches.allocating);
    }

    /// An output grants a lane to a head, if it can.
    fn grant_lane(&mut self, port: usize, plan: &PipelinePlan) -> bool {
        let switch = self.switches.port(port);
        let base = switch.base as usize;
        if self.all_lanes & !self.links.port(port).held == 0 {
            return false;
        }
        let grantable = |input: usize| self.grantable_lanes(port, base + input, plan);
        let winner = self.requests.winner(port, base, grantable);
        let Some((input, lanes)) = winner else { return false };
        self.requests.grant(port, input, switch);
        if let Some(heads) = &mut self.adaptive {
            heads.on_granted(base + input);
        }
        let lane = round_robin(lanes, &mut self.requests.lane_pointers[port]);
        self.connect(base + input, port << SHIFT | lane, plan);
        true
    }

    /// The lanes of an output that could be granted to the head of an input lane which requests it.
    #[inline]
    pub(crate) fn grantable_lanes(&self, port: usize, from: usize, plan: &PipelinePlan) -> u16 {
        self.could_grant(port, self.requests.lanes_of(from), self.buffers.lane(from).left, plan)
    }

    /// Those of some lanes of an output that could be granted to a packet of so many flits.
    #[inline]
    pub(crate) fn could_grant(
        &self,
        port: usize,
        lanes: u16,
        flits: u32,
        plan: &PipelinePlan,
    ) -> u16 {
        let lanes = lanes & !self.links.port(port).held;
        if self.gives_at_once {
            return lanes;
        }
        self.ready_lanes(port, lanes, flits, plan)
    }

    /// Of some lanes of an output that nobody holds, those that could be given to a packet of so many
    /// flits.
    fn ready_lanes(&self, port: usize, lanes: u16, flits: u32, plan: &PipelinePlan) -> u16 {
        let takes_all = self.links.port(port).is(TO_HOST);
        let is_ready = |lane: &usize| {
            let (place, cut) = (port << SHIFT | lane, plan.cut_through.bits() >> lane & 1 == 1);
            let has_room =
                !cut || takes_all || u32::from(self.links.lane(place).unpromised) >= flits;
            let is_free = match plan.reallocation {
                Reallocation::Tail => true,
                Reallocation::AfterTail => self.links.is_released(port, *lane),
                Reallocation::TailCredit => self.links.is_at_rest(place, plan.depths_flits[*lane]),
            };
            has_room && is_free
        };
        lanes_of(lanes).filter(is_ready).fold(0, |lanes, lane| lanes | 1 << lane)
    }

    /// An input lane holds a lane of an output from now on.
    pub(crate) fn connect(&mut self, from: usize, to: usize, plan: &PipelinePlan) {
        let base = self.switches.port(from >> SHIFT).base as usize;
        let local =
            |lane: usize| u16::try_from(lane - base).expect("lanes of a switch have 16 bits");
        let flits = self.buffers.lane(from).left;
        let link = self.links.port(to >> SHIFT);
        let is_promised = plan.cut_through.bits() & bit_of(to) != 0 && !link.is(TO_HOST);
        let promised = if is_promised { flits } else { 0 };
        let next = link.peer_lane(number_of(to));
        self.links.hold(to, local(from), u16::try_from(promised).expect("a packet fits its lane"));
        debug_assert_eq!(self.buffers.lane(from).out, NONE, "a head that requests holds nothing");
        self.buffers.hold(from, local(to));
        self.switches.connect(from, self.links.is_full(to));
        self.buffers.expect_worm(next, self.buffers.first(from));
        if self.is_tracked {
            self.links.track_packet(to, flits);
        }
    }
}
