//! Everything that decides where packets go and on which lanes: what the proof is about.
//!
//! ```text
//!   walk of s0 to h5 (path 1):   s0 -> s2    s2 -> s5    s5 -> h5
//!     h0, h1 send on SL 0:       lane 0      lane 0      lane 0        one laned walk
//!     h2 sends on SL 3:          lane 0      lane 1      lane 1        another
//! ```
//!
//! The endpoints of a switch share their paths and need not share their service level, nor, where
//! the map looks at the input port, their first lane. What follows depends on these two
//! alone, so each pair of them is looked at once a walk.

use super::Routes;
use super::graph::SwitchGraph;
use super::lane_map::LaneMap;
use super::routes::Walk;
use super::service_levels::ServiceLevels;
use super::take_in::TakeIn;
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

/// What decides on lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lanes {
    map: LaneMap,
    levels: ServiceLevels,
    count: usize,
}

impl Lanes {
    /// Which lane a service level takes at each hop, and which level a pair sends on.
    pub fn new(fabric: &Fabric, map: LaneMap, levels: ServiceLevels) -> Self {
        let count = 1 + usize::from(map.highest_lane(fabric, levels.in_use()));
        Self { map, levels, count }
    }

    /// The lane of each service level, hop by hop.
    pub fn map(&self) -> &LaneMap {
        &self.map
    }

    /// The service level of each pair.
    pub fn levels(&self) -> &ServiceLevels {
        &self.levels
    }

    /// One more than the highest lane that a packet may take between switches.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// The routes of a fabric: alternatives for each pair, any of which a packet may take, and
/// the lanes on which they run.
#[derive(Clone, Copy, Debug)]
pub struct RouteSet<'a> {
    /// At least one; several with an LMC above 0.
    pub alternatives: &'a [Routes],
    /// `None` for one lane everywhere.
    pub lanes: Option<&'a Lanes>,
    /// What hosts do with packets in transit.
    pub hosts: TakeIn,
}

impl<'a> From<&'a Routes> for RouteSet<'a> {
    fn from(routes: &'a Routes) -> Self {
        Self { alternatives: std::slice::from_ref(routes), lanes: None, hosts: TakeIn::Always }
    }
}

/// A walk on its lanes, for the senders that share them.
#[derive(Debug)]
pub(super) struct LanedWalk<'a> {
    /// The walk.
    pub(super) walk: &'a Walk<'a>,
    /// The lane of each channel; fewer than channels if the packet is dropped on the way.
    pub(super) lanes: &'a [u8],
    /// The service level.
    pub(super) level: u8,
    /// Whether the senders' own adapters drop their packets.
    pub(super) is_dropped_by_adapter: bool,
    /// The first endpoint that sends along this walk on these lanes.
    pub(super) sender: EndpointId,
    /// The first host among them, if the walk leads to a host.
    pub(super) host_sender: Option<EndpointId>,
    /// How many endpoints do.
    pub(super) sender_count: u64,
}

/// How a packet enters the fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entrance {
    /// Its adapter drops it.
    DroppedByAdapter,
    /// Its first switch drops it.
    DroppedBySwitch,
    /// It leaves its first switch on this lane.
    Lane(u8),
}

/// Senders of a walk that share their level and first lane.
#[derive(Debug)]
struct Group {
    level: u8,
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

    /// Follows every walk of every alternative on all lanes that packets take there, in
    /// canonical order: by alternative, then as [`Routes::walk_all`], then by sender.
    pub(super) fn walk_all(
        &self,
        fabric: &Fabric,
        graph: &SwitchGraph,
        mut visit: impl FnMut(&LanedWalk<'_>),
    ) {
        let (mut groups, mut lanes_taken) = (Vec::new(), Vec::new());
        for (alternative, routes) in (0..=u8::MAX).zip(self.alternatives) {
            routes.walk_all(fabric, graph, |walk| {
                groups.clear();
                match self.lanes {
                    None => groups.extend(whole_group(walk, graph)),
                    Some(lanes) => group(fabric, graph, walk, lanes, alternative, &mut groups),
                }
                for group in &groups {
                    lanes_taken.clear();
                    match self.lanes {
                        None => lanes_taken.resize(walk.channels.len(), 0),
                        Some(lanes) => take_lanes(fabric, walk, lanes, group, &mut lanes_taken),
                    }
                    visit(&LanedWalk {
                        walk,
                        lanes: &lanes_taken,
                        level: group.level,
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
    /// The buffers that a packet holds one after the other, as far as it gets.
    pub(super) fn buffers(&self) -> impl Iterator<Item = Buffer> {
        let channels = self.walk.channels.iter().zip(self.lanes);
        channels.map(|(channel, lane)| Buffer { channel: *channel, lane: *lane })
    }

    /// Buffers that follow each other.
    pub(super) fn turns(&self) -> impl Iterator<Item = (Buffer, Buffer)> {
        self.buffers().zip(self.buffers().skip(1))
    }
}

/// All senders of a walk, where there is but one lane.
fn whole_group(walk: &Walk<'_>, graph: &SwitchGraph) -> Option<Group> {
    Some(Group {
        level: 0,
        entrance: Entrance::Lane(0),
        sender: walk.senders(graph).next()?,
        host_sender: walk.host_sender(graph),
        sender_count: walk.sender_count(graph),
    })
}

/// The senders of a walk by level and first lane, in the order of their first.
fn group(
    fabric: &Fabric,
    graph: &SwitchGraph,
    walk: &Walk<'_>,
    lanes: &Lanes,
    alternative: u8,
    groups: &mut Vec<Group>,
) {
    for sender in walk.senders(graph) {
        let level = lanes.levels.level(sender, walk.to, alternative);
        let Some(&first) = walk.channels.first() else { continue };
        let entrance = entrance(fabric, lanes, sender, first, level);
        let host = (graph.is_host(sender) && graph.is_host(walk.to)).then_some(sender);
        let same = |group: &&mut Group| (group.level, group.entrance) == (level, entrance);
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.host_sender = group.host_sender.or(host);
                group.sender_count += 1;
            }
            None => {
                groups.push(Group { level, entrance, sender, host_sender: host, sender_count: 1 });
            }
        }
    }
}

fn entrance(
    fabric: &Fabric,
    lanes: &Lanes,
    sender: EndpointId,
    first: ChannelId,
    level: u8,
) -> Entrance {
    if lanes.map.first_lane(sender, level).is_none() {
        return Entrance::DroppedByAdapter;
    }
    let lane = lanes.map.lane(fabric, fabric.endpoint_channel(sender), first, level);
    lane.map_or(Entrance::DroppedBySwitch, Entrance::Lane)
}

/// The lane of each channel, up to where the packet is dropped.
fn take_lanes(fabric: &Fabric, walk: &Walk<'_>, lanes: &Lanes, group: &Group, taken: &mut Vec<u8>) {
    let Entrance::Lane(first) = group.entrance else { return };
    taken.push(first);
    for pair in walk.channels.windows(2) {
        // A host on the way takes the packet in and sends it on from its own first lane.
        let at = fabric.target(pair[0]);
        let lane = match fabric.endpoint_at(at) {
            Some(host) => lanes.map.first_lane(host, group.level),
            None => lanes.map.lane(fabric, pair[0], pair[1], group.level),
        };
        let Some(lane) = lane else { return };
        taken.push(lane);
    }
}
