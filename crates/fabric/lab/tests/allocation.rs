//! The engine allocates no memory for a worm after its busiest moments.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Engine, Run, compile};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::path::Path;
use std::sync::Mutex;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Serializes runs: allocations are counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

fn second_half(text: &str) -> (usize, u64) {
    let _alone = ALONE.lock().unwrap();
    let overrides = Overrides::default();
    let source = ScenarioSource::parse("steady.toml", text, Path::new("."), &overrides).unwrap();
    let mut run = Run::new(compile(&source, false).unwrap(), Engine::Fast);
    while run.progress().fraction < 0.5 {
        run.advance(10_000).expect("time goes on");
    }
    let (events, region) = (run.events(), Region::new(GLOBAL));
    while !run.advance(10_000).expect("time goes on").done {}
    let change = region.change();
    (change.allocations + change.reallocations, run.events() - events)
}

#[test]
fn steady_run_allocates_only_at_high_water_marks() {
    let text = r#"
        topology.generate.irregular.switches = 16
        traffic = [{ load = 0.05, length = { fixed = "512 B" } }]
        stop.time = "20 ms"
    "#;
    let (allocations, events) = second_half(text);
    assert!(events > 100_000, "{events} events");
    // The remainder: growing vectors, and a few for each of 32 deadlock checks.
    assert!(allocations < 2_000, "{allocations} allocations in {events} events");
}

#[test]
fn segments_and_priorities_add_no_allocations() {
    let text = r#"
        topology.generate.irregular.switches = 16
        network.arbitration = "strict-priority"
        stop.time = "20 ms"
        [[traffic]]
        name = "high"
        priority = 1
        load = 0.01
        length.fixed = "512 B"
        [[traffic]]
        name = "low"
        load = 0.03
        length.fixed = "1000 B"
        segmentation = "adaptive"
    "#;
    let (allocations, events) = second_half(text);
    assert!(events > 100_000, "{events} events");
    assert!(allocations < 2_000, "{allocations} allocations in {events} events");
}

#[test]
fn often_stopped_long_worm_allocates_no_extra_memory() {
    // 256 MiB from a fast cable into a slow one: STOP and GO every microsecond, and each GO
    // predicts the rest of the worm again.
    let text = r#"
        topology.inline = '''
            [[cable]]
            ends = ["s0", "h0"]
            speed = "1600 MB/s"
            [[cable]]
            ends = ["s0", "h1"]
            speed = "160 MB/s"
            [[switch]]
            name = "s0"
            [[host]]
            name = "h0"
            [[host]]
            name = "h1"
        '''
        stop.time = "200 ms"
        [[traffic]]
        hosts = ["h0"]
        arrivals = "backlogged"
        length = { fixed = "256 MiB" }
        destinations = { host = "h1" }
    "#;
    let (allocations, events) = second_half(text);
    assert!(events > 100_000, "{events} events");
    assert!(allocations < 500, "{allocations} allocations in {events} events");
}
