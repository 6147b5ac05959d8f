//! Random values that a run draws once and keeps until its end.
//!
//! A run with such values measures a steady state that depends on them. Its confidence intervals
//! cover the mean of a longer run with the same seed. Only replications measure the mean over
//! seeds. Values with a negligible effect are omitted, such as the start of a source with Poisson
//! arrivals.

use crate::scenario::{Placement, ScenarioSource, Topology};
use gingham_kernel::Span;
use gingham_net::traffic::{
    ArrivalPlan, Destinations, FirstFrame, FrameSizes, LaterPlan, MessagePlan, PermutationDraw,
    StreamPlan,
};
use gingham_net::{ClassPlan, Plan};
use gingham_topology::generate::Generator;
use schemars::JsonSchema;
use serde::Serialize;

/// Random value that is drawn once per run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DrawKind {
    /// Cables of a generated fabric.
    Topology,
    /// Phase of each host with constant arrivals.
    Phase,
    /// Permutation that gives each host its destination.
    Permutation,
    /// Destination of each stream.
    Placement,
    /// Start time of each host or stream that then creates messages at regular intervals.
    Start,
    /// First frame of each stream in its trace.
    FirstFrame,
    /// Applications that crash, and their crash times.
    Crash,
}

impl DrawKind {
    /// Returns a noun phrase for the drawn values, used in messages.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Topology => "cables",
            Self::Phase => "phases",
            Self::Permutation => "permutation",
            Self::Placement => "placement of streams",
            Self::Start => "start times",
            Self::FirstFrame => "first frames",
            Self::Crash => "crashes",
        }
    }
}

/// Random value that a run draws once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Draw {
    /// Kind of the random value.
    pub kind: DrawKind,
    /// Traffic class that uses the value; missing for the cables of a generated fabric.
    pub class: Option<String>,
    /// Scenario key that causes the draw.
    pub key: String,
}

pub(super) fn draws(source: &ScenarioSource, plan: &Plan) -> Vec<Draw> {
    let mut draws = Vec::new();
    if let Topology::Generate(Generator::Irregular(_)) = source.scenario.topology {
        let key = "topology.generate.irregular".to_owned();
        draws.push(Draw { kind: DrawKind::Topology, class: None, key });
    }
    for (index, class) in plan.classes.iter().enumerate() {
        let of_class = |(kind, key): (DrawKind, &str)| Draw {
            kind,
            class: Some(class.name.clone()),
            key: format!("traffic.{index}.{key}"),
        };
        draws.extend(of_scenario(source, index).map(of_class));
        draws.extend(of_sources(class).map(of_class));
    }
    draws
}

/// Returns the values drawn during compilation; the plan contains only the outcome of these draws.
fn of_scenario(
    source: &ScenarioSource,
    index: usize,
) -> impl Iterator<Item = (DrawKind, &'static str)> {
    let class = &source.scenario.traffic[index];
    // A permutation with a seed in the scenario does not depend on the run.
    let is_permuted = matches!(
        class.destinations,
        Some(Destinations::RandomPermutation(PermutationDraw { seed: None }))
    );
    let permutation = is_permuted.then_some((DrawKind::Permutation, "destinations"));
    let is_placed = |placement: &Placement| !matches!(placement, Placement::Pairs(_));
    let placement = class.streams.as_ref().filter(|streams| is_placed(&streams.placement));
    let placement = placement.map(|_| (DrawKind::Placement, "streams.placement"));
    permutation.into_iter().chain(placement)
}

fn of_sources(class: &ClassPlan) -> impl Iterator<Item = (DrawKind, &'static str)> {
    let mut found: Vec<(DrawKind, &'static str)> = Vec::new();
    for source in &class.sources {
        match &source.messages {
            MessagePlan::Drawn(drawn) => found.extend(of_arrivals(&drawn.arrivals, drawn.later)),
            MessagePlan::Stream(stream) => found.extend(of_stream(stream)),
            MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => {}
        }
        found.sort_unstable();
        found.dedup();
    }
    found.into_iter()
}

fn of_arrivals(
    arrivals: &ArrivalPlan,
    later: LaterPlan,
) -> impl Iterator<Item = (DrawKind, &'static str)> {
    let is_constant = matches!(arrivals, ArrivalPlan::Constant { .. });
    let has_phase = matches!(arrivals, ArrivalPlan::Constant { phase: None, .. });
    let is_regular = is_constant || matches!(arrivals, ArrivalPlan::Backlogged);
    let phase = has_phase.then_some((DrawKind::Phase, "arrivals"));
    let has_start = is_regular && later.jitter > Span::ZERO;
    phase.into_iter().chain(has_start.then_some((DrawKind::Start, "stagger.jitter")))
}

fn of_stream(stream: &StreamPlan) -> impl Iterator<Item = (DrawKind, &'static str)> {
    let frames = stream.data.frames();
    let has_start = frames.is_some() && stream.later.jitter > Span::ZERO;
    let is_drawn =
        |sizes: &FrameSizes| matches!(sizes, FrameSizes::Trace { first: FirstFrame::Drawn, .. });
    let has_first = frames.is_some_and(|frames| is_drawn(&frames.sizes));
    let kinds = [
        (has_start, (DrawKind::Start, "streams.start")),
        (has_first, (DrawKind::FirstFrame, "streams.data.trace.first")),
        (stream.crashes > 0.0, (DrawKind::Crash, "streams.crashes")),
    ];
    kinds.into_iter().filter(|(is_drawn, _)| *is_drawn).map(|(_, draw)| draw)
}

pub(crate) fn nouns(draws: &[Draw]) -> String {
    let mut kinds: Vec<DrawKind> = draws.iter().map(|draw| draw.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let nouns: Vec<&str> = kinds.into_iter().map(DrawKind::noun).collect();
    match nouns.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
