//! Queues in front of one link are M/D/1.
//!
//! ```text
//!   h1 ─ source queue ─► cable ─► switch ─► h0        one sender: its source queue
//!   h1 .. h4 ──────────► cables ─► switch ─► h0       several: all wait for the output, wherever they stand
//! ```
//!
//! Arrivals are Poisson, messages of one length `B`, and the switch takes no time, so that worms follow each other without a gap
//! (`docs/concepts/timing.md`) and serving a message takes `S = B f`. Then the mean time from creation to delivery
//! is that of a lone worm, `S + f + 2 d`, and a wait of `S x load / (2 (1 - load))` (Pollaczek and Khinchine; Kleinrock,
//! "Queueing Systems" 1, 1975, section 5.6). With several senders the output never idles while a message waits, and the mean
//! wait does not depend on the order of equal services, so that it is the same.

use crate::runs::{SEEDS, holds, latency_ps, plan, run};

const PAYLOAD_BYTES: u32 = 100;
/// A flit at 160 MB/s.
const FLIT_PS: f64 = 6_250.0;
/// Ten metres of cable.
const DELAY_PS: f64 = 49_200.0;

/// Hosts on one switch that takes no time; those sending do so to h0.
fn star(hosts: u32, sending: &str, load: f64, time: &str) -> String {
    format!(
        r#"
        topology.generate.star.hosts = {hosts}
        [network]
        preset = "myrinet-1280"
        routing_delay = "0 ps"
        setup_delay = "0 ps"
        header = {{ route_bytes = false, type_bytes = "0 B", trailer_bytes = "0 B" }}
        [[traffic]]
        hosts = {sending}
        load = {load}
        length = {{ fixed = "{PAYLOAD_BYTES} B" }}
        destinations = {{ host = "h0" }}
        [stop]
        time = "{time}"
        "#
    )
}

/// Mean latency at the load of the link to h0.
fn truth_ps(load: f64) -> f64 {
    let service = f64::from(PAYLOAD_BYTES) * FLIT_PS;
    service + FLIT_PS + 2.0 * DELAY_PS + service * load / (2.0 * (1.0 - load))
}

/// In how many of a hundred runs the interval of mean latency holds the true one, and the mean of all.
fn held(text: &str, truth_ps: f64) -> (usize, f64) {
    let plan = plan(text);
    let found: Vec<_> = (0..SEEDS).map(|seed| latency_ps(&run(&plan, seed))).collect();
    let held = found.iter().filter(|estimate| holds(estimate, truth_ps)).count();
    (held, found.iter().map(|estimate| estimate.mean).sum::<f64>() / 100.0)
}

/// Of a hundred runs at each load, those whose interval holds the true mean.
fn assert_held(hosts: u32, sending: &str, senders: f64, found: &str) {
    let held = [(0.3, "10 ms"), (0.5, "20 ms"), (0.8, "40 ms")].map(|(load, time)| {
        let (held, mean) = held(&star(hosts, sending, load / senders, time), truth_ps(load));
        // The mean of a hundred means knows ten times as much as one.
        assert!((mean / truth_ps(load) - 1.0).abs() < 0.005, "{mean} ps at {load}");
        assert!(held >= 90, "{held} of 100 at {load}");
        held
    });
    assert!(held.iter().sum::<usize>() >= 3 * 93, "{held:?}, once {found}");
}

#[test]
fn a_source_queue_is_m_d_1() {
    assert_held(2, r#"["h1"]"#, 1.0, "98, 92 and 97");
}

#[test]
fn hosts_that_share_an_output_queue_as_one() {
    assert_held(5, r#"["h1", "h2", "h3", "h4"]"#, 4.0, "94, 100 and 95");
}
