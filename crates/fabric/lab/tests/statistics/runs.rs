//! Runs of one scenario with many seeds.

use gingham_kernel::Time;
use gingham_lab::compile;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_net::measure::{Collector, Estimate};
use gingham_net::{ClassId, Plan, Status};
use std::path::Path;
use std::sync::Arc;

pub(crate) const SEEDS: u64 = 100;

pub(crate) fn plan(text: &str) -> Plan {
    let overrides = Overrides::default();
    let source = ScenarioSource::parse("case.toml", text, Path::new("."), &overrides).unwrap();
    Plan::clone(&compile(&source, false).unwrap().plan)
}

pub(crate) fn run(plan: &Plan, seed: u64) -> Collector {
    let plan = Plan { seed, ..plan.clone() };
    let mut simulation = gingham_engine::start(Arc::new(plan));
    assert_ne!(*simulation.advance(u64::MAX), Status::Running);
    simulation.collector().clone()
}

pub(crate) fn latency_ps(collector: &Collector) -> Estimate {
    collector.report().class(ClassId::new(0)).latency_ps.unwrap()
}

pub(crate) fn holds(estimate: &Estimate, truth: f64) -> bool {
    estimate.half_width.is_some_and(|half_width| (estimate.mean - truth).abs() <= half_width)
}

pub(crate) fn lasting(plan: &Plan, time_ps: u64) -> Plan {
    let mut plan = plan.clone();
    plan.stop.time = Time::from_ps(time_ps);
    plan
}
