//! Who waits for whom in a network of virtual lanes; [`WaitCycle`] says why a cycle of waits is a
//! deadlock.
//!
//! ```text
//!   head's requests ──► any of:  the input lane that holds an output lane which it may take
//!                          the input lane at the end of one that nobody holds, for want of credits
//!   lane holds an output lane without room ──► the input lane at the end of it, if that is full
//!   packet waits for room at a host ──► any of:  the input lanes where the packets of the pool are to go
//! ```
//!
//! Credits that are on their way come for sure, so that a wait for them is none.

use crate::lanes::allocation::Request;
use crate::lanes::clock::Tick;
use crate::lanes::ports::Hold;
use crate::lanes::simulation::Simulation;
use gingham_kernel::Time;
use gingham_model::{EjectionHead, Wait, WaitCycle};
use gingham_topology::routing::{Buffer, LaneSet};
use gingham_topology::{ChannelId, Fabric};

impl Simulation {
    /// A cycle of waits at the end of `time`, if there is one.
    pub(crate) fn wait_cycle(&self, time: Time) -> Option<WaitCycle> {
        let tick = self.clock.last_until(time);
        let waits: Vec<(Buffer, Wait)> = ChannelId::first(self.inputs.len())
            .filter(|channel| self.inputs[channel.index()].is_some())
            .flat_map(|channel| {
                (0..self.plan.lanes.count).map(move |lane| Buffer { channel, lane })
            })
            .filter_map(|buffer| Some((buffer, waits_for(self, buffer, tick)?)))
            .collect();
        WaitCycle::find(&waits)
    }
}

/// What an input lane waits for, if it does.
fn waits_for(simulation: &Simulation, of: Buffer, tick: Tick) -> Option<Wait> {
    if simulation.ends_at_host(of.channel) {
        return waits_at_host(simulation, of);
    }
    if let Some(hold) = simulation.input(of.channel).lane(of.lane).holds {
        return full_behind(simulation, hold).map(Wait::one);
    }
    let requests = simulation.requests_of(of.channel, of.lane, tick);
    if requests.is_empty() {
        return None;
    }
    let lanes = requests.iter().flat_map(|of| of.lanes.lanes().map(move |lane| (of, lane)));
    let waits = lanes.map(|(request, lane)| blocker(simulation, request, lane));
    Some(Wait::Any(waits.collect::<Option<Vec<Buffer>>>()?))
}

/// The input lane at the end of an output lane without room, if that is full.
fn full_behind(simulation: &Simulation, hold: Hold) -> Option<Buffer> {
    let Hold { output: channel, lane, .. } = hold;
    let behind = Buffer { channel, lane };
    if simulation.has_room(channel, lane) {
        return None;
    }
    is_full(simulation, behind).then_some(behind)
}

fn is_full(simulation: &Simulation, of: Buffer) -> bool {
    let depth = simulation.lane_plan.depths_flits[usize::from(of.lane)];
    let input = simulation.inputs[of.channel.index()].as_ref();
    input.is_some_and(|input| input.lane(of.lane).fill() == depth as usize)
}

/// The input lane on account of which a lane cannot be granted to a head that requests it; `None`
/// if that will not last.
fn blocker(simulation: &Simulation, request: &Request, lane: u8) -> Option<Buffer> {
    let output_lane = simulation.outputs[request.output.index()].lane(lane);
    if let Some((channel, lane)) = output_lane.holder {
        return Some(Buffer { channel, lane });
    }
    let flits = simulation.flits_of(request);
    let needed = simulation.lane_plan.credits_to_be_given(lane, flits);
    output_lane.stays_short_of(needed).then_some(Buffer { channel: request.output, lane })
}

/// A packet that waits at a host for room in the pool waits for any packet of the pool to leave:
/// for the input lanes at the ends of the lanes that these are on, or may take.
fn waits_at_host(simulation: &Simulation, of: Buffer) -> Option<Wait> {
    let host = simulation.host_at(of.channel);
    let in_transit = &simulation.in_transit[host.index()];
    let head = in_transit.heads[usize::from(of.lane)];
    let first = simulation.input(of.channel).lane(of.lane).first()?;
    // Room that came free since the last tick is used at the next.
    let gets_room = simulation.pool_has_room(host, first.flit.packet);
    if !matches!(head, EjectionHead::Waiting { .. }) || gets_room {
        return None;
    }
    let channel = Fabric::reverse(of.channel);
    let output = &simulation.outputs[channel.index()];
    let mut waits = Vec::new();
    let adapter = &simulation.endpoints.adapters[host.index()];
    for packet in &in_transit.packets {
        let on = simulation.lane_of(host, packet.packet);
        if on.is_none() && packet.has_begun {
            // Its tail is about to have left.
            return None;
        }
        let queue = adapter.groups().nth(packet.taken.group).expect("the group is one of these");
        for lane in on.map_or(queue, LaneSet::one).lanes() {
            let behind = Buffer { channel, lane };
            let flits = simulation.journeys.get(packet.packet).flits;
            let is_by_packet = output.chooser.is_by_packet();
            let needed = simulation.lane_plan.credits_to_begin(lane, flits, is_by_packet);
            let is_short = on.is_none() && output.lane(lane).stays_short_of(needed);
            if !is_short && !is_full(simulation, behind) {
                return None;
            }
            waits.push(behind);
        }
    }
    waits.sort_unstable();
    waits.dedup();
    Some(Wait::Any(waits))
}
