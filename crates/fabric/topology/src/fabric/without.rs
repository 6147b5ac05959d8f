//! Removal of failed nodes and cables.

use super::builder::finish;
use super::{Cable, Fabric, NodeId, PortRef};
use std::collections::BTreeSet;

impl Fabric {
    /// Returns the fabric without the given nodes and their cables, without the cables at the given
    /// indices in [`Self::cables`], and without ports 0. Names and order are unchanged. Hosts of
    /// removed switches remain, without cables.
    #[must_use]
    pub fn without(&self, nodes: &BTreeSet<NodeId>, cables: &BTreeSet<usize>) -> Self {
        let kept: Vec<NodeId> = (0..self.listed_nodes().len())
            .map(NodeId::new)
            .filter(|node| !nodes.contains(node))
            .collect();
        let end = |end: PortRef| {
            let node = kept.binary_search(&end.node).ok().map(NodeId::new);
            node.map(|node| PortRef { node, ..end })
        };
        let cable = |(number, cable): (usize, &Cable)| {
            let ends = [end(cable.ends[0])?, end(cable.ends[1])?];
            (!cables.contains(&number)).then(|| Cable { ends, ..cable.clone() })
        };
        let cables = self.listed_cables().iter().enumerate().filter_map(cable).collect();
        finish(kept.iter().map(|node| self.node(*node).clone()).collect(), cables)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FabricBuilder, Guid, NodeKind};
    use super::*;

    fn two_switches() -> Fabric {
        let mut builder = FabricBuilder::new();
        let s0 = builder.add_plain(NodeKind::Switch, "s0", Guid(0x10), 3);
        let s1 = builder.add_plain(NodeKind::Switch, "s1", Guid(0x11), 3);
        for (switch, name, guid) in [(s0, "h0", 0x20), (s1, "h1", 0x21)] {
            let host = builder.add_plain(NodeKind::Host, name, Guid(guid), 1);
            builder.join(host, switch).unwrap();
        }
        builder.join(s0, s1).unwrap();
        builder.join(s0, s1).unwrap();
        builder.build()
    }

    fn channels(fabric: &Fabric) -> Vec<String> {
        (0..fabric.cables().len())
            .map(|cable| fabric.channel_name(super::super::ChannelId::new(2 * cable)))
            .collect()
    }

    #[test]
    fn removed_nodes_lose_cables_and_removed_cables_keep_ports() {
        let fabric = two_switches();
        let all = ["s0[1] -> h0[1]", "s0[2] -> s1[2]", "s0[3] -> s1[3]", "s1[1] -> h1[1]"];
        assert_eq!(channels(&fabric), all);
        let less = fabric.without(&BTreeSet::new(), &BTreeSet::from([1]));
        assert_eq!(channels(&less), [all[0], all[2], all[3]]);
        let less = fabric.without(&BTreeSet::from([NodeId::new(0)]), &BTreeSet::new());
        assert_eq!(channels(&less), [all[3]]);
        assert_eq!(less.endpoints().len(), 1, "a host without a cable is no endpoint");
        let names: Vec<_> = less.nodes().iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["s1", "h0", "h1"]);
    }

    #[test]
    fn removing_nothing_leaves_the_fabric_unchanged() {
        let fabric = two_switches();
        assert_eq!(fabric.without(&BTreeSet::new(), &BTreeSet::new()), fabric);
        let with_ends = fabric.clone().with_ports_0();
        assert_eq!(with_ends.without(&BTreeSet::new(), &BTreeSet::new()), fabric);
    }
}
