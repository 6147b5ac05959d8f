//! Coverage of intervals for every kind of arrivals and destinations: the number of runs of the
//! advised length that are `ok`, and the number of their intervals that hold the true mean.
//!
//! A run without values drawn once is compared with the mean of long replications. A run with such
//! values (`ok-of-draw`) is compared with a run of the same draw that is ten times as long.
//! Intervals over five such runs are compared with the mean of 200 seeds.
//!
//! `docs/concepts/measurement.md` shows the table of 1,000 runs:
//!
//! ```text
//!   GINGHAM_COVERAGE_RUNS=1000 cargo test -p gingham-lab --test statistics coverage -- --nocapture
//! ```

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{ClassSummary, Engine, Run, Verdict, compile, student_t};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

/// Sixteen hosts on a torus of 4 x 4 switches.
const FABRIC: &str = r"
    topology.generate.torus = { dimensions = [4, 4], hosts_per_switch = 1 }
";

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
    case("on-off, uniform", "arrivals = { on-off = { on = \"4 us\", off = \"16 us\" } }", 0.05),
    case(
        "on-off-pareto, uniform",
        "arrivals = { on-off-pareto = { on = \"4 us\", off = \"16 us\", shape = 2.5 } }",
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
    case("poisson, neighbour", "destinations = \"neighbour\"", 0.1),
    case("poisson, transpose", "destinations = \"transpose\"", 0.1),
    case("poisson, bit-complement", "destinations = \"bit-complement\"", 0.1),
    case("poisson, bit-reversal", "destinations = \"bit-reversal\"", 0.1),
    case("poisson, shuffle", "destinations = \"shuffle\"", 0.1),
    case(
        "poisson, host",
        "hosts = [\"h0-1-0\", \"h1-0-0\", \"h2-0-0\"]\ndestinations = { host = \"h0-0-0\" }",
        0.05,
    ),
    case(
        "poisson, hot-spot",
        "destinations = { hot-spot = { hosts = [\"h0-0-0\"], share = 0.1 } }",
        0.1,
    ),
    case(
        "poisson, pairs",
        "destinations = { pairs = { h0-0-0 = \"h2-2-0\", h1-0-0 = \"h2-2-0\" } }",
        0.1,
    ),
    case("poisson, matrix", "destinations = { matrix = \"coverage.csv\" }", 0.1),
    Case {
        name: "bernoulli, uniform",
        network: r#"network.preset = "yum-1600""#,
        class: "arrivals = \"bernoulli\"",
        load: 0.1,
    },
];

/// Folder of the matrix of destinations.
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// Weights from 1 to 3 between all pairs of hosts.
fn write_matrix() {
    let hosts: Vec<String> = (0..16).map(|host| format!("h{}-{}-0", host / 4, host % 4)).collect();
    let mut text = format!("from,{}\n", hosts.join(","));
    for (row, host) in hosts.iter().enumerate() {
        let weight = |column| if row == column { 0 } else { 1 + (row + 2 * column) % 3 };
        let weights: Vec<String> = (0..16).map(|column| weight(column).to_string()).collect();
        writeln!(text, "{host},{}", weights.join(",")).unwrap();
    }
    std::fs::write(Path::new(FOLDER).join("coverage.csv"), text).unwrap();
}

/// Traffic class of a run that lasts `time_ps` picoseconds.
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
    let source = ScenarioSource::parse("case.toml", &text, Path::new(FOLDER), &overrides).unwrap();
    let mut run = Run::new(compile(&source, true).unwrap(), Engine::Fast);
    while !run.advance(u64::MAX).done {}
    run.summary().classes.swap_remove(0)
}

fn is_ok(class: &ClassSummary) -> bool {
    matches!(class.verdict, Verdict::Ok | Verdict::OkOfDraw)
}

/// Run length that the advice of a too short run of seed 0 leads to.
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

/// Results of the runs of a case.
struct Found {
    time_ps: u64,
    verdict: Verdict,
    runs: usize,
    ok: usize,
    held: usize,
    /// Intervals over five runs of different draws, and those that hold the mean of 200 seeds.
    replications: [usize; 2],
}

/// Mean latency of a run, in nanoseconds.
fn mean_ns(case: &Case, time_ps: u64, seed: u64) -> f64 {
    class(case, time_ps, seed).latency_mean_ns.unwrap()
}

/// Mean of the mean latencies over the given seeds.
fn mean_over(case: &Case, time_ps: u64, seeds: Range<u32>) -> f64 {
    let count = f64::from(seeds.end - seeds.start);
    seeds.map(|seed| mean_ns(case, time_ps, u64::from(seed))).sum::<f64>() / count
}

fn find(case: &Case, runs: u64) -> Found {
    let time_ps = advised_ps(case);
    let classes: Vec<ClassSummary> = (1..=runs).map(|seed| class(case, time_ps, seed)).collect();
    let verdict = classes.iter().find(|class| is_ok(class)).map_or(Verdict::Ok, |one| one.verdict);
    let is_of_draw = verdict == Verdict::OkOfDraw;
    let long = (!is_of_draw).then(|| mean_over(case, 10 * time_ps, 1_000_000..1_000_020));
    let ok = classes.iter().zip(1..).filter(|(class, _)| is_ok(class));
    let is_held = |(class, seed): &(&ClassSummary, u64)| {
        let truth = long.unwrap_or_else(|| mean_ns(case, 10 * time_ps, *seed));
        let error = (class.latency_mean_ns.unwrap() - truth).abs();
        // If nothing varies, both means agree except for the last bits of a sum.
        error <= class.latency_half_width_ns.unwrap() + 1e-9 * truth
    };
    Found {
        time_ps,
        verdict,
        runs: classes.len(),
        ok: ok.clone().count(),
        held: ok.filter(is_held).count(),
        replications: if is_of_draw { replications(case, time_ps, &classes) } else { [0, 0] },
    }
}

/// Student intervals over the means of five runs each, and the number that hold the mean of 200
/// seeds.
fn replications(case: &Case, time_ps: u64, classes: &[ClassSummary]) -> [usize; 2] {
    let truth = mean_over(case, time_ps, 1_000_000..1_000_200);
    let holds = |five: &&[ClassSummary]| {
        let means = five.iter().map(|class| class.latency_mean_ns.unwrap());
        let mean = means.clone().sum::<f64>() / 5.0;
        let squares: f64 = means.map(|one| (one - mean) * (one - mean)).sum();
        (mean - truth).abs() <= student_t(4) * (squares / 4.0 / 5.0).sqrt()
    };
    let groups = classes.chunks_exact(5);
    [groups.len(), groups.filter(holds).count()]
}

/// Smallest count out of `of` trials that is consistent with probability `share`, at 2.6 standard
/// deviations.
#[expect(clippy::cast_precision_loss, reason = "counts")]
fn least(share: f64, of: usize) -> usize {
    let of_real = of as f64;
    let least = share * of_real - 2.6 * (share * (1.0 - share) * of_real).sqrt();
    (0..of).find(|count| *count as f64 >= least).unwrap_or(of)
}

#[expect(clippy::disallowed_methods, reason = "tests have no other arguments")]
fn asked(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

#[expect(clippy::print_stdout, reason = "the table is what many runs are made for")]
#[test]
fn intervals_of_every_kind_hold_the_mean_that_they_are_about() {
    let runs = asked("GINGHAM_COVERAGE_RUNS").map_or(100, |runs| runs.parse().unwrap());
    let only = asked("GINGHAM_COVERAGE_ONLY").unwrap_or_default();
    let mut wrong = Vec::new();
    write_matrix();
    for case in CASES.iter().filter(|case| case.name.contains(&only)) {
        let Found { time_ps, verdict, runs, ok, held, replications: [groups, groups_held] } =
            find(case, runs);
        let time_us = time_ps / 1_000_000;
        let row = format!(
            "| {} | {time_us} us | `{}` | {ok} of {runs} | {held} | {groups_held} of {groups} |",
            case.name,
            verdict.name()
        );
        println!("{row}");
        if ok < runs * 8 / 10 || held < least(0.93, ok) || groups_held < least(0.93, groups) {
            wrong.push(row);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
