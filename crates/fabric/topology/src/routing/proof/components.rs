//! Strongly connected components of the dependency graph, which reveal cycles.
//!
//! Tarjan's algorithm ("Depth-first search and linear graph algorithms", SIAM Journal on Computing
//! 1(2), 1972), with an explicit stack for long paths.

use super::dependency::{DependencyGraph, VertexId};

const UNSEEN: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Components {
    /// By vertex: component, numbered before every component that leads to it.
    pub(crate) of: Vec<u32>,
    pub(crate) count: u32,
}

struct ComponentSearch<'a> {
    graph: &'a DependencyGraph,
    found: Vec<u32>,
    /// By vertex: earliest visit known to be reachable.
    low: Vec<u32>,
    clock: u32,
    open: Vec<VertexId>,
    path: Vec<(VertexId, usize)>,
    components: Components,
}

impl Components {
    pub(crate) fn new(graph: &DependencyGraph) -> Self {
        let count = graph.vertex_count();
        let mut search = ComponentSearch {
            graph,
            found: vec![UNSEEN; count],
            low: vec![UNSEEN; count],
            clock: 0,
            open: Vec::new(),
            path: Vec::new(),
            components: Self { of: vec![UNSEEN; count], count: 0 },
        };
        for vertex in VertexId::first(count) {
            if search.found[vertex.index()] == UNSEEN {
                search.run_from(vertex);
            }
        }
        search.components
    }
}

impl ComponentSearch<'_> {
    fn run_from(&mut self, start: VertexId) {
        self.enter(start);
        while let Some((vertex, next)) = self.path.pop() {
            match self.graph.after(vertex).get(next) {
                Some(&successor) => {
                    self.path.push((vertex, next + 1));
                    self.visit(vertex, successor);
                }
                None => self.leave(vertex),
            }
        }
    }

    fn enter(&mut self, vertex: VertexId) {
        self.found[vertex.index()] = self.clock;
        self.low[vertex.index()] = self.clock;
        self.clock += 1;
        self.open.push(vertex);
        self.path.push((vertex, 0));
    }

    fn visit(&mut self, vertex: VertexId, successor: VertexId) {
        if self.found[successor.index()] == UNSEEN {
            self.enter(successor);
        } else if self.components.of[successor.index()] == UNSEEN {
            self.lower(vertex, self.found[successor.index()]);
        }
    }

    fn lower(&mut self, vertex: VertexId, reached: u32) {
        let low = &mut self.low[vertex.index()];
        *low = (*low).min(reached);
    }

    fn leave(&mut self, vertex: VertexId) {
        let low = self.low[vertex.index()];
        if let Some(&(parent, _)) = self.path.last() {
            self.lower(parent, low);
        }
        if low == self.found[vertex.index()] {
            self.close(vertex);
        }
    }

    /// Closes a component: `head`, and all open vertices visited later.
    fn close(&mut self, head: VertexId) {
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
    fn components_are_found_in_dependency_order() {
        // 0 -> 1 -> 2 -> 0, 2 -> 3, 3 -> 4 <-> 5, 6 alone: components {0,1,2}, {3}, {4,5}, {6}.
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 4)];
        let Components { of, count } = Components::new(&DependencyGraph::from_edges(7, &edges));
        assert_eq!(count, 4);
        assert!(of[0] == of[1] && of[1] == of[2] && of[4] == of[5]);
        assert!(of[0] > of[3] && of[3] > of[4], "a component comes after those it leads to");
        assert!([of[0], of[3], of[4]].iter().all(|other| *other != of[6]));
    }

    #[test]
    fn long_chain_does_not_overflow_the_stack() {
        let count = 300_000;
        let edges: Vec<_> = (1..count).map(|buffer| (buffer - 1, buffer)).collect();
        let components = Components::new(&DependencyGraph::from_edges(count, &edges));
        assert_eq!(components.of[0] as usize, count - 1);
        assert_eq!(components.of[count - 1], 0);
    }
}
