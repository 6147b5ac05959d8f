//! Complete ends in virtual time, on sockets in memory, under random faults.
//!
//! Datagrams are damaged in all ways, channels and processes fail, addresses change, keys are
//! renewed, a clock is too fast, and an attacker replays any earlier datagram, forges, and begins
//! handshakes.
//!
//! Only packets sent are delivered, none twice or out of order; memory is bounded; 10 s after the
//! last fault, all are delivered.
//!
//! Environment: `GINGHAM_FAULTS_RUNS` (200), `GINGHAM_FAULTS_FIRST` (0), `GINGHAM_FAULTS_SEED`
//! (only that run, with output).
#![cfg(target_os = "linux")]

mod case;
mod host;
mod ledger;
mod network;
mod world;

use std::alloc::System;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use case::{Case, Event, MS, Shares, Stranger, Way};
use gingham_stripe_crypt::{Times, seed_randomness};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use world::{Totals, World};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Four ends of two runs, each with the retransmission buffers of four channels, 16,384 packets of
/// 1,200 bytes; half of this bound is for everything else.
const BYTES_MAX: usize = 2 * 4 * 16_384 * 1_200;
const THREADS: usize = 2;
const FAILURES_MAX: usize = 20;

fn held_bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

#[expect(clippy::disallowed_methods, reason = "a test run by hand takes its size from outside")]
fn environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is {value:?}; it must be a whole number")))
}

type Draw = fn(u64) -> Case;

fn run(draw: Draw, seed: u64, is_aloud: bool) -> Result<Totals, String> {
    seed_randomness(Some(seed));
    let totals = World::new(&draw(seed), is_aloud).run();
    totals.map_err(|failure| {
        format!("seed {seed}: {failure}\n  GINGHAM_FAULTS_SEED={seed} tells the run\n")
    })
}

#[expect(clippy::disallowed_methods, reason = "runs know nothing of each other")]
fn runs(draw: Draw, first: u64, count: u64) -> (Totals, Vec<String>) {
    let (next, results) = (AtomicU64::new(0), Mutex::new((Totals::default(), Vec::new())));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count || results.lock().expect("no thread panics").1.len() >= FAILURES_MAX
            {
                break;
            }
            let outcome = run(draw, first + number, false);
            let mut results = results.lock().expect("no thread panics");
            match outcome {
                Ok(totals) => results.0.add(&totals),
                Err(failure) => results.1.push(failure),
            }
        }
    };
    std::thread::scope(|scope| {
        (0..THREADS).for_each(|_| {
            scope.spawn(work);
        });
    });
    results.into_inner().expect("no thread panics")
}

#[expect(clippy::print_stdout, reason = "the figures are what it is run for")]
fn all_hold(draw: Draw, count: u64) {
    if let Some(seed) = environment("GINGHAM_FAULTS_SEED") {
        println!("{}", draw(seed));
        println!("{:?}", run(draw, seed, true).unwrap_or_else(|failure| panic!("{failure}")));
        return;
    }
    let count = environment("GINGHAM_FAULTS_RUNS").unwrap_or(count);
    let (totals, failures) = runs(draw, environment("GINGHAM_FAULTS_FIRST").unwrap_or(0), count);
    println!("{count} runs: {totals:?}");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.concat());
    // Faults occurred, and did not prevent all traffic.
    assert!(totals.delivered > 100 * count && totals.discarded > 10 * count, "{totals:?}");
    assert!(totals.processes > 2 * count && totals.keys > totals.sessions, "{totals:?}");
}

#[test]
fn no_forgery_or_duplicate_and_recovery_within_ten_seconds() {
    all_hold(Case::draw, 200);
}

#[test]
fn many_ends_on_shared_ports_recover() {
    all_hold(Case::draw_many, 60);
}

/// Replaying lost datagrams diverts an end to the attacker; if the other end then restarts without
/// a known address, only the announced address helps.
#[test]
fn diverted_end_returns_after_peer_restart() {
    for seed in 0..20 {
        seed_randomness(Some(seed));
        let drawn = Case::draw(seed);
        let case = Case {
            ways: vec![drawn.ways[0]],
            shares: Shares::default(),
            stranger: Stranger { replayed: 200, ..Stranger::default() },
            events: vec![
                (1_500 * MS, Event::Dark { end: 1, channel: 0, is_dark: true }),
                (1_900 * MS, Event::Crash { end: 1 }),
                (1_950 * MS, Event::Start { end: 1 }),
            ],
            right_knows: false,
            heal_ns: 2_000 * MS,
            ..drawn
        };
        let totals = World::new(&case, false).run();
        totals.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    }
}

/// A marker has 68 bytes and a report 76, in datagrams of 134 and 142 with all headers. One of each
/// every 20 ms is 13.8 kB/s per end, 55.2 for four clients: more than the channel of 50 kB/s
/// carries. At four per round trip they leave room for 20 packets of 600 bytes a second.
#[test]
fn control_messages_leave_room_on_a_shared_channel() {
    seed_randomness(Some(0));
    let way = Way { bytes_per_second: 50_000, delay_ns: 10 * MS, queue_bytes: 16_000 };
    let case = |is_strict| Case {
        clients: 4,
        ways: vec![way],
        is_strict,
        shares: Shares::default(),
        stranger: Stranger::default(),
        events: Vec::new(),
        right_knows: true,
        fast_ppm: [0, 0],
        times: Times::default(),
        packets_per_second: [5, 5],
        heal_ns: 1_000 * MS,
        seed: 0,
    };
    for case in [false, true].map(case) {
        assert_eq!(World::new(&case, false).run().err(), None, "{case}");
    }
}

#[test]
fn run_is_determined_by_its_seed() {
    let totals = [0; 2].map(|_| {
        run(Case::draw, 7, false).map(|totals| format!("{:?}", Totals { bytes_max: 0, ..totals }))
    });
    assert_eq!(totals[0], totals[1]);
}
