//! Who waits for whom in the oracle; [`WaitCycle`] says why a circle of waits is a deadlock.

use crate::wormhole::event::Symbol;
use crate::wormhole::input::Head;
use crate::wormhole::simulation::Simulation;
use gingham_model::{Wait, WaitCycle};
use gingham_topology::routing::Buffer;
use gingham_topology::{ChannelId, Fabric};

/// The input that the one at the end of `channel` waits for, if any.
fn waits_for(simulation: &Simulation, channel: ChannelId) -> Option<ChannelId> {
    let input = simulation.inputs[channel.index()].as_ref()?;
    if simulation.is_waiting_at_host(channel) {
        // Whatever the pool holds leaves by the host's own channel.
        return lastingly_stopped_by(simulation, Fabric::reverse(channel));
    }
    match input.head {
        Head::Idle | Head::Routing { .. } => None,
        Head::Waiting { output, .. } => simulation.outputs[output.index()].owner,
        Head::Connected { output } => lastingly_stopped_by(simulation, output),
    }
}

/// The input at the end of `output`, if it has stopped it and wants that still.
fn lastingly_stopped_by(simulation: &Simulation, output: ChannelId) -> Option<ChannelId> {
    let blocker = simulation.inputs[output.index()].as_ref()?;
    let stopped = simulation.outputs[output.index()].stopped_since.is_some();
    let lasting = blocker.wanted == Symbol::Stop && blocker.announced == Symbol::Stop;
    (stopped && lasting).then_some(output)
}

/// A circle of waits, if there is one.
pub(crate) fn find_cycle(simulation: &Simulation) -> Option<WaitCycle> {
    let waits: Vec<(Buffer, Wait)> = ChannelId::first(simulation.inputs.len())
        .filter_map(|channel| Some((channel.into(), Wait::one(waits_for(simulation, channel)?))))
        .collect();
    WaitCycle::find(&waits)
}
