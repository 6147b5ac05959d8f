//! Errors in the user's input.

use crate::safe_routes;
use gingham_input::InputError;
use gingham_net::{Plan, WaitCycle};
use gingham_topology::Fabric;
use gingham_topology::routing::{
    Buffer, DatelineRule, Datelines, Ejection, LaneRule, LaneSet, Lanes, RouteError, RouteSet,
    Routes, buffer_name, describe_cycle, prove_between_hosts, vertex_name,
};
use std::fmt;

/// Reason why a scenario cannot run.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Invalid scenario, fabric file or parameter: exit code 2.
    #[error("{0}")]
    Input(#[from] InputError),
    /// Routes that can deadlock, although deadlocks are not allowed: exit code 3.
    #[error("{0}")]
    Deadlock(Box<DeadlockReport>),
}

impl LabError {
    pub(crate) fn from_routing(tree: &gingham_input::Tree, key: &str, error: &RouteError) -> Self {
        InputError::at(tree, key, error).into()
    }
}

const KEYS: [&str; 2] = ["routing.algorithm", "routing.alternative.algorithm"];

const CURE_TOGETHER: &str = "each path set alone is free of deadlock, but both together are not: give them the same \
                             root and tree, so that they agree on up and down, or allow it (allow_deadlock=True)";

const CURE_FULL: &str = "this cycle needs an in-transit host with a full buffer: let full hosts spill \
                         (network.in_transit.when_full = \"spill\"), or allow it (allow_deadlock=True)";

const CURE_IMPORTED: &str = "let the subnet manager route with an engine whose lanes break every cycle, and name its tables, \
                             lane tables and service levels together, or allow it (allow_deadlock=True)";

const CURE_DATELINES: &str = "share the lanes of each class out among dateline classes: network.lanes.datelines = true, which takes two lanes \
                              or more of every class (network.lanes.count, traffic.*.lanes), or allow it (allow_deadlock=True)";

const CURE_ADAPTIVE: &str = "packets that choose at every switch need an escape path: give every class escape lanes \
                             (routing.adaptive.escape_lanes) with paths that are free of deadlock by themselves, \
                             such as those of dimension-order, or allow it (--allow-deadlock)";

/// Remedy if datelines fail to break the cycles: classes have one lane, their dateline classes
/// overlap because classes share only some lanes, or routes make turns that datelines do not cover.
const CURE_SHARED_LANES: &str = "datelines break the cycles of dimension-order routes if every class has at least \
                                 two lanes, and any two classes, including acknowledgements, share all of their \
                                 lanes or none (traffic.*.lanes, traffic.*.window.ack.lanes): give them such \
                                 lanes, or allow it (allow_deadlock=True)";

/// Deadlock cycle, with the names of its channels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadlockReport {
    /// Explanation of the deadlock.
    pub summary: String,
    /// Channels of the cycle in order, such as `s0[2] -> s1[1]`, each followed by its lane if
    /// channels have several lanes, and by its VL if a VL owns several lanes.
    pub channels: Vec<String>,
    /// Example routes for the dependencies, and advice; for a deadlock during a run, only the
    /// channels.
    pub lines: Vec<String>,
    /// Scenario key that causes the deadlock, such as `traffic[0].window.ack.lanes`; `None` unless
    /// there is a single cause.
    pub key: Option<String>,
}

/// Change that makes the routes free of deadlock, with its key if one key is sufficient.
pub(crate) struct Cure {
    pub(crate) text: String,
    pub(crate) key: Option<String>,
}

impl DeadlockReport {
    pub(crate) fn of_routes(
        fabric: &Fabric,
        routes: RouteSet<'_>,
        cure: Cure,
        cycle: &[Buffer],
    ) -> Self {
        let what = if routes.lane_count() > 1 { "lanes" } else { "channels" };
        let summary = format!(
            "these routes can deadlock: packets that fill the {what} of this cycle would wait for each other \
             for ever"
        );
        let mut lines: Vec<String> =
            describe_cycle(fabric, routes, cycle).lines().map(str::to_owned).collect();
        lines.push(cure.text);
        let channels = cycle.iter().map(|buffer| vertex_name(fabric, routes, *buffer)).collect();
        Self { summary, channels, lines, key: cure.key }
    }

    /// Reports the cycle that deadlocked a run.
    pub fn of_run(plan: &Plan, cycle: &WaitCycle) -> Self {
        let summary = format!(
            "the run deadlocked: the {} at the ends of these {} wait for each other, each \
             for the next and the last for the first",
            plan.switching.packets(),
            plan.switching.buffers()
        );
        let channels: Vec<String> =
            cycle.buffers.iter().map(|buffer| lane_name(plan, *buffer)).collect();
        Self { summary, lines: channels.clone(), channels, key: None }
    }
}

impl Cure {
    pub(crate) fn of_routes(fabric: &Fabric, routes: RouteSet<'_>, is_imported: bool) -> Self {
        let text =
            if is_imported { CURE_IMPORTED.to_owned() } else { text_of_cure(fabric, routes) };
        Self { text, key: None }
    }
}

fn text_of_cure(fabric: &Fabric, routes: RouteSet<'_>) -> String {
    let spilling = RouteSet { ejection: Ejection::Always, ..routes };
    if routes.ejection == Ejection::UntilFull && prove_between_hosts(fabric, spilling).is_free() {
        return CURE_FULL.to_owned();
    }
    if matches!(routes.routes, [Routes::Table(tables)] if tables.are_adaptive()) {
        return CURE_ADAPTIVE.to_owned();
    }
    match routes.lanes.map(Lanes::rule) {
        Some(LaneRule::Datelines(_)) => return CURE_SHARED_LANES.to_owned(),
        Some(LaneRule::Free) if is_free_with_datelines(fabric, routes) => {
            return CURE_DATELINES.to_owned();
        }
        _ => {}
    }
    let is_free_alone = |index: usize| {
        let one = &routes.routes[index..=index];
        prove_between_hosts(fabric, RouteSet { routes: one, ..routes }).is_free()
    };
    let count = routes.routes.len();
    match (count > 1).then(|| (0..count).find(|index| !is_free_alone(*index))) {
        None => other_algorithm(fabric, &routes.routes[0]),
        Some(None) => CURE_TOGETHER.to_owned(),
        Some(Some(index)) => {
            format!("{}: {}", KEYS[index], other_algorithm(fabric, &routes.routes[index]))
        }
    }
}

fn other_algorithm(fabric: &Fabric, routes: &Routes) -> String {
    format!(
        "choose an algorithm whose proof succeeds, such as {}, or allow it (allow_deadlock=True)",
        safe_routes::advice(fabric, routes)
    )
}

fn is_free_with_datelines(fabric: &Fabric, routes: RouteSet<'_>) -> bool {
    let Ok(datelines) = Datelines::new(fabric, DatelineRule::ByHop) else { return false };
    let lanes = Lanes::by_datelines(datelines, &[LaneSet::first_n(2)]);
    prove_between_hosts(fabric, RouteSet { lanes: Some(&lanes), ..routes }).is_free()
}

fn lane_name(plan: &Plan, buffer: Buffer) -> String {
    let name = buffer_name(&plan.fabric, buffer, plan.lanes.count.into());
    match plan.lanes.allowed.lanes_per_vl() {
        1 => name,
        lanes_per_vl => format!("{name} of VL {}", buffer.lane / lanes_per_vl),
    }
}

impl fmt::Display for DeadlockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.summary)?;
        for line in &self.lines {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}
