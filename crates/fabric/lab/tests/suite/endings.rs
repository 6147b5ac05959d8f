//! Workloads that end, short runs, and values drawn once.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use crate::support;
use gingham_lab::{DrawKind, Engine, Record, Verdict};

/// A message of 512 bytes takes 3.2 us on a link of 160 MB/s.
const TWO: &str = r#"
    topology.generate.star.hosts = 2
    network.preset = "myrinet-1280"

    [[traffic]]
    name = "data"
    hosts = ["h0"]
    destinations = { host = "h1" }
    load = 0.2
    length = { fixed = "512 B" }

    [stop]
    time = "10 ms"
"#;

fn record_by(engine: Engine, settings: &[(&str, &str)]) -> Record {
    support::record_by(engine, TWO, settings)
}

fn record(settings: &[(&str, &str)]) -> Record {
    record_by(Engine::Fast, settings)
}

#[test]
fn finite_workload_makespan_is_the_last_delivery() {
    // One message every 3.2 us / 0.2 = 16 us: created at 1, 17, 33 and 49 us.
    let finite = [
        ("traffic.0.arrivals", r#"{ constant = { phase = "1 us" } }"#),
        ("traffic.0.stop", r#""50 us""#),
    ];
    for engine in [Engine::Fast, Engine::Oracle] {
        let record = record_by(engine, &finite);
        let class = &record.classes[0];
        assert_eq!((record.verdict, class.verdict), (Verdict::Finished, Verdict::Finished));
        assert_eq!([class.messages_created, class.messages_followed], [4, 4]);
        let longest_ns = class.latency_max_ns.unwrap();
        assert!((class.latency_mean_ns.unwrap() - longest_ns).abs() < 1e-6);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole")]
        let travel_ps = (longest_ns * 1e3).round() as u64;
        assert_eq!(record.makespan_ps, Some(49_000_000 + travel_ps));
        // The window ends with the section of the last delivery: 10 ms / 64.
        assert_eq!(record.warm_up_ps, 0);
        assert!(record.window_end_ps < 160_000_000, "{}", record.window_end_ps);
    }
}

#[test]
fn explicit_warm_up_applies_to_finite_workloads() {
    let settings = [("traffic.0.stop", r#""5 ms""#), ("stop.warm_up", r#""1 ms""#)];
    let record = record(&settings);
    assert_eq!(record.verdict, Verdict::Finished);
    // Sections last 10 ms / 64 = 156.25 us; this is the seventh boundary.
    assert!(record.warm_up_ps >= 1_000_000_000, "{}", record.warm_up_ps);
}

#[test]
fn run_ending_before_its_workload_is_not_finished() {
    let record = record(&[("traffic.0.stop", r#""20 ms""#)]);
    assert_eq!((record.verdict, record.makespan_ps), (Verdict::Ok, None));
}

#[test]
fn window_below_five_latencies_is_not_saturated() {
    let short = record(&[("stop.time", r#""200 ns""#), ("traffic.0.load", "0.5")]);
    assert_eq!(short.verdict, Verdict::NotConverged);
    let reason = &short.classes[0].verdict_reason;
    assert!(reason.contains("(stop.time)") && !reason.contains("traffic.0.load"), "{reason}");
    // Messages at 0 and at 3.2 us / 0.9 = 3.56 us; the first takes 3.47 us.
    let two = [
        ("stop.time", r#""6 us""#),
        ("traffic.0.arrivals", r#"{ constant = { phase = "0 ps" } }"#),
        ("traffic.0.load", "0.9"),
    ];
    assert_eq!(record(&two).verdict, Verdict::NotConverged);
    let overloaded = [("stop.time", r#""2 ms""#), ("traffic.0.length", r#"{ fixed = "8 B" }"#)];
    let overloaded = record(&[&overloaded[..], &[("traffic.0.load", "1.0")]].concat());
    assert_eq!(overloaded.verdict, Verdict::Saturated);
}

#[test]
fn filling_network_is_not_saturated_in_four_latencies() {
    // Two cables of 20 km delay by 200 us: messages created in the last quarter of 800 us are still
    // in flight.
    let long = [
        ("network.cable_length", r#""20000 m""#),
        ("traffic.0.arrivals", r#""constant""#),
        ("traffic.0.load", "0.5"),
        ("stop.time", r#""800 us""#),
        ("stop.warm_up", r#""0 ps""#),
    ];
    let class = record(&long).classes.swap_remove(0);
    assert_eq!(class.verdict, Verdict::NotConverged, "{class:?}");
    let reason = &class.verdict_reason;
    let latencies = reason.strip_prefix("the window lasts for ").unwrap();
    let (latencies, rest) = latencies.split_once(' ').unwrap();
    assert!((3.0..4.5).contains(&latencies.parse::<f64>().unwrap()), "{reason}");
    assert!(rest.starts_with("mean network latencies, and 5 are needed"), "{reason}");
}

#[test]
fn series_steps_do_not_change_the_verdict() {
    let class = |step: Option<&'static str>| {
        let step = step.map(|width| ("measure.step", width));
        let settings = [
            ("stop.time", r#""2 ms""#),
            ("traffic.0.length", r#"{ fixed = "8 B" }"#),
            ("traffic.0.load", "1.0"),
        ];
        let settings: Vec<_> = settings.into_iter().chain(step).collect();
        record(&settings).classes.swap_remove(0)
    };
    let slices = class(None);
    assert_eq!(slices.verdict, Verdict::Saturated);
    for step in [r#""1 us""#, r#""2 ms""#, r#""1500 us""#] {
        let class = class(Some(step));
        assert_eq!(
            (class.verdict, &class.verdict_reason),
            (slices.verdict, &slices.verdict_reason)
        );
    }
}

#[test]
fn finished_verdict_counts_dropped_messages() {
    // Four messages of 512 B; two of them conform to a bucket of 1 KiB.
    let settings = [
        ("traffic.0.arrivals", r#"{ constant = { phase = "1 us" } }"#),
        ("traffic.0.stop", r#""50 us""#),
        ("traffic.0.policing", r#"{ rate = 0.001, burst = "1 KiB", excess = "drop" }"#),
    ];
    let record = record(&settings);
    assert_eq!(record.verdict, Verdict::Finished);
    let class = &record.classes[0];
    assert_eq!([class.messages_followed, class.messages_dropped], [2, 2]);
    let described = "2 of 4 messages delivered, 2 dropped by policing";
    assert!(class.verdict_reason.starts_with(&format!("{described}; ")), "{class:?}");
    let reason = &record.verdict_reason;
    assert!(reason.starts_with(&format!("{described}, the last after ")), "{reason}");
}

#[test]
fn finished_verdict_counts_refused_streams() {
    let text = r#"
        topology.generate.star.hosts = 2
        network.preset = "yum-1600"
        network.admission.share = 0.5
        network.adapters.send_buffer = 400
        stop.time = "20 ms"
        [[traffic]]
        name = "video"
        hosts = ["h0"]
        streams = { data = "mpeg2", count = 2, interval = "1 ms", start = "0 s", lifetime = "5 ms", solicits = 4.0 }
    "#;
    let record = support::record(text, &[]);
    assert_eq!(record.verdict, Verdict::Finished, "{}", record.verdict_reason);
    for reason in [&record.verdict_reason, &record.classes[0].verdict_reason] {
        assert!(reason.contains("; 1 of 2 streams were refused, "), "{reason}");
    }
}

#[test]
fn too_few_on_off_periods_are_not_converged() {
    let bursts = |on: &str, off: &str| {
        let arrivals = format!("{{ on-off = {{ on = \"{on}\", off = \"{off}\" }} }}");
        let arrivals = ("traffic.0.arrivals", arrivals.as_str());
        record(&[arrivals, ("traffic.0.load", "0.05"), ("stop.time", r#""100 ms""#)]).verdict
    };
    // A cycle of 20 ms gives 5 cycles in 100 ms. A cycle of 20 us gives 5,000, and the load of one
    // source is known to 2 sqrt(2 (10 x 10)^2 / 20^3 us x 100 ms) / 50 ms = 2.0 %.
    assert_eq!(bursts("10 ms", "10 ms"), Verdict::NotConverged);
    assert_eq!(bursts("10 us", "10 us"), Verdict::Ok);
}

#[test]
fn replies_inherit_on_off_periods_of_requests() {
    let text = r#"
        topology.generate.star.hosts = 2
        network.preset = "myrinet-1280"
        [[traffic]]
        name = "requests"
        hosts = ["h0"]
        destinations = { host = "h1" }
        arrivals = { on-off = { on = "10 ms", off = "10 ms" } }
        load = 0.05
        length = { fixed = "512 B" }
        [[traffic]]
        name = "replies"
        arrivals = { reply = { to = "requests" } }
        length = { fixed = "64 B" }
        [[traffic]]
        name = "replies to replies"
        arrivals = { reply = { to = "replies" } }
        length = { fixed = "64 B" }
        [stop]
        time = "100 ms"
    "#;
    for class in support::record(text, &[]).classes {
        assert_eq!(class.verdict, Verdict::NotConverged, "{class:?}");
        assert!(class.verdict_reason.contains("on-off periods"), "{class:?}");
    }
}

fn kinds(settings: &[(&str, &str)]) -> Vec<DrawKind> {
    support::compiled(TWO, settings).draws.into_iter().map(|draw| draw.kind).collect()
}

#[test]
fn values_drawn_once_per_run_are_listed() {
    let stagger = ("traffic.0.stagger", r#"{ every = "1 us", jitter = "1 us" }"#);
    let backlogged = r#"topology.generate.star.hosts = 2
        network.preset = "myrinet-1280"
        [[traffic]]
        arrivals = "backlogged"
        length = { fixed = "64 B" }
        stagger = { every = "1 us", jitter = "1 us" }
        [stop]
        time = "1 ms""#;
    assert_eq!(kinds(&[]), []);
    // The effect of the start of a Poisson process vanishes.
    assert_eq!(kinds(&[stagger]), []);
    let constant = ("traffic.0.arrivals", r#""constant""#);
    assert_eq!(kinds(&[constant]), [DrawKind::Phase]);
    assert_eq!(kinds(&[constant, stagger]), [DrawKind::Phase, DrawKind::Start]);
    let given = ("traffic.0.arrivals", r#"{ constant = { phase = "1 us" } }"#);
    assert_eq!(kinds(&[given]), []);
    let permuted = ("traffic.0.destinations", r#""random-permutation""#);
    let all = ("traffic.0.hosts", r#"["*"]"#);
    assert_eq!(kinds(&[permuted, all]), [DrawKind::Permutation]);
    let irregular = ("topology", "{ generate = { irregular = { switches = 5 } } }");
    let uniform = ("traffic.0.destinations", r#""uniform""#);
    assert_eq!(kinds(&[irregular, uniform, all]), [DrawKind::Topology]);
    let draws = support::compiled(backlogged, &[]).draws;
    assert_eq!(
        (draws[0].kind, draws[0].key.as_str()),
        (DrawKind::Start, "traffic.0.stagger.jitter")
    );
}

#[test]
fn run_with_values_drawn_once_is_ok_of_draw() {
    let permuted = [("traffic.0.arrivals", r#""constant""#)];
    let record = record(&permuted);
    assert_eq!((record.verdict, record.classes[0].verdict), (Verdict::OkOfDraw, Verdict::OkOfDraw));
    assert_eq!(record.draws.len(), 1);
    assert_eq!(self::record(&[]).verdict, Verdict::Ok);
}
