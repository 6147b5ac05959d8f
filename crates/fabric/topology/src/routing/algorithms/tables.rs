//! Assignment of table entries, at all switches, for one destination switch at a time.
//!
//! ```text
//!   toward the hosts of t, farthest switch first:   s0 ─► a or b      for each host, a carries the
//!                                                   s1 ─► a or b      paths of the switches that
//!                                                   a, b ─► t         chose it
//! ```
//!
//! Under [`Outlook::NextChannel`], a switch chooses for all hosts of a destination switch at once
//! ([`Queue`]), after all switches farther away; other switches affect it only through the number
//! of passing paths. Under [`Outlook::WholePath`], entries are assigned host by host.

use super::assignment::{Assigned, Load, Outlook, first_by};
use super::choices::{Choice, Choices, State};
use super::queue::Queue;
use crate::parallel::Threads;
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::switch_tables::SwitchTables;
use crate::routing::paths::table_routes::TableRoutes;
use crate::{ChannelId, EndpointId, Fabric, NodeId};

/// Computes tables from choices with one phase; several phases would make entries depend on the
/// source.
pub(super) fn table_routes(
    fabric: &Fabric,
    graph: &SwitchGraph,
    outlook: Outlook,
    toward: impl Fn(NodeId) -> Choices + Sync,
    threads: Threads,
) -> Assigned<TableRoutes> {
    let mut load = Load::new(fabric);
    let mut routes = TableRoutes::new(fabric);
    let mut columns = Columns::new(graph);
    let has_residents = |switch: &NodeId| !graph.residents(*switch).is_empty();
    let destinations: Vec<_> = graph.switches().filter(has_residents).collect();
    let ahead = |switch| {
        let choices = toward(switch);
        let order = choices.farthest_first();
        (choices, order)
    };
    threads.ahead(&destinations, ahead, |switch, (choices, order)| {
        let residents = graph.residents(switch);
        for &to in residents {
            routes.set_port(switch, to, Some(fabric.source(graph.ejection(to)).port));
        }
        let mut record = |switch, to, channel| {
            routes.set_port(switch, to, Some(fabric.source(channel).port));
        };
        match outlook {
            Outlook::NextChannel => {
                columns.fill(&choices, &order, residents, &mut load, &mut record);
            }
            Outlook::WholePath => {
                let mut column = Column::new(&choices, &order, &columns.hosts);
                for &to in residents {
                    column.fill(graph.is_host(to), &mut load, |from, channel| {
                        record(from, to, channel);
                    });
                }
            }
        }
    });
    Assigned { routes, busiest: load.busiest() }
}

pub(super) fn steps(fabric: &Fabric, graph: &SwitchGraph) -> u64 {
    let destinations = graph.switches().filter(|switch| !graph.residents(*switch).is_empty());
    (destinations.count() * (graph.switch_count() + fabric.channel_count())) as u64
}

struct Columns<'a> {
    graph: &'a SwitchGraph,
    hosts: Vec<u64>,
    queues: Vec<Queue>,
    paths: Vec<u64>,
    own: Vec<u64>,
}

impl<'a> Columns<'a> {
    fn new(graph: &'a SwitchGraph) -> Self {
        let hosts = graph.switches().map(|switch| u64::from(graph.host_count(switch)));
        Self {
            graph,
            hosts: hosts.collect(),
            queues: graph.switches().map(|_| Queue::default()).collect(),
            paths: Vec::new(),
            own: Vec::new(),
        }
    }

    fn fill(
        &mut self,
        choices: &Choices,
        order: &[State],
        residents: &[EndpointId],
        load: &mut Load,
        mut record: impl FnMut(NodeId, EndpointId, ChannelId),
    ) {
        let Self { graph, hosts, queues, paths, own } = self;
        let weight = |hosts: u64, to: &EndpointId| if graph.is_host(*to) { hosts } else { 0 };
        paths.clear();
        for hosts in &*hosts {
            paths.extend(residents.iter().map(|to| weight(*hosts, to)));
        }
        let row = |state: State| state.index() * residents.len();
        for &state in order.iter().filter(|state| choices.hops(**state) > 0) {
            own.clear();
            own.extend_from_slice(&paths[row(state)..row(state) + residents.len()]);
            queues[state.index()].lay(choices.from(state), own, load, |place, choice| {
                paths[row(choice.to) + place] += own[place];
                record(NodeId::new(state.index()), residents[place], choice.channel);
            });
        }
    }
}

struct Column<'a> {
    choices: &'a Choices,
    order: &'a [State],
    hosts: &'a [u64],
    paths: Vec<u64>,
}

impl<'a> Column<'a> {
    fn new(choices: &'a Choices, order: &'a [State], hosts: &'a [u64]) -> Self {
        Self { choices, order, hosts, paths: vec![0; hosts.len()] }
    }

    /// Fills a column, farthest switch first, so that the number of paths through a switch is known
    /// when its entry is chosen. The load beyond a next switch includes the paths that already lead
    /// to that switch, because they will all leave it on the same channel.
    fn fill(
        &mut self,
        leads_to_host: bool,
        load: &mut Load,
        mut record: impl FnMut(NodeId, ChannelId),
    ) {
        let choices = self.choices;
        self.paths.fill(0);
        if leads_to_host {
            self.paths.copy_from_slice(self.hosts);
        }
        let onward = load.least_worst(choices, self.order);
        for &state in self.order {
            if choices.hops(state) == 0 {
                continue;
            }
            let choice = self.lightest_on_the_way(state, load, &onward);
            load.add(choice.channel, self.paths[state.index()]);
            self.paths[choice.to.index()] += self.paths[state.index()];
            record(NodeId::new(state.index()), choice.channel);
        }
    }

    fn lightest_on_the_way(&self, state: State, load: &Load, onward: &[u64]) -> Choice {
        let onto = |choice: &Choice| load.on(choice.channel);
        let on_the_way = |choice: &Choice| match self.choices.hops(choice.to) {
            0 => onto(choice),
            _ => onto(choice).max(onward[choice.to.index()] + self.paths[choice.to.index()]),
        };
        first_by(self.choices.from(state), |choice| (on_the_way(choice), onto(choice)))
    }
}

/// Computes tables to all switches; the destination's index selects among equally short paths.
pub(super) fn switch_tables(
    fabric: &Fabric,
    graph: &SwitchGraph,
    toward: impl Fn(NodeId) -> Choices,
) -> SwitchTables {
    let mut tables = SwitchTables::new(fabric);
    for to in graph.switches() {
        let choices = toward(to);
        for switch in graph.switches() {
            let onward = choices.from(State::new(switch.index()));
            if !onward.is_empty() {
                let choice = onward[to.index() % onward.len()];
                let port = fabric.source(choice.channel).port;
                tables.set_port(switch, to, Some(port));
            }
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Dragonfly, FatTree, Generator, Irregular, Torus};
    use crate::routing::algorithms::{dimension_order, shortest_path};
    use crate::routing::paths::graph::UNREACHED;
    use crate::{FabricBuilder, Grid, Guid, NodeKind};

    fn one_by_one(
        fabric: &Fabric,
        graph: &SwitchGraph,
        toward: impl Fn(NodeId) -> Choices,
    ) -> (TableRoutes, u64) {
        let (mut load, mut routes) = (Load::new(fabric), TableRoutes::new(fabric));
        for switch in graph.switches() {
            let choices = toward(switch);
            for &to in graph.residents(switch) {
                routes.set_port(switch, to, Some(fabric.source(graph.ejection(to)).port));
                let hosts =
                    |switch| u64::from(graph.host_count(switch) * u32::from(graph.is_host(to)));
                let mut paths: Vec<u64> = graph.switches().map(hosts).collect();
                let mut order: Vec<_> = graph.switches().map(|from| choices.start(from)).collect();
                order.retain(|state| ![0, UNREACHED].contains(&choices.hops(*state)));
                order.sort_by_key(|state| std::cmp::Reverse(choices.hops(*state)));
                for state in order {
                    let by = |choice: &&Choice| (load.on(choice.channel), choice.channel);
                    let choice = choices.from(state).iter().min_by_key(by).expect("a way on");
                    load.add(choice.channel, paths[state.index()]);
                    paths[choice.to.index()] += paths[state.index()];
                    let port = fabric.source(choice.channel).port;
                    routes.set_port(NodeId::new(state.index()), to, Some(port));
                }
            }
        }
        (routes, load.busiest())
    }

    fn assert_one_by_one(fabric: &Fabric, toward: impl Fn(&SwitchGraph, NodeId) -> Choices + Sync) {
        let graph = SwitchGraph::new(fabric);
        let toward = |switch| toward(&graph, switch);
        let (routes, busiest) = one_by_one(fabric, &graph, toward);
        for threads in 1..=3 {
            let on = Threads::exactly(threads);
            let assigned = table_routes(fabric, &graph, Outlook::NextChannel, toward, on);
            assert!(assigned.routes == routes, "entries differ on {threads} threads");
            assert_eq!(assigned.busiest, busiest);
        }
    }

    #[test]
    fn table_entries_match_sequential_computation() {
        let generators = [
            Generator::FatTree(FatTree { ports: 8, levels: 3, tapering: 1, rails: 1 }),
            Generator::FatTree(FatTree { ports: 8, levels: 2, tapering: 3, rails: 1 }),
            Generator::Torus(Torus { dimensions: vec![4, 4, 3], hosts_per_switch: 3, rails: 1 }),
            Generator::Dragonfly(Dragonfly {
                groups: None,
                switches_per_group: 4,
                hosts_per_switch: 2,
                global_cables_per_switch: 2,
                rails: 1,
            }),
        ];
        for generator in generators {
            let fabric = generator.generate(1).expect("lawful parameters");
            assert_one_by_one(&fabric, shortest_path::toward);
        }
        for seed in 0..20 {
            let irregular = Irregular {
                switches: 24,
                ports: 9,
                hosts_per_switch: 3,
                cables_per_pair_max: 3,
                rails: 1,
            };
            let fabric =
                Generator::Irregular(irregular).generate(seed).expect("such a fabric exists");
            assert_one_by_one(&fabric, shortest_path::toward);
        }
    }

    #[test]
    fn channel_load_counts_forced_and_free_choices() {
        // Paths from s0 to s3 lead via s1 or s2; paths to s1 have a single choice. Aggregation
        // nodes have no weight.
        let mut builder = FabricBuilder::new();
        let mut guids = (1..).map(Guid);
        let mut node = |builder: &mut FabricBuilder, kind, name: &str| {
            builder.add_plain(kind, name, guids.next().expect("an endless supply"), 60)
        };
        let switches = [0, 1, 2, 3].map(|n| node(&mut builder, NodeKind::Switch, &format!("s{n}")));
        let join = |builder: &mut FabricBuilder, a, b| {
            let ends = [a, b].map(|end| (end, builder.free_port(end).expect("a free port")));
            builder.add_cable(ends, None, None).expect("the ports are free");
        };
        for (a, b) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
            join(&mut builder, switches[a], switches[b]);
        }
        for host in 0..24 {
            let kind = if host % 7 == 3 { NodeKind::Aggregation } else { NodeKind::Host };
            let host_node = node(&mut builder, kind, &format!("h{host}"));
            join(&mut builder, switches[host * host % 4], host_node);
        }
        for host in 24..40 {
            let host_node = node(&mut builder, NodeKind::Host, &format!("h{host}"));
            join(&mut builder, switches[host % 4], host_node);
        }
        assert_one_by_one(&builder.build(), shortest_path::toward);
    }

    #[test]
    fn torus_entries_match_sequential_computation() {
        let torus = Torus { dimensions: vec![4, 3], hosts_per_switch: 2, rails: 1 };
        let fabric = Generator::Torus(torus).generate(0).expect("lawful parameters");
        let grid = Grid::recognise(&fabric).expect("a torus");
        let ties = dimension_order::Ties::default();
        assert_one_by_one(&fabric, |graph, to| dimension_order::toward(graph, &grid, ties, to));
    }
}
