//! Outgoing channels of all nodes, in one array.

use super::{ChannelId, NodeId, PortRef};

const NONE: u32 = u32::MAX;

/// Outgoing channel of each cabled port. Rows end with the highest cabled port of a node, so that a
/// wrong port count in a dump allocates no memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Outgoing {
    /// Position of port 0 of each node in `channels`, followed by the length of `channels`.
    rows: Vec<u32>,
    channels: Vec<u32>,
}

impl Outgoing {
    /// Returns the channels of `node_count` nodes. Channel i leaves the i-th port of `sources`.
    pub(super) fn new(node_count: usize, sources: impl Iterator<Item = PortRef> + Clone) -> Self {
        let mut rows = vec![0; node_count + 1];
        for PortRef { node, port } in sources.clone() {
            let ports = &mut rows[node.index() + 1];
            *ports = (u32::from(port) + 1).max(*ports);
        }
        for node in 0..node_count {
            rows[node + 1] += rows[node];
        }
        let channels = vec![NONE; rows[node_count] as usize];
        let mut outgoing = Self { rows, channels };
        for (channel, port) in sources.enumerate() {
            outgoing.set(port, ChannelId::new(channel));
        }
        outgoing
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(super) fn get(&self, node: NodeId, port: u16) -> Option<ChannelId> {
        let place = self.rows[node.index()] + u32::from(port);
        if place >= self.rows[node.index() + 1] {
            return None;
        }
        channel(self.channels[place as usize])
    }

    /// Iterates over the channels of a node in port order.
    pub(super) fn of_node(&self, node: NodeId) -> impl Iterator<Item = ChannelId> {
        let [begin, end] = [node.index(), node.index() + 1].map(|at| self.rows[at] as usize);
        self.channels[begin..end].iter().filter_map(|number| channel(*number))
    }

    /// Sets the channel of a port that is within its node's row.
    pub(super) fn set(&mut self, PortRef { node, port }: PortRef, channel: ChannelId) {
        let place = self.rows[node.index()] + u32::from(port);
        assert!(place < self.rows[node.index() + 1], "the row of the node has this port");
        self.channels[place as usize] = number(channel);
    }

    /// Adds a node whose only channel leaves port 1.
    pub(super) fn push_node(&mut self, channel: ChannelId) {
        self.channels.extend([NONE, number(channel)]);
        self.rows.push(u32::try_from(self.channels.len()).expect("fewer than 2^32 ports"));
    }
}

#[inline]
fn channel(number: u32) -> Option<ChannelId> {
    (number != NONE).then(|| ChannelId::new(number as usize))
}

fn number(channel: ChannelId) -> u32 {
    u32::try_from(channel.index()).expect("ids have 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_the_channels_of_their_ports() {
        let port = |node, port| PortRef { node: NodeId::new(node), port };
        let ports = [port(0, 3), port(2, 1), port(0, 1)];
        let mut outgoing = Outgoing::new(3, ports.into_iter());
        outgoing.push_node(ChannelId::new(3));
        outgoing.set(port(0, 0), ChannelId::new(4));
        let get = |node, port| outgoing.get(NodeId::new(node), port).map(ChannelId::index);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|port| get(0, port)),
            [Some(4), Some(2), None, Some(0), None]
        );
        assert_eq!([get(1, 0), get(1, 1)], [None, None]);
        assert_eq!([0, 1, 2].map(|port| get(2, port)), [None, Some(1), None]);
        assert_eq!([0, 1, 2].map(|port| get(3, port)), [None, Some(3), None]);
        let all: Vec<_> = outgoing.of_node(NodeId::new(0)).map(ChannelId::index).collect();
        assert_eq!(all, [4, 2, 0]);
    }
}
