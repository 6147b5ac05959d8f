//! Load of the outputs at a host's first switch, for the selection of paths.
//!
//! ```text
//!   host ──► first switch ─┬─ output 2   credits out 12, waiting 0 B      direct path, 1 hop: 12 x 1
//!                          └─ output 5   credits out  3, waiting 0 B      over s4, 4 hops:     3 x 4
//! ```
//!
//! Each path is rated by the load of its first output times its hops, the channels between switches.
//! A packet takes the alternative path if its product is lower than the direct path's by more than a
//! threshold. A packet for an endpoint on its first switch takes the direct path.
//!
//! Source: Singh, "Load-Balanced Routing in Interconnection Networks", PhD thesis, Stanford 2005,
//! chapter 5 (UGAL), with local information only; the units of the load are ours.

use crate::{BLOCK_BYTES, Packet, Plan, Switching};
use gingham_topology::routing::Routes;
use gingham_topology::{ChannelId, EndpointId};

use super::PathId;

/// Load of a switch output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutputLoad {
    /// Credits in use over all lanes: space in the next buffer that is occupied, or freed but not
    /// yet reported. In flits or, with whole packets, in blocks; 0 without credits.
    pub credits_out: u64,
    /// Wire bytes of packets that wait in the switch for the output; 0 unless switches handle whole
    /// packets.
    pub waiting_bytes: u64,
}

impl OutputLoad {
    const fn bytes(self, credit_bytes: u64) -> u64 {
        self.credits_out * credit_bytes + self.waiting_bytes
    }
}

#[derive(Clone, Debug)]
pub(super) struct ByLoad {
    threshold_bytes: u64,
    credit_bytes: u64,
    /// Outputs of the first switch; empty if the endpoint's cable leads to another endpoint.
    outputs: Vec<ChannelId>,
    loads: Vec<OutputLoad>,
}

impl ByLoad {
    pub(super) fn new(plan: &Plan, endpoint: EndpointId, threshold_bytes: u64) -> Self {
        let outputs: Vec<ChannelId> = plan.first_outputs(endpoint).collect();
        let loads = vec![OutputLoad::default(); outputs.len()];
        Self { threshold_bytes, credit_bytes: plan.credit_bytes(), outputs, loads }
    }

    pub(super) fn update(&mut self, loads: &[OutputLoad]) {
        self.loads.copy_from_slice(loads);
    }

    pub(super) fn prefers(&self, plan: &Plan, packet: &Packet, alternative: PathId) -> bool {
        let ends = (packet.source, packet.destination);
        let of = |path| {
            let (output, hops) = plan.first_output(path, ends)?;
            let place = self.outputs.iter().position(|of| *of == output)?;
            Some(self.loads[place].bytes(self.credit_bytes) * hops)
        };
        let (direct, alternative) = (of(PathId::PRIMARY), of(alternative));
        direct.zip(alternative).is_some_and(|(direct, alternative)| {
            direct.saturating_sub(alternative) > self.threshold_bytes
        })
    }
}

impl Plan {
    /// Returns the outputs of an endpoint's first switch, in port order; none if the endpoint's
    /// cable leads to an endpoint.
    pub fn first_outputs(&self, endpoint: EndpointId) -> impl Iterator<Item = ChannelId> {
        let first = self.fabric.target(self.fabric.endpoint_channel(endpoint)).node;
        let count = if self.is_switch(first) { usize::MAX } else { 0 };
        self.fabric.channels_from(first).take(count)
    }

    /// Returns the buffer space of one credit, in bytes.
    fn credit_bytes(&self) -> u64 {
        match &self.switching {
            Switching::Wormhole(_) => unreachable!("slack buffers have no credits"),
            Switching::VirtualLanes(pipeline) => pipeline.wire_bytes(1),
            Switching::Packets(_) => BLOCK_BYTES.into(),
        }
    }

    /// Returns the output of a path at its first switch, and the path's hops: its channels between
    /// switches. `None` without switches.
    fn first_output(
        &self,
        path: PathId,
        (source, destination): (EndpointId, EndpointId),
    ) -> Option<(ChannelId, u64)> {
        let first = self.fabric.target(self.fabric.endpoint_channel(source)).node;
        let switches = self.length_from(path, first, destination).switches;
        if switches == 0 {
            return None;
        }
        let via = path.via().map(|via| self.routing.vias[via]);
        let at = |endpoint| self.fabric.target(self.fabric.endpoint_channel(endpoint)).node;
        // If the first switch is the intermediate switch, the first leg is empty.
        let end = via.filter(|via| at(*via) != first).unwrap_or(destination);
        let output = match self.routing.routes(path) {
            Routes::Table(tables) => self.fabric.outgoing(first, tables.port(first, end)?)?,
            Routes::Source(routes) => {
                routes.channel(&self.fabric, routes.kept(first, end)?, 0, || first)
            }
        };
        Some((output, switches as u64 - 1))
    }
}
