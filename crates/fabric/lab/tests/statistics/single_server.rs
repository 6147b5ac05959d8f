//! Queues in front of one link are M/D/1: the mean latency has a closed form.

use crate::runs::{SEEDS, holds, latency_ps, plan, run};

/// A flit of 6,250 ps, cables of 10 m and 49,200 ps.
const FLIT_PS: f64 = 6_250.0;
const DELAY_PS: f64 = 49_200.0;
const BYTES: f64 = 100.0;

/// One switch; only payload is on the wire.
fn star(hosts: u32, sending: &str, load: f64, setup_ns: u32, time: &str) -> String {
    format!(
        r#"
        topology.generate.star.hosts = {hosts}
        [network]
        preset = "myrinet-1280"
        routing_delay = "0 ps"
        setup_delay = "{setup_ns} ns"
        header = {{ route_bytes = false, type_bytes = "0 B", trailer_bytes = "0 B" }}
        [[traffic]]
        hosts = {sending}
        load = {load}
        length = {{ fixed = "{BYTES} B" }}
        destinations = {{ host = "h0" }}
        [stop]
        time = "{time}"
        "#
    )
}

/// Returns the mean latency by Pollaczek and Khinchine, if a worm occupies the server for
/// `service_ps` and takes `unloaded_ps` from the head of the queue on.
fn truth_ps(utilisation: f64, service_ps: f64, unloaded_ps: f64) -> f64 {
    unloaded_ps + service_ps * utilisation / (2.0 * (1.0 - utilisation))
}

fn held(scenario: &str, truth_ps: f64) -> usize {
    let plan = plan(scenario);
    (0..SEEDS).filter(|seed| holds(&latency_ps(&run(&plan, *seed)), truth_ps)).count()
}

fn assert_held(scenario: &str, truth_ps: f64) {
    let held = held(scenario, truth_ps);
    assert!(held >= 93, "{held} of {SEEDS} intervals hold the true mean of {truth_ps:.0} ps");
}

#[test]
fn source_queue_delay_matches_the_single_server_mean() {
    for (load, time) in [(0.3, "100 ms"), (0.5, "100 ms"), (0.8, "100 ms")] {
        let service = BYTES * FLIT_PS;
        let unloaded = service + FLIT_PS + 2.0 * DELAY_PS;
        assert_held(&star(2, r#"["h1"]"#, load, 0, time), truth_ps(load, service, unloaded));
    }
}

/// Setting the output up for the next worm is part of the service: see the gap between two worms in
/// `docs/concepts/timing.md`.
#[test]
fn output_delay_matches_single_server_with_worm_gap() {
    let (setup_ns, gap) = (125, 125_000.0);
    for (load, time) in [(0.3, "10 ms"), (0.5, "20 ms"), (0.65, "60 ms")] {
        let service = BYTES * FLIT_PS + gap;
        let unloaded = BYTES * FLIT_PS + gap + FLIT_PS + 2.0 * DELAY_PS;
        let utilisation = load * service / (BYTES * FLIT_PS);
        let scenario = star(5, r#"["h1", "h2", "h3", "h4"]"#, load / 4.0, setup_ns, time);
        assert_held(&scenario, truth_ps(utilisation, service, unloaded));
    }
}
