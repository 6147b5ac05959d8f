//! Simulation of a compiled scenario.

use crate::compile::{Compiled, first_written};
use crate::no_progress::{NoProgress, ProgressGuard};
use crate::record::{Names, Record, Table, estimate_of, message_table};
use crate::scenario::ScenarioSource;
use gingham_engine::Refusal;
use gingham_input::InputError;
use gingham_net::measure::ChannelCount;
use gingham_net::{ClassId, KeptMessages, Plan, Simulation, Status, SteppedBy, Stepping};
use serde::Serialize;
use std::sync::Arc;

/// Implementation of the simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Fast engine, which need not process every flit.
    #[default]
    Fast,
    /// Slow reference engine that simulates every flit; the fast engine must produce identical
    /// results.
    Oracle,
}

/// Error for a requested stepper that cannot simulate the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "engine = \"{}\" does not step this run, because {because}; engine = \"fast\" chooses what does",
    .by.name()
)]
pub struct NotStepped {
    by: SteppedBy,
    because: &'static str,
    keys: &'static [&'static str],
}

impl NotStepped {
    /// Converts the error to an error at the responsible scenario key.
    pub fn at(&self, source: &ScenarioSource) -> InputError {
        source.refuse(first_written(source, self.keys), self)
    }
}

impl Engine {
    fn start(self, plan: Arc<Plan>) -> Box<dyn Simulation> {
        match self {
            Self::Fast => gingham_engine::start(plan),
            Self::Oracle => gingham_oracle::start(plan),
        }
    }
}

/// Progress of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Completed fraction of the run, from 0 to 1, according to the stop rule that will probably
    /// end the window first. May decrease slightly if this rule is the width of a confidence
    /// interval.
    pub fraction: f64,
    /// Current simulated time, in picoseconds.
    pub now_ps: u64,
    /// Number of messages delivered so far.
    pub delivered: u64,
    /// Number of messages created but not yet delivered.
    pub in_flight: u64,
    /// Whether the run has ended.
    pub done: bool,
}

const WINDOW_SHARE: f64 = 0.99;

/// Simulation in progress.
#[derive(Debug)]
pub struct Run {
    compiled: Compiled,
    simulation: Box<dyn Simulation>,
    guard: ProgressGuard,
    names: Names,
}

impl Run {
    /// Prepares a run at time zero.
    pub fn new(mut compiled: Compiled, engine: Engine) -> Self {
        let simulation = engine.start(Arc::clone(&compiled.plan));
        let names = Names::of(&compiled.plan);
        let guard = ProgressGuard::new(&compiled.plan);
        compiled.notes.extend(simulation.stepping().and_then(|stepping| stepping.note()));
        Self { compiled, simulation, guard, names }
    }

    /// Prepares a run with the given stepper for virtual lanes, even if another stepper is faster.
    /// Fails if the stepper does not support the plan.
    pub fn stepped_by(compiled: Compiled, by: SteppedBy) -> Result<Self, NotStepped> {
        let simulation = gingham_engine::start_by(Arc::clone(&compiled.plan), by)
            .map_err(|Refusal { keys, because }| NotStepped { by, because, keys })?;
        let names = Names::of(&compiled.plan);
        let guard = ProgressGuard::new(&compiled.plan);
        Ok(Self { compiled, simulation, guard, names })
    }

    /// Returns the stepper of the switches, and the reason for its choice; `None` if the engine
    /// does not step switches.
    pub fn stepping(&self) -> Option<Stepping> {
        self.simulation.stepping()
    }

    /// Simulates up to `events_max` events. How a run is divided into calls never affects its
    /// result. Fails if simulated time does not advance.
    pub fn advance(&mut self, events_max: u64) -> Result<Progress, NoProgress> {
        self.guard.advance(&mut *self.simulation, events_max)?;
        Ok(self.progress())
    }

    /// Returns the progress of the run.
    pub fn progress(&self) -> Progress {
        let collector = self.simulation.collector();
        let done = *self.simulation.status() != Status::Running;
        Progress {
            fraction: if done { 1.0 } else { self.fraction() },
            now_ps: self.simulation.now().as_ps(),
            delivered: collector.delivered_messages(),
            in_flight: collector.in_flight_messages(),
            done,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
    fn fraction(&self) -> f64 {
        let collector = self.simulation.collector();
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let now_ps = self.simulation.now().as_ps();
        if collector.section_end().is_none() {
            return WINDOW_SHARE
                + (1.0 - WINDOW_SHARE) * share(now_ps, collector.end().as_ps()).min(1.0);
        }
        let stop = &self.compiled.plan.stop;
        let of_time = share(now_ps, stop.time.as_ps());
        let followed = |wanted| share(collector.report().followed_messages(), wanted);
        let of_messages = stop.messages.map_or(0.0, followed);
        let of_width = stop.relative_width.map_or(0.0, |wanted| self.width_share(wanted));
        WINDOW_SHARE * of_time.max(of_messages).max(of_width).min(1.0)
    }

    /// Estimates the elapsed fraction of the time that all confidence intervals need to become as
    /// narrow as `wanted`, if widths shrink with the square root of time; zero while a class has no
    /// interval.
    fn width_share(&self, wanted: f64) -> f64 {
        let plan = &self.compiled.plan;
        let measured = self.simulation.collector().report();
        let share = |class| {
            let estimate = estimate_of(&measured.class(class), plan.stop.quantity);
            let known = estimate.and_then(|estimate| estimate.relative_width());
            known.map_or(0.0, |known| (wanted / known) * (wanted / known))
        };
        ClassId::first(plan.classes.len()).map(share).fold(1.0, f64::min)
    }

    /// Returns the number of events handled so far.
    pub fn events(&self) -> u64 {
        self.simulation.events()
    }

    /// Returns the counters of each channel, accumulated since time zero.
    pub fn channel_counts(&self) -> Vec<ChannelCount> {
        self.simulation.channel_counts()
    }

    /// Creates the record, at the end of the run or after an interruption.
    pub fn record(&self) -> Record {
        Record::new(&self.compiled, &*self.simulation, true)
    }

    /// Creates the record without tables.
    pub fn summary(&self) -> Record {
        Record::new(&self.compiled, &*self.simulation, false)
    }

    /// Returns whether the run keeps every delivered message until the caller takes it.
    pub fn keeps_all_messages(&self) -> bool {
        self.compiled.plan.measure.messages == KeptMessages::All
    }

    /// Takes the messages delivered since the last call, in order of delivery, if the run keeps all
    /// messages.
    pub fn take_messages(&mut self) -> Table {
        message_table(&self.names, &self.simulation.take_messages())
    }

    /// Returns the compiled scenario.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use gingham_input::Overrides;
    use std::path::Path;

    fn run_of_three(engine: Engine) -> Run {
        let text = "topology.generate.star = { hosts = 3 }\nstop.time = \"20 us\"\n[[traffic]]\n\
                    hosts = [\"*\"]\narrivals = \"backlogged\"\nlength = { fixed = \"64 B\" }";
        let source =
            ScenarioSource::parse("test.toml", text, Path::new("."), &Overrides::default());
        Run::new(compile(&source.expect("a scenario"), false).expect("it compiles"), engine)
    }

    #[test]
    fn too_many_events_at_one_instant_fail_the_run() {
        for engine in [Engine::Fast, Engine::Oracle] {
            assert!(run_of_three(engine).advance(u64::MAX).expect("time goes on").done);
            let mut stuck = run_of_three(engine);
            stuck.guard = ProgressGuard::within(0);
            let mut ended = stuck.advance(1);
            while ended.is_ok_and(|progress| !progress.done) {
                ended = stuck.advance(1);
            }
            let error = ended.expect_err("several hosts send at one instant");
            assert!(error.events > 0, "{error}");
        }
    }
}
