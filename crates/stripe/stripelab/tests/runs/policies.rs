//! Priorities and caps of channels, and the `send` options of sources.

use crate::support::{refused, run};
use gingham_stripelab::Record;

/// Scenario with two channels; a `FIVE` source offers half of a channel's rate.
fn scenario(top: &str, first: &str, source: &str) -> String {
    format!(
        "{top}\nstop = {{ time = \"4 s\", warm_up = \"1 s\" }}\n\
         [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n{first}\n\
         [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"30 ms\"\n\
         [[source]]\n{source}\n"
    )
}

const FIVE: &str = "kind.constant.rate = \"5 Mbit/s\"";
const ALL: &str = "kind = \"backlogged\"";

fn sent(record: &Record) -> [u64; 2] {
    [0, 1].map(|channel| record.channels[channel].packets_sent)
}

#[test]
fn cheap_channel_is_filled_first() {
    let alike = sent(&run(&scenario("", "", FIVE)));
    assert!(alike[0] > 10 * alike[1], "the first is there first: {alike:?}");
    let last = sent(&run(&scenario("", "priority = 2", FIVE)));
    assert!(last[1] > 50 * last[0], "{last:?}");
    let full = run(&scenario("", "priority = 2", ALL));
    assert!(sent(&full).iter().all(|packets| *packets > 3_000), "{:?}", sent(&full));
}

#[test]
fn channel_does_not_exceed_its_cap() {
    let record = run(&scenario("", "cap = \"2 Mbit/s\"", ALL));
    let arrived = record.channels[0].packets_sent * 1_512 * 8 / 4;
    assert!((1_900_000..=2_010_000).contains(&arrived), "{arrived} bit/s");
}

/// A requested retransmission arrives a round trip of 20 ms after the loss is known; a redundant
/// copy takes the 30 ms of the second channel.
#[test]
fn redundant_copies_cut_delay_under_loss() {
    let copied = |send: &str| {
        let source = format!("kind.constant.rate = \"2 Mbit/s\"\n{send}");
        let record = run(&scenario("stripe.repair = {}", "loss = 0.5", &source));
        (record.delay_max_ns.expect("packets came"), record.copies_sent, record.packets_delivered)
    };
    let [once, twice] = ["", "send = \"redundant\""].map(copied);
    assert!(twice.0 < 33_000_000 && once.0 > 35_000_000, "{once:?} and {twice:?}");
    assert!(twice.1 * 10 > twice.2 * 9, "{twice:?}");
}

/// The source offers 1.5 times the capacity of the faster channel.
#[test]
fn fastest_class_waits_for_the_fastest_channel() {
    let record = run(&scenario("", "", "kind.constant.rate = \"15 Mbit/s\"\nsend = \"fastest\""));
    let sent = sent(&record);
    assert!(sent[0] > 2_500 && sent[1] < 20, "{sent:?}");
}

#[test]
fn keys_without_effect_are_rejected() {
    for (text, key) in [
        (scenario("stripe.order = \"strict\"", "priority = 2", ALL), "channel[0].priority"),
        (scenario("stripe.order = \"strict\"", "cap = \"2 Mbit/s\"", ALL), "channel[0].cap"),
        (scenario("stripe.order = \"strict\"", "", "send = \"fastest\""), "source[0].send"),
        (scenario("stripe.repair.tries = 0", "", "send = \"redundant\""), "source[0].send"),
    ] {
        let message = refused(&text).expect(key);
        assert!(message.contains(key), "{message}");
    }
    let capped = scenario("stripe.window = true", "cap = \"2 Mbit/s\"", ALL);
    assert_eq!(refused(&capped), None);
}
