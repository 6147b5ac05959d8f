//! Marks and responses: refusals, notes, and figure 3 of Santos et al. 2002.

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::{ClassId, Trigger};
use std::fmt::Write;
use std::path::Path;

fn text(network: &str, window: &str) -> String {
    format!(
        r#"
        topology.generate.two-hosts.switches = 1
        stop = {{ time = "100 us", warm_up = "0 ps" }}
        network = {{ {network} }}
        traffic = [{{ hosts = ["h0"], load = 0.1, length.fixed = "2048 B", window = {{ packets = 1, {window} }} }}]
        "#
    )
}

fn compiled(text: &str) -> Result<Compiled, LabError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    compile(&ScenarioSource::parse("congestion.toml", text, folder, &Overrides::default())?, true)
}

const PACKETS: &str = "preset = \"santos-4x\"";

#[test]
fn unsupported_marking_and_responses_are_refused() {
    let of = |marking: &str| format!("{PACKETS}, marking = {marking}");
    let cases = [
        ("preset = \"myrinet-1280\", marking = \"naive\"".to_owned(), ""),
        ("preset = \"yum-1600\", marking = \"input-triggered\"".to_owned(), ""),
        (format!("{}, packets.output_buffer = \"8448 B\"", of("\"input-triggered\"")), ""),
        // Two inputs of four packets.
        (of("{ output-triggered = { threshold = 8 } }"), ""),
        (of("{ input-output-triggered = { threshold = -1 } }"), ""),
        (of("{ input-output-triggered = {} }"), ""),
        (of("{ naive = { fill = \"8449 B\" } }"), ""),
        (of("{ input-triggered = { fill = \"0 B\" } }"), ""),
        (of("{ input-triggered = { scan = \"all\" } }"), ""),
        (of("{ input-triggered = { average = \"50 us\" } }"), ""),
        (of("{ output-triggered = { threshold = 1, average = \"0 ps\" } }"), ""),
        (of("{ utilisation-triggered = { above = 1.0, average = \"50 us\" } }"), ""),
        (of("{ utilisation-triggered = { above = 0.9 } }"), ""),
        (of("{ fecn = { threshold = 16 } }"), ""),
        (of("{ fecn = { packet_size = 65536 } }"), ""),
        (of("{ red = { k_min = \"9 kB\", k_max = \"8 kB\" } }"), ""),
        (of("{ red = { p_max = 1.5 } }"), ""),
        (of("\"fecn\""), "response = { becn = { increase = 0 } }"),
        (of("\"fecn\""), "response = { becn = { increase = 256 } }"),
        (of("\"fecn\""), "response = { becn = { timer = 0 } }"),
        (of("\"fecn\""), "response = { becn = { min = 128 } }"),
        (of("\"fecn\""), "response = { becn = { limit = 2, table = [\"0:0\", \"0:1\"] } }"),
        (of("\"fecn\""), "response = { becn = { limit = 1, table = [\"0:0\", \"4:1\"] } }"),
        (of("\"fecn\""), "response = { becn = { limit = 20000 } }"),
        (of("\"red\""), "response = { dcqcn = { g = 0.0 } }"),
        (of("\"red\""), "response = { dcqcn = { timer = \"0 ps\" } }"),
        (of("\"red\""), "response = { dcqcn = { byte_counter = \"0 B\" } }"),
        (of("\"red\""), "response = { dcqcn = { fast_recovery = 0 } }"),
        (of("\"red\""), "response = { dcqcn = { additive = \"0 MB/s\" } }"),
        (of("\"red\""), "response = { dcqcn = { lowest = 0.0 } }"),
        (of("\"red\""), "acknowledged = { marked = \"50 us\" }"),
        (of("\"red\""), "acknowledged = { every = 2 }"),
        (of("\"red\""), "acknowledged = { every = 0 }"),
        (PACKETS.to_owned(), "response = { swift = { base_target = \"0 us\" } }"),
        (PACKETS.to_owned(), "response = { swift = { ai = 0.0 } }"),
        (PACKETS.to_owned(), "response = { swift = { max_mdf = 1.0 } }"),
        (PACKETS.to_owned(), "response = { swift = { fs_min_cwnd = 0.0 } }"),
        (PACKETS.to_owned(), "response = { swift = { fs_max_cwnd = 0.1 } }"),
        (PACKETS.to_owned(), "response = { timely = { alpha = 1.5 } }"),
        (PACKETS.to_owned(), "response = { timely = { min_rtt = \"0 us\" } }"),
        (PACKETS.to_owned(), "response = { timely = { t_low = \"1 ms\" } }"),
        (PACKETS.to_owned(), "response = { timely = { lowest = 0.0 } }"),
        (of("\"red\""), "acknowledged = { each = 2 }"),
        (of("\"naive\""), "response = { lipd = { lowest = 0.0 } }"),
        (of("\"naive\""), "response = { lipd = { lowest = 1.1 } }"),
        (of("\"naive\""), "response = { fimd = { lowest = nan } }"),
        (of("\"naive\""), "response = { aimd = { factor = 1.0 } }"),
        (of("\"naive\""), "response = { fimd = { factor = inf } }"),
        (of("\"naive\""), "response = { lipd = { lowest = 1e-15 } }"),
        (of("\"naive\""), "response = \"ecn\""),
    ];
    let mut messages = String::new();
    for (network, window) in cases {
        let text = text(&network, window);
        let message =
            compiled(&text).err().unwrap_or_else(|| panic!("{network} {window} is taken"));
        writeln!(messages, "{network}; {window}\n  => {message}\n").unwrap();
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn settings_without_effect_are_noted() {
    let notes = |marking: &str, window: &str| {
        compiled(&text(&format!("{PACKETS}{marking}"), window)).unwrap().notes
    };
    let mut all = String::new();
    for (marking, window) in [
        ("", ""),
        (", marking = \"naive\"", ""),
        ("", "response = \"lipd\""),
        (", marking = \"naive\"", "response = \"lipd\""),
        (", marking = \"fecn\"", ""),
        ("", "response = \"becn\""),
        (", marking = { fecn = { threshold = 0 } }", "response = \"becn\""),
        (", marking = { fecn = { packet_size = 32 } }", "response = \"becn\""),
        (", marking = { fecn = { packet_size = 33 } }", "response = \"becn\""),
        (", marking = { red = { k_min = \"1 MB\", k_max = \"2 MB\" } }", "response = \"dcqcn\""),
        (", marking = { red = { p_max = 0.0 } }", "response = \"dcqcn\""),
        ("", "response = \"swift\""),
        (", marking = \"naive\"", "response = \"timely\""),
    ] {
        writeln!(all, "{marking}; {window}: {:#?}\n", notes(marking, window)).unwrap();
    }
    insta::assert_snapshot!(all);
}

/// Round trips need all acknowledgements; a window that may fall to one packet needs one for each.
#[test]
fn round_trip_responses_need_measurable_acks() {
    let is_refused = |window: &str| {
        let text = text(PACKETS, "").replace("packets = 1, ", window);
        let Err(error) = compiled(&text) else { return false };
        assert!(error.to_string().contains("`traffic[0].window.acknowledged`"), "{error}");
        true
    };
    for response in ["swift", "timely"] {
        let with = |before: &str| is_refused(&format!("{before}, response = \"{response}\""));
        assert!(with("acknowledged = { marked = \"50 us\" }"), "{response}");
        assert!(!with("packets = 4"), "{response}");
        let is_swift = response == "swift";
        assert_eq!(with("packets = 4, acknowledged = { every = 2 }"), is_swift, "{response}");
    }
}

/// Eight hosts send to one: without a response the delay is that of their windows, 512 packets at
/// .33 us.
#[test]
fn swift_keeps_incast_delay_at_its_target() {
    let delay_us = |response: &str| {
        let text = format!(
            r#"
            topology.generate.star.hosts = 9
            stop = {{ time = "8 ms", warm_up = "4 ms" }}
            network.preset = "roce-100"
            [[traffic]]
            hosts = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"]
            destinations.host = "h8"
            arrivals = "backlogged"
            length.fixed = "4096 B"
            window = {{ packets = 64, response = {response} }}
            "#
        );
        let mut simulation = gingham_engine::start(compiled(&text).unwrap().plan);
        simulation.advance(u64::MAX);
        let report = simulation.collector().report();
        let class = report.class(ClassId::new(0));
        let accepted = class.accepted_bytes_per_ps.unwrap().mean;
        // All of 100 Gbit/s, less headers.
        assert!(accepted > 0.97 * 0.0125, "{response}: {accepted}");
        class.network_latency_ps.unwrap().mean / 1e6
    };
    let null = delay_us("\"fixed\"");
    assert!((null - 170.6).abs() < 1.0, "{null}");
    for target in [10.0, 20.0, 40.0] {
        let swift =
            format!("{{ swift = {{ base_target = \"{target} us\", fs_range = \"0 us\" }} }}");
        let delay = delay_us(&swift);
        assert!((delay / target - 1.0).abs() < 0.02, "{target}: {delay}");
    }
}

/// A run should last two time constants of the slowest response: by default 2 x 55 us (4 + 500); at
/// 400 Gbit/s with the increase for 40 Gbit/s, 2 x 55 us (4 + 5000).
#[test]
fn run_too_short_for_its_response_is_noted() {
    let notes = |time: &str, response: &str| {
        let text = format!(
            r#"
            topology.generate.star.hosts = 3
            stop.time = "{time}"
            network = {{ preset = "roce-400", marking = "red" }}
            [[traffic]]
            hosts = ["h0", "h1"]
            destinations.host = "h2"
            arrivals = "backlogged"
            window = {{ acknowledged = {{ marked = "50 us" }}, response = {response} }}
            "#
        );
        let notes = compiled(&text).unwrap().notes;
        notes.into_iter().find(|note| note.starts_with("stop.time"))
    };
    assert_eq!(notes("55440 us", "\"dcqcn\""), None);
    let short = notes("55439 us", "\"dcqcn\"").unwrap();
    assert!(
        short.contains("traffic.0.window.response.dcqcn") && short.contains("55440 us"),
        "{short}"
    );
    let slow = "{ dcqcn = { additive = \"40 Mbit/s\" } }";
    assert!(notes("550 ms", slow).unwrap().contains("550440 us"));
    assert_eq!(notes("551 ms", slow), None);
    assert_eq!(notes("1 ms", "\"lipd\""), None);
}

/// Returns the shares of a link of ten near hosts, ten far hosts and a victim, and the marks by
/// trigger.
fn shares(marking: &str, buffer: &str) -> ([f64; 3], [u64; 2]) {
    let example = include_str!("../../../../../python/gingham/examples/congestion-control.toml");
    let network = format!("marking = {marking}\npackets.buffer = \"{buffer}\"");
    let text = example.replace("marking = \"input-triggered\"", &network);
    let plan = compiled(&text).expect("the example is right").plan;
    let mut simulation = gingham_engine::start(plan);
    simulation.advance(u64::MAX);
    let report = simulation.collector().report();
    let of = |class: usize| {
        let rate = report.class(ClassId::new(class)).accepted_bytes_per_ps;
        1_000.0 * rate.expect("all classes deliver").mean
    };
    for class in [0, 1] {
        // One idle flow of ten would give .9.
        let fairness = report.class_flows(ClassId::new(class)).and_then(|flows| flows.fairness);
        assert!(fairness.is_some_and(|index| index.mean > 0.98), "{marking}: {fairness:?}");
    }
    let marks = [Trigger::Input, Trigger::Output]
        .map(|trigger| ClassId::first(3).map(|class| report.marked_packets(class, trigger)).sum());
    ([of(0), of(1), of(2)], marks)
}

#[test]
fn figure_3_ranks_markings_as_in_the_paper() {
    let four = "8448 B";
    let ([local, remote, victim], marks) = shares("\"naive\"", four);
    // The only number used to calibrate the lowest rate; the root is full.
    assert!((0.88..0.93).contains(&(local / (local + remote))), "{local} {remote}");
    assert!(local + remote > 0.97 && victim > 0.4 && marks[0] > 0 && marks[1] == 0);
    let naive = remote / local;
    let ([local, remote, victim], marks) = shares("\"input-triggered\"", four);
    assert!(local + remote > 0.94 && victim > 0.4 && marks[0] > 0 && marks[1] == 0);
    let input = remote / local;
    let ([local, remote, victim], _) =
        shares("{ input-output-triggered = { threshold = 4 } }", four);
    // Ten times its share without control.
    assert!(local + remote < 0.9 && victim > 0.35, "{local} {remote} {victim}");
    let output = remote / local;
    assert!(naive < 0.2 && input > 2.0 * naive && output > 1.2 * input, "{naive} {input} {output}");
}

#[test]
fn input_of_twelve_packets_is_never_full() {
    // Eleven flows with one packet each arrive by the cable.
    let twelve = "25344 B";
    let (_, marks) = shares("{ input-output-triggered = { threshold = 8 } }", twelve);
    assert!(marks[0] == 0 && marks[1] > 1_000, "{marks:?}");
    let (_, marks) = shares("\"input-triggered\"", twelve);
    assert_eq!(marks, [0, 0]);
}
