//! Who waits for whom in a network of whole packets; [`WaitCycle`] says why a cycle of waits is a
//! deadlock.
//!
//! ```text
//!   buffer, every packet ready and waiting ─► any of:  the buffers at the ends of the lanes that
//!                                                      its packets may take, if all are blocked
//! ```
//!
//! A packet that is on its way into a buffer is in it, for its space is taken. One whose tail is
//! leaving goes for sure, so that a wait for its space is none.

use crate::packets::buffer::Buffered;
use crate::packets::order::Waiting;
use crate::packets::simulation::Simulation;
use gingham_model::{Wait, WaitCycle};
use gingham_topology::ChannelId;
use gingham_topology::routing::Buffer;
use std::collections::BTreeSet;

impl Simulation {
    /// A cycle of waits, if there is one.
    pub(crate) fn wait_cycle(&self) -> Option<WaitCycle> {
        let lanes = self.plan.lanes.count;
        let waits: Vec<(Buffer, Wait)> = ChannelId::first(self.inputs.len())
            .filter(|channel| self.inputs[channel.index()].is_some())
            .flat_map(|channel| (0..lanes).map(move |lane| Buffer { channel, lane }))
            .filter_map(|buffer| Some((buffer, waits_for(self, buffer)?)))
            .collect();
        WaitCycle::find(&waits)
    }
}

/// What a buffer waits for, if it does.
fn waits_for(simulation: &Simulation, of: Buffer) -> Option<Wait> {
    let buffer = simulation.input(of.channel).lane(of.lane);
    if buffer.is_empty() || !buffer.iter().all(Buffered::waits) {
        return None;
    }
    let mut parties = BTreeSet::new();
    for (place, buffered) in buffer.iter().enumerate() {
        let waiting = Waiting { input: of.channel, lane: of.lane, place };
        if simulation.is_held_back(waiting) {
            continue;
        }
        for lane in buffered.lanes.lanes() {
            let ahead = Buffer { channel: buffered.output, lane };
            if !is_blocked(simulation, ahead) {
                return None;
            }
            parties.insert(ahead);
        }
    }
    Some(Wait::Any(parties.into_iter().collect()))
}

/// Whether the first packet for a lane of an output does not fit into the buffer at the end of it,
/// even when all have left it whose tails are leaving; or that lane is paused.
fn is_blocked(simulation: &Simulation, lane: Buffer) -> bool {
    let Some(input) = &simulation.inputs[lane.channel.index()] else { return false };
    let in_order = simulation.in_order(lane.channel, lane.lane);
    let first = in_order.into_iter().find(|waiting| !simulation.is_held_back(*waiting));
    let has_buffer = simulation.output_lane(lane.channel, lane.lane).is_some();
    let crosses = |first| !simulation.cannot_cross(lane.channel, lane.lane, first);
    if has_buffer && first.is_none_or(crosses) {
        return false;
    }
    if let Some(pausing) = &simulation.outputs[lane.channel.index()].pausing {
        return pausing.lanes[usize::from(lane.lane)].is_held();
    }
    let stays = input.lane(lane.lane).iter().filter(|buffered| !buffered.has_started);
    let taken: u64 = stays.map(|buffered| buffered.blocks).sum();
    let holds = u64::from(simulation.packets.buffer_blocks[usize::from(lane.lane)]);
    let next = if has_buffer {
        simulation.first_crossed(lane.channel, lane.lane).map(|crossed| crossed.blocks)
    } else {
        first.map(|first| simulation.waiting(first).blocks)
    };
    next.is_some_and(|blocks| blocks > holds - taken)
}
