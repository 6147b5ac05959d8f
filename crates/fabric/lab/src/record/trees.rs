//! Tables of congestion trees.

use super::flows::of_flows;
use super::links::of_channels;
use super::messages::Names;
use super::view::RunView;
use gingham_net::measure::{ChannelRoles, FlowRoles, TreeLife, TreeStep};
use gingham_net::{Ends, FlowKey, Plan};
use gingham_results::{Builder, Table, real};
use gingham_topology::ChannelId;
use schemars::JsonSchema;
use serde::Serialize;

const ROOT: &str =
    "channel that everything in the tree waits for, or `knot` if packets wait for each other";

/// Totals of congestion trees over a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct TreeTotals {
    /// Number of searches for trees.
    pub samples: usize,
    /// Time between searches, in picoseconds; the first search is one step after time zero.
    pub step_ps: u64,
    /// Time of the last search, in picoseconds; 0 without a search. The end of the run may cut the
    /// last step short.
    pub last_ps: u64,
    /// Number of searches that found a tree.
    pub samples_with_trees: usize,
    /// Number of trees; a tree that disappears and returns in a later search counts again.
    pub trees: usize,
    /// Maximum number of branches of a tree at one search.
    pub branches_max: usize,
    /// Maximum depth of a tree: number of branches from a leaf to the root.
    pub depth_max: usize,
    /// Maximum number of hosts in a tree at one search.
    pub hosts_max: usize,
    /// Maximum number of victim flows of a tree at one search.
    pub victims_max: usize,
}

pub(super) type Sampled<T> = (T, usize);

pub(super) fn totals(view: &RunView<'_>) -> Option<TreeTotals> {
    let step = view.plan().measure.tree_step?;
    let trees = view.simulation.collector().trees();
    let steps = trees.steps();
    let most = |of: fn(&TreeStep) -> usize| steps.iter().map(of).max().unwrap_or(0);
    Some(TreeTotals {
        samples: trees.samples(),
        step_ps: step.as_ps(),
        last_ps: (step.as_ps() * count(trees.samples())).min(view.plan().stop.time.as_ps()),
        samples_with_trees: steps.chunk_by(|one, other| one.time == other.time).count(),
        trees: trees.lives().len(),
        branches_max: most(|step| step.branches),
        depth_max: most(|step| step.depth),
        hosts_max: most(|step| step.hosts),
        victims_max: most(|step| step.victims),
    })
}

pub(super) fn tables(names: &Names, view: &RunView<'_>) -> Vec<Table> {
    let plan = view.plan();
    let trees = view.simulation.collector().trees();
    let samples = trees.samples();
    let channels: Vec<_> = trees.channels().map(|row| (row, samples)).collect();
    let flows: Vec<_> = trees.flows().map(|(flow, roles)| (flow, (roles, samples))).collect();
    let name = |root: Option<ChannelId>| named(plan, root);
    let nodes = super::links::node_names(plan);
    vec![
        lives(&trees.lives(), name),
        series(trees.steps(), name),
        channel_roles(nodes, &channels, |channel| plan.ends(channel)),
        flow_roles(names, &flows),
    ]
}

pub(super) fn no_tables(names: &Names, ends: impl Fn(ChannelId) -> Ends) -> Vec<Table> {
    let no_root = |_| String::new();
    vec![
        lives(&[], no_root),
        series(&[], no_root),
        channel_roles(Vec::new(), &[], ends),
        flow_roles(names, &[]),
    ]
}

fn named(plan: &Plan, root: Option<ChannelId>) -> String {
    root.map_or_else(|| "knot".to_owned(), |channel| plan.fabric.channel_name(channel))
}

fn count(of: usize) -> u64 {
    of as u64
}

fn lives(rows: &[TreeLife], name: impl Fn(Option<ChannelId>) -> String) -> Table {
    Builder::new(rows)
        .texts("root", ROOT, |life| name(life.root))
        .integers(("born_ps", "ps"), "first sample that found it", |life| life.born.as_ps())
        .known(
            ("died_ps", "ps"),
            "first sample without it; NaN if the last sample found it",
            |life| Some(real(life.died?.as_ps().into())),
        )
        .integers(("samples", "samples"), "samples that found it", |life| count(life.samples))
        .integers(("greatest_ps", "ps"), "sample with its most branches", |life| {
            life.greatest.time.as_ps()
        })
        .integers(("branches_max", "lanes"), "branches at that sample", |life| {
            count(life.greatest.branches)
        })
        .integers(("leaves", "lanes"), "leaves at that sample", |life| count(life.greatest.leaves))
        .integers(
            ("depth", "lanes"),
            "branches from its farthest leaf to its root at that sample",
            |life| count(life.greatest.depth),
        )
        .integers(
            ("hosts", "hosts"),
            "hosts whose own channels were branches at that sample",
            |life| count(life.greatest.hosts),
        )
        .integers(("feeding", "flows"), "flows that fed it at that sample", |life| {
            count(life.greatest.feeding)
        })
        .integers(("victims", "flows"), "its victims at that sample", |life| {
            count(life.greatest.victims)
        })
        .build("trees", "one row per congestion tree, over its lifetime")
}

fn series(rows: &[TreeStep], name: impl Fn(Option<ChannelId>) -> String) -> Table {
    Builder::new(rows)
        .integers(("time_ps", "ps"), "time of the sample", |step| step.time.as_ps())
        .texts("root", ROOT, |step| name(step.root))
        .integers(("branches", "lanes"), "lanes without space that a packet needs", |step| {
            count(step.branches)
        })
        .integers(("leaves", "lanes"), "branches without another branch behind them", |step| {
            count(step.leaves)
        })
        .integers(("depth", "lanes"), "branches from the farthest leaf to the root", |step| {
            count(step.depth)
        })
        .integers(("hosts", "hosts"), "hosts whose own channels are branches", |step| {
            count(step.hosts)
        })
        .integers(
            ("feeding", "flows"),
            "flows with a packet in the tree that goes over its root",
            |step| count(step.feeding),
        )
        .integers(
            ("victims", "flows"),
            "flows with packets in the tree that all avoid its root",
            |step| count(step.victims),
        )
        .integers(("packets", "packets"), "packets in the tree", |step| count(step.packets))
        .build(
            "tree_series",
            "one row per sample and tree, if the run searches for congestion trees",
        )
}

fn share(of: usize, samples: usize) -> f64 {
    real(count(of).into()) / real(count(samples).into())
}

fn channel_roles(
    nodes: Vec<String>,
    rows: &[Sampled<(ChannelId, ChannelRoles)>],
    ends: impl Fn(ChannelId) -> Ends,
) -> Table {
    of_channels(nodes, rows, |((channel, _), _)| ends(*channel))
        .reals(("root_share", "1"), "share of samples as a root", |((_, of), samples)| {
            share(of.root, *samples)
        })
        .reals(("branch_share", "1"), "share of samples as a branch", |row| {
            share(row.0.1.branch, row.1)
        })
        .reals(("leaf_share", "1"), "share of samples as a leaf", |row| share(row.0.1.leaf, row.1))
        .build("tree_links", "one row per channel that was in any congestion tree")
}

fn flow_roles(names: &Names, rows: &[(FlowKey, Sampled<FlowRoles>)]) -> Table {
    of_flows(names, rows)
        .reals(
            ("feeding_share", "1"),
            "share of samples as a flow that feeds a tree",
            |(_, row)| share(row.0.feeding, row.1),
        )
        .reals(
            ("victim_share", "1"),
            "share of samples as a victim of a tree that feeds none",
            |(_, row)| share(row.0.victim, row.1),
        )
        .build("tree_flows", "one row per flow with packets in any congestion tree")
}
