//! Lanes used by packets, and packets dropped because of the SL-to-VL mapping.

use crate::routing::lanes::map::MANAGEMENT_LANE;
use crate::routing::lanes::route_set::{LanedWalk, RouteSet};
use crate::routing::lanes::set::LaneSet;
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::routes::joins_switches;
use crate::{ChannelId, EndpointId, Fabric};
use std::collections::BTreeMap;

/// Lanes used by packets of all pairs, and dropped packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneUse {
    /// Lanes used between switches, in ascending order; at most lane 0 without a lane rule.
    pub lanes: Vec<u8>,
    /// Drops by location and service level.
    pub drops: Vec<LaneDrop>,
}

/// Packets dropped at one location because their service level has no lane there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneDrop {
    /// Input channel of the switch; `None` if the adapter drops the packets.
    pub incoming: Option<ChannelId>,
    /// Channel that the packets would take next.
    pub outgoing: ChannelId,
    /// Service level (SL).
    pub level: u8,
    /// Source and destination of some of the packets.
    pub example: (EndpointId, EndpointId),
    /// Number of affected ordered pairs, counted once per path.
    pub pairs: u64,
}

impl LaneDrop {
    /// Describes the drop in one sentence.
    pub fn describe(&self, fabric: &Fabric) -> String {
        let (from, to) = self.example;
        let place = match self.incoming {
            None => format!("at {}", fabric.port_name(fabric.source(self.outgoing))),
            Some(incoming) => format!(
                "at {} on the way from port {} to port {}",
                fabric.node(fabric.target(incoming).node).name,
                fabric.target(incoming).port,
                fabric.source(self.outgoing).port
            ),
        };
        let (from, to) = (fabric.endpoint_name(from), fabric.endpoint_name(to));
        let noun = if self.pairs == 1 { "pair" } else { "pairs" };
        format!(
            "packets of SL {} are dropped {place}, which maps it to lane {MANAGEMENT_LANE} \
             ({} {noun}, one of them {from} to {to})",
            self.level, self.pairs
        )
    }
}

impl RouteSet<'_> {
    /// Finds the lanes in use, and the dropped packets.
    pub fn lane_use(&self, fabric: &Fabric) -> LaneUse {
        let graph = SwitchGraph::new(fabric);
        if self.lanes.is_none() {
            let leaves =
                self.routes.iter().any(|routes| routes.lead_between_switches(fabric, &graph));
            let lanes = if leaves { vec![0] } else { Vec::new() };
            return LaneUse { lanes, drops: Vec::new() };
        }
        let mut used = LaneSet::EMPTY;
        let mut drops: BTreeMap<(Option<ChannelId>, ChannelId, u8), LaneDrop> = BTreeMap::new();
        self.walk_all(fabric, &graph, |laned| {
            for buffers in laned.buffers() {
                if joins_switches(fabric, buffers.channel) {
                    used = used | buffers.lanes;
                }
            }
            if let Some(drop) = dropped(fabric, laned) {
                let key = (drop.incoming, drop.outgoing, drop.level);
                drops.entry(key).and_modify(|known| known.pairs += drop.pairs).or_insert(drop);
            }
        });
        LaneUse { lanes: used.lanes().collect(), drops: drops.into_values().collect() }
    }
}

fn dropped(fabric: &Fabric, laned: &LanedWalk<'_>) -> Option<LaneDrop> {
    let (channels, sender) = (laned.walk.channels, laned.sender);
    let outgoing = *channels.get(laned.lanes.len())?;
    let own = fabric.endpoint_channel(sender);
    let (incoming, outgoing) = match laned.lanes.len() {
        0 if laned.is_dropped_by_adapter => (None, own),
        0 => (Some(own), outgoing),
        taken => (Some(channels[taken - 1]), outgoing),
    };
    let example = (laned.host_sender.unwrap_or(sender), laned.walk.to);
    let level = laned.vc_class.0;
    Some(LaneDrop { incoming, outgoing, level, example, pairs: laned.sender_count })
}
