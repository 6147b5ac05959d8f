//! Intervals of every kind of arrivals and destinations: how many runs of the advised length are
//! `ok`, and how many of their intervals hold the mean that they are about.
//!
//! A run that draws nothing once is held against the mean of a long run. One that does
//! (`ok-of-draw`) is held against a run of the same draw that is ten times as long.
//! `docs/concepts/measurement.md` shows the table of 1,000 runs:
//!
//! ```text
//!   GINGHAM_COVERAGE_RUNS=1000 cargo test -p gingham-lab --test statistics coverage -- --nocapture
//! ```

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{ClassSummary, Engine, Run, Verdict, compile};
use std::fmt::Write as _;
use std::path::Path;

/// Sixteen hosts on a torus of 4 x 4 switches.
const FABRIC: &str = r#"
    topology.generate.torus = { dimensions = [4, 4], hosts_per_switch = 1 }
"#;

/// A kind of arrivals and destinations.
struct Case {
    name: &'static str,
    /// Keys of the network, and those of the class.
    network: &'static str,
    class: &'static str,
    load: f64,
}

const WORMHOLE: &str = r#"network.preset = "myrinet-1280""#;

const fn case(name: &'static str, class: &'static str, load: f64) -> Case {
    Case { name, network: WORMHOLE, class, load }
}

const CASES: &[Case] = &[
    case("poisson, uniform", "", 0.1),
    case("constant, uniform", "arrivals = \"constant\"", 0.1),
    case("on-off, uniform", "arrivals = { on-off = { on = \"20 us\", off = \"80 us\" } }", 0.05),
    case(
        "on-off-pareto, uniform",
        "arrivals = { on-off-pareto = { on = \"20 us\", off = \"80 us\", shape = 1.5 } }",
        0.05,
    ),
    case("poisson, random-permutation", "destinations = \"random-permutation\"", 0.1),
    case(
        "constant, random-permutation",
        "arrivals = \"constant\"\ndestinations = \"random-permutation\"",
        0.1,
    ),
    case("constant, tornado", "arrivals = \"constant\"\ndestinations = \"tornado\"", 0.1),
    case("poisson, tornado", "destinations = \"tornado\"", 0.1),
    case("poisson, neighbour", "destinations = \"neighbour\"", 0.2),
    case("poisson, transpose", "destinations = \"transpose\"", 0.1),
    case("poisson, bit-complement", "destinations = \"bit-complement\"", 0.1),
    case("poisson, bit-reversal", "destinations = \"bit-reversal\"", 0.1),
    case("poisson, shuffle", "destinations = \"shuffle\"", 0.1),
    case("poisson, host", "hosts = [\"h0-1-0\", \"h1-0-0\", \"h2-0-0\"]\ndestinations = { host = \"h0-0-0\" }", 0.1),
    case("poisson, hot-spot", "destinations = { hot-spot = { hosts = [\"h0-0-0\"], share = 0.1 } }", 0.1),
    case("poisson, pairs", "destinations = { pairs = { h0-0-0 = \"h2-2-0\", h1-0-0 = \"h2-2-0\" } }", 0.2),
];

/// The class of a run of so many picoseconds.
fn class(case: &Case, time_ps: u64, seed: u64) -> ClassSummary {
    let Case { network, class, load, .. } = case;
    let text = format!(
        r#"
        seed = {seed}
        {FABRIC}
        {network}
        measure = {{ messages = "none" }}
        [[traffic]]
        load = {load}
        length = {{ fixed = "64 B" }}
        {class}
        [stop]
        time = "{time_ps} ps"
        "#
    );
    let overrides = Overrides::default();
    let source = ScenarioSource::parse("case.toml", &text, Path::new("."), &overrides).unwrap();
    let mut run = Run::new(compile(&source, true).unwrap(), Engine::Fast);
    while !run.advance(u64::MAX).done {}
    run.summary().classes.swap_remove(0)
}

fn is_ok(class: &ClassSummary) -> bool {
    matches!(class.verdict, Verdict::Ok | Verdict::OkOfDraw)
}

/// The length to which a run of seed 0 that was too short is led by its own advice.
fn advised_ps(case: &Case) -> u64 {
    let mut time_ps = 50_000_000;
    for _ in 0..8 {
        let class = class(case, time_ps, 0);
        if is_ok(&class) {
            break;
        }
        let reason = &class.verdict_reason;
        let (_, advice) = reason.split_once("let the run last about ").expect(reason);
        let (time, _) = advice.split_once(" (stop.time)").unwrap();
        time_ps = time.parse::<gingham_kernel::Span>().unwrap().as_ps();
    }
    time_ps
}

/// What was found of the runs of a case.
struct Found {
    time_ps: u64,
    verdict: Verdict,
    ok: usize,
    held: usize,
}

fn find(case: &Case, runs: u64) -> Found {
    let time_ps = advised_ps(case);
    let classes: Vec<ClassSummary> = (1..=runs).map(|seed| class(case, time_ps, seed)).collect();
    let verdict = classes.iter().find(|class| is_ok(class)).map_or(Verdict::Ok, |one| one.verdict);
    let mean = |time_ps, seed| class(case, time_ps, seed).latency_mean_ns.unwrap();
    let long = (verdict == Verdict::Ok).then(|| {
        let replications = 20_u32;
        let sum: f64 = (0..replications).map(|seed| mean(20 * time_ps, 1_000_000 + u64::from(seed))).sum();
        sum / f64::from(replications)
    });
    let mut found = Found { time_ps, verdict, ok: 0, held: 0 };
    for (class, seed) in classes.iter().zip(1..).filter(|(class, _)| is_ok(class)) {
        let truth = long.unwrap_or_else(|| mean(10 * time_ps, seed));
        found.ok += 1;
        let error = (class.latency_mean_ns.unwrap() - truth).abs();
        found.held += usize::from(error <= class.latency_half_width_ns.unwrap());
    }
    found
}

#[test]
fn coverage_of_every_kind() {
    let runs = std::env::var("GINGHAM_COVERAGE_RUNS").map_or(100, |runs| runs.parse().unwrap());
    let only = std::env::var("GINGHAM_COVERAGE_ONLY").unwrap_or_default();
    for case in CASES.iter().filter(|case| case.name.contains(&only)) {
        let start = std::time::Instant::now();
        let found = find(case, runs);
        println!(
            "| {} | {} | {:.2} us | {} | {} | {:.1} s",
            case.name,
            found.verdict.name(),
            found.time_ps as f64 / 1e6,
            found.ok,
            found.held,
            start.elapsed().as_secs_f64()
        );
    }
}
