//! What can go wrong between a scenario and its record, and is not our fault.

use gingham_input::InputError;
use gingham_topology::routing::{Buffer, RouteError, Routes, describe_cycle};
use gingham_topology::{ChannelId, Fabric};
use std::fmt;

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The scenario, the fabric file or a parameter is wrong: exit code 2.
    #[error("{0}")]
    Input(#[from] InputError),
    /// The routes could deadlock and nobody allowed that: exit code 3.
    #[error("{0}")]
    Deadlock(Box<DeadlockReport>),
}

impl LabError {
    /// The message of a routing error, at the key that chose the algorithm.
    pub(crate) fn from_routing(tree: &gingham_input::Tree, error: &RouteError) -> Self {
        InputError::at(tree, "routing.algorithm", error).into()
    }
}

/// What to do about routes that can deadlock.
const CURE: &str =
    "choose an algorithm whose proof succeeds, such as up-down, or allow it (--allow-deadlock)";

/// A cycle of channels, in names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadlockReport {
    /// What it means and what to do.
    pub summary: String,
    /// The channels of the cycle in order, such as `s0[2] -> s1[1]`.
    pub channels: Vec<String>,
    /// One line a dependency: the cycle with an example of a route for each step.
    pub lines: Vec<String>,
}

impl DeadlockReport {
    /// The report on routes that could deadlock.
    pub fn of_routes(fabric: &Fabric, routes: &Routes, cycle: &[Buffer]) -> Self {
        let summary = "these routes can deadlock: packets that fill the channels of this cycle \
                       would wait for each other for ever"
            .to_owned();
        let mut lines: Vec<String> =
            describe_cycle(fabric, routes, cycle).lines().map(str::to_owned).collect();
        lines.push(CURE.to_owned());
        let channels: Vec<ChannelId> = cycle.iter().map(|buffer| buffer.channel).collect();
        Self { summary, channels: names(fabric, &channels), lines }
    }

    /// The report on worms that stand still.
    pub fn of_run(fabric: &Fabric, channels: &[ChannelId]) -> Self {
        let summary = "the run deadlocked: the worms at the ends of these channels wait for each \
                       other, each for the next and the last for the first"
            .to_owned();
        let channels = names(fabric, channels);
        Self { summary, lines: channels.clone(), channels }
    }
}

fn names(fabric: &Fabric, channels: &[ChannelId]) -> Vec<String> {
    channels.iter().map(|channel| fabric.channel_name(*channel)).collect()
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
