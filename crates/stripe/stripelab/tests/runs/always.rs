//! Properties of every run.

use crate::support::{run, run_in_calls};
use gingham_stripelab::scenario::{Overrides, ScenarioSource};
use gingham_stripelab::{Run, compile};
use std::path::Path;

/// All faults at once, with sources of several kinds.
const ALL: &str = "seed = 7\nstop.time = \"300 ms\"\nmeasure = { events = 5000, packets = 5000 }\n\
    stripe.backpressure = false\n\
    [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"3 ms\"\njitter = \"2 ms\"\nloss = 0.02\nloss_until = \"200 ms\"\n\
    [[channel]]\nrate = \"20 Mbit/s\"\ndelay = \"9 ms\"\nbursts = { to_bad = 0.01, to_good = 0.3 }\n\
    rates = [{ at = \"100 ms\", rate = \"5 Mbit/s\" }]\n\
    [[channel]]\nrate = \"5 Mbit/s\"\nbit_errors = 1e-5\nduplication = 0.01\n\
    outages = [{ from = \"50 ms\", until = \"90 ms\" }]\n\
    [[source]]\nkind.poisson.rate = \"8 Mbit/s\"\npackets.uniform = { from = \"40 B\", to = \"1500 B\" }\n\
    [[source]]\nkind.on-off = { rate = \"20 Mbit/s\", on = \"10 ms\", off = \"10 ms\" }\n\
    packets.mixture = [{ length = \"1500 B\", weight = 1 }, { length = \"64 B\", weight = 3 }]\n\
    [[source]]\nkind.reno = {}\n\
    [[source]]\nkind.frames = { lengths = [\"9 kB\", \"2 kB\"], interval = \"40 ms\", packet = \"1 kB\", again = true }\n";

#[test]
fn runs_are_reproducible_by_seed_and_independent_of_call_size() {
    let (one, other) = (run_in_calls(ALL, 1), run_in_calls(ALL, 10_000));
    assert_eq!(one.tables, other.tables);
    assert_eq!(
        serde_json::to_value(&one).expect("it serializes"),
        serde_json::to_value(&other).expect("it serializes")
    );
    let another = run(&ALL.replace("seed = 7", "seed = 8"));
    assert_ne!(one.tables, another.tables);
}

#[test]
fn every_packet_is_accounted_for() {
    for reception in ["logical", "none", "sequence-numbers"] {
        for scheduler in
            ["surplus-round-robin", "round-robin", "randomised", "shortest-queue", "address-hash"]
        {
            if reception == "logical" && !scheduler.ends_with("round-robin") {
                continue;
            }
            // Without duplication, every packet is counted once.
            let text = ALL.replace("duplication = 0.01", "").replace(
                "stripe.backpressure = false",
                &format!(
                    "stripe = {{ backpressure = false, reception = \"{reception}\", scheduler = \"{scheduler}\" }}"
                ),
            );
            let record = run(&text);
            let what = format!("{reception}, {scheduler}");
            assert_eq!(record.packets_duplicated, 0, "{what}");
            assert_eq!(
                record.packets_offered,
                record.packets_refused + record.packets_dropped_before + record.packets_sent,
                "{what}"
            );
            assert_eq!(
                record.packets_sent,
                record.packets_delivered + record.packets_lost,
                "{what}"
            );
            let lost = record.packets_lost + record.packets_repaired;
            assert!(record.packets_delivered > 100 && lost > 10, "{what}");
        }
    }
}

/// Theorem 4.1: without loss the order is exact, regardless of the channels' rates and delays.
#[test]
fn order_is_exact_without_loss() {
    for seed in 1..=20 {
        let record = run(&format!(
            "seed = {seed}\nstop.time = \"200 ms\"\nstripe.order = \"strict\"\n\
             [[channel]]\nrate = \"{} Mbit/s\"\ndelay = \"{} ms\"\njitter = \"5 ms\"\n\
             [[channel]]\nrate = \"{} Mbit/s\"\ndelay = \"{} ms\"\njitter = \"1 ms\"\n\
             [[channel]]\nrate = \"7 Mbit/s\"\n\
             [[source]]\npackets.uniform = {{ from = \"40 B\", to = \"1500 B\" }}\n",
            1 + seed,
            3 * seed,
            25 - seed,
            60 - seed
        ));
        assert_eq!((record.packets_out_of_order, record.packets_lost), (0, 0), "seed {seed}");
        assert!(record.packets_delivered > 100, "seed {seed}");
    }
}

/// Lossy scenario; its queues are short enough for retransmissions to arrive in time.
fn lossy(stripe: &str) -> String {
    format!(
        "stop.time = \"500 ms\"\n{stripe}\n\
         [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"3 ms\"\nloss = 0.05\nqueue = \"8 kB\"\n\
         [[channel]]\nrate = \"20 Mbit/s\"\ndelay = \"12 ms\"\nloss = 0.05\nqueue = \"8 kB\"\n\
         [[channel]]\nrate = \"5 Mbit/s\"\nloss = 0.05\nqueue = \"8 kB\"\n\
         [[source]]\npackets.uniform = {{ from = \"40 B\", to = \"1500 B\" }}\n"
    )
}

#[test]
fn guaranteed_order_is_exact_under_loss() {
    let quasi = run(&lossy("stripe.order = \"strict\""));
    assert!(quasi.packets_lost > 50 && quasi.packets_out_of_order > 50);
    let exact = run(&lossy("stripe.guaranteed = true"));
    assert!(exact.packets_lost > 50);
    assert_eq!((exact.packets_out_of_order, exact.packets_duplicated), (0, 0));
}

#[test]
fn repair_recovers_nearly_all_losses() {
    let record = run(&lossy("stripe = { guaranteed = true, repair = {} }"));
    let lost_first = record.lost_on_channels;
    assert!(lost_first > 50);
    assert_eq!((record.packets_out_of_order, record.packets_duplicated), (0, 0));
    // Three tries leave less than one of a thousand losses.
    assert!(record.packets_lost <= lost_first / 20);
    assert_eq!(record.packets_repaired, lost_first - record.packets_lost);
}

#[test]
fn credits_prevent_loss_at_a_slow_reader() {
    let slow = |credits| {
        run(&format!(
            "stop.time = \"500 ms\"\nreceiver.rate = \"10 Mbit/s\"\n\
             stripe = {{ buffer = \"96 kB\", credits = {credits} }}\n\
             [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\"\n\
             [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"4 ms\"\n"
        ))
    };
    let (without, with) = (slow(false), slow(true));
    assert!(without.lost_at_receiver > 50);
    assert_eq!(with.packets_lost, 0);
    let goodput = with.goodput_bits_per_s.expect("something was delivered");
    assert!((goodput / 10e6 - 1.0).abs() < 0.01, "{goodput}");
}

#[test]
fn events_per_packet_are_bounded() {
    let text = "stop.time = \"10 s\"\nstripe.scheduler = \"round-robin\"\n\
        [[channel]]\nrate = \"6 Mbit/s\"\n[[channel]]\nrate = \"6 Mbit/s\"\n\
        [[source]]\npackets.in_turn = [\"1000 B\", \"200 B\"]\n";
    let source = ScenarioSource::parse("s.toml", text, Path::new("."), &Overrides::default())
        .expect("it can be read");
    let mut run = Run::new(compile(&source).expect("it can be run"));
    let mut events = 0;
    while !run.advance(100).expect("time goes on").done {
        events += 100;
    }
    // Each packet takes an arrival, a wait for the channel and two polls; markers and reports add a
    // third of a step.
    assert!(events < 6 * run.summary().packets_sent, "{events} events");
}

#[test]
fn reordering_channels_are_resequenced_first() {
    let reordering = |restore: &str| {
        run(&format!(
            "stop.time = \"500 ms\"\nstripe = {{ guaranteed = true{restore} }}\n\
             [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"3 ms\"\n\
             reordering = {{ probability = 0.05, span = \"3 ms\" }}\n\
             [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nduplication = 0.02\n"
        ))
    };
    let (without, with) = (reordering(""), reordering(", restore = {}"));
    // Without `restore`, a delayed packet is taken for lost.
    assert!(without.packets_lost > 10);
    assert_eq!((with.packets_out_of_order, with.packets_duplicated), (0, 0));
    assert_eq!(with.packets_delivered, with.packets_sent);
}

/// The second channel is taken out at 200 ms and returns at 300 ms.
#[test]
fn channel_leave_and_return_loses_nothing() {
    let record = run("stop = { time = \"500 ms\", warm_up = \"0 s\" }\nmeasure.step = \"50 ms\"\n\
        [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"3 ms\"\nqueue = \"8 kB\"\n\
        [[channel]]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"8 kB\"\n\
        quanta = [{ at = \"200 ms\", quantum = \"0 B\" }, { at = \"300 ms\", quantum = \"3000 B\" }]\n");
    assert_eq!((record.packets_out_of_order, record.packets_lost), (0, 0));
    let arrived = crate::support::reals(&record, "series", "arrived_bits_per_s");
    // Each 50 ms step has two rows; these begin at 250 and at 400 ms.
    let (out, back) = (&arrived[10..12], &arrived[16..18]);
    assert!(out[0] > 9.5e6 && out[1] == 0.0, "{out:?}");
    assert!(back[0] > 9.5e6 && back[1] > 19e6, "{back:?}");
}

#[test]
fn reset_loses_in_flight_packets_but_keeps_order() {
    let record = run("stop.time = \"500 ms\"\nstripe.resets = [\"200 ms\", \"300 ms\"]\n\
        [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"3 ms\"\n\
        [[channel]]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n");
    assert_eq!((record.resets, record.packets_out_of_order), (2, 0));
    // Packets in flight when the first reset arrives on the other channel belong to the old epoch:
    // a part of 64 kB in its queue and 2 ms of skew.
    assert_eq!(record.packets_lost, record.lost_at_receiver);
    assert!(record.packets_lost < 2 * 50, "{}", record.packets_lost);
}

/// Scenario without configured rates; one channel's rate doubles after two seconds.
fn at_unknown_rates(options: &str) -> gingham_stripelab::Record {
    run(&format!(
        "stop = {{ time = \"6 s\", warm_up = \"5 s\" }}\n{options}\n\
        [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
        [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nrates = [{{ at = \"2 s\", rate = \"20 Mbit/s\" }}]\n"
    ))
}

#[test]
fn free_order_follows_unconfigured_rates() {
    let record = at_unknown_rates("stripe.order = \"free\"");
    let goodput = record.goodput_bits_per_s.expect("something was delivered");
    // The tags take 12 of 1,512 bytes.
    assert!(goodput > 0.97 * 30e6 * 1_500.0 / 1_512.0, "{goodput}");
    assert_eq!(record.packets_out_of_order, 0);
}

/// The pipe waits for the controller that is currently slow.
#[test]
fn quanta_follow_unconfigured_rates() {
    let record = at_unknown_rates("stripe.quanta = \"follow\"");
    let goodput = record.goodput_bits_per_s.expect("something was delivered");
    assert!(goodput > 0.93 * 30e6, "{goodput}");
    let quanta: Vec<_> = record.channels.iter().map(|channel| channel.quantum).collect();
    let (Some(slow), Some(fast)) = (quanta[0], quanta[1]) else { panic!("rounds have quanta") };
    assert!((18..=22).contains(&(10 * fast / slow)), "{quanta:?}");
}
