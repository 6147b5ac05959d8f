//! A torus at 80 % of its saturation.

use crate::runs::{SEEDS, holds, lasting, latency_ps, plan, run};
use gingham_kernel::Time;
use gingham_net::ClassId;
use gingham_net::measure::{Collector, Step, WarmUp};
use std::sync::LazyLock;

/// A 4 x 4 torus of two hosts a switch saturates at 0.23 of a host's link under up*/down*.
const TORUS: &str = r#"
    topology.generate.torus.dimensions = [4, 4]
    topology.generate.torus.hosts_per_switch = 2
    [network]
    preset = "myrinet-1280"
    [[traffic]]
    name = "steady"
    load = 0.184
    length = { fixed = "512 B" }
    [stop]
    time = "20 ms"
"#;

/// More than twice the traffic in the first half millisecond.
const STORM: &str = r#"
    [[traffic]]
    name = "storm"
    load = 0.3
    length = { fixed = "512 B" }
    stop = "500 us"
"#;

/// Mean latency of a run a hundred times longer, in ps.
static TRUTH_PS: LazyLock<f64> = LazyLock::new(|| {
    let mut long = lasting(&plan(TORUS), 2_000_000_000_000);
    long.stop.warm_up = Some(Time::from_ps(100_000_000_000));
    latency_ps(&run(&long, 1_000)).mean
});

fn count(collectors: &[Collector], is_so: impl Fn(&Collector) -> bool) -> usize {
    collectors.iter().filter(|collector| is_so(collector)).count()
}

/// Returns the mean latency of all messages from time zero on, in ps.
#[expect(clippy::cast_precision_loss, reason = "thousands of messages")]
fn uncut_latency_ps(collector: &Collector) -> f64 {
    let series = collector.report().series(ClassId::new(0));
    let messages: u64 = series.iter().map(|step| step.created.messages).sum();
    let sum = |step: &Step| step.latency_mean_ps.unwrap_or(0.0) * step.created.messages as f64;
    series.iter().map(sum).sum::<f64>() / messages as f64
}

#[test]
fn intervals_cover_the_long_run_mean() {
    let (plan, truth) = (plan(TORUS), *TRUTH_PS);
    let runs: Vec<Collector> = (0..SEEDS).map(|seed| run(&plan, seed)).collect();
    // Measured: 89 contain it, 91 without a cut, because an empty torus fills within microseconds;
    // 93 and 94 in runs of 40 ms. Near saturation bursts last as long as sections of 20 ms, and
    // intervals are a little too narrow.
    let held = count(&runs, |collector| holds(&latency_ps(collector), truth));
    assert!((85..=99).contains(&held), "{held} of {SEEDS}");
    let short = count(&runs, |collector| collector.report().window().warm_up == WarmUp::TooShort);
    assert!(short <= 3, "{short} are called too short");
}

#[test]
fn initial_storm_is_cut_off() {
    let stormy = plan(&TORUS.replace("    [stop]", &format!("{STORM}    [stop]")));
    let truth = *TRUTH_PS;
    // Measured: all 100 are nearer than without a cut, and 89 contain the true mean.
    let runs: Vec<Collector> = (0..SEEDS).map(|seed| run(&stormy, seed)).collect();
    let is_nearer = |collector: &Collector| {
        let [found, uncut] = [latency_ps(collector).mean, uncut_latency_ps(collector)];
        (found - truth).abs() < (uncut - truth).abs()
    };
    let nearer = count(&runs, is_nearer);
    assert!(nearer >= 95, "{nearer} of {SEEDS} are nearer");
    let held = count(&runs, |collector| holds(&latency_ps(collector), truth));
    assert!((85..=99).contains(&held), "{held} of {SEEDS}");
}
