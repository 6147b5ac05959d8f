//! Who waits for whom: what a search for a deadlock looks at, and what must always hold.
//!
//! An input lane whose head has a request waits for any of the lanes that it may take; one that
//! holds an output lane without room for the full buffer at its end. All others go on.

use crate::lanes::context::Context;
use crate::lanes::hosts::Hosts;
use crate::lanes::layout::{NONE, SHIFT, bit_of, lanes_of, number_of};
use crate::lanes::links::{Links, TO_HOST};
use crate::lanes::network::Network;
use gingham_net::{EjectionHead, Wait, WaitForGraph};
use gingham_topology::routing::Buffer;

/// What a search looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits<'a> {
    pub(crate) network: &'a Network,
    pub(crate) hosts: &'a Hosts,
    pub(crate) context: &'a Context,
}

/// Credits on their way.
#[derive(Clone, Debug)]
struct Returning {
    /// The output lane of each, in ascending order.
    lanes: Vec<usize>,
}

impl Returning {
    fn new(links: &Links) -> Self {
        let mut lanes: Vec<usize> = links.returning_credits().collect();
        lanes.sort_unstable();
        Self { lanes }
    }

    /// Credits on their way to an output lane.
    fn to(&self, output: usize) -> u32 {
        let first = self.lanes.partition_point(|lane| *lane < output);
        let count = self.lanes[first..].iter().take_while(|lane| **lane == output).count();
        u32::try_from(count).expect("a lane has fewer than 2^32 credits")
    }
}

impl Waits<'_> {
    /// The wait-for graph. Only lanes whose head has a request or whose output lane
    /// has no room are looked at.
    pub(crate) fn graph(self) -> WaitForGraph {
        let returning = Returning::new(&self.network.links);
        let mut waits = Vec::new();
        let mut add = |lane, wait: Option<Wait>| {
            waits.extend(wait.map(|wait| (self.buffer(lane), wait)));
        };
        for (port, state) in self.network.switches.ports().iter().enumerate() {
            for lane in lanes_of(state.full) {
                let lane = port << SHIFT | lane;
                add(lane, self.wait_for_room(lane));
            }
            let chosen = self.network.adaptive.is_some();
            for input in self.network.requests.of_port(port).filter(|_| !chosen) {
                let lane = state.base as usize + input;
                let lanes = self.network.requests.lanes_of(lane);
                add(lane, self.wait_for_lane(lane, [(port, lanes)], &returning));
            }
        }
        let heads = self.network.adaptive.iter();
        for (lane, chosen) in
            heads.flat_map(|heads| heads.waiting().map(|lane| (lane, heads.chosen(lane))))
        {
            let choices = self.network.choices(lane, chosen, self.context);
            let outputs = choices.map(|of| (self.context.layout.port(of.output), of.lanes.bits()));
            add(lane, self.wait_for_lane(lane, outputs, &returning));
        }
        if self.network.in_transit.stops {
            let first = self.context.layout.first_host << SHIFT;
            for lane in self.lanes_from(first) {
                add(lane, self.wait_at_host(lane, &returning));
            }
        }
        waits.sort_unstable_by_key(|(buffer, _)| *buffer);
        waits
    }

    /// The lanes that are in use, from one on.
    pub(crate) fn lanes_from(self, first: usize) -> impl Iterator<Item = usize> {
        let Context { layout, plan, .. } = self.context;
        (first..self.network.links.lane_count()).filter(|lane| {
            number_of(*lane) < usize::from(plan.lanes.count)
                && layout.channels()[lane >> SHIFT].is_some()
        })
    }

    /// The buffer of an input lane.
    pub(crate) fn buffer(self, lane: usize) -> Buffer {
        let channel = self.context.layout.channel_into(lane >> SHIFT);
        Buffer { channel, lane: u8::try_from(number_of(lane)).expect("lanes are few") }
    }

    /// The buffer at the end of an output lane.
    fn buffer_behind(self, output: usize) -> Buffer {
        self.buffer(self.network.links.opposite(output))
    }

    /// The credits that a lane must have to be given to a packet of so many flits.
    pub(crate) fn credits_to_be_given(self, lane: usize, flits: u32) -> u32 {
        let lane = u8::try_from(number_of(lane)).expect("lanes are few");
        let credits = self.context.lanes.credits_to_be_given(lane, flits.into());
        u32::try_from(credits).expect("a lane is of fewer than 2^32 flits")
    }

    /// Credits of an output lane that were promised to nobody.
    pub(crate) fn free_credits(self, output: usize) -> u32 {
        let state = self.network.links.lane(output);
        let is_cut = self.context.lanes.cut_through.bits() & bit_of(output) != 0;
        if is_cut { state.unpromised.into() } else { state.credit.into() }
    }

    /// The wait of an input lane whose output lane has no room: for the buffer behind that, if it is
    /// full too.
    fn wait_for_room(self, lane: usize) -> Option<Wait> {
        let base = self.network.switches.port(lane >> SHIFT).base as usize;
        let output = base + usize::from(self.network.buffers.lane(lane).out);
        self.is_full_behind(output).then(|| Wait::one(self.buffer_behind(output)))
    }

    /// The wait of an input lane whose head may take any of some lanes of ports.
    fn wait_for_lane(
        self,
        lane: usize,
        outputs: impl IntoIterator<Item = (usize, u16)>,
        returning: &Returning,
    ) -> Option<Wait> {
        let Network { links, buffers, switches, .. } = self.network;
        let base = switches.port(lane >> SHIFT).base as usize;
        let wait = |(requested, choice): (usize, usize)| {
            let output = requested << SHIFT | choice;
            if links.port(requested).held >> choice & 1 == 1 {
                return Some(self.buffer(base + usize::from(links.lane(output).holder)));
            }
            let needed = self.credits_to_be_given(choice, buffers.lane(lane).left);
            if needed == 0 || links.port(requested).is(TO_HOST) {
                return None;
            }
            let credits = self.free_credits(output) + returning.to(output);
            (credits < needed).then(|| self.buffer_behind(output))
        };
        let lanes = outputs
            .into_iter()
            .flat_map(|(port, lanes)| lanes_of(lanes).map(move |choice| (port, choice)));
        let waits: Option<Vec<_>> = lanes.map(wait).collect();
        waits.map(Wait::Any)
    }

    /// A packet that waits at a host for room in the pool waits for any packet of the pool to
    /// leave: for the input lanes at the ends of the lanes that these are on, or may take. What
    /// comes soon is no wait.
    fn wait_at_host(self, lane: usize, returning: &Returning) -> Option<Wait> {
        let (port, links) = (lane >> SHIFT, &self.network.links);
        let host = self.network.in_transit.host(port);
        let EjectionHead::Waiting { .. } = host.heads[number_of(lane)] else { return None };
        let bytes = self.context.wire_bytes(self.network.buffers.worm(lane));
        if host.machine.has_room(bytes) {
            return None;
        }
        let mut waits = Vec::new();
        for (id, packet, taken) in self.network.in_transit.taken_in(port) {
            let on = self.hosts.lane_of(port, id, links);
            if on.is_none() && packet.has_begun {
                // Its tail is about to have left.
                return None;
            }
            let flits = self.context.worms.get(packet.worm).flits;
            let may_take = self.hosts.lanes_of_group(port, taken.group);
            for choice in lanes_of(on.map_or(may_take, |on| 1 << on)) {
                let output = port << SHIFT | choice;
                let needed = self.hosts.credits_to_begin(choice, flits, self.context);
                let credit = u32::from(links.lane(output).credit) + returning.to(output);
                let is_short = on.is_none() && !links.port(port).is(TO_HOST) && credit < needed;
                if !is_short && !self.is_full_behind(output) {
                    return None;
                }
                waits.push(self.buffer_behind(output));
            }
        }
        waits.sort_unstable();
        waits.dedup();
        Some(Wait::Any(waits))
    }

    /// Whether the buffer at the end of an output lane is full.
    fn is_full_behind(self, output: usize) -> bool {
        let Network { links, buffers, .. } = self.network;
        !links.port(output >> SHIFT).is(TO_HOST)
            && u32::from(buffers.lane(links.opposite(output)).present)
                == self.context.lanes.depths_flits[number_of(output)]
    }

    /// Checks that the credits of every lane are somewhere, and that its sets say what is so; for
    /// tests. Slow.
    pub(crate) fn assert_invariants(self) {
        let on_wire = self.network.links.credits_on_wire();
        for lane in self.lanes_from(0) {
            self.assert_output(lane, on_wire[lane]);
            if lane >> SHIFT < self.context.layout.first_host {
                self.assert_input(lane);
            }
        }
    }

    fn assert_output(self, output: usize, on_wire: u32) {
        let Network { links, buffers, .. } = self.network;
        let (port, lane) = (output >> SHIFT, number_of(output));
        let (state, fill) = (links.port(port), links.lane(output).fill);
        let depth = self.context.lanes.output_depths_flits[lane].max(1);
        assert!(u32::from(fill) <= depth, "an output lane holds {fill} flits");
        if !state.is(TO_HOST) {
            let credit = links.lane(output).credit;
            let there = buffers.lane(links.opposite(output)).present;
            let sum = u32::from(credit) + u32::from(there) + on_wire;
            let depth = self.context.lanes.depths_flits[lane];
            assert_eq!(sum, depth, "credits of a lane are conserved");
            assert_eq!(state.credited >> lane & 1 == 1, credit > 0, "`credited` says what is so");
        }
        if port < self.context.layout.first_host {
            assert_eq!(state.filled >> lane & 1 == 1, fill > 0, "`filled` says what is so");
        }
    }

    fn assert_input(self, input: usize) {
        let Network { links, buffers, switches, .. } = self.network;
        let (state, lane) = (switches.port(input >> SHIFT), buffers.lane(input));
        let is_in = |lanes: u16, lane: usize| lanes >> number_of(lane) & 1 == 1;
        let can_send = lane.out != NONE && lane.present > 0;
        assert_eq!(is_in(state.sendable, input), can_send, "`sendable` says what is so");
        if lane.out != NONE {
            let output = state.base as usize + usize::from(lane.out);
            let is_full = links.is_full(output);
            assert_eq!(is_in(state.full, input), is_full, "`full` says what is so");
            let held = links.port(output >> SHIFT).held;
            assert!(is_in(held, output), "what is held is known as held");
        }
    }
}
