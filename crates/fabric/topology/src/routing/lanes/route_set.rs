//! Routes with their lanes: the input of the deadlock proof.
//!
//! ```text
//!   walk of s0 to h5 (path 1):   s0 -> s2    s2 -> s5    s5 -> h5
//!     h0, h1 send on SL 0:       lane 0      lane 0      lane 0        one laned walk
//!     h2 sends on SL 3:          lane 0      lane 1      lane 1        another
//! ```
//!
//! The endpoints of a switch share their path to a destination, but not necessarily their service
//! level (VC class) or first lane; each combination is visited separately. A packet may hold any
//! lane of a set, and wait for any lane of the next set.

use super::rule::{LaneRule, Lanes};
use super::set::{DatelineClass, LaneSet, VcClass};
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::routes::{Routes, Walk};
use crate::{ChannelId, EndpointId, Fabric};
use gingham_kernel::id_type;

id_type!(
    /// Buffer index: `channel * lanes + lane`.
    BufferId
);

/// Lane of a channel; a packet holds one buffer while it waits for the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Buffer {
    /// Channel.
    pub channel: ChannelId,
    /// Lane; 0 if the channel has only one.
    pub lane: u8,
}

impl From<ChannelId> for Buffer {
    fn from(channel: ChannelId) -> Self {
        Self { channel, lane: 0 }
    }
}

/// Set of lanes of a channel; a packet holds or waits for one lane of the set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Buffers {
    pub(crate) channel: ChannelId,
    /// Never empty.
    pub(crate) lanes: LaneSet,
}

impl Buffers {
    pub(crate) fn each(self) -> impl Iterator<Item = Buffer> {
        self.lanes.lanes().map(move |lane| Buffer { channel: self.channel, lane })
    }

    pub(crate) fn contains(self, buffer: Buffer) -> bool {
        self.channel == buffer.channel && self.lanes.contains(buffer.lane)
    }
}

/// Condition for ejecting packets at in-transit hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ejection {
    /// Ejection of every packet, however many the host already stores.
    #[default]
    Always,
    /// Ejection while the host's pool has free space; other packets wait in the network.
    UntilFull,
}

/// Routes of a fabric with their lanes; a packet may take any of several paths.
#[derive(Clone, Copy, Debug)]
pub struct RouteSet<'a> {
    /// Routes for each LID offset of the destinations; a single element with an LMC of 0.
    pub routes: &'a [Routes],
    /// Lane rule; `None` if every channel has one lane.
    pub lanes: Option<&'a Lanes>,
    /// Condition for ejecting packets at in-transit hosts.
    pub ejection: Ejection,
    /// Whether a packet may take two routes in sequence, through an intermediate switch; excludes
    /// adaptive routing.
    pub over_switches: bool,
}

impl<'a> From<&'a Routes> for RouteSet<'a> {
    fn from(routes: &'a Routes) -> Self {
        Self::new(std::slice::from_ref(routes), None)
    }
}

impl<'a> RouteSet<'a> {
    /// Creates direct routes, with in-transit hosts that always eject packets.
    pub const fn new(routes: &'a [Routes], lanes: Option<&'a Lanes>) -> Self {
        Self { routes, lanes, ejection: Ejection::Always, over_switches: false }
    }
}

/// Path with its lanes, common to all senders with the same VC class and lanes.
#[derive(Debug)]
pub(crate) struct LanedWalk<'a> {
    pub(crate) walk: &'a Walk<'a>,
    /// Lanes on each channel; the list ends early if the packet is dropped.
    pub(crate) lanes: &'a [LaneSet],
    pub(crate) vc_class: VcClass,
    pub(crate) is_dropped_by_adapter: bool,
    pub(crate) sender: EndpointId,
    pub(crate) host_sender: Option<EndpointId>,
    pub(crate) sender_count: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entrance {
    DroppedByAdapter,
    DroppedBySwitch,
    Lanes(LaneSet, DatelineClass),
}

#[derive(Debug)]
struct Group {
    vc_class: VcClass,
    entrance: Entrance,
    sender: EndpointId,
    host_sender: Option<EndpointId>,
    sender_count: u64,
}

impl RouteSet<'_> {
    /// Returns the number of lanes: the highest lane in use plus 1.
    pub fn lane_count(&self) -> usize {
        self.lanes.map_or(1, Lanes::count)
    }

    /// Visits all paths by LID offset, then in the order of [`Routes::walk_all`], then by sender.
    pub(crate) fn walk_all(
        &self,
        fabric: &Fabric,
        graph: &SwitchGraph,
        mut visit: impl FnMut(&LanedWalk<'_>),
    ) {
        let (mut groups, mut lanes_taken) = (Vec::new(), Vec::new());
        for (lid_offset, routes) in (0..=u8::MAX).zip(self.routes) {
            routes.walk_all(fabric, graph, |walk| {
                groups.clear();
                match self.lanes {
                    None => groups.extend(whole_group(walk, graph)),
                    Some(lanes) => group(fabric, graph, walk, lanes, lid_offset, &mut groups),
                }
                for group in &groups {
                    lanes_taken.clear();
                    match self.lanes {
                        None => lanes_taken.resize(walk.channels.len(), LaneSet::one(0)),
                        Some(lanes) => take_lanes(fabric, walk, lanes, group, &mut lanes_taken),
                    }
                    visit(&LanedWalk {
                        walk,
                        lanes: &lanes_taken,
                        vc_class: group.vc_class,
                        is_dropped_by_adapter: group.entrance == Entrance::DroppedByAdapter,
                        sender: group.sender,
                        host_sender: group.host_sender,
                        sender_count: group.sender_count,
                    });
                }
            });
        }
    }
}

impl LanedWalk<'_> {
    pub(crate) fn buffers(&self) -> impl Iterator<Item = Buffers> {
        let channels = self.walk.channels.iter().zip(self.lanes);
        channels.map(|(channel, lanes)| Buffers { channel: *channel, lanes: *lanes })
    }

    pub(crate) fn turns(&self) -> impl Iterator<Item = (Buffers, Buffers)> {
        self.buffers().zip(self.buffers().skip(1))
    }
}

fn whole_group(walk: &Walk<'_>, graph: &SwitchGraph) -> Option<Group> {
    Some(Group {
        vc_class: VcClass(0),
        entrance: Entrance::Lanes(LaneSet::one(0), DatelineClass(0)),
        sender: walk.senders(graph).next()?,
        host_sender: walk.host_sender(graph),
        sender_count: walk.sender_count(graph),
    })
}

fn group(
    fabric: &Fabric,
    graph: &SwitchGraph,
    walk: &Walk<'_>,
    lanes: &Lanes,
    lid_offset: u8,
    groups: &mut Vec<Group>,
) {
    let Some(&first) = walk.channels.first() else { return };
    if !matches!(lanes.rule(), LaneRule::Tables { .. }) {
        // Without tables, lanes do not depend on the sender.
        let Some(sender) = walk.senders(graph).next() else { return };
        groups.extend(lanes.vc_classes().filter_map(|vc_class| {
            let entrance = entrance(fabric, lanes, (sender, walk.to), first, vc_class);
            Some(Group { vc_class, entrance, ..whole_group(walk, graph)? })
        }));
        return;
    }
    for sender in walk.senders(graph) {
        let host = (graph.is_host(sender) && graph.is_host(walk.to)).then_some(sender);
        for vc_class in lanes.vc_classes_on(sender, walk.to, lid_offset) {
            let entrance = entrance(fabric, lanes, (sender, walk.to), first, vc_class);
            let same =
                |group: &&mut Group| (group.vc_class, group.entrance) == (vc_class, entrance);
            match groups.iter_mut().find(same) {
                Some(group) => {
                    group.host_sender = group.host_sender.or(host);
                    group.sender_count += 1;
                }
                None => groups.push(Group {
                    vc_class,
                    entrance,
                    sender,
                    host_sender: host,
                    sender_count: 1,
                }),
            }
        }
    }
}

fn entrance(
    fabric: &Fabric,
    lanes: &Lanes,
    (sender, to): (EndpointId, EndpointId),
    first: ChannelId,
    vc_class: VcClass,
) -> Entrance {
    if lanes.first(sender, vc_class).is_empty() {
        return Entrance::DroppedByAdapter;
    }
    let own = fabric.endpoint_channel(sender);
    match lanes.onward(fabric, vc_class, DatelineClass(0), own, first, to) {
        (LaneSet::EMPTY, _) => Entrance::DroppedBySwitch,
        (lanes, dateline_class) => Entrance::Lanes(lanes, dateline_class),
    }
}

fn take_lanes(
    fabric: &Fabric,
    walk: &Walk<'_>,
    lanes: &Lanes,
    group: &Group,
    taken: &mut Vec<LaneSet>,
) {
    let Entrance::Lanes(first, mut dateline_class) = group.entrance else { return };
    taken.push(first);
    for pair in walk.channels.windows(2) {
        // An in-transit host ejects the packet and re-injects it on the host's own first lanes.
        let next = match fabric.endpoint_at(fabric.target(pair[0])) {
            Some(host) => (lanes.first(host, group.vc_class), DatelineClass(0)),
            None => lanes.onward(fabric, group.vc_class, dateline_class, pair[0], pair[1], walk.to),
        };
        if next.0.is_empty() {
            return;
        }
        taken.push(next.0);
        dateline_class = next.1;
    }
}
