//! Up*/down*: zero or more channels up, then zero or more down.
//!
//! ```text
//!          s0 root            s1 -> s0 -> s2   up, down        legal
//!        ↗    ↖               s1 -> s3 -> s2   down, up        forbidden
//!      s1       s2
//!        ↖    ↗
//!          s3
//! ```
//!
//! A channel goes up if it leads to a lower rank, or to a lower id at equal ranks. In each
//! connected component, `peaks` leaves one switch without a higher neighbour, the peak, so a legal
//! path via the peak joins any two switches. Every cycle contains the forbidden turn, so the routes
//! are deadlock-free.
//!
//! **Source form.** Shortest legal paths, O(switches + cables) per destination switch.
//!
//! **Table form.** A table entry does not depend on the source, so each switch gets one state. A
//! search back from the destination gives a switch its state as soon as a legal move joins it to a
//! switch with a state: *down only* if packets can go only down at this distance, otherwise *up
//! first*. A down-only switch forwards only to down-only switches, an up-first switch to any. Every
//! path is therefore legal, but not always the shortest legal one.
//!
//! Every switch gets a state. If the highest down-only switch were not the peak, the search would
//! reach a neighbour above it. This neighbour would either be down only, although it is higher, or
//! up first, and its path would lead up to an even higher down-only switch. Both are
//! contradictions, so the peak is down only, and all other switches reach it by going up.
//!
//! References: Schroeder et al., "Autonet: a high-speed, self-configuring local area network using
//! point-to-point links", IEEE JSAC 9(8), 1991; OpenSM's "updn" routing engine for the table form
//! (where up leads to the *larger* id at equal ranks).

use super::choices::{Choice, Choices};
use super::error::RouteError;
use super::orientation::{self, Orientation, SpanningTree};
use super::phases;
use super::root::Root;
use super::rule::{AlgorithmParameters, Form, RouteTask, Rule};
use super::shortest_path::onward;
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::{Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Parameters of `up-down`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UpDown {
    /// Root switches; "up" is towards them.
    pub root: Root,
    /// Ranking of the switches, starting from the roots.
    pub tree: SpanningTree,
}

impl AlgorithmParameters for UpDown {
    fn rule<'a>(&'a self, task: RouteTask<'a>) -> Result<Rule<'a>, RouteError> {
        let RouteTask { fabric, graph, form } = task;
        let orientation = Orientation::new(fabric, graph, &self.root, self.tree)?;
        let has_several_roots = orientation.has_several_roots;
        let toward = move |destination| match form {
            Form::Source => toward_by_source(graph, &orientation, destination),
            Form::Table => toward_by_table(graph, &orientation, destination),
        };
        Ok(if has_several_roots {
            Rule::by_choices_either_way(toward)
        } else {
            Rule::by_choices(toward)
        })
    }

    fn roots_taken(&self, fabric: &Fabric, graph: &SwitchGraph) -> Result<Vec<NodeId>, RouteError> {
        orientation::roots_taken(fabric, graph, &self.root, self.tree)
    }
}

pub(super) fn toward_by_source(
    graph: &SwitchGraph,
    orientation: &Orientation,
    destination: NodeId,
) -> Choices {
    phases::toward(graph, orientation, destination, |_| false)
}

pub(super) fn toward_by_table(
    graph: &SwitchGraph,
    orientation: &Orientation,
    destination: NodeId,
) -> Choices {
    let Settled { hops, down_only } = settle(graph, orientation, destination);
    Choices::one_hop_nearer(1, hops, |state| {
        let goes_down = down_only[state.index()];
        let down_only = &down_only;
        let lawful = move |choice: &Choice| {
            let up = orientation.is_up(choice.channel);
            if goes_down { !up && down_only[choice.to.index()] } else { up }
        };
        graph.hops_from(NodeId::new(state.index())).iter().copied().map(onward).filter(lawful)
    })
}

struct Settled {
    hops: Vec<u32>,
    down_only: Vec<bool>,
}

fn settle(graph: &SwitchGraph, orientation: &Orientation, destination: NodeId) -> Settled {
    let mut hops = vec![UNREACHED; graph.switch_count()];
    let mut down_only = vec![false; graph.switch_count()];
    hops[destination.index()] = 0;
    down_only[destination.index()] = true;
    let mut queue = VecDeque::from([destination]);
    while let Some(near) = queue.pop_front() {
        for step in graph.hops_from(near) {
            let far = step.to.index();
            let downwards = orientation.is_up(step.channel);
            if downwards && !down_only[near.index()] {
                continue;
            }
            if hops[far] == UNREACHED {
                hops[far] = hops[near.index()] + 1;
                queue.push_back(step.to);
            }
            // The queue holds nearer switches first, so all states at this distance are collected
            // before the neighbours are visited.
            down_only[far] |= downwards && hops[far] == hops[near.index()] + 1;
        }
    }
    Settled { hops, down_only }
}
