//! The plan: everything that a simulation needs, typed and in integers, with names resolved.

use crate::traffic::{SourcePlan, StreamPlan};
use crate::{
    AdapterPlan, AdmissionPlan, ArbiterPlace, ChannelPlan, ClassId, Excess, FlowKey, InTransitPlan,
    LanePlan, Marking, NetworkEvents, PolicingPlan, PostPlan, Priority, ProbePlan, RateLimitPlan,
    RoutingScheme, Scheduler, SegmentationPlan, Switching, WhenFull, WindowPlan,
};
use gingham_kernel::{Span, Time};
use gingham_topology::routing::{LaneSet, VcClass};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId, PortRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Both ports of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// Sending port.
    pub source: PortRef,
    /// Receiving port.
    pub target: PortRef,
}

/// A traffic class.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassPlan {
    /// Name, for results and for random streams.
    pub name: String,
    /// Period in which messages are created.
    pub active: Range<Time>,
    /// Priority of its packets.
    pub priority: Priority,
    /// VC class of its packets; `None` uses that of each pair.
    pub vc_class: Option<VcClass>,
    /// Segmentation of messages into packets.
    pub segmentation: SegmentationPlan,
    /// Policing at hosts; `None` is unlimited.
    pub policing: Option<PolicingPlan>,
    /// Window of each flow; `None` is unlimited.
    pub window: Option<WindowPlan>,
    /// Rate limit of each flow; `None` is unlimited.
    pub rate_limit: Option<RateLimitPlan>,
    /// Posting of messages to the adapter.
    pub post: PostPlan,
    /// Sending endpoints with their traffic.
    pub sources: Vec<SourcePlan>,
}

impl ClassPlan {
    /// Whether messages are created independently of the network's progress; otherwise the class
    /// cannot offer more than is accepted.
    pub fn is_open_loop(&self) -> bool {
        !self.sources.iter().any(SourcePlan::is_backlogged)
    }

    /// Class to whose messages it replies, if any.
    pub fn replied(&self) -> Option<ClassId> {
        Some(self.sources.first()?.replies()?.to)
    }

    /// Sending endpoints, each once, in the order of their first sources.
    pub fn senders(&self) -> impl Iterator<Item = EndpointId> {
        let first =
            |index: &usize| self.sources[*index].stream().is_none_or(|stream| stream.number == 0);
        (0..self.sources.len()).filter(first).map(|index| self.sources[index].endpoint)
    }

    /// Whether packets may wait for anything but their link, which requires a queue for each flow.
    pub fn is_controlled(&self) -> bool {
        let is_delayed =
            self.policing.as_ref().is_some_and(|policing| policing.excess == Excess::Delay);
        is_delayed || self.window.is_some() || self.rate_limit.is_some()
    }

    /// Period in which all sources are active.
    pub fn all_active(&self) -> Range<Time> {
        let later = self.sources.iter().map(SourcePlan::later_max).max().unwrap_or(Span::ZERO);
        self.active.start + later..self.active.end
    }

    /// Priorities of its packets and their acknowledgements.
    pub fn priorities(&self) -> impl Iterator<Item = Priority> {
        let of_acks = self.window.as_ref().map(|window| window.ack.priority);
        std::iter::once(self.priority).chain(of_acks)
    }

    /// Maximum payload of a packet in bytes; `switches` returns the number of switches on the
    /// route, and is called only if needed.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub fn longest_packet_bytes(&self, switches: impl FnOnce() -> usize) -> u32 {
        let policed = self.policing.as_ref().map_or(u32::MAX, |policing| policing.longest_bytes);
        policed.min(self.segmentation.longest_bytes(switches))
    }

    /// Maximum payload of a packet over all paths, for a message of `message_bytes`.
    pub fn longest_anywhere_bytes(&self, message_bytes: u32) -> u32 {
        let longest = match &self.segmentation {
            // The list need not increase with the switches.
            SegmentationPlan::ByHops(list) => {
                (1..=list.len()).map(|switches| self.longest_packet_bytes(|| switches)).max()
            }
            _ => Some(self.longest_packet_bytes(|| usize::MAX)),
        };
        message_bytes.min(longest.expect("a list has a first entry"))
    }
}

/// Quantity whose mean a stop rule tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Time from creation to delivery.
    #[default]
    Latency,
    /// Time from entry into the network to delivery.
    NetworkLatency,
    /// Time from entry into the network to the arrival of the head.
    HeadLatency,
    /// Payload delivered per time.
    AcceptedLoad,
    /// Switches traversed by a message.
    Hops,
}

/// Start and end of the window (`docs/concepts/measurement.md`); the first rule that holds ends it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StopPlan {
    /// Latest end of the window.
    pub time: Time,
    /// Start of the window, rounded up to a section boundary; `None` lets MSER-5 find it.
    pub warm_up: Option<Time>,
    /// Relative half-width of the confidence intervals of all classes at which the window ends.
    pub relative_width: Option<f64>,
    /// Quantity to which these intervals apply.
    pub quantity: Quantity,
    /// Number of delivered messages of all classes, created in the window, at which the window
    /// ends.
    pub messages: Option<u64>,
    /// Time after the window in which its undelivered messages may still arrive.
    pub follow: Span,
}

impl StopPlan {
    /// Returns a plan with a window that ends at `time`, an automatic warm-up, and a tenth of
    /// `time` for following.
    pub const fn at(time: Time) -> Self {
        Self {
            time,
            warm_up: None,
            relative_width: None,
            quantity: Quantity::Latency,
            messages: None,
            follow: Span::from_ps(time.as_ps() / 10),
        }
    }

    /// Last instant that may be simulated.
    pub fn latest_end(&self) -> Time {
        self.time + self.follow
    }
}

/// Selection of individual records of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptMessages {
    /// No messages.
    None,
    /// A uniform sample.
    #[default]
    Sample,
    /// All, in a buffer that the caller empties between calls of `advance`.
    All,
}

/// Data recorded in addition to sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeasurePlan {
    /// Kept records of messages.
    pub messages: KeptMessages,
    /// Maximum size of a sample.
    pub sample_size: usize,
    /// Step width of the series; `None` uses slices.
    pub step: Option<Span>,
    /// Whether every flow is counted.
    pub flows: bool,
    /// Interval between searches for congestion trees; `None` for never.
    pub tree_step: Option<Span>,
}

/// Flows and channels with time series.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FollowPlan {
    /// Followed flows.
    pub flows: Vec<FlowKey>,
    /// Followed channels.
    pub channels: Vec<ChannelId>,
    /// Step width; not zero if anything is followed.
    pub step: Span,
    /// Number of steps in a centred mean, odd.
    pub window_steps: u32,
}

impl FollowPlan {
    /// Whether nothing is followed.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty() && self.channels.is_empty()
    }
}

impl Default for MeasurePlan {
    fn default() -> Self {
        Self {
            messages: KeptMessages::Sample,
            sample_size: 100_000,
            step: None,
            flows: false,
            tree_step: None,
        }
    }
}

/// A run, ready to simulate.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Root seed of all random streams.
    pub seed: u64,
    /// Fabric.
    pub fabric: Fabric,
    /// Paths, and the selection among them.
    pub routing: RoutingScheme,
    /// Parameters of in-transit hosts.
    pub in_transit: InTransitPlan,
    /// Channel adapters, for posted messages; without them every message is queued at its creation.
    pub adapters: Option<AdapterPlan>,
    /// Admission control of streams, if any.
    pub admission: Option<Arc<AdmissionPlan>>,
    /// Network events, without those that streams draw.
    pub events: NetworkEvents,
    /// Channels by [`ChannelId`].
    pub channels: Vec<ChannelPlan>,
    /// Lanes of every channel.
    pub lanes: LanePlan,
    /// Switching kind with its parameters.
    pub switching: Switching,
    /// Traffic classes by [`ClassId`].
    pub classes: Vec<ClassPlan>,
    /// End of the window.
    pub stop: StopPlan,
    /// Recorded data.
    pub measure: MeasurePlan,
    /// Followed flows and channels.
    pub follow: FollowPlan,
    /// Congestion marking, if any.
    pub marking: Option<Marking>,
    /// Probe, for comparing two simulations.
    pub probe: Option<ProbePlan>,
}

impl Plan {
    /// Returns both ends of a channel.
    pub fn ends(&self, channel: ChannelId) -> Ends {
        Ends { source: self.fabric.source(channel), target: self.fabric.target(channel) }
    }

    /// Iterates over a class, the class to which it replies, and so on.
    pub fn reply_chain(&self, class: ClassId) -> impl Iterator<Item = ClassId> {
        std::iter::successors(Some(class), |id| self.classes[id.index()].replied())
    }

    /// Last class of [`Self::reply_chain`].
    pub fn reply_root(&self, class: ClassId) -> ClassId {
        self.reply_chain(class).last().unwrap_or(class)
    }

    /// Time of a byte on a channel, in picoseconds.
    pub fn byte_ps(&self, channel: ChannelId) -> f64 {
        self.switching.byte_ps(self.channel(channel))
    }

    /// VC class of a packet of a class between two endpoints.
    pub fn vc_class(&self, class: ClassId, source: EndpointId, destination: EndpointId) -> VcClass {
        let of_pair = || self.lanes.allowed.vc_class_of_pair(source, destination);
        self.classes[class.index()].vc_class.unwrap_or_else(of_pair)
    }

    pub(crate) fn name_of(&self, endpoint: EndpointId, class: ClassId) -> String {
        let port = self.fabric.endpoint(endpoint);
        let host = self.fabric.node(port.node).stable_name();
        format!("{host}[{}]/{}", port.port, self.classes[class.index()].name)
    }

    /// Lanes that a class may use anywhere.
    pub fn lanes_of(&self, class: &ClassPlan) -> LaneSet {
        self.lanes.allowed.anywhere(&self.fabric, class.vc_class)
    }

    /// Scheduler of the arbiter at a place, if there is one.
    pub fn arbiter(&self, place: ArbiterPlace) -> Option<&Scheduler> {
        match place {
            ArbiterPlace::CrossbarInput => self.switching.crossbar_input(),
            ArbiterPlace::CrossbarOutput => self.switching.crossbar_output(),
            ArbiterPlace::LinkOutput => Some(&self.lanes.link_output),
            ArbiterPlace::AdapterPort => Some(&self.lanes.adapter_port),
        }
    }

    /// Whether lane weights at a place can change during a run.
    pub fn can_weigh(&self, place: ArbiterPlace) -> bool {
        self.arbiter(place).is_some_and(Scheduler::can_change)
    }

    /// Whether a channel has an arbiter of this kind: at its end for crossbar inputs, otherwise at
    /// its start.
    pub fn has_place(&self, place: ArbiterPlace, channel: ChannelId) -> bool {
        let Ends { source, target } = self.ends(channel);
        match place {
            ArbiterPlace::CrossbarInput => self.is_switch(target.node),
            ArbiterPlace::CrossbarOutput | ArbiterPlace::LinkOutput => self.is_switch(source.node),
            ArbiterPlace::AdapterPort => !self.is_switch(source.node),
        }
    }

    /// Whether a node forwards packets.
    pub fn is_switch(&self, node: NodeId) -> bool {
        self.fabric.node(node).is_switch()
    }

    /// Highest priority of any class, acknowledgement or signal.
    pub fn highest_priority(&self) -> Priority {
        let of_classes = self.classes.iter().flat_map(ClassPlan::priorities);
        let of_signals = self.admission.as_ref().map(|admission| admission.priority);
        of_classes.chain(of_signals).max().unwrap_or_default()
    }

    /// Whether packets may have no message, or wait at a host for anything but their link.
    pub fn is_controlled(&self) -> bool {
        self.probe.is_some()
            || self.admission.is_some()
            || self.classes.iter().any(ClassPlan::is_controlled)
    }

    /// Whether a finite buffer is at the end of a channel; hosts that accept everything have none.
    pub fn has_buffer(&self, channel: ChannelId) -> bool {
        let target = self.ends(channel).target.node;
        let is_held = self.is_switch(target)
            || self.in_transit.when_full == WhenFull::Stop && !self.is_port_0(target);
        self.switching.has_buffer(self.channel(channel), is_held)
    }

    /// Capacity of the buffer at the end of a channel over all lanes; 0 without one.
    pub fn buffer_flits(&self, channel: ChannelId) -> u32 {
        if self.has_buffer(channel) {
            self.switching.buffer_flits(self.channel(channel))
        } else {
            0
        }
    }

    /// Returns timing and buffer of a channel.
    pub fn channel(&self, channel: ChannelId) -> &ChannelPlan {
        &self.channels[channel.index()]
    }

    /// All streams with their classes, in the order of [`crate::StreamId`].
    pub fn streams(&self) -> impl Iterator<Item = (ClassId, &SourcePlan, &StreamPlan)> {
        let of_class = |(index, class)| {
            let sources: &[SourcePlan] = Self::sources_of(class);
            sources
                .iter()
                .filter_map(move |source| Some((ClassId::new(index), source, source.stream()?)))
        };
        self.classes.iter().enumerate().flat_map(of_class)
    }

    fn sources_of(class: &ClassPlan) -> &[SourcePlan] {
        &class.sources
    }

    /// Offered load of a sending class, as a fraction of the links of its sources; `None` for
    /// backlogged classes, schedules and replies.
    pub fn offered_load(&self, class: ClassId) -> Option<f64> {
        let class = &self.classes[class.index()];
        let byte_ps = |endpoint: EndpointId| self.byte_ps(self.fabric.endpoint_channel(endpoint));
        let load = |source: &SourcePlan| source.load(byte_ps(source.endpoint));
        let loads: Option<Vec<f64>> = class.sources.iter().map(load).collect();
        let loads = loads?;
        let first = *loads.first()?;
        let are_alike = loads.iter().all(|load| load.total_cmp(&first).is_eq());
        if are_alike && class.sources[0].stream().is_none() {
            return Some(first);
        }
        let rates = class.sources.iter().map(|source| 1.0 / byte_ps(source.endpoint));
        let offered: f64 = loads.iter().zip(rates).map(|(load, rate)| load * rate).sum();
        Some(offered / class.senders().map(|endpoint| 1.0 / byte_ps(endpoint)).sum::<f64>())
    }
}
