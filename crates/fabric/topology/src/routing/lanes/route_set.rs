//! Everything that decides where packets go and on which lanes: what the proof is about.
//!
//! ```text
//!   walk of s0 to h5 (path 1):   s0 -> s2    s2 -> s5    s5 -> h5
//!     h0, h1 send on SL 0:       lane 0      lane 0      lane 0        one laned walk
//!     h2 sends on SL 3:          lane 0      lane 1      lane 1        another
//! ```
//!
//! The endpoints of a switch share their paths and need not share their service level (their VC
//! class), nor, where the map looks at the input port, their first lane. What follows depends on
//! these two alone, so each pair of them is looked at once a walk. A packet may have the choice
//! among several lanes: then it may hold any of them, and wait for each of the next.

use super::rule::{LaneRule, Lanes};
use super::set::{DatelineClass, LaneSet, VcClass};
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::routes::{Routes, Walk};
use crate::{ChannelId, EndpointId, Fabric};
use gingham_kernel::id_type;

id_type!(
    /// A buffer: `channel * lanes + lane`.
    BufferId
);

/// A lane of a channel: what one packet holds while it waits for another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Buffer {
    /// The channel.
    pub channel: ChannelId,
    /// The lane, 0 where there is but one.
    pub lane: u8,
}

impl From<ChannelId> for Buffer {
    /// The one buffer of a channel without lanes.
    fn from(channel: ChannelId) -> Self {
        Self { channel, lane: 0 }
    }
}

/// Lanes of a channel, any one of which a packet holds or waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Buffers {
    /// The channel.
    pub(crate) channel: ChannelId,
    /// At least one lane.
    pub(crate) lanes: LaneSet,
}

impl Buffers {
    /// Each of them.
    pub(crate) fn each(self) -> impl Iterator<Item = Buffer> {
        self.lanes.lanes().map(move |lane| Buffer { channel: self.channel, lane })
    }

    /// Whether this is one of them.
    pub(crate) fn contains(self, buffer: Buffer) -> bool {
        self.channel == buffer.channel && self.lanes.contains(buffer.lane)
    }
}

/// How in-transit hosts take packets out of the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ejection {
    /// A host ejects every packet, whatever it holds already.
    #[default]
    Always,
    /// A host ejects packets while there is room in its pool; then they wait in the network.
    UntilFull,
}

/// The routes of a fabric: paths of each pair, any of which a packet may take, and
/// the lanes on which they run.
#[derive(Clone, Copy, Debug)]
pub struct RouteSet<'a> {
    /// At least one; several with an LMC above 0.
    pub routes: &'a [Routes],
    /// `None` for one lane everywhere.
    pub lanes: Option<&'a Lanes>,
    /// How in-transit hosts take packets in.
    pub ejection: Ejection,
}

impl<'a> From<&'a Routes> for RouteSet<'a> {
    fn from(routes: &'a Routes) -> Self {
        Self { routes: std::slice::from_ref(routes), lanes: None, ejection: Ejection::Always }
    }
}

/// A walk on its lanes, for the senders that share them.
#[derive(Debug)]
pub(crate) struct LanedWalk<'a> {
    /// The walk.
    pub(crate) walk: &'a Walk<'a>,
    /// The lanes of each channel; fewer than channels if the packet is dropped on the way.
    pub(crate) lanes: &'a [LaneSet],
    /// The VC class of the packets.
    pub(crate) vc_class: VcClass,
    /// Whether the senders' own adapters drop their packets.
    pub(crate) is_dropped_by_adapter: bool,
    /// The first endpoint that sends along this walk on these lanes.
    pub(crate) sender: EndpointId,
    /// The first host among them, if the walk leads to a host.
    pub(crate) host_sender: Option<EndpointId>,
    /// How many endpoints do.
    pub(crate) sender_count: u64,
}

/// How a packet enters the fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entrance {
    /// Its adapter drops it.
    DroppedByAdapter,
    /// Its first switch drops it.
    DroppedBySwitch,
    /// It leaves its first switch on any of these lanes, on this dateline class.
    Lanes(LaneSet, DatelineClass),
}

/// Senders of a walk that share their VC class and first lanes.
#[derive(Debug)]
struct Group {
    vc_class: VcClass,
    entrance: Entrance,
    sender: EndpointId,
    host_sender: Option<EndpointId>,
    sender_count: u64,
}

impl RouteSet<'_> {
    /// Number of lanes, up to the highest that may be in use.
    pub fn lane_count(&self) -> usize {
        self.lanes.map_or(1, Lanes::count)
    }

    /// Follows every walk of all routes on all lanes that packets take there, in
    /// canonical order: by LID offset, then as [`Routes::walk_all`], then by sender.
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
    /// The buffers that a packet holds one after the other, as far as it gets: one of each.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = Buffers> {
        let channels = self.walk.channels.iter().zip(self.lanes);
        channels.map(|(channel, lanes)| Buffers { channel: *channel, lanes: *lanes })
    }

    /// Buffers that follow each other.
    pub(crate) fn turns(&self) -> impl Iterator<Item = (Buffers, Buffers)> {
        self.buffers().zip(self.buffers().skip(1))
    }
}

/// All senders of a walk, where there is but one lane.
fn whole_group(walk: &Walk<'_>, graph: &SwitchGraph) -> Option<Group> {
    Some(Group {
        vc_class: VcClass(0),
        entrance: Entrance::Lanes(LaneSet::one(0), DatelineClass(0)),
        sender: walk.senders(graph).next()?,
        host_sender: walk.host_sender(graph),
        sender_count: walk.sender_count(graph),
    })
}

/// The senders of a walk by VC class and first lanes, in the order of their first.
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
        // Which lanes there are does not depend on the sender.
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

/// The lanes of each channel, up to where the packet is dropped.
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
        // An in-transit host ejects the packet and sends it on from its own first lanes.
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
