//! The plan: a complete, typed description of a run, with names resolved and quantities in
//! integers.

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
    /// Name, used in results and to derive random streams.
    pub name: String,
    /// Half-open interval of message creation times.
    pub active: Range<Time>,
    /// Packet priority.
    pub priority: Priority,
    /// VC class of packets; `None` uses the VC class of each endpoint pair.
    pub vc_class: Option<VcClass>,
    /// Segmentation of messages into packets.
    pub segmentation: SegmentationPlan,
    /// Policing at hosts; `None`: unlimited.
    pub policing: Option<PolicingPlan>,
    /// Window of each flow; `None`: unlimited.
    pub window: Option<WindowPlan>,
    /// Rate limit of each flow; `None`: unlimited.
    pub rate_limit: Option<RateLimitPlan>,
    /// Posting of messages to the adapter.
    pub post: PostPlan,
    /// Sending endpoints with their traffic.
    pub sources: Vec<SourcePlan>,
}

impl ClassPlan {
    /// Returns whether messages are created independently of the network's progress. Otherwise the
    /// offered load cannot exceed the accepted load.
    pub fn is_open_loop(&self) -> bool {
        !self.sources.iter().any(SourcePlan::is_backlogged)
    }

    /// Returns the class of the messages that trigger this class's replies; `None` for other
    /// traffic.
    pub fn replied(&self) -> Option<ClassId> {
        Some(self.sources.first()?.replies()?.to)
    }

    /// Returns the sending endpoints without repetition, in the order of their first sources.
    pub fn senders(&self) -> impl Iterator<Item = EndpointId> {
        let first =
            |index: &usize| self.sources[*index].stream().is_none_or(|stream| stream.number == 0);
        (0..self.sources.len()).filter(first).map(|index| self.sources[index].endpoint)
    }

    /// Returns whether a window, a rate limit or a token bucket may hold packets back.
    pub fn is_controlled(&self) -> bool {
        let is_delayed =
            self.policing.as_ref().is_some_and(|policing| policing.excess == Excess::Delay);
        is_delayed || self.window.is_some() || self.rate_limit.is_some()
    }

    /// Returns the interval during which all sources are active.
    pub fn all_active(&self) -> Range<Time> {
        let later = self.sources.iter().map(SourcePlan::later_max).max().unwrap_or(Span::ZERO);
        self.active.start + later..self.active.end
    }

    /// Returns the priorities of the class's packets and acknowledgements.
    pub fn priorities(&self) -> impl Iterator<Item = Priority> {
        let of_acks = self.window.as_ref().map(|window| window.ack.priority);
        std::iter::once(self.priority).chain(of_acks)
    }

    /// Returns the maximum payload of a packet in bytes. `switches` counts the switches on the
    /// route, and is called only if needed.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub fn longest_packet_bytes(&self, switches: impl FnOnce() -> usize) -> u32 {
        let policed = self.policing.as_ref().map_or(u32::MAX, |policing| policing.longest_bytes);
        policed.min(self.segmentation.longest_bytes(switches))
    }

    /// Returns the maximum payload in bytes of a message's packets over all paths.
    pub fn longest_anywhere_bytes(&self, message_bytes: u32) -> u32 {
        let longest = match &self.segmentation {
            // The list need not increase with the number of switches.
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
    /// Payload delivered per unit of time.
    AcceptedLoad,
    /// Number of switches traversed by a message.
    Hops,
}

/// Start and end of the measurement window (`docs/concepts/measurement.md`). The first end rule
/// that is satisfied ends the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StopPlan {
    /// Latest end of the window.
    pub time: Time,
    /// Start of the window, rounded up to a section boundary; `None`: determined by MSER-5.
    pub warm_up: Option<Time>,
    /// Target relative half-width of confidence intervals; the window ends once every class reaches
    /// it.
    pub relative_width: Option<f64>,
    /// Quantity of the confidence intervals.
    pub quantity: Quantity,
    /// Number of messages over all classes; the window ends once this many messages created in it
    /// have been delivered.
    pub messages: Option<u64>,
    /// Extra time after the window for delivering its remaining messages.
    pub follow: Span,
}

impl StopPlan {
    /// Returns a plan with a window that ends at `time`, an automatic warm-up, and a tenth of
    /// `time` for late arrivals.
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

    /// Returns the latest time that may be simulated.
    pub fn latest_end(&self) -> Time {
        self.time + self.follow
    }
}

/// Messages with individual records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptMessages {
    /// No messages.
    None,
    /// A uniform sample.
    #[default]
    Sample,
    /// All messages, in a buffer that the caller empties between calls of `advance`.
    All,
}

/// Data recorded in addition to the sums of every run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeasurePlan {
    /// Message records to keep.
    pub messages: KeptMessages,
    /// Maximum number of messages in a sample.
    pub sample_size: usize,
    /// Step width of the time series; `None`: each time slice is a step.
    pub step: Option<Span>,
    /// Whether to record statistics for every flow.
    pub flows: bool,
    /// Interval between searches for congestion trees; `None`: no searches.
    pub tree_step: Option<Span>,
}

/// Flows and channels with time series.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FollowPlan {
    /// Followed flows.
    pub flows: Vec<FlowKey>,
    /// Followed channels.
    pub channels: Vec<ChannelId>,
    /// Step width of the time series; not zero if anything is followed.
    pub step: Span,
    /// Number of steps in a centred moving mean; odd.
    pub window_steps: u32,
}

impl FollowPlan {
    /// Returns whether nothing is followed.
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
    /// Nodes and cables of the network.
    pub fabric: Fabric,
    /// Paths, and the selection among them.
    pub routing: RoutingScheme,
    /// Parameters of in-transit hosts.
    pub in_transit: InTransitPlan,
    /// Channel adapters for posted messages; without them, messages are queued when they are
    /// created.
    pub adapters: Option<AdapterPlan>,
    /// Admission control of streams, if any.
    pub admission: Option<Arc<AdmissionPlan>>,
    /// Network events, except application crashes drawn for streams.
    pub events: NetworkEvents,
    /// Properties of the channels, by [`ChannelId`].
    pub channels: Vec<ChannelPlan>,
    /// Lanes of every channel.
    pub lanes: LanePlan,
    /// Switching kind with its parameters.
    pub switching: Switching,
    /// Traffic classes by [`ClassId`].
    pub classes: Vec<ClassPlan>,
    /// Start and end of the measurement window.
    pub stop: StopPlan,
    /// Measurement data to record.
    pub measure: MeasurePlan,
    /// Followed flows and channels.
    pub follow: FollowPlan,
    /// Congestion marking, if any.
    pub marking: Option<Marking>,
    /// Test probe, for comparing two simulations.
    pub probe: Option<ProbePlan>,
}

impl Plan {
    /// Returns both ports of a channel.
    pub fn ends(&self, channel: ChannelId) -> Ends {
        Ends { source: self.fabric.source(channel), target: self.fabric.target(channel) }
    }

    /// Iterates over a class, the class that it replies to, and so on.
    pub fn reply_chain(&self, class: ClassId) -> impl Iterator<Item = ClassId> {
        std::iter::successors(Some(class), |id| self.classes[id.index()].replied())
    }

    /// Returns the last class of [`Self::reply_chain`].
    pub fn reply_root(&self, class: ClassId) -> ClassId {
        self.reply_chain(class).last().unwrap_or(class)
    }

    /// Returns a channel's serialisation time per byte, in picoseconds.
    pub fn byte_ps(&self, channel: ChannelId) -> f64 {
        self.switching.byte_ps(self.channel(channel))
    }

    /// Returns the VC class of a class's packets between two endpoints.
    pub fn vc_class(&self, class: ClassId, source: EndpointId, destination: EndpointId) -> VcClass {
        let of_pair = || self.lanes.allowed.vc_class_of_pair(source, destination);
        self.classes[class.index()].vc_class.unwrap_or_else(of_pair)
    }

    pub(crate) fn name_of(&self, endpoint: EndpointId, class: ClassId) -> String {
        let port = self.fabric.endpoint(endpoint);
        let host = self.fabric.node(port.node).stable_name();
        format!("{host}[{}]/{}", port.port, self.classes[class.index()].name)
    }

    /// Returns the lanes that a class may use on at least one channel.
    pub fn lanes_of(&self, class: &ClassPlan) -> LaneSet {
        self.lanes.allowed.anywhere(&self.fabric, class.vc_class)
    }

    /// Returns the scheduler of the arbiters at `place`; `None` if the network has no such
    /// arbiters.
    pub fn arbiter(&self, place: ArbiterPlace) -> Option<&Scheduler> {
        match place {
            ArbiterPlace::CrossbarInput => self.switching.crossbar_input(),
            ArbiterPlace::CrossbarOutput => self.switching.crossbar_output(),
            ArbiterPlace::LinkOutput => Some(&self.lanes.link_output),
            ArbiterPlace::AdapterPort => Some(&self.lanes.adapter_port),
        }
    }

    /// Returns whether an arbiter's lane weights can change during a run.
    pub fn can_weigh(&self, place: ArbiterPlace) -> bool {
        self.arbiter(place).is_some_and(Scheduler::can_change)
    }

    /// Returns whether a channel has an arbiter of this kind: at its receiver for crossbar inputs,
    /// otherwise at its sender.
    pub fn has_place(&self, place: ArbiterPlace, channel: ChannelId) -> bool {
        let Ends { source, target } = self.ends(channel);
        match place {
            ArbiterPlace::CrossbarInput => self.is_switch(target.node),
            ArbiterPlace::CrossbarOutput | ArbiterPlace::LinkOutput => self.is_switch(source.node),
            ArbiterPlace::AdapterPort => !self.is_switch(source.node),
        }
    }

    /// Returns whether a node forwards packets.
    pub fn is_switch(&self, node: NodeId) -> bool {
        self.fabric.is_switch(node)
    }

    /// Returns the highest priority of any class, acknowledgement or signal.
    pub fn highest_priority(&self) -> Priority {
        let of_classes = self.classes.iter().flat_map(ClassPlan::priorities);
        let of_signals = self.admission.as_ref().map(|admission| admission.priority);
        of_classes.chain(of_signals).max().unwrap_or_default()
    }

    /// Returns whether some packets have no message, or hosts may hold packets back.
    pub fn is_controlled(&self) -> bool {
        self.probe.is_some()
            || self.admission.is_some()
            || self.classes.iter().any(ClassPlan::is_controlled)
    }

    /// Returns whether a channel's receiver has a finite buffer; hosts that accept every packet
    /// have none.
    pub fn has_buffer(&self, channel: ChannelId) -> bool {
        let target = self.ends(channel).target.node;
        let is_held = self.is_switch(target)
            || self.in_transit.when_full == WhenFull::Stop && !self.is_port_0(target);
        self.switching.has_buffer(self.channel(channel), is_held)
    }

    /// Returns the capacity of the receiver's buffer over all lanes, in flits (in bytes for whole
    /// packets); 0 without a buffer.
    pub fn buffer_flits(&self, channel: ChannelId) -> u32 {
        if self.has_buffer(channel) {
            self.switching.buffer_flits(self.channel(channel))
        } else {
            0
        }
    }

    /// Returns the timing and buffering of a channel.
    pub fn channel(&self, channel: ChannelId) -> &ChannelPlan {
        &self.channels[channel.index()]
    }

    /// Returns all streams with their classes and sources, in the order of [`crate::StreamId`].
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

    /// Returns the offered load of a class, as a fraction of its sources' link rates; `None` for
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
