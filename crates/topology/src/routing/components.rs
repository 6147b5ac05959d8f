//! Strongly connected components, to see at once whether dependencies close a cycle.
//!
//! Tarjan's algorithm ("Depth-first search and linear graph algorithms", SIAM Journal on
//! Computing 1(2), 1972) in O(channels + dependencies), with a stack of its own in place of
//! recursion: a path of dependencies may be as long as there are channels.

use super::dependency::DependencyGraph;
use crate::ChannelId;

/// A channel that the search has not come to.
const UNSEEN: u32 = u32::MAX;

/// Which channels lie on common cycles.
#[derive(Debug)]
pub(super) struct Components {
    /// By channel. A component is numbered before every component that leads to it.
    pub(super) of: Vec<u32>,
    /// Number of components.
    pub(super) count: u32,
}

/// The state of the search.
struct Search<'a> {
    graph: &'a DependencyGraph,
    /// When a channel was found.
    found: Vec<u32>,
    /// The earliest found channel on the stack that is known to be reachable from a channel.
    low: Vec<u32>,
    clock: u32,
    /// Channels found whose component is not complete.
    open: Vec<ChannelId>,
    /// The path of the search: a channel, and the next of its successors to look at.
    path: Vec<(ChannelId, usize)>,
    components: Components,
}

impl Components {
    /// The components of the graph.
    pub(super) fn new(graph: &DependencyGraph) -> Self {
        let count = graph.channel_count();
        let mut search = Search {
            graph,
            found: vec![UNSEEN; count],
            low: vec![UNSEEN; count],
            clock: 0,
            open: Vec::new(),
            path: Vec::new(),
            components: Self { of: vec![UNSEEN; count], count: 0 },
        };
        for channel in ChannelId::first(count) {
            if search.found[channel.index()] == UNSEEN {
                search.run_from(channel);
            }
        }
        search.components
    }
}

impl Search<'_> {
    fn run_from(&mut self, start: ChannelId) {
        self.enter(start);
        while let Some((channel, next)) = self.path.pop() {
            match self.graph.successors(channel).get(next) {
                Some(&successor) => {
                    self.path.push((channel, next + 1));
                    self.look_at(channel, successor);
                }
                None => self.leave(channel),
            }
        }
    }

    fn enter(&mut self, channel: ChannelId) {
        self.found[channel.index()] = self.clock;
        self.low[channel.index()] = self.clock;
        self.clock += 1;
        self.open.push(channel);
        self.path.push((channel, 0));
    }

    fn look_at(&mut self, channel: ChannelId, successor: ChannelId) {
        if self.found[successor.index()] == UNSEEN {
            self.enter(successor);
        } else if self.components.of[successor.index()] == UNSEEN {
            self.lower(channel, self.found[successor.index()]);
        }
    }

    fn lower(&mut self, channel: ChannelId, reached: u32) {
        let low = &mut self.low[channel.index()];
        *low = (*low).min(reached);
    }

    fn leave(&mut self, channel: ChannelId) {
        let low = self.low[channel.index()];
        if let Some(&(parent, _)) = self.path.last() {
            self.lower(parent, low);
        }
        if low == self.found[channel.index()] {
            self.close(channel);
        }
    }

    /// All channels found since `head` and still open are its component.
    fn close(&mut self, head: ChannelId) {
        loop {
            let member = self.open.pop().expect("the head of a component is open");
            self.components.of[member.index()] = self.components.count;
            if member == head {
                break;
            }
        }
        self.components.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_cycles_and_what_joins_them() {
        // 0 -> 1 -> 2 -> 0, 2 -> 3, 3 -> 4 <-> 5, 6 alone: components {0,1,2}, {3}, {4,5}, {6}.
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 4)];
        let Components { of, count } = Components::new(&DependencyGraph::from_edges(7, &edges));
        assert_eq!(count, 4);
        assert!(of[0] == of[1] && of[1] == of[2] && of[4] == of[5]);
        assert!(of[0] > of[3] && of[3] > of[4], "a component comes after those it leads to");
        assert!([of[0], of[3], of[4]].iter().all(|other| *other != of[6]));
    }

    #[test]
    fn a_long_chain_needs_no_recursion() {
        let count = 300_000;
        let edges: Vec<_> = (1..count).map(|channel| (channel - 1, channel)).collect();
        let components = Components::new(&DependencyGraph::from_edges(count, &edges));
        assert_eq!(components.of[0] as usize, count - 1);
        assert_eq!(components.of[count - 1], 0);
    }
}
