//! Windows of transports after one loss, compared with the formulas of their RFCs.
//!
//! The receive window of 200 segments of 1500 B is less than a round trip of 100 ms at 100 Mbit/s
//! holds: there is no queue, and slow start ends with a window of 200. The source detects the loss
//! a round trip later, and its retransmission is acknowledged after another one.

use crate::support::{integers, refused, run};
use gingham_stripelab::Record;

const SEGMENT: f64 = 1_500.0;
const ROUND_TRIP_S: f64 = 0.1;

fn scenario(kind: &str) -> String {
    format!(
        "stop.time = \"7 s\"\nmeasure.packets = 5000\nstripe.repair.tries = 0\n\
         [[channel]]\nrate = \"100 Mbit/s\"\ndelay = \"50 ms\"\nlose = [5000]\n\
         [[source]]\nkind.{kind}.window = \"300 kB\"\n"
    )
}

/// Final window in segments, and the duration of congestion avoidance in seconds.
fn avoided(record: &Record) -> (f64, f64) {
    let source = &record.sources[0];
    let counts = (source.retransmissions, source.fast_recoveries, source.timeouts);
    assert_eq!(counts, (Some(1), Some(1), Some(0)));
    let sent_ns = integers(record, "packets", "sent_ns")[4_999];
    let window_bytes = source.window_bytes.expect("it is a transport");
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let (window, lost_s) = (window_bytes as f64 / SEGMENT, sent_ns as f64 / 1e9);
    // Segments sent until 7 s are acknowledged a round trip later.
    (window, 7.0 - lost_s - ROUND_TRIP_S)
}

#[track_caller]
fn assert_within(found: f64, expected: f64, segments: f64) {
    assert!((found - expected).abs() < segments, "{found}, expected {expected}");
}

/// RFC 5681: half of the data in flight, 200 segments without the three that have arrived; then a
/// segment per round trip, less the fractions of a byte, which are less than one of the 11 to 15
/// bytes that each acknowledgement adds.
#[test]
fn reno_halves_its_window_and_grows_by_one_segment_per_rtt() {
    let (window, avoided_s) = avoided(&run(&scenario("reno")));
    let grown = window - 98.5;
    assert!((0.9..=1.0).contains(&(grown * ROUND_TRIP_S / avoided_s)), "{window}");
}

/// RFC 9438: seven tenths, and W(t) = C (t - K)^3 + W_max, a round trip ahead. K is the cube root
/// of 60 / .4 s.
#[test]
fn cubic_reduces_to_70_percent_and_follows_its_function() {
    let (window, avoided_s) = avoided(&run(&scenario("cubic")));
    let since_k = avoided_s + ROUND_TRIP_S - 150.0_f64.cbrt();
    assert_within(window, 200.0 + 0.4 * since_k * since_k * since_k, 1.0);
    assert!(window > 140.0 + 9.0 / 17.0 * avoided_s / ROUND_TRIP_S + 20.0, "{window}");
}

#[test]
fn window_below_one_packet_is_rejected_by_its_key() {
    let text = scenario("cubic").replace("300 kB", "1499 B");
    let error = refused(&text).expect("refused");
    assert!(error.contains("`source[0].kind.cubic.window`: expected at least"), "{error}");
}

/// Without a quarantine the flow had 50 instead of 58 Mbit/s.
#[test]
fn channel_losing_half_does_not_reduce_goodput_of_others() {
    let line = |rate: u32, delay: u32, more: &str| {
        format!(
            "[[channel]]\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\nqueue = \"60 ms\"\n{more}\n"
        )
    };
    let clean = line(30, 15, "") + &line(30, 20, "");
    let goodput = |channels: &str| {
        let stop = "stop = { time = \"10 s\", warm_up = \"3 s\" }\n";
        let source = "[[source]]\nkind = { cubic = {} }\npackets = { fixed = \"1400 B\" }\n";
        run(&format!("{stop}{channels}{source}")).goodput_bits_per_s.expect("packets came")
    };
    let (without, with) =
        (goodput(&clean), goodput(&(clean.clone() + &line(10, 25, "loss = 0.5"))));
    assert!(with >= 0.98 * without, "{with} instead of {without} bit/s");
}
