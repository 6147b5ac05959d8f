//! Wait-for graph of lanes, for deadlock checks and invariants.
//!
//! An input lane whose head has a request waits for one of the permitted lanes. An input lane that
//! holds an output lane without free space waits for the full buffer at the end of its channel. All
//! other lanes can move.

use crate::lanes::context::Context;
use crate::lanes::hosts::Hosts;
use crate::lanes::layout::{SHIFT, bit_of, lanes_of, number_of};
use crate::lanes::links::TO_HOST;
use crate::lanes::network::Network;
use crate::lanes::view::View;
use gingham_net::{EjectionHead, Wait, WaitForGraph};
use gingham_topology::routing::Buffer;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits<'a> {
    pub(crate) view: &'a dyn View,
    pub(crate) network: &'a Network,
    pub(crate) hosts: &'a Hosts,
    pub(crate) context: &'a Context,
}

#[derive(Clone, Debug)]
struct Returning {
    lanes: Vec<usize>,
}

impl Returning {
    fn new(mut lanes: Vec<usize>) -> Self {
        lanes.sort_unstable();
        Self { lanes }
    }

    fn to(&self, output: usize) -> u32 {
        let first = self.lanes.partition_point(|lane| *lane < output);
        let count = self.lanes[first..].iter().take_while(|lane| **lane == output).count();
        u32::try_from(count).expect("a lane has fewer than 2^32 credits")
    }
}

impl Waits<'_> {
    pub(crate) fn graph(self) -> WaitForGraph {
        let tick = self.context.clock.ticks_done();
        let returning = Returning::new(self.view.returning_credits(self.network, tick));
        let mut waits = Vec::new();
        let mut add = |lane, wait: Option<Wait>| {
            waits.extend(wait.map(|wait| (self.buffer(lane), wait)));
        };
        let chosen = self.network.adaptive.is_some();
        for port in self.switch_ports() {
            for lane in lanes_of(self.view.blocked(self.network, port)) {
                let lane = port << SHIFT | lane;
                add(lane, self.wait_for_room(lane));
            }
            if !chosen {
                for (lane, lanes) in self.view.requests(self.network, port) {
                    add(lane, self.wait_for_lane(lane, [(port, lanes)], &returning));
                }
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
            for lane in self.lanes_from(self.context.layout.first_host) {
                add(lane, self.wait_at_host(lane, &returning));
            }
        }
        waits.sort_unstable_by_key(|(buffer, _)| *buffer);
        waits
    }

    pub(crate) fn switch_ports(self) -> impl Iterator<Item = usize> {
        let layout = &self.context.layout;
        (0..layout.first_host).filter(|port| layout.channels()[*port].is_some())
    }

    pub(crate) fn lanes_from(self, port: usize) -> impl Iterator<Item = usize> {
        self.context.layout.lanes_from(port, self.context.plan.lanes.count)
    }

    pub(crate) fn buffer(self, lane: usize) -> Buffer {
        let channel = self.context.layout.channel_into(lane >> SHIFT);
        Buffer { channel, lane: u8::try_from(number_of(lane)).expect("lanes are few") }
    }

    fn buffer_behind(self, output: usize) -> Buffer {
        self.buffer(self.network.links.opposite(output))
    }

    pub(crate) fn credits_to_be_given(self, lane: usize, flits: u32) -> u32 {
        let lane = u8::try_from(number_of(lane)).expect("lanes are few");
        let credits = self.context.lanes.credits_to_be_given(lane, flits.into());
        u32::try_from(credits).expect("a lane is of fewer than 2^32 flits")
    }

    pub(crate) fn free_credits(self, output: usize) -> u32 {
        let is_cut = self.context.lanes.cut_through.bits() & bit_of(output) != 0;
        let credits = if is_cut {
            self.view.unpromised(self.network, output)
        } else {
            self.view.credit(self.network, output)
        };
        credits.into()
    }

    fn wait_for_room(self, lane: usize) -> Option<Wait> {
        let output = self.view.held_by(self.network, lane).expect("a blocked lane holds another");
        self.is_full_behind(output).then(|| Wait::one(self.buffer_behind(output)))
    }

    fn wait_for_lane(
        self,
        lane: usize,
        outputs: impl IntoIterator<Item = (usize, u16)>,
        returning: &Returning,
    ) -> Option<Wait> {
        let wait = |(requested, choice): (usize, usize)| {
            let output = requested << SHIFT | choice;
            if let Some(holder) = self.view.holder_of(self.network, output) {
                return Some(self.buffer(holder));
            }
            let needed = self.credits_to_be_given(choice, self.view.left(self.network, lane));
            if needed == 0 || self.network.links.port(requested).is(TO_HOST) {
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

    /// Returns the wait of a packet that needs pool space at a host. Any packet that leaves the
    /// pool ends the wait, which is therefore for the input lanes at the ends of all lanes that
    /// pool packets use or may use.
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

    fn is_full_behind(self, output: usize) -> bool {
        let links = &self.network.links;
        !links.port(output >> SHIFT).is(TO_HOST)
            && u32::from(self.view.present(self.network, links.opposite(output)))
                == self.context.lanes.depths_flits[number_of(output)]
    }

    /// Checks that credits are conserved and output lanes stay within their depth. Slow; for tests.
    pub(crate) fn assert_invariants(self) {
        let (view, network, tick) = (self.view, self.network, self.context.clock.ticks_done());
        let mut on_wire = vec![0_u32; network.links.lane_count()];
        for output in view.returning_credits(network, tick) {
            on_wire[output] += 1;
        }
        for input in view.arriving_flits(network, tick) {
            on_wire[network.links.opposite(input)] += 1;
        }
        for output in self.lanes_from(0) {
            let fill = view.fill(network, output);
            let depth = self.context.lanes.output_depths_flits[number_of(output)].max(1);
            assert!(u32::from(fill) <= depth, "an output lane holds {fill} flits");
            if !network.links.port(output >> SHIFT).is(TO_HOST) {
                let there = view.present(network, network.links.opposite(output));
                let sum = u32::from(view.credit(network, output)) + u32::from(there);
                let depth = self.context.lanes.depths_flits[number_of(output)];
                assert_eq!(sum + on_wire[output], depth, "credits of a lane are conserved");
            }
        }
    }
}
