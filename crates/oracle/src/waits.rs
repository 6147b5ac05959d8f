//! Who waits for whom in the oracle; [`WaitCycle`] says why a circle of waits is a deadlock.

use crate::Simulation;
use crate::event::Symbol;
use crate::input::Head;
use gingham_model::{Wait, WaitCycle};
use gingham_topology::ChannelId;

/// The input that the one at the end of `channel` waits for, if any.
fn waits_for(simulation: &Simulation, channel: ChannelId) -> Option<ChannelId> {
    match simulation.inputs[channel.index()].as_ref()?.head {
        Head::Idle | Head::Routing { .. } => None,
        Head::Waiting { output, .. } => simulation.outputs[output.index()].owner,
        Head::Connected { output } => {
            let blocker = simulation.inputs[output.index()].as_ref()?;
            let stopped = simulation.outputs[output.index()].stopped_since.is_some();
            let lasting = blocker.wanted == Symbol::Stop && blocker.announced == Symbol::Stop;
            (stopped && lasting).then_some(output)
        }
    }
}

/// A circle of waits, if there is one.
pub(crate) fn find_cycle(simulation: &Simulation) -> Option<WaitCycle> {
    let waits: Vec<(ChannelId, Wait)> = ChannelId::first(simulation.inputs.len())
        .filter_map(|channel| Some((channel, Wait::one(waits_for(simulation, channel)?))))
        .collect();
    WaitCycle::find(&waits)
}
