//! Source routes built from given paths, channel by channel.
//!
//! The caller must ensure that each path is connected, leads into its destination, and enters and
//! leaves an in-transit host through the same cable.

use super::graph::{Attachment, SwitchGraph};
use super::source_routes::{SourceRoutes, SourceRoutesBuilder};
use crate::{ChannelId, EndpointId, Fabric, NodeId};

impl SourceRoutes {
    /// Builds routes from `path(switch, endpoint)`, which returns all channels including the last.
    /// Panics if the channels are not connected.
    pub fn of_paths(
        fabric: &Fabric,
        mut path: impl FnMut(NodeId, EndpointId) -> Option<Vec<ChannelId>>,
    ) -> Self {
        let graph = SwitchGraph::new(fabric);
        let mut builder = SourceRoutesBuilder::new(fabric, &graph);
        for to in fabric.endpoint_ids() {
            if !matches!(graph.attachment(to), Attachment::Switch(_)) {
                continue;
            }
            builder.begin_row(&[to]);
            for source in graph.switches() {
                if let Some(path) = path(source, to) {
                    push(&mut builder, fabric, source, to, &path);
                }
                builder.end_path();
            }
        }
        builder.finish()
    }
}

fn push(
    builder: &mut SourceRoutesBuilder<'_>,
    fabric: &Fabric,
    source: NodeId,
    to: EndpointId,
    path: &[ChannelId],
) {
    let begins = |at: usize| fabric.source(path[at]).node;
    assert_eq!(begins(0), source, "a path begins at its switch");
    for (at, &channel) in path[..path.len() - 1].iter().enumerate() {
        let end = fabric.target(channel).node;
        assert_eq!(end, begins(at + 1), "each channel begins where the one before ends");
        if !fabric.node(end).is_switch() {
            assert_eq!(Fabric::reverse(channel), path[at + 1], "a host has one cable");
            builder.push_in_transit(channel);
        } else if fabric.node(begins(at)).is_switch() {
            builder.push(channel);
        }
    }
    let into = fabric.target(path[path.len() - 1]);
    assert_eq!(fabric.endpoint_at(into), Some(to), "a path leads to its destination");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Generator, Irregular};
    use crate::routing::{Algorithm, Form, InTransit, Routes, route};

    #[test]
    fn given_paths_are_used_unchanged() {
        let irregular = Irregular {
            switches: 12,
            ports: 6,
            hosts_per_switch: 2,
            cables_per_pair_max: 1,
            rails: 1,
        };
        let fabric = Generator::Irregular(irregular).generate(5).expect("such a fabric exists");
        let minimal = Algorithm::InTransit(InTransit::default());
        let routes = route(&fabric, &minimal, Form::Source).expect("every switch has hosts");
        let Routes::Source(routes) = routes else { panic!("source routes were asked for") };
        let given = SourceRoutes::of_paths(&fabric, |from, to| {
            routes.path(&fabric, from, to).map(|onward| onward.iter().collect())
        });
        let mut hosts = 0;
        for (from, to) in fabric.switches().flat_map(|s| fabric.endpoint_ids().map(move |e| (s, e)))
        {
            let taken = routes.path(&fabric, from, to);
            assert_eq!(given.path(&fabric, from, to), taken);
            hosts += taken.map_or(0, |onward| onward.in_transit_hosts);
        }
        assert!(hosts > 0, "some path goes over a host");
    }
}
