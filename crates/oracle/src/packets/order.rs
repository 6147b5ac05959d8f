//! The order of a switch: which of the packets that wait for an output comes first on a lane of it.
//!
//! ```text
//!   oldest first      a, then input port, then the lane that it came on
//!   strict priority   level, then the same
//!   round robin       input port, from the one after the last winner; of a port a, then lane
//! ```

use crate::packets::buffer::Buffered;
use crate::packets::simulation::Simulation;
use gingham_kernel::Time;
use gingham_model::Arbitration;
use gingham_topology::ChannelId;
use std::cmp::Reverse;

/// Where a packet waits: the buffer, and its place there, the oldest being 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Waiting {
    pub(crate) input: ChannelId,
    pub(crate) lane: u8,
    pub(crate) place: usize,
}

impl Simulation {
    /// The packets that are ready, wait for an output and may take a lane of it, in order.
    pub(crate) fn in_order(&self, output: ChannelId, lane: u8) -> Vec<Waiting> {
        let node = self.plan.ends(output).source.node;
        let mut found = Vec::new();
        for input in self.channels_into(node) {
            for came_on in 0..self.plan.lanes.count {
                for (place, buffered) in self.input(input).lane(came_on).iter().enumerate() {
                    let waits_for_it = buffered.waits() && buffered.output == output;
                    if waits_for_it && buffered.lanes.contains(lane) {
                        found.push(Waiting { input, lane: came_on, place });
                    }
                }
            }
        }
        found.sort_by_key(|waiting| self.key(output, lane, *waiting));
        found
    }

    /// Who has the least comes first.
    fn key(
        &self,
        output: ChannelId,
        lane: u8,
        waiting: Waiting,
    ) -> (Reverse<usize>, usize, Time, usize, u8) {
        let buffered = self.waiting(waiting);
        let port = usize::from(self.plan.ends(waiting.input).target.port);
        let turn = match self.packets.arbitration {
            Arbitration::OldestFirst | Arbitration::StrictPriority => 0,
            Arbitration::RoundRobin => self.turns_until(output, lane, port),
        };
        (Reverse(buffered.level), turn, buffered.came, port, waiting.lane)
    }

    /// How many ports have their turn before one, on a lane of an output.
    fn turns_until(&self, output: ChannelId, lane: u8, port: usize) -> usize {
        let node = self.plan.ends(output).source.node;
        let ports = usize::from(self.plan.fabric.node(node).ports) + 1;
        let last = self.outputs[output.index()].last_port[usize::from(lane)];
        let first = last.map_or(0, |last| last + 1);
        (port + ports - first) % ports
    }

    /// The packet itself.
    pub(crate) fn waiting(&self, at: Waiting) -> &Buffered {
        &self.input(at.input).lane(at.lane)[at.place]
    }
}
