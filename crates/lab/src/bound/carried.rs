//! Sums the expected traffic of a class over the channels of its paths.
//!
//! Hosts of one switch share the path from that switch to a destination. Uniform traffic therefore
//! takes one walk for each pair of switch and destination, not one for each pair of hosts.

use super::demand::{self, Demand, Uniform, receivers};
use super::wire::{Wire, Wires};
use gingham_model::{ClassId, PathLength, PathSet, Plan};
use gingham_topology::routing::Routes;
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use std::collections::BTreeMap;

/// Limit on the walks of a class, which take a few seconds.
const WALKS_MAX: usize = 1 << 28;

/// Follows the paths of a plan.
pub(super) struct Carrier<'a> {
    plan: &'a Plan,
    /// The channels of the last walk, from the first switch on.
    channels: Vec<ChannelId>,
}

/// Traffic from the senders of one switch to one destination.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    messages_per_ps: f64,
    flows: u32,
}

/// Sources that share one list of destinations.
struct Group<'a> {
    among: &'a [EndpointId],
    senders: Vec<&'a Uniform<'a>>,
}

impl<'a> Carrier<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self { plan, channels: Vec::new() }
    }

    /// Calls `add` for each channel that the demand of a class uses. Its arguments are the channel,
    /// whether the channel is the first or last of a path, the added share of its capacity, and the
    /// number of added flows. Returns false if the class takes too many walks.
    pub(super) fn carry(
        &mut self,
        id: ClassId,
        demand: &Demand<'_>,
        mut add: impl FnMut(ChannelId, bool, f64, u32),
    ) -> bool {
        let class = &self.plan.classes[id.index()];
        let lengths = demand::lengths_of(self.plan, class);
        let mut wires = Wires::new(class, &self.plan.switching, &self.plan.path_choice, lengths);
        let groups = groups(&demand.uniform);
        let walks: usize =
            groups.iter().map(|group| group.among.len() * self.switches_of(group).len()).sum();
        if walks > WALKS_MAX {
            return false;
        }
        for group in &groups {
            self.carry_group(group, &mut wires, &mut add);
        }
        for (from, to, rate) in &demand.pairs {
            self.carry_pair((*from, *to, *rate), &mut wires, &mut add);
        }
        true
    }

    /// Whether a path between two endpoints takes a channel.
    pub(super) fn takes(&mut self, from: EndpointId, to: EndpointId, channel: ChannelId) -> bool {
        self.plan.sets().any(|set| {
            self.plan.fabric.endpoint_channel(from) == channel
                || self.walk(set, from, to).is_some() && self.channels.contains(&channel)
        })
    }

    fn carry_pair(
        &mut self,
        (from, to, rate): (EndpointId, EndpointId, f64),
        wires: &mut Wires<'_>,
        add: &mut impl FnMut(ChannelId, bool, f64, u32),
    ) {
        let first = self.plan.fabric.endpoint_channel(from);
        let mut flows = 1;
        for set in self.plan.sets() {
            let Some(length) = self.walk(set, from, to) else { continue };
            let wire = wires.of(set, length.switches);
            if wire.share > 0.0 {
                add(first, true, rate * self.message_ps(wire, first, length), flows);
                flows = 0;
                self.add_walk(wire, length, Sent { messages_per_ps: rate, flows: 1 }, add);
            }
        }
    }

    fn carry_group(
        &mut self,
        group: &Group<'_>,
        wires: &mut Wires<'_>,
        add: &mut impl FnMut(ChannelId, bool, f64, u32),
    ) {
        let switches = self.switches_of(group);
        let mut on_injection: BTreeMap<NodeId, f64> = BTreeMap::new();
        for (place, to) in group.among.iter().enumerate() {
            for (switch, senders) in &switches {
                let sent = sent(senders, place);
                if sent.flows == 0 {
                    continue;
                }
                for set in self.plan.sets() {
                    let Some(length) = self.walk(set, senders[0].source, *to) else { continue };
                    let wire = wires.of(set, length.switches);
                    if wire.share > 0.0 {
                        let bytes = wire.bytes_on(&self.plan.switching, length);
                        *on_injection.entry(*switch).or_default() += sent.messages_per_ps * bytes;
                        self.add_walk(wire, length, sent, add);
                    }
                }
            }
        }
        for (switch, senders) in &switches {
            let total: f64 = senders.iter().map(|sender| sender.total()).sum();
            let bytes = on_injection.get(switch).copied().unwrap_or(0.0);
            for sender in senders {
                let channel = self.plan.fabric.endpoint_channel(sender.source);
                let load = bytes * sender.total() / total * self.plan.byte_ps(channel);
                add(channel, true, load, sender.flows());
            }
        }
    }

    /// Adds traffic along the last walk, except on the injection channel.
    fn add_walk(
        &self,
        wire: Wire,
        length: PathLength,
        sent: Sent,
        add: &mut impl FnMut(ChannelId, bool, f64, u32),
    ) {
        let mut left = length;
        left.switches = left.switches.saturating_sub(1);
        let last = self.channels.len().saturating_sub(1);
        for (place, channel) in self.channels.iter().enumerate() {
            let load = sent.messages_per_ps * self.message_ps(wire, *channel, left);
            add(*channel, place == last, load, sent.flows);
            if self.plan.is_switch(self.plan.fabric.target(*channel).node) {
                left.switches = left.switches.saturating_sub(1);
            } else {
                left.in_transit_hosts = left.in_transit_hosts.saturating_sub(1);
            }
        }
    }

    /// Transmission time of a message on a channel, in ps.
    fn message_ps(&self, wire: Wire, channel: ChannelId, left: PathLength) -> f64 {
        wire.bytes_on(&self.plan.switching, left) * self.plan.byte_ps(channel)
    }

    /// Follows the path between two endpoints from the first switch on. Stores its channels in
    /// `self.channels` and returns its length; `None` without a path.
    fn walk(&mut self, set: PathSet, from: EndpointId, to: EndpointId) -> Option<PathLength> {
        let fabric = &self.plan.fabric;
        self.channels.clear();
        let switch = fabric.target(fabric.endpoint_channel(from)).node;
        if !self.plan.is_switch(switch) {
            return Some(PathLength::default());
        }
        if from == to {
            self.channels.push(Fabric::reverse(fabric.endpoint_channel(from)));
            return Some(PathLength { switches: 1, in_transit_hosts: 0 });
        }
        match self.plan.routes(set) {
            Routes::Source(routes) => {
                let onward = routes.path(fabric, switch, to)?;
                self.channels.extend(onward.iter());
                Some(PathLength::from(onward))
            }
            Routes::Table(tables) => {
                let mut node = switch;
                // A table path that visits more switches than the fabric has is a loop.
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

    /// The senders of a group, keyed by their switch.
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
    /// Messages per picosecond to all destinations together.
    fn total(&self) -> f64 {
        self.messages_per_ps * f64::from(self.flows())
    }

    fn flows(&self) -> u32 {
        u32::try_from(receivers(self.to).count()).unwrap_or(u32::MAX)
    }
}

/// Traffic from `senders` to the destination at index `place` of their list.
fn sent(senders: &[&Uniform<'_>], place: usize) -> Sent {
    let to_it = senders.iter().filter(|sender| !sender.to.own.contains(&place));
    to_it.fold(Sent::default(), |sum, sender| Sent {
        messages_per_ps: sum.messages_per_ps + sender.messages_per_ps,
        flows: sum.flows + 1,
    })
}

/// Groups sources by the list of destinations that they share.
fn groups<'a>(uniform: &'a [Uniform<'a>]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for sender in uniform {
        let among = &*sender.to.among;
        match groups.iter_mut().find(|group| std::ptr::eq(group.among, among)) {
            Some(group) => group.senders.push(sender),
            None => groups.push(Group { among, senders: vec![sender] }),
        }
    }
    groups
}
