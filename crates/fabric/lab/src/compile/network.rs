//! The switching kind of a network: compiles its parameters, and refuses the keys of other kinds.

use super::gathered::Gathered;
use super::lanes::{self, LaneFigures};
use super::packets;
use crate::catalogue::{refuse_foreign, refuse_unsupported};
use crate::check::{Subject, check as check_rows};
use crate::error::LabError;
use crate::mechanisms::arbiters;
use crate::scenario::{
    HeaderParameters, Parameters, ScenarioSource, SwitchingParameters, WormholeParameters,
};
use gingham_kernel::{Bytes, Span};
use gingham_net::{ChannelPlan, Plan, Scheduler, SlackBuffer, Switching, WormholePlan};
use gingham_topology::{EndpointId, Fabric};
use std::sync::Arc;

const MARK_MAX_BYTES: u32 = 1 << 10;

pub(crate) struct NetworkKind {
    pub(crate) switching: Switching,
    pub(crate) lanes: LaneFigures,
    /// Default payload of adaptive segments per switch on the route, in bytes, by class.
    pub(crate) held_bytes: Vec<u64>,
    /// Smallest input buffer of a switch; `None` if buffers are not enlarged for their cables.
    pub(crate) slack: Option<SlackBuffer>,
}

impl NetworkKind {
    pub(crate) fn of(
        source: &ScenarioSource,
        parameters: &Parameters,
        gathered: &mut Gathered,
    ) -> Result<Self, LabError> {
        let overhead_bytes = overhead_bytes(source, parameters)?;
        refuse_foreign(source, &parameters.switching)?;
        refuse_unsupported(source)?;
        match &parameters.switching {
            SwitchingParameters::Wormhole(wormhole) => {
                let plan = wormhole_plan(source, parameters, wormhole, overhead_bytes)?;
                let lanes = LaneFigures::of(source, 1, [(); 2].map(|()| Scheduler::default()))?;
                let held_bytes = lanes.by_class().iter().map(|_| wormhole.slack.capacity.into());
                let held_bytes = held_bytes.collect();
                let slack = Some(wormhole.slack);
                Ok(Self { switching: Switching::Wormhole(plan), lanes, held_bytes, slack })
            }
            SwitchingParameters::VirtualLanes(of) => {
                let (plan, lanes) = lanes::plan(source, parameters, of, overhead_bytes, gathered)?;
                let held_bytes = lanes.by_class().iter().map(|of| lanes::lane_bytes(&plan, *of));
                let held_bytes = held_bytes.collect();
                let switching = Switching::VirtualLanes(Arc::new(plan));
                Ok(Self { switching, lanes, held_bytes, slack: None })
            }
            SwitchingParameters::Packets(of) => {
                let (plan, lanes) =
                    packets::plan(source, parameters, of, overhead_bytes, gathered)?;
                let held_bytes = lanes.by_class().iter().map(|of| packets::held_bytes(&plan, *of));
                let held_bytes = held_bytes.collect();
                let switching = Switching::Packets(Arc::new(plan));
                Ok(Self { switching, lanes, held_bytes, slack: None })
            }
        }
    }

    pub(crate) fn switch_delays(&self) -> Vec<(&'static str, Span)> {
        match &self.switching {
            Switching::Wormhole(wormhole) => vec![
                ("network.routing_delay", wormhole.routing_delay),
                ("network.setup_delay", wormhole.setup_delay),
            ],
            Switching::VirtualLanes(_) => Vec::new(),
            Switching::Packets(packets) => {
                let pauses = packets.pauses.as_ref();
                let response_time = pauses
                    .map(|of| ("network.packets.flow_control.pfc.response_time", of.response_time));
                let delays = [
                    ("network.packets.forwarding_delay", packets.forwarding_delay),
                    ("network.packets.head_interval", packets.head_interval),
                    ("network.packets.credit_delay", packets.credit_delay),
                ];
                delays.into_iter().chain(response_time).collect()
            }
        }
    }

    /// Returns the time to forward a header, with the key that sets it, if a slack buffer must hold
    /// the flits that arrive during this time.
    pub(crate) fn header_delay(&self) -> Option<(&'static str, Span)> {
        match &self.switching {
            Switching::Wormhole(wormhole) => {
                Some(("network.routing_delay", wormhole.routing_delay + wormhole.setup_delay))
            }
            Switching::VirtualLanes(_) | Switching::Packets(_) => None,
        }
    }
}

pub(crate) fn over(switching: Switching, channels: &[ChannelPlan]) -> Switching {
    match switching {
        Switching::Wormhole(_) | Switching::Packets(_) => switching,
        Switching::VirtualLanes(mut pipeline) => {
            let cycle = channels.iter().map(|channel| channel.flit).min();
            Arc::make_mut(&mut pipeline).cycle = cycle.unwrap_or(pipeline.cycle);
            Switching::VirtualLanes(pipeline)
        }
    }
}

pub(crate) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    match &plan.switching {
        Switching::Wormhole(_) => {}
        Switching::VirtualLanes(pipeline) => lanes::check(source, plan, pipeline, gathered)?,
        Switching::Packets(packets) => packets::check(source, plan, packets, gathered)?,
    }
    check_rows(&arbiters::of_plan(), &Subject::of_table(source, "", plan), gathered)
}

fn overhead_bytes(source: &ScenarioSource, parameters: &Parameters) -> Result<u32, LabError> {
    let HeaderParameters { type_bytes: Bytes(type_bytes), trailer_bytes: Bytes(trailer_bytes) } =
        &parameters.header;
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
        u32::try_from(wormhole.header.mark_bytes.0).ok().filter(|bytes| *bytes <= MARK_MAX_BYTES);
    let mark_bytes = mark_bytes.ok_or_else(|| {
        let message = format!(
            "the mark before an in-transit host has at most {MARK_MAX_BYTES} B, not {}",
            wormhole.header.mark_bytes
        );
        source.refuse("network.header.mark_bytes", message)
    })?;
    Ok(WormholePlan {
        routing_delay: wormhole.routing_delay,
        setup_delay: wormhole.setup_delay,
        route_bytes: wormhole.header.route_bytes,
        overhead_bytes,
        mark_bytes,
        arbitration: parameters.arbitration,
    })
}

#[derive(Clone, Copy)]
pub(crate) struct Links<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) channels: &'a [ChannelPlan],
    pub(crate) parameters: &'a Parameters,
    pub(crate) kind: &'a NetworkKind,
}

impl Links<'_> {
    pub(crate) fn largest_buffer_bytes(&self) -> Option<u64> {
        match self.kind.switching {
            Switching::Wormhole(_) => {
                let slack = self.channels.iter().filter_map(|channel| channel.slack);
                slack.map(|slack| slack.capacity.into()).max()
            }
            Switching::VirtualLanes(_) | Switching::Packets(_) => None,
        }
    }

    pub(crate) fn cycle(&self) -> Option<Span> {
        over(self.kind.switching.clone(), self.channels).cycle_ps().map(Span::from_ps)
    }

    pub(crate) fn byte_ps(&self, host: EndpointId) -> f64 {
        let channel = &self.channels[self.fabric.endpoint_channel(host).index()];
        self.kind.switching.byte_ps(channel)
    }
}
