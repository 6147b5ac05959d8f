//! The plan: everything a simulation needs, typed, in integers, with names left behind.

use crate::traffic::{MessagePlan, SourcePlan, StreamPlan};
use crate::{
    AdapterPlan, AdmissionPlan, ArbiterPlace, ChannelPlan, ClassId, Excess, FlowKey, InTransitPlan,
    LanePlan, Marking, PacePlan, PathChoice, PathLength, PathSet, PolicingPlan, PostPlan, Priority,
    ProbePlan, Scheduler, SegmentationPlan, Switching, WhenFull, WindowPlan,
};
use gingham_kernel::{Span, Time};
use gingham_topology::routing::{LaneSet, Routes, VcClass};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId, PortRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Where a channel begins and ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// The sending port.
    pub source: PortRef,
    /// The receiving port.
    pub target: PortRef,
}

/// A traffic class.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassPlan {
    /// Name, for results and for random streams.
    pub name: String,
    /// Messages are created from the first of these instants on, and before the second.
    pub active: Range<Time>,
    /// The level of its packets.
    pub priority: Priority,
    /// The VC class of its packets; that which the lanes say of each pair if not given.
    pub vc_class: Option<VcClass>,
    /// How its messages become packets.
    pub segmentation: SegmentationPlan,
    /// How much of it a host may send; all it can if not given.
    pub policing: Option<PolicingPlan>,
    /// How many packets of a flow may be under way; any number if not given.
    pub window: Option<WindowPlan>,
    /// How fast a flow may send; as fast as it can if not given.
    pub pace: Option<PacePlan>,
    /// How its messages come into the adapter.
    pub post: PostPlan,
    /// Which endpoints send, and what.
    pub sources: Vec<SourcePlan>,
}

impl ClassPlan {
    /// Whether its messages come when they come, and not when the network takes them: only then
    /// can it offer more than is accepted.
    pub fn is_open_loop(&self) -> bool {
        !self.sources.iter().any(SourcePlan::is_backlogged)
    }

    /// The class whose messages this class replies to, if it sends replies.
    pub fn replied(&self) -> Option<ClassId> {
        match &self.sources.first()?.messages {
            MessagePlan::Replies(replies) => Some(replies.to),
            MessagePlan::Drawn(_) | MessagePlan::Scheduled(_) | MessagePlan::Stream(_) => None,
        }
    }

    /// The endpoints that send, in the order of their first sources; one of many streams is one.
    pub fn senders(&self) -> impl Iterator<Item = EndpointId> {
        let first =
            |index: &usize| self.sources[*index].stream().is_none_or(|stream| stream.number == 0);
        (0..self.sources.len()).filter(first).map(|index| self.sources[index].endpoint)
    }

    /// Whether its packets may wait for something else than their link, so that each flow has a
    /// queue to itself.
    pub fn is_controlled(&self) -> bool {
        let is_delayed =
            self.policing.as_ref().is_some_and(|policing| policing.excess == Excess::Delay);
        is_delayed || self.window.is_some() || self.pace.is_some()
    }

    /// From when all of its sources send, to when none does.
    pub fn all_active(&self) -> Range<Time> {
        let later = self.sources.iter().map(SourcePlan::later_max).max().unwrap_or(Span::ZERO);
        self.active.start + later..self.active.end
    }

    /// The levels of its packets and of those that answer them.
    pub fn priorities(&self) -> impl Iterator<Item = Priority> {
        let of_answers = self.window.as_ref().map(|window| window.answer.priority);
        std::iter::once(self.priority).chain(of_answers)
    }

    /// The most payload of a packet in bytes; `switches` tells how many are on its route, where
    /// that matters.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub fn longest_packet_bytes(&self, switches: impl FnOnce() -> usize) -> u32 {
        let policed = self.policing.as_ref().map_or(u32::MAX, |policing| policing.longest_bytes);
        policed.min(self.segmentation.longest_bytes(switches))
    }

    /// The most payload of a packet of a message that is sent as those of this class are, over
    /// whatever path is the worst, in bytes.
    pub fn longest_anywhere_bytes(&self, message_bytes: u32) -> u32 {
        let longest = match &self.segmentation {
            // A list need not grow with the switches.
            SegmentationPlan::ByHops(list) => {
                (1..=list.len()).map(|switches| self.longest_packet_bytes(|| switches)).max()
            }
            _ => Some(self.longest_packet_bytes(|| usize::MAX)),
        };
        message_bytes.min(longest.expect("a list has a first entry"))
    }
}

/// A mean that a stop rule asks about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// From creation to delivery.
    #[default]
    Latency,
    /// From entry into the network to delivery.
    NetworkLatency,
    /// From entry into the network to the arrival of the head.
    HeadLatency,
    /// Payload delivered per time.
    AcceptedLoad,
    /// Switches traversed by a message.
    Hops,
}

/// When the window begins and ends (`docs/concepts/measurement.md`). Several rules: the first that
/// holds ends it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StopPlan {
    /// The window ends here at the latest.
    pub time: Time,
    /// The window begins at the first section boundary from here on; found by MSER-5 if not given.
    pub warm_up: Option<Time>,
    /// The window ends where every class's interval is as narrow: its half-width to the mean.
    pub relative_width: Option<f64>,
    /// Which mean that is.
    pub quantity: Quantity,
    /// The window ends where so many messages were created in it and delivered, over all classes.
    pub messages: Option<u64>,
    /// For how long after the window what was created in it is followed.
    pub follow: Span,
}

impl StopPlan {
    /// A window that ends at `time`, with its warm-up to be found, followed for a tenth of it.
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

    /// The last instant that may be simulated.
    pub fn latest_end(&self) -> Time {
        self.time + self.follow
    }
}

/// Which messages are kept one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptMessages {
    /// None.
    None,
    /// A uniform sample.
    #[default]
    Sample,
    /// All, in a buffer that the caller empties between calls of `advance`.
    All,
}

/// What is kept of a run beside sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeasurePlan {
    /// Which messages are kept one by one.
    pub messages: KeptMessages,
    /// How many a sample holds at the most.
    pub sample_size: usize,
    /// Width of a step of the series; that of the slices if not given.
    pub step: Option<Span>,
    /// Whether every flow is counted by itself.
    pub flows: bool,
    /// How often to look for congestion trees; never if not given.
    pub look: Option<Span>,
}

/// What is followed step by step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FollowPlan {
    /// Flows.
    pub flows: Vec<FlowKey>,
    /// Channels.
    pub channels: Vec<ChannelId>,
    /// Width of a step; not zero where anything is followed.
    pub step: Span,
    /// Steps over which a centred mean goes, an odd number.
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
            look: None,
        }
    }
}

/// A run, ready to simulate.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Root of all random streams.
    pub seed: u64,
    /// The fabric.
    pub fabric: Fabric,
    /// The paths that packets take: one or two sets of routes, both of source form if there are
    /// two.
    pub path_sets: Vec<Routes>,
    /// Which of them a packet takes.
    pub path_choice: PathChoice,
    /// What in-transit hosts do.
    pub in_transit: InTransitPlan,
    /// The channel adapters that messages are posted to; without them every message is in its queue
    /// when it is created.
    pub adapters: Option<AdapterPlan>,
    /// Who asks before it sends; nobody if not given.
    pub admission: Option<Arc<AdmissionPlan>>,
    /// Hosts that crash, and when: they create no message from then on, and follow no answer to a
    /// probe; what they have created still goes, and what comes to them they still take.
    pub crashes: BTreeMap<EndpointId, Time>,
    /// By [`ChannelId`].
    pub channels: Vec<ChannelPlan>,
    /// The lanes of every channel.
    pub lanes: LanePlan,
    /// The switching kind and its parameters.
    pub switching: Switching,
    /// Traffic classes by [`ClassId`].
    pub classes: Vec<ClassPlan>,
    /// When the window ends.
    pub stop: StopPlan,
    /// What is kept of it.
    pub measure: MeasurePlan,
    /// What of it is followed step by step.
    pub follow: FollowPlan,
    /// Which packets switches mark; none if not given.
    pub marking: Option<Marking>,
    /// What watches every notice, where two simulations are compared.
    pub probe: Option<ProbePlan>,
}

impl Plan {
    /// Both ends of a channel.
    pub fn ends(&self, channel: ChannelId) -> Ends {
        Ends { source: self.fabric.source(channel), target: self.fabric.target(channel) }
    }

    /// A class, the class that it replies to, and so on, up to one that does not reply.
    pub fn reply_chain(&self, class: ClassId) -> impl Iterator<Item = ClassId> {
        std::iter::successors(Some(class), |id| self.classes[id.index()].replied())
    }

    /// The class at the end of [`Self::reply_chain`]; the class itself if it does not reply.
    pub fn reply_root(&self, class: ClassId) -> ClassId {
        self.reply_chain(class).last().unwrap_or(class)
    }

    /// Time of a byte on a channel, in picoseconds.
    pub fn byte_ps(&self, channel: ChannelId) -> f64 {
        self.switching.byte_ps(self.channel(channel))
    }

    /// The VC class of a packet of a class between two endpoints.
    pub fn vc_class(&self, class: ClassId, source: EndpointId, destination: EndpointId) -> VcClass {
        let of_pair = || self.lanes.allowed.vc_class_of_pair(source, destination);
        self.classes[class.index()].vc_class.unwrap_or_else(of_pair)
    }

    /// What random streams of a class at an endpoint are called.
    pub(crate) fn name_of(&self, endpoint: EndpointId, class: ClassId) -> String {
        let port = self.fabric.endpoint(endpoint);
        let host = self.fabric.node(port.node).stable_name();
        format!("{host}[{}]/{}", port.port, self.classes[class.index()].name)
    }

    /// The lanes on which packets of a class may go somewhere.
    pub fn lanes_of(&self, class: &ClassPlan) -> LaneSet {
        self.lanes.allowed.anywhere(&self.fabric, class.vc_class)
    }

    /// How a place chooses among lanes, where something chooses there.
    pub fn arbiter(&self, place: ArbiterPlace) -> Option<&Scheduler> {
        match place {
            ArbiterPlace::CrossbarInput => self.switching.crossbar_input(),
            ArbiterPlace::CrossbarOutput => self.switching.crossbar_output(),
            ArbiterPlace::LinkOutput => Some(&self.lanes.link_output),
            ArbiterPlace::AdapterPort => Some(&self.lanes.adapter_port),
        }
    }

    /// Whether the weights of lanes at a place can change while a run goes on.
    pub fn can_weigh(&self, place: ArbiterPlace) -> bool {
        self.arbiter(place).is_some_and(Scheduler::can_change)
    }

    /// Whether there is an arbiter of a place at the end of a channel that is asked for: at its end
    /// in a crossbar input, else at its beginning.
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

    /// The routes of a path set.
    pub fn routes(&self, set: PathSet) -> &Routes {
        &self.path_sets[set.index()]
    }

    /// The path sets that there are.
    pub fn sets(&self) -> impl Iterator<Item = PathSet> + use<> {
        [PathSet::Primary, PathSet::Alternative].into_iter().take(self.path_sets.len())
    }

    /// Whether any path leads through an in-transit host.
    pub fn has_in_transit_hosts(&self) -> bool {
        self.path_sets.iter().any(Routes::has_in_transit_hosts)
    }

    /// Every channel of the path of a set between two endpoints; `None` where there is none. From an
    /// endpoint to itself it leads to the switch and back.
    pub fn path(
        &self,
        set: PathSet,
        source: EndpointId,
        destination: EndpointId,
    ) -> Option<Vec<ChannelId>> {
        let first = self.fabric.endpoint_channel(source);
        if source == destination {
            let has_switch = self.is_switch(self.ends(first).target.node);
            return has_switch.then(|| vec![first, Fabric::reverse(first)]);
        }
        let path = self.routes(set).path(&self.fabric, source, destination)?;
        Some(path.channels().to_vec())
    }

    /// Switches on the way between two endpoints, the most of any set; none where one cable joins
    /// them.
    pub fn switches(&self, source: EndpointId, destination: EndpointId) -> usize {
        let first = self.fabric.target(self.fabric.endpoint_channel(source)).node;
        let switches = |set| self.length_from(set, first, destination).switches;
        self.sets().map(switches).max().unwrap_or(0)
    }

    /// What a packet comes through on the path of a set, `first` being the node at the end of the
    /// source's cable.
    pub fn length_from(&self, set: PathSet, first: NodeId, destination: EndpointId) -> PathLength {
        if !self.is_switch(first) {
            return PathLength::default();
        }
        match self.routes(set) {
            Routes::Source(routes) => {
                routes.kept(first, destination).map_or(PathLength::default(), PathLength::from)
            }
            Routes::Table(tables) => {
                let switches = tables.switches_to(&self.fabric, first, destination);
                PathLength { switches: switches.unwrap_or(0), in_transit_hosts: 0 }
            }
        }
    }

    /// What a packet comes through on these channels, of which the first begins at the first
    /// switch.
    pub fn length_of(&self, onward: &[ChannelId]) -> PathLength {
        let from_switch = |channel: &&ChannelId| self.is_switch(self.fabric.source(**channel).node);
        let switches = onward.iter().filter(from_switch).count();
        PathLength { switches, in_transit_hosts: onward.len() - switches }
    }

    /// The highest priority of any class, answers among them.
    pub fn highest_priority(&self) -> Priority {
        let of_classes = self.classes.iter().flat_map(ClassPlan::priorities);
        let of_signals = self.admission.as_ref().map(|admission| admission.priority);
        of_classes.chain(of_signals).max().unwrap_or_default()
    }

    /// Whether anything may wait at a host for something else than its link, or go there although
    /// no message is behind it.
    pub fn is_controlled(&self) -> bool {
        self.probe.is_some()
            || self.admission.is_some()
            || self.classes.iter().any(ClassPlan::is_controlled)
    }

    /// Whether there is a buffer at the end of a channel, so that what stands there is counted: not
    /// where a host takes in all that comes.
    pub fn has_buffer(&self, channel: ChannelId) -> bool {
        let target = self.ends(channel).target.node;
        let is_held = self.is_switch(target)
            || self.in_transit.when_full == WhenFull::Stop && !self.is_port_0(target);
        self.switching.has_buffer(self.channel(channel), is_held)
    }

    /// What the buffer at the end of a channel holds, that of all lanes together; nothing where a
    /// host takes in all that comes.
    pub fn buffer_flits(&self, channel: ChannelId) -> u32 {
        if self.has_buffer(channel) {
            self.switching.buffer_flits(self.channel(channel))
        } else {
            0
        }
    }

    /// Timing and buffer of a channel.
    pub fn channel(&self, channel: ChannelId) -> &ChannelPlan {
        &self.channels[channel.index()]
    }

    /// All streams, in the order of their numbers ([`crate::StreamId`]), with their classes.
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

    /// The load that a class asks for while it sends, as a fraction of the links of its sources;
    /// `None` for a backlogged class, a schedule and replies.
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
