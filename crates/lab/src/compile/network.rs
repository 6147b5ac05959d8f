//! The switching kind of a network: what a preset decides, and which keys it makes meaningless.
//!
//! ```text
//!   network.preset ──► Parameters ──► Kind: the plan of its switches, and what is known of lanes before there are routes
//!                          └─► keys of other kinds are refused
//! ```

use super::Gathered;
use super::lanes::{self, LaneFigures};
use crate::error::LabError;
use crate::scenario::{
    Parameters, Preset, ScenarioSource, SwitchingParameters, WormholeParameters,
};
use gingham_kernel::Bytes;
use gingham_model::{ChannelPlan, Plan, Scheduler, Switching, WormholePlan};
use gingham_topology::{EndpointId, Fabric};
use std::sync::Arc;

/// The most bytes of a mark: more than anything that it could have to say.
const MARK_MAX_BYTES: u32 = 1 << 10;

/// The switching kind, as far as it is known without a fabric.
pub(super) struct Kind {
    /// Without what channels decide on.
    pub(super) switching: Switching,
    pub(super) lanes: LaneFigures,
    /// By class: what one switch holds of a packet, in bytes.
    pub(super) held_bytes: Vec<u64>,
}

impl Kind {
    /// The kind that the preset decides on, with its figures checked.
    pub(super) fn of(
        source: &ScenarioSource,
        parameters: &Parameters,
        gathered: &mut Gathered,
    ) -> Result<Self, LabError> {
        let overhead_bytes = overhead_bytes(source, parameters)?;
        match &parameters.switching {
            SwitchingParameters::Wormhole(wormhole) => {
                refuse_lanes(source)?;
                let plan = wormhole_plan(source, parameters, wormhole, overhead_bytes)?;
                let lanes = LaneFigures::of(source, 1, [(); 2].map(|()| Scheduler::default()))?;
                let held_bytes = lanes.by_class().iter().map(|_| wormhole.slack.capacity.into());
                let held_bytes = held_bytes.collect();
                Ok(Self { switching: Switching::Wormhole(plan), lanes, held_bytes })
            }
            SwitchingParameters::VirtualLanes(of) => {
                refuse_wormhole(source)?;
                let (plan, lanes) = lanes::plan(source, parameters, of, overhead_bytes, gathered)?;
                let held_bytes = lanes.by_class().iter().map(|of| lanes::lane_bytes(&plan, *of));
                let held_bytes = held_bytes.collect();
                Ok(Self { switching: Switching::VirtualLanes(Arc::new(plan)), lanes, held_bytes })
            }
        }
    }
}

/// The same over these channels.
pub(super) fn over(switching: Switching, channels: &[ChannelPlan]) -> Switching {
    match switching {
        Switching::Wormhole(_) => switching,
        Switching::VirtualLanes(mut pipeline) => {
            let cycle = channels.iter().map(|channel| channel.flit).min();
            Arc::make_mut(&mut pipeline).cycle = cycle.unwrap_or(pipeline.cycle);
            Switching::VirtualLanes(pipeline)
        }
    }
}

/// Refuses what the switches of a kind cannot do, and says what one might not expect of them.
pub(super) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    match &plan.switching {
        Switching::Wormhole(_) => Ok(()),
        Switching::VirtualLanes(pipeline) => lanes::check(source, plan, pipeline, gathered),
    }
}

fn overhead_bytes(source: &ScenarioSource, parameters: &Parameters) -> Result<u32, LabError> {
    let Parameters { type_bytes: Bytes(type_bytes), trailer_bytes: Bytes(trailer_bytes), .. } =
        parameters;
    let overhead = type_bytes.checked_add(*trailer_bytes);
    let overhead = overhead.and_then(|bytes| u32::try_from(bytes).ok()).filter(|b| *b < 1 << 20);
    overhead.ok_or_else(|| {
        source.refuse("network.header", "type and trailer must be below 1 MiB").into()
    })
}

fn wormhole_plan(
    source: &ScenarioSource,
    parameters: &Parameters,
    wormhole: &WormholeParameters,
    overhead_bytes: u32,
) -> Result<WormholePlan, LabError> {
    let mark_bytes =
        u32::try_from(wormhole.mark_bytes.0).ok().filter(|bytes| *bytes <= MARK_MAX_BYTES);
    let mark_bytes = mark_bytes.ok_or_else(|| {
        let message = format!(
            "the mark before an in-transit host has at most {MARK_MAX_BYTES} B, not {}",
            wormhole.mark_bytes
        );
        source.refuse("network.header.mark_bytes", message)
    })?;
    Ok(WormholePlan {
        routing_delay: wormhole.routing_delay,
        setup_delay: wormhole.setup_delay,
        route_bytes: wormhole.route_bytes,
        overhead_bytes,
        mark_bytes,
        arbitration: parameters.arbitration,
    })
}

/// Refuses keys of wormhole networks in one of virtual lanes.
fn refuse_wormhole(source: &ScenarioSource) -> Result<(), LabError> {
    let network = &source.scenario.network;
    let header = network.header.unwrap_or_default();
    let written = [
        (
            "routing_delay",
            network.routing_delay.is_some(),
            "a switch takes network.lanes.routing_cycles to find an output",
        ),
        (
            "setup_delay",
            network.setup_delay.is_some(),
            "its five stages take the place of a set-up delay",
        ),
        (
            "slack",
            network.slack.is_some(),
            "its buffers are those of the lanes, network.lanes.depth",
        ),
        ("header.route_bytes", header.route_bytes.is_some(), "the head flit carries the route"),
        ("header.mark_bytes", header.mark_bytes.is_some(), "the head flit carries the marks"),
    ];
    let Some((key, _, why)) = written.into_iter().find(|(_, is_written, _)| *is_written) else {
        return Ok(());
    };
    let preset = network.preset.name();
    let message = format!(
        "belongs to wormhole networks, and the preset {preset} is one of virtual lanes, where {why}: leave it out"
    );
    Err(source.refuse(&format!("network.{key}"), message).into())
}

/// Refuses keys of virtual lanes in a wormhole network.
fn refuse_lanes(source: &ScenarioSource) -> Result<(), LabError> {
    let network = &source.scenario.network;
    let in_network = network.lanes.first_written().map(|key| format!("network.lanes.{key}"));
    let in_class = source.scenario.traffic.iter().enumerate().find_map(|(index, class)| {
        let written =
            [("lanes", class.lanes.is_some()), ("service_level", class.service_level.is_some())];
        let (key, _) = written.into_iter().find(|(_, is_written)| *is_written)?;
        Some(format!("traffic.{index}.{key}"))
    });
    let routing = &source.scenario.routing;
    let in_routing = [
        ("routing.lane_tables", routing.lane_tables.is_some()),
        ("routing.service_levels", routing.service_levels.is_some()),
    ];
    let in_routing = in_routing.into_iter().find(|(_, is_written)| *is_written);
    let in_routing = in_routing.map(|(key, _)| key.to_owned());
    let Some(key) = in_network.or(in_class).or(in_routing) else { return Ok(()) };
    let [preset, other] = [network.preset, Preset::Yum1600].map(Preset::name);
    let message = format!(
        "belongs to networks of virtual lanes, and the preset {preset} is a wormhole network without lanes: say \
         network.preset = \"{other}\", or leave it out"
    );
    Err(source.refuse(&key, message).into())
}

/// The channels of a fabric, and what they are parts of.
#[derive(Clone, Copy)]
pub(super) struct Links<'a> {
    pub(super) fabric: &'a Fabric,
    /// By channel.
    pub(super) channels: &'a [ChannelPlan],
    pub(super) parameters: &'a Parameters,
    pub(super) kind: &'a Kind,
}

impl Links<'_> {
    /// Time of a byte on the cable of a host, in picoseconds.
    pub(super) fn byte_ps(&self, host: EndpointId) -> f64 {
        let channel = &self.channels[self.fabric.endpoint_channel(host).index()];
        channel.byte_ps(self.kind.switching.flit_bytes())
    }
}
