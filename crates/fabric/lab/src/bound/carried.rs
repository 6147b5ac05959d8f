//! Sums the expected traffic of a class over the channels of its paths.
//!
//! Hosts of one switch share the path from this switch to a destination. For uniform traffic, one
//! walk per switch and destination is therefore enough.

use super::demand::{self, Demand, Uniform};
use super::wire::{Consumed, Wire, Wires};
use gingham_net::{ClassId, PathId, PathLength, Plan};
use gingham_topology::routing::Routes;
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum number of path walks for a class; they take a few seconds at most.
const WALKS_MAX: usize = 1 << 28;

pub(super) struct Carrier<'a> {
    plan: &'a Plan,
    consumed: Consumed,
    hosts_only: bool,
    channels: Vec<ChannelId>,
    /// Channels on earlier paths of the same hosts; their flows are already counted.
    counted: Vec<ChannelId>,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Carried {
    /// Bytes on the wire per picosecond; after [`Carrier::carry`], a fraction of the channel's
    /// capacity.
    pub(super) load: f64,
    pub(super) flows: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    messages_per_ps: f64,
    flows: u32,
}

impl Sent {
    fn plus(self, other: Self) -> Self {
        Self {
            messages_per_ps: self.messages_per_ps + other.messages_per_ps,
            flows: self.flows + other.flows,
        }
    }
}

struct Group<'a> {
    among: &'a [EndpointId],
    senders: Vec<&'a Uniform<'a>>,
}

impl<'a> Carrier<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        let consumed = Consumed::of(&plan.switching);
        Self { plan, consumed, hosts_only: false, channels: Vec::new(), counted: Vec::new() }
    }

    pub(super) fn with_hosts_only(self, hosts_only: bool) -> Self {
        Self { hosts_only, ..self }
    }

    pub(super) fn carry(&mut self, id: ClassId, demand: &Demand<'_>) -> Option<Vec<Carried>> {
        let class = &self.plan.classes[id.index()];
        let lengths = demand::lengths_of(self.plan, class);
        let mut wires = Wires::new(class, &self.plan.switching, &self.plan.routing, lengths);
        let groups = groups(&demand.uniform);
        let walks: usize =
            groups.iter().map(|group| group.among.len() * self.switches_of(group).len()).sum();
        if walks.saturating_mul(self.plan.routing.vias.len().max(1)) > WALKS_MAX {
            return None;
        }
        let mut carried = vec![Carried::default(); self.plan.fabric.channel_count()];
        for group in &groups {
            self.carry_group(group, &mut wires, &mut carried);
        }
        for pair in &demand.pairs {
            self.carry_pair(*pair, &mut wires, &mut carried);
        }
        for (channel, of) in ChannelId::first(carried.len()).zip(&mut carried) {
            of.load *= self.plan.byte_ps(channel);
            debug_assert!(of.load.is_finite(), "a channel carries bytes");
        }
        Some(carried)
    }

    pub(super) fn takes(&mut self, from: EndpointId, to: EndpointId, channel: ChannelId) -> bool {
        self.plan.routing.path_ids().any(|path| {
            self.plan.fabric.endpoint_channel(from) == channel
                || self.walk(path, from, to).is_some() && self.channels.contains(&channel)
        })
    }

    fn carry_pair(
        &mut self,
        (from, to, rate): (EndpointId, EndpointId, f64),
        wires: &mut Wires<'_>,
        carried: &mut [Carried],
    ) {
        let first = self.plan.fabric.endpoint_channel(from).index();
        let sent = Sent { messages_per_ps: rate, flows: 1 };
        let mut flows_count = true;
        self.counted.clear();
        for path in self.plan.routing.path_ids() {
            let Some(length) = self.walk(path, from, to) else { continue };
            let wire = wires.of(path, length.switches);
            if wire.share > 0.0 {
                carried[first].load += rate * wire.bytes_on(self.consumed, length);
                carried[first].flows += u32::from(flows_count);
                self.add_walk(wire, length, sent, carried);
                if !self.channels.is_empty() {
                    self.add_ejection(to, wire, sent, flows_count, carried);
                }
                flows_count = false;
            }
        }
    }

    fn carry_group(&mut self, group: &Group<'_>, wires: &mut Wires<'_>, carried: &mut [Carried]) {
        let switches: Vec<_> = self.switches_of(group).into_values().collect();
        let mut on_injection = vec![0.0; switches.len()];
        for (places, to) in self.runs(group.among) {
            for (senders, on_injection) in switches.iter().zip(&mut on_injection) {
                *on_injection += self.carry_run(senders, (places.clone(), to), wires, carried);
            }
        }
        for (senders, bytes) in switches.iter().zip(on_injection) {
            let total: f64 = senders.iter().map(|sender| sender.total()).sum();
            for sender in senders.iter().filter(|sender| sender.total() > 0.0) {
                let channel = self.plan.fabric.endpoint_channel(sender.source).index();
                carried[channel].load += bytes * sender.total() / total;
                carried[channel].flows += sender.flows();
            }
        }
    }

    /// Adds the load from the senders at one switch to destinations that share paths, on all
    /// channels of these paths except the senders' own. Returns the load on the senders' channels,
    /// in bytes per picosecond.
    fn carry_run(
        &mut self,
        senders: &[&Uniform<'_>],
        (places, to): (Range<usize>, &[EndpointId]),
        wires: &mut Wires<'_>,
        carried: &mut [Carried],
    ) -> f64 {
        let sent_to = |place| sent(senders, place);
        let sum = places.clone().map(sent_to).fold(Sent::default(), Sent::plus);
        let mut on_injection = 0.0;
        let mut flows_count = true;
        self.counted.clear();
        if sum.messages_per_ps == 0.0 {
            return on_injection;
        }
        for path in self.plan.routing.path_ids() {
            let Some(length) = self.walk(path, senders[0].source, to[0]) else { continue };
            let wire = wires.of(path, length.switches);
            if wire.share > 0.0 {
                on_injection += sum.messages_per_ps * wire.bytes_on(self.consumed, length);
                self.add_walk(wire, length, sum, carried);
                // Between two directly connected hosts, the only cable is the sender's channel.
                for (place, to) in places.clone().zip(to).filter(|_| !self.channels.is_empty()) {
                    self.add_ejection(*to, wire, sent_to(place), flows_count, carried);
                }
                flows_count = false;
            }
        }
        on_injection
    }

    /// Returns runs of neighbouring endpoints whose paths differ only in the last channel, with the
    /// indices of the endpoints.
    fn runs<'l>(
        &self,
        among: &'l [EndpointId],
    ) -> impl Iterator<Item = (Range<usize>, &'l [EndpointId])> + use<'l> {
        let share = |one: EndpointId, other: EndpointId| {
            self.plan.routing.paths.iter().all(|routes| match routes {
                Routes::Source(routes) => routes.share_paths(one, other),
                Routes::Table(_) => false,
            })
        };
        let runs: Vec<&[EndpointId]> = among.chunk_by(|a, b| share(*a, *b)).collect();
        let mut start = 0;
        runs.into_iter().map(move |run| {
            start += run.len();
            (start - run.len()..start, run)
        })
    }

    fn add_walk(&mut self, wire: Wire, length: PathLength, sent: Sent, carried: &mut [Carried]) {
        let Self { plan, consumed, hosts_only, channels, counted } = self;
        let mut left = length;
        left.switches = left.switches.saturating_sub(1);
        let Some((_, others)) = channels.split_last().filter(|_| !*hosts_only) else { return };
        let mut add = |channel: ChannelId, left| {
            let of = &mut carried[channel.index()];
            of.load += sent.messages_per_ps * wire.bytes_on(*consumed, left);
            of.flows += if counted.contains(&channel) { 0 } else { sent.flows };
        };
        if length.in_transit_hosts == 0 {
            for channel in others {
                add(*channel, left);
                left.switches = left.switches.saturating_sub(1);
            }
        } else {
            for channel in others {
                add(*channel, left);
                if plan.is_switch(plan.fabric.target(*channel).node) {
                    left.switches = left.switches.saturating_sub(1);
                } else {
                    left.in_transit_hosts = left.in_transit_hosts.saturating_sub(1);
                }
            }
        }
        if !plan.routing.has_one_path() {
            counted.extend_from_slice(channels);
        }
    }

    fn add_ejection(
        &self,
        to: EndpointId,
        wire: Wire,
        sent: Sent,
        flows_count: bool,
        carried: &mut [Carried],
    ) {
        let of = &mut carried[Fabric::reverse(self.plan.fabric.endpoint_channel(to)).index()];
        of.load += sent.messages_per_ps * wire.bytes_on(self.consumed, PathLength::default());
        of.flows += if flows_count { sent.flows } else { 0 };
    }

    /// Records the path from the first switch onwards in `self.channels`, and returns its length.
    fn walk(&mut self, path: PathId, from: EndpointId, to: EndpointId) -> Option<PathLength> {
        let fabric = &self.plan.fabric;
        self.channels.clear();
        let switch = fabric.target(fabric.endpoint_channel(from)).node;
        if !self.plan.is_switch(switch) {
            return Some(PathLength::default());
        }
        if from == to && path.via().is_none() {
            self.channels.push(Fabric::reverse(fabric.endpoint_channel(from)));
            return Some(PathLength { switches: 1, in_transit_hosts: 0 });
        }
        if path.via().is_some() {
            self.channels.extend(self.plan.path(path, from, to)?.drain(1..));
            return Some(self.plan.length_of(&self.channels));
        }
        match self.plan.routing.routes(path) {
            Routes::Source(routes) => {
                let onward = routes.path(fabric, switch, to)?;
                self.channels.extend(onward.iter());
                Some(PathLength::from(onward))
            }
            Routes::Table(tables) => {
                let mut node = switch;
                // A path through more switches than the fabric has contains a loop.
                for switches in 1..=fabric.switches().len() {
                    let channel = fabric.outgoing(node, tables.port(node, to)?)?;
                    self.channels.push(channel);
                    node = fabric.target(channel).node;
                    if !self.plan.is_switch(node) {
                        return Some(PathLength { switches, in_transit_hosts: 0 });
                    }
                }
                None
            }
        }
    }

    fn switches_of<'g>(&self, group: &Group<'g>) -> BTreeMap<NodeId, Vec<&'g Uniform<'g>>> {
        let fabric = &self.plan.fabric;
        let mut switches: BTreeMap<NodeId, Vec<&Uniform<'_>>> = BTreeMap::new();
        for sender in &group.senders {
            let switch = fabric.target(fabric.endpoint_channel(sender.source)).node;
            switches.entry(switch).or_default().push(sender);
        }
        switches
    }
}

impl Uniform<'_> {
    fn total(&self) -> f64 {
        self.messages_per_ps * f64::from(self.receivers())
    }

    fn flows(&self) -> u32 {
        if self.counts_flows { self.receivers() } else { 0 }
    }

    fn receivers(&self) -> u32 {
        u32::try_from(self.to.len()).unwrap_or(u32::MAX)
    }
}

fn sent(senders: &[&Uniform<'_>], place: usize) -> Sent {
    let to_it = senders.iter().filter(|sender| !sender.to.own.contains(&place));
    let by = |sender: &&Uniform<'_>| Sent {
        messages_per_ps: sender.messages_per_ps,
        flows: u32::from(sender.counts_flows),
    };
    to_it.map(by).fold(Sent::default(), Sent::plus)
}

fn groups<'a>(uniform: &'a [Uniform<'a>]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places = BTreeMap::new();
    for sender in uniform {
        let among = &*sender.to.among;
        let place = *places.entry((among.as_ptr(), sender.counts_flows)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group { among, senders: Vec::new() });
        }
        groups[place].senders.push(sender);
    }
    groups
}
