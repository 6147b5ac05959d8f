//! The engine allocates nothing for a worm once it has seen its busiest moments.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Engine, Run, compile};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::path::Path;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn a_steady_run_allocates_only_at_new_high_water_marks() {
    let text = r#"
        topology.generate.irregular.switches = 16
        traffic = [{ load = 0.05, length = { fixed = "512 B" } }]
        stop.time = "20 ms"
    "#;
    let overrides = Overrides::default();
    let source = ScenarioSource::parse("steady.toml", text, Path::new("."), &overrides).unwrap();
    let mut run = Run::new(compile(&source, false).unwrap(), Engine::Runs);
    while run.progress().fraction < 0.5 {
        run.advance(10_000);
    }
    let (events, region) = (run.events(), Region::new(GLOBAL));
    while !run.advance(10_000).done {}
    let allocations = region.change().allocations + region.change().reallocations;
    let events = run.events() - events;
    assert!(events > 100_000, "{events} events");
    // What remains: doubling vectors, and the few that each of 32 searches for a deadlock makes.
    assert!(allocations < 2_000, "{allocations} allocations in {events} events");
}
