//! A schedule of a run's messages gives equal deliveries, to the picosecond.

use super::support::{Row, compiled, compiled_in, folder, messages};
use gingham_lab::Engine;
use std::fmt::Write as _;

/// Three classes that stop in time for all messages to be delivered.
const ORIGINAL: &str = r#"
    seed = 11
    topology.generate.torus = { dimensions = [3, 3], hosts_per_switch = 2 }
    stop = { time = "400 us", warm_up = "0 ps" }

    [[traffic]]
    name = "short"
    load = 0.15
    length.exponential = "60 B"
    stop = "200 us"

    [[traffic]]
    name = "bursts"
    arrivals.on-off-pareto = { on = "10 us", off = "40 us", shape = 1.4 }
    load = 0.1
    length.bimodal = { short = "16 B", long = "1 KiB", long_share = 0.3 }
    destinations = "tornado"
    stop = "200 us"

    [[traffic]]
    name = "bulk"
    arrivals = "backlogged"
    hosts = ["h0-0-0", "h1-2-1"]
    length.fixed = "700 B"
    destinations.host = "h2-2-0"
    start = "50 us"
    stop = "100 us"
"#;

const REPLAY: &str = r#"
    seed = 999
    topology.generate.torus = { dimensions = [3, 3], hosts_per_switch = 2 }
    stop = { time = "400 us", warm_up = "0 ps" }
    [[traffic]]
    arrivals.schedule = "messages.csv"
"#;

/// Formats rows with another order of columns and one more.
fn csv(rows: &[Row]) -> String {
    let mut text = "destination,created_ps,payload_bytes,delivered_ps,source\n".to_owned();
    for row in rows {
        let Row { created_ps, source, destination, payload_bytes, delivered_ps, .. } = row;
        writeln!(text, "{destination},{created_ps},{payload_bytes},{delivered_ps},{source}")
            .unwrap();
    }
    text
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows
}

#[test]
fn replay_delivers_the_original_messages() {
    let original = messages(compiled(ORIGINAL), Engine::Fast);
    assert!(original.len() > 500, "{} messages", original.len());
    let folder = folder("replay", &[("messages.csv", &csv(&original))]);
    for engine in [Engine::Fast, Engine::Oracle] {
        let again = messages(compiled_in(&folder, REPLAY).unwrap(), engine);
        assert_eq!(sorted(again), sorted(original.clone()), "{engine:?}");
    }
}

#[test]
fn schedule_rows_outside_start_and_stop_are_skipped() {
    let rows = "created_ps,source,destination,payload_bytes\n\
                99,h0,h1,8\n100,h0,h1,9\n100,h0,h2,10\n200,h1,h0,11\n";
    let folder = folder("cut", &[("messages.csv", rows)]);
    let text = "topology.generate.star.hosts = 3\nstop = { time = \"1 ms\", warm_up = \"0 ps\" }\n[[traffic]]\n\
                arrivals.schedule = \"messages.csv\"\nstart = \"100 ps\"\nstop = \"200 ps\"";
    let compiled = compiled_in(&folder, text).unwrap();
    assert_eq!(compiled.notes, ["class `all`: 2 of 4 messages lie outside start and stop"]);
    let rows = messages(compiled, Engine::Fast);
    // Two messages of one instant and host leave in the order of their rows.
    let sent: Vec<_> = rows.iter().map(|row| (row.payload_bytes, row.entered_ps)).collect();
    assert_eq!((sent[0], sent[1].0, sent.len()), ((9, 100), 10, 2));
    assert!(sent[1].1 > 100);
}
