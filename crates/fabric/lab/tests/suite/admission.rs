//! Admission control: refusals of settings and of streams.

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, Engine, LabError, Run, compile};
use std::path::Path;

/// Compiles streams of 4 Mbit/s from each of four hosts.
fn compiled(preset: &str, settings: &[(&str, &str)]) -> Result<Compiled, LabError> {
    let text = format!(
        r#"
topology.generate.star.hosts = 4
stop.time = "20 ms"
network.preset = "{preset}"
network.admission.share = 0.8
network.adapters.send_buffer = 400
[[traffic]]
name = "video"
streams = {{ data = "mpeg2", count = 2 }}
"#
    );
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    compile(&ScenarioSource::parse("admission.toml", &text, folder, &overrides)?, true)
}

#[test]
fn unworkable_admission_settings_are_refused() {
    for (preset, settings, excerpt) in [
        (
            "roce-400",
            vec![
                ("network.admission.length", "64 KiB"),
                ("network.packets.buffer", "8 KiB"),
                ("network.packet_max", "64 KiB"),
            ],
            "a probe has 64 KiB of payload",
        ),
        (
            "infiniband-ndr",
            vec![("network.admission.length", "5000 B")],
            "probes of admission control carry 5 kB, and infiniband-ndr has packets of at most 4 KiB",
        ),
        (
            "yum-1600",
            vec![("network.packet_max", "400 B"), ("network.admission.length", "401 B")],
            "and network.packet_max allows packets of at most 400 B of payload",
        ),
        ("yum-1600", vec![("traffic.0.streams.solicits", "400")], "would never be admitted"),
        ("yum-1600", vec![("network.admission.lease", "1 us")], "a lease is at least as long"),
        ("yum-1600", vec![("traffic.0.streams.crashes", "1.5")], "from 0 to 1, not 1.5"),
        (
            "yum-1600",
            vec![("network.crashes", r#"[{ hosts = ["h9"], at = "1 ms" }]"#)],
            "no host is called `h9`",
        ),
        (
            "yum-1600",
            vec![("network.crashes", r#"[{ hosts = [], at = "1 ms" }]"#)],
            "needs at least one host",
        ),
        (
            "yum-1600",
            vec![("network.crashes", r#"[{ hosts = ["*"], at = "1 s" }]"#)],
            "before these hosts crash",
        ),
    ] {
        let error = compiled(preset, &settings).expect_err(excerpt).to_string();
        assert!(error.contains(excerpt), "{error}");
    }
}

/// Streams that request 100 times their mean rate, 400 Mbit/s each; the only link to h0 has
/// bandwidth for 3 of 4.
#[test]
fn verdict_names_the_link_without_bandwidth() {
    let placement = r#"{ pairs = ["h1 -> h0", "h2 -> h0"] }"#;
    let settings = [
        ("traffic.0.streams.placement", placement),
        ("traffic.0.streams.solicits", "100"),
        ("traffic.0.streams.start", "0 s"),
    ];
    let mut run = Run::new(compiled("yum-1600", &settings).expect("a scenario"), Engine::Fast);
    while !run.advance(100_000).expect("time goes on").done {}
    let reason = &run.record().classes[0].verdict_reason;
    assert!(
        reason.contains("1 of 4 streams were refused, 1 of them for lack of bandwidth on"),
        "{reason}"
    );
}
