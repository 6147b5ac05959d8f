//! Congestion control at hosts: defaults, and refusals.

use gingham_kernel::Span;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::{Credits, SelfTunedPlan, ThrottlePlan};
use std::path::Path;

fn compiled(preset: &str, control: &str, class: &str) -> Result<Compiled, LabError> {
    let text = format!(
        r#"
topology.generate.mesh.dimensions = [2, 2]
stop.time = "100 us"
network.preset = "{preset}"
network.adapters.congestion_control = {control}
traffic = [{{ load = 0.1, length.fixed = "64 B", {class} }}]
"#
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    compile(&ScenarioSource::parse("throttle.toml", &text, folder, &Overrides::default())?, true)
}

fn self_tuned(preset: &str, control: &str) -> SelfTunedPlan {
    let plan = compiled(preset, control, "").expect("a scenario").plan;
    let Some(ThrottlePlan::SelfTuned(of)) = plan.throttle() else { panic!("it is self-tuned") };
    of
}

/// A flit takes 80 ns with 16 bytes at 200 MB/s, and 6.25 with one at 160; a block of 64 bytes
/// takes 64 ns at 1 GB/s.
#[test]
fn gather_period_defaults_to_32_flits() {
    let ns = |tenths: u64| Span::from_ps(tenths * 100);
    for (preset, gather) in
        [("yum-1600", ns(25_600)), ("myrinet-1280", ns(2_000)), ("santos-4x", ns(20_480))]
    {
        let expected = SelfTunedPlan {
            gather,
            side_band: gather,
            tuning_gathers: 3,
            threshold_millionths: 100_000,
            increase_millionths: 10_000,
            decrease_millionths: 40_000,
            drop_millionths: 250_000,
            patience: 5,
        };
        assert_eq!(self_tuned(preset, "\"self-tuned\""), expected, "{preset}");
    }
    let of = self_tuned("yum-1600", r#"{ self-tuned = { gather = "1 us", tuning_gathers = 2 } }"#);
    assert_eq!((of.gather, of.side_band, of.tuning_gathers), (ns(10_000), ns(10_000), 2));
}

#[test]
fn throttling_requires_shared_or_exempt_credits() {
    for control in ["\"at-least-one\"", "\"self-tuned\""] {
        let plan = compiled("yum-1600", control, "").unwrap().plan;
        assert_eq!(plan.classes[0].post.credits, Credits::OfBuffer);
        let plan = compiled("yum-1600", control, "post.credits = \"exempt\"").unwrap().plan;
        assert_eq!(plan.classes[0].post.credits, Credits::Exempt);
        let refused = compiled("yum-1600", control, "post.credits = { per-host = 3 }").unwrap_err();
        assert!(refused.to_string().contains("traffic[0].post.credits"), "{refused}");
    }
}

#[test]
fn invalid_throttle_settings_are_refused_with_their_key() {
    for (parameters, key, excerpt) in [
        ("gather = \"0 ps\"", "gather", "above 0"),
        ("gather = \"2 s\"", "gather", "at most"),
        (
            "gather = \"1 us\", side_band = \"3001 ns\"",
            "side_band",
            "a side band slower than its tuning period",
        ),
        ("tuning_gathers = 0", "tuning_gathers", "from 1 to 1,000, not 0"),
        ("patience = 1001", "patience", "from 1 to 1,000, not 1001"),
        ("threshold = 1.1", "threshold", "a fraction from 0 to 1, not 1.1"),
        ("increase = -0.1", "increase", "a fraction from 0 to 1, not -0.1"),
        ("decrease = 2.0", "decrease", "a fraction from 0 to 1, not 2"),
        ("drop = nan", "drop", "a fraction from 0 to 1, not NaN"),
    ] {
        let control = format!("{{ self-tuned = {{ {parameters} }} }}");
        let error = compiled("yum-1600", &control, "").unwrap_err().to_string();
        let key = format!("network.adapters.congestion_control.self-tuned.{key}");
        assert!(error.contains(&key) && error.contains(excerpt), "{error}");
        assert!(error.contains("throttle.toml:5:"), "{error}");
    }
    let just = r#"{ self-tuned = { gather = "1 us", side_band = "3 us" } }"#;
    assert_eq!(self_tuned("yum-1600", just).side_band, Span::from_ps(3_000_000));
}
