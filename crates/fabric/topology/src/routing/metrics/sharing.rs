//! Host pairs that share a channel.

use crate::routing::lanes::route_set::RouteSet;
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::routes::Routes;
use crate::routing::paths::table_routes::WalkEnd;
use crate::{ChannelId, EndpointId, Fabric};

/// Host pairs with a path on a given channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sharing {
    /// Examined channel.
    pub channel: ChannelId,
    /// Number of ordered host pairs with a path on the channel.
    pub pairs: u64,
    /// First pairs, ordered by destination and then by source.
    pub examples: Vec<(EndpointId, EndpointId)>,
}

impl Sharing {
    /// Finds the pairs whose first path uses `channel`, with at most `examples_max` examples.
    pub fn new<'a>(
        fabric: &Fabric,
        routes: impl Into<RouteSet<'a>>,
        channel: ChannelId,
        examples_max: usize,
    ) -> Self {
        let graph = SwitchGraph::new(fabric);
        let mut sharing = Self { channel, pairs: 0, examples: Vec::new() };
        let routes: &Routes = &routes.into().routes[0];
        routes.walk_all(fabric, &graph, |walk| {
            if walk.end != WalkEnd::Arrived || !graph.is_host(walk.to) {
                return;
            }
            let is_onward = walk.channels.contains(&channel);
            for sender in walk.senders(&graph).filter(|sender| graph.is_host(*sender)) {
                if is_onward || fabric.endpoint_channel(sender) == channel {
                    sharing.pairs += 1;
                    if sharing.examples.len() < examples_max {
                        sharing.examples.push((sender, walk.to));
                    }
                }
            }
        });
        sharing
    }
}
