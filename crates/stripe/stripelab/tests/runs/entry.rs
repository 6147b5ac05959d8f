//! The queue before the sender, and the goodput of a transport behind it.

use crate::support::{integers, reals, refused, run};
use gingham_stripelab::Record;
use gingham_stripelab::scenario::{Overrides, ScenarioSource};
use std::path::Path;

/// Channels with jitter, and losses that are repaired.
const JITTER: &str = "stripe.repair = {}\n\
    [[channel]]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\njitter = \"10 ms\"\nloss = 0.005\nqueue = \"256 kB\"\n\
    [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"60 ms\"\njitter = \"10 ms\"\nloss = 0.005\nqueue = \"256 kB\"\n";

const UNEQUAL: &str = "[[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"256 kB\"\n\
    [[channel]]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"256 kB\"\n";

fn scenario(top: &str, channels: &str, sources: &str) -> String {
    format!(
        "{top}\nstripe.order = \"free\"\nstop = {{ time = \"8 s\", warm_up = \"3 s\" }}\n{channels}{sources}"
    )
}

const FLOWS: &str = "entry.queue = \"fq-codel\"";
const ONE: &str = "entry.queue = \"fifo\"";
const CUBIC: &str = "[[source]]\nkind.cubic = {}\n";
const MARKED: &str = "[[source]]\nkind.cubic.ecn = true\n";

fn share(record: &Record) -> f64 {
    record.goodput_bits_per_s.expect("there is some") / record.capacity_bits_per_s
}

#[track_caller]
fn assert_all_counted(record: &Record) {
    let before = record.packets_refused + record.packets_dropped_before;
    assert_eq!(record.packets_offered, before + record.packets_sent);
    let dropped: u64 = integers(record, "pipe", "entry_dropped").iter().sum();
    let marked: u64 = integers(record, "pipe", "packets_marked").iter().sum();
    assert_eq!((dropped, marked), (before, record.packets_marked));
}

#[test]
fn transport_is_slowed_by_drops_and_not_by_refusal() {
    let record = run(&scenario(FLOWS, UNEQUAL, CUBIC));
    assert_all_counted(&record);
    assert_eq!((record.packets_refused, record.packets_marked), (0, 0));
    assert!(record.packets_dropped_before > 0);
    assert!(share(&record) > 0.95, "{}", share(&record));
    let half = record.sojourn_p50_ns.expect("packets were sent");
    assert!(half < 40_000_000, "{half} ns, twice the target at the most");
    let waiting = integers(&record, "pipe", "entry_bytes");
    assert!(waiting.iter().max().copied() <= Some(record.entry_bytes_max));
    assert!(reals(&record, "pipe", "sojourn_p50_ns").iter().any(|ns| *ns > 0.0));
}

#[test]
fn ecn_transport_loses_nothing() {
    let record = run(&scenario(FLOWS, UNEQUAL, MARKED));
    assert_all_counted(&record);
    assert_eq!((record.packets_refused, record.packets_dropped_before), (0, 0));
    let source = &record.sources[0];
    assert!(record.packets_marked > 0 && source.ecn_reductions > Some(0));
    assert_eq!((source.retransmissions, source.timeouts), (Some(0), Some(0)));
    assert!(share(&record) > 0.95, "{}", share(&record));
    let unread = run(&scenario(&format!("{FLOWS}\nentry.ecn = false"), UNEQUAL, MARKED));
    assert!(unread.packets_marked == 0 && unread.packets_dropped_before > 0);
}

#[test]
fn flow_queues_increase_goodput_over_lossy_channels() {
    let flows = run(&scenario(FLOWS, JITTER, CUBIC));
    let one = run(&scenario(ONE, JITTER, CUBIC));
    assert_all_counted(&flows);
    assert_all_counted(&one);
    assert!(share(&flows) > 1.2 * share(&one), "{} and {}", share(&flows), share(&one));
}

/// Each packet of the call waits for at most one selected packet and the remainder of a quantum.
#[test]
fn sparse_flow_has_low_delay_beside_bulk_flows() {
    let call = "[[source]]\nkind.constant.rate = \"64 kbit/s\"\npackets.fixed = \"160 B\"\n";
    let sources = format!("{CUBIC}{CUBIC}{call}");
    let flows = run(&scenario(FLOWS, UNEQUAL, &sources));
    let one = run(&scenario(ONE, UNEQUAL, &sources));
    let delay = |record: &Record| record.sources[2].delay_mean_ns.expect("it was carried");
    assert!(delay(&flows) < delay(&one) - 20e6, "{} and {}", delay(&flows), delay(&one));
    let rate = |index: usize| flows.sources[index].goodput_bits_per_s.expect("it was carried");
    assert!((0.9..1.1).contains(&(rate(0) / rate(1))), "{} and {}", rate(0), rate(1));
    assert_eq!(flows.sources[2].packets_dropped_before, 0);
}

#[test]
fn invalid_entry_values_are_rejected_by_key() {
    for (entry, message) in [
        (
            "entry = { queue = \"fifo\", target = \"5 ms\" }",
            "`entry.target`: plays no part in one queue",
        ),
        ("entry = { queue = \"fifo\", ecn = false }", "`entry.ecn`: plays no part in one queue"),
        ("entry.limit = \"1499 B\"", "`entry.limit`: expected at least"),
        (
            "entry = { queue = \"fq-codel\", limit = \"1499 B\" }",
            "`entry.limit`: expected at least",
        ),
        ("entry = { queue = \"fq-codel\", flows = 0 }", "`entry.flows`: expected 1 to"),
        ("entry = { queue = \"fq-codel\", interval = \"0 s\" }", "`entry.interval`: expected 1 ns"),
        ("entry = { queue = \"fq-codel\", target = \"61 s\" }", "`entry.target`: expected 1 ns"),
    ] {
        let error = refused(&scenario(entry, UNEQUAL, CUBIC)).expect("refused");
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn renamed_key_is_reported_with_its_new_name() {
    let text = "[stripe]\nqueue = \"1 MB\"\n";
    let read = ScenarioSource::parse("s.toml", text, Path::new("."), &Overrides::default());
    let error = read.expect_err("there is no such key").to_string();
    assert!(
        error.starts_with("s.toml:2:9: in `stripe.queue`: is called `entry.limit` now"),
        "{error}"
    );
}
