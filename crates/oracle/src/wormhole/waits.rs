//! Who waits for whom in the oracle; [`WaitCycle`] says why a cycle of waits is a deadlock.

use crate::wormhole::event::Symbol;
use crate::wormhole::input::Head;
use crate::wormhole::simulation::Simulation;
use gingham_model::{Wait, WaitCycle};
use gingham_topology::routing::Buffer;
use gingham_topology::{ChannelId, Fabric};

impl Simulation {
    /// A cycle of waits, if there is one.
    pub(crate) fn wait_cycle(&self) -> Option<WaitCycle> {
        let waits: Vec<(Buffer, Wait)> = ChannelId::first(self.inputs.len())
            .filter_map(|channel| Some((channel.into(), Wait::one(self.waits_for(channel)?))))
            .collect();
        WaitCycle::find(&waits)
    }

    /// The input that the one at the end of `channel` waits for, if any.
    fn waits_for(&self, channel: ChannelId) -> Option<ChannelId> {
        let input = self.inputs[channel.index()].as_ref()?;
        if self.is_waiting_at_host(channel) {
            // Whatever the pool holds leaves by the host's own channel.
            return self.lastingly_stopped_by(Fabric::reverse(channel));
        }
        match input.head {
            Head::Idle | Head::Routing { .. } => None,
            Head::Waiting { output, .. } => self.outputs[output.index()].owner,
            Head::Connected { output } => self.lastingly_stopped_by(output),
        }
    }

    /// The input at the end of `output`, if it has stopped it and wants that still.
    fn lastingly_stopped_by(&self, output: ChannelId) -> Option<ChannelId> {
        let blocker = self.inputs[output.index()].as_ref()?;
        let stopped = self.outputs[output.index()].stopped_since.is_some();
        let lasting = blocker.wanted == Symbol::Stop && blocker.announced == Symbol::Stop;
        (stopped && lasting).then_some(output)
    }
}
