//! Coverage of the intervals of every kind of arrivals and destinations.
//!
//! Of the runs of the advised length, at least 80 % must be `ok` or `ok-of-draw`, and 93 to 97 % of
//! their intervals must contain the true mean. The reference has an error of its own:
//!
//! | verdict | reference | variance of the difference, as a multiple of that of a run |
//! |---|---|---|
//! | `ok` | mean of `references` runs of ten times the length | 1 and at most a fiftieth |
//! | `ok-of-draw` | the same seed for `longer` times the length, whose beginning is the run itself | `1 - 1 / longer` |
//! | five replications of different draws | mean of `others` other seeds | `1 + 5 / others` |
//!
//! The half-width is multiplied by the root of the last column.
//!
//! If arrivals and destinations are fixed once drawn, a run has no sampling error: its interval
//! bounds the effect of the window's edges, and the upper end of the band does not apply.
//!
//! The table of `docs/concepts/measurement.md`, in about six minutes:
//!
//! ```text
//!   GINGHAM_COVERAGE_RUNS=1000 GINGHAM_COVERAGE_SEED=5000000 \
//!     cargo test --workspace --test statistics coverage -- --nocapture
//! ```

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{ClassSummary, Engine, Run, Verdict, compile, student_t};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

const FABRIC: &str = r"
    topology.generate.torus = { dimensions = [4, 4], hosts_per_switch = 1 }
";

struct Case {
    name: &'static str,
    network: &'static str,
    class: &'static str,
    load: f64,
    band: Band,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Band {
    /// From 93 to 97 %.
    Interval,
    /// 93 % or more: the interval is a bound.
    Bound,
}

const WORMHOLE: &str = r#"network.preset = "myrinet-1280""#;

const fn case(name: &'static str, class: &'static str, load: f64) -> Case {
    Case { name, network: WORMHOLE, class, load, band: Band::Interval }
}

const fn bound(name: &'static str, class: &'static str, load: f64) -> Case {
    Case { name, network: WORMHOLE, class, load, band: Band::Bound }
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
    bound(
        "constant, random-permutation",
        "arrivals = \"constant\"\ndestinations = \"random-permutation\"",
        0.1,
    ),
    bound("constant, tornado", "arrivals = \"constant\"\ndestinations = \"tornado\"", 0.1),
    case("poisson, tornado", "destinations = \"tornado\"", 0.1),
    case("poisson, neighbour", "destinations = \"neighbour\"", 0.2),
    case("poisson, transpose", "destinations = \"transpose\"", 0.1),
    case("poisson, bit-complement", "destinations = \"bit-complement\"", 0.1),
    case("poisson, bit-reversal", "destinations = \"bit-reversal\"", 0.1),
    case("poisson, shuffle", "destinations = \"shuffle\"", 0.1),
    case(
        "poisson, host",
        "hosts = [\"h0-1-0\", \"h1-0-0\", \"h2-0-0\"]\ndestinations = { host = \"h0-0-0\" }",
        0.1,
    ),
    case(
        "poisson, hot-spot",
        "destinations = { hot-spot = { hosts = [\"h0-0-0\"], share = 0.1 } }",
        0.1,
    ),
    case(
        "poisson, pairs",
        "destinations = { pairs = { h0-0-0 = \"h2-2-0\", h1-0-0 = \"h2-2-0\" } }",
        0.2,
    ),
    case("poisson, matrix", "destinations = { matrix = \"coverage.csv\" }", 0.1),
    Case {
        name: "bernoulli, uniform",
        network: r#"network.preset = "yum-1600""#,
        class: "arrivals = \"bernoulli\"",
        load: 0.1,
        band: Band::Interval,
    },
];

const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

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
    while !run.advance(u64::MAX).expect("time goes on").done {}
    run.summary().classes.swap_remove(0)
}

fn is_ok(class: &ClassSummary) -> bool {
    matches!(class.verdict, Verdict::Ok | Verdict::OkOfDraw)
}

/// Returns the run length advised by a run of seed 0 that is too short.
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

#[derive(Clone, Copy)]
struct Effort {
    seed: u64,
    runs: u64,
    /// Long runs as the reference of `ok`.
    references: u64,
    /// Factor of the length of the reference of `ok-of-draw`.
    longer: u64,
    /// Seeds for the reference of five replications.
    others: u64,
    groups: u64,
}

impl Effort {
    fn asked() -> Self {
        let number = |variable| asked(variable).map(|text| text.parse().unwrap());
        let seed = number("GINGHAM_COVERAGE_SEED").unwrap_or(1);
        match number("GINGHAM_COVERAGE_RUNS") {
            None => Self { seed, runs: 100, references: 5, longer: 4, others: 60, groups: 20 },
            Some(runs) => {
                Self { seed, runs, references: 20, longer: 10, others: 200, groups: runs }
            }
        }
    }

    fn seeds(&self, runs: u64) -> Range<u64> {
        self.seed..self.seed + runs
    }

    /// Far from the seeds of runs.
    fn other_seeds(&self, runs: u64) -> Range<u64> {
        self.seed + 1_000_000..self.seed + 1_000_000 + runs
    }
}

#[derive(Clone, Copy, Default)]
struct Share {
    of: usize,
    held: usize,
}

impl Share {
    fn count(held: impl Iterator<Item = bool>) -> Self {
        held.fold(Self::default(), |Self { of, held: sum }, held| Self {
            of: of + 1,
            held: sum + usize::from(held),
        })
    }

    /// Whether the share is consistent with the band, within 2.6 standard deviations.
    fn lies_in(self, band: Band) -> bool {
        let [of, held] = [self.of, self.held].map(real);
        let chance = |share: f64| 2.6 * (share * (1.0 - share) * of).sqrt();
        let is_high = held > 0.97 * of + chance(0.97);
        held >= 0.93 * of - chance(0.93) && (band == Band::Bound || !is_high)
    }

    /// Formats the percentage, with the 95 % interval of Wilson.
    fn percent(self) -> String {
        if self.of == 0 {
            return String::new();
        }
        let [of, held] = [self.of, self.held].map(real);
        let (share, z2) = (held / of, 1.96_f64 * 1.96);
        let centre = (share + z2 / 2.0 / of) / (1.0 + z2 / of);
        let half =
            (z2 * (share * (1.0 - share) / of + z2 / 4.0 / of / of)).sqrt() / (1.0 + z2 / of);
        let [share, low, high] = [share, centre - half, centre + half].map(|one| 100.0 * one);
        format!("{share:.1} % ({low:.1} to {high:.1})")
    }
}

struct Found {
    time_ps: u64,
    verdict: Verdict,
    ok: Share,
    held: Share,
    /// Half-width over the error, as roots of mean squares.
    width: f64,
    /// Intervals over five runs of different draws that hold the mean of other seeds.
    replications: Share,
}

fn mean_ns(case: &Case, time_ps: u64, seed: u64) -> f64 {
    class(case, time_ps, seed).latency_mean_ns.unwrap()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / real(values.len())
}

fn means(case: &Case, time_ps: u64, seeds: Range<u64>) -> Vec<f64> {
    seeds.map(|seed| mean_ns(case, time_ps, seed)).collect()
}

fn find(case: &Case, effort: Effort) -> Found {
    let time_ps = advised_ps(case);
    let seeds = effort.seeds(effort.runs);
    let classes: Vec<ClassSummary> = seeds.clone().map(|seed| class(case, time_ps, seed)).collect();
    let verdict = classes.iter().find(|class| is_ok(class)).map_or(Verdict::Ok, |one| one.verdict);
    let is_of_draw = verdict == Verdict::OkOfDraw;
    let long = (!is_of_draw)
        .then(|| mean(&means(case, 10 * time_ps, effort.other_seeds(effort.references))));
    let overlap = if is_of_draw { 1.0 - 1.0 / real_u64(effort.longer) } else { 1.0 };
    let compared = |(class, seed): (&ClassSummary, u64)| {
        let truth = long.unwrap_or_else(|| mean_ns(case, effort.longer * time_ps, seed));
        let error = (class.latency_mean_ns.unwrap() - truth).abs();
        let half_width = class.latency_half_width_ns.unwrap() * overlap.sqrt();
        // If nothing varies, both means are equal except for the last bits of a sum.
        (error, half_width + 1e-9 * truth)
    };
    let ok = classes.iter().zip(seeds).filter(|(class, _)| is_ok(class));
    let compared: Vec<(f64, f64)> = ok.map(compared).collect();
    let squares = |of: fn(&(f64, f64)) -> f64| -> f64 {
        compared.iter().map(|pair| of(pair) * of(pair)).sum()
    };
    Found {
        time_ps,
        verdict,
        ok: Share::count(classes.iter().map(is_ok)),
        held: Share::count(compared.iter().map(|(error, half_width)| error <= half_width)),
        width: (squares(|pair| pair.1) / squares(|pair| pair.0)).sqrt(),
        replications: if is_of_draw {
            replications(case, time_ps, &classes, effort)
        } else {
            Share::default()
        },
    }
}

/// Intervals of Student over the means of five runs each.
fn replications(case: &Case, time_ps: u64, classes: &[ClassSummary], effort: Effort) -> Share {
    let truth = mean(&means(case, time_ps, effort.other_seeds(effort.others)));
    let seeds = effort.seeds(5 * effort.groups);
    let mut runs: Vec<f64> = classes.iter().map(|class| class.latency_mean_ns.unwrap()).collect();
    runs.extend(means(case, time_ps, seeds.start + effort.runs..seeds.end));
    let error_of_truth = (1.0 + 5.0 / real_u64(effort.others)).sqrt();
    Share::count(runs.chunks_exact(5).map(|five| {
        let centre = mean(five);
        let squares: f64 = five.iter().map(|one| (one - centre) * (one - centre)).sum();
        let half_width = student_t(4) * (squares / 4.0 / 5.0).sqrt();
        (centre - truth).abs() <= half_width * error_of_truth
    }))
}

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn real(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts")]
fn real_u64(count: u64) -> f64 {
    count as f64
}

#[expect(clippy::disallowed_methods, reason = "tests have no other arguments")]
fn asked(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

#[expect(clippy::print_stdout, reason = "the table is what many runs are made for")]
#[test]
fn intervals_of_every_kind_cover_the_true_mean() {
    let effort = Effort::asked();
    let only = asked("GINGHAM_COVERAGE_ONLY").unwrap_or_default();
    let mut wrong = Vec::new();
    write_matrix();
    for case in CASES.iter().filter(|case| case.name.contains(&only)) {
        let Found { time_ps, verdict, ok, held, width, replications } = find(case, effort);
        let row = format!(
            "| {}, {} | {} us | `{}` | {} | {} | {width:.1} | {} |",
            case.name,
            case.load,
            time_ps / 1_000_000,
            verdict.name(),
            ok.percent(),
            held.percent(),
            replications.percent(),
        );
        println!("{row}");
        let is_right = ok.held * 10 >= ok.of * 8
            && held.lies_in(case.band)
            && replications.lies_in(Band::Interval);
        if !is_right {
            wrong.push(row);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
