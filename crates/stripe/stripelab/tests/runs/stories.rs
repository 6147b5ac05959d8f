//! Hand-traced runs, exact to the nanosecond.

use crate::support::{integers, refused, run, words};
use gingham_stripelab::scenario::{Overrides, ScenarioSource};
use gingham_stripelab::{Run, compile};
use std::path::Path;

/// Channels that take a microsecond per byte, without delay.
const TWO: &str = "stop = { time = \"1 s\", warm_up = \"0 s\" }\n\
    measure = { events = 1000, packets = 1000 }\n\
    [stripe]\nlongest_packet = \"500 B\"\nmarkers.send = false\n\
    [[channel]]\nrate = \"1 MB/s\"\n[[channel]]\nrate = \"1 MB/s\"\n";

/// Section 3.5 of Adiseshu, Parulkar and Varghese 1996, with a quantum of 500. By hand:
///
/// ```text
///   round 1   channel 1: 500 (500 -> 0)       channel 2: 150 (500 -> 350), 300 (-> 50), 400 (-> -350)
///   round 2   channel 1: 100 (500 -> 400), 500 (-> -100)
/// ```
#[test]
fn surplus_round_robin_matches_hand_computation() {
    let lengths = "[[source]]\nkind.list.lengths = \
        [\"500 B\", \"150 B\", \"300 B\", \"400 B\", \"100 B\", \"500 B\"]\n";
    let record = run(&format!("{TWO}{lengths}"));
    let rows = words(&record, "events", "event");
    let sent: Vec<usize> = (0..rows.len()).filter(|row| rows[*row] == "send").collect();
    let of = |column| {
        let all = integers(&record, "events", column);
        sent.iter().map(|row| all[*row]).collect::<Vec<_>>()
    };
    let channels = words(&record, "events", "channel");
    let channels: Vec<_> = sent.iter().map(|row| &*channels[*row]).collect();
    assert_eq!(channels, ["1", "2", "2", "2", "1", "1"]);
    assert_eq!(of("round"), [1, 1, 1, 1, 2, 2]);
    assert_eq!(of("deficit_bytes"), [500, 500, 350, 50, 500, 400]);
    // Packet 4 arrives after 150 + 300 + 400 us and holds back packet 5, which arrives after 600
    // us.
    let delivered = integers(&record, "packets", "delivered_ns");
    assert_eq!(delivered, [500_000, 500_000, 500_000, 850_000, 850_000, 1_100_000]);
    assert_eq!(record.packets_out_of_order, 0);
}

#[test]
fn packets_are_in_arrival_order_without_reception() {
    let text = format!(
        "{}\n[[source]]\nkind.list.lengths = \
         [\"500 B\", \"150 B\", \"300 B\", \"400 B\", \"100 B\", \"500 B\"]\n",
        TWO.replace("markers.send = false", "reception = \"none\"")
    );
    let record = run(&text);
    // Arrivals in us: packet 2 at 150, 3 at 450, 1 at 500, 5 at 600, 4 at 850, 6 at 1,100.
    assert_eq!(integers(&record, "packets", "position"), [3, 1, 2, 5, 4, 6]);
    // Packets 1 and 4 arrive after later ones.
    assert_eq!(record.packets_out_of_order, 2);
    assert_eq!(record.reordering_extent_max, 2);
}

/// Credits and windows wait for reports.
#[test]
fn endless_silence_is_rejected_when_reports_are_required() {
    let whole = TWO.replace("markers.send = false", "silence = \"0 s\"\norder = \"strict\"");
    let whole = format!("{whole}[[source]]\npackets = {{ fixed = \"500 B\" }}\n");
    assert_eq!(refused(&whole), None);
    for held in ["credits = true", "window = true"] {
        let text = whole.replace("[stripe]", &format!("[stripe]\n{held}"));
        let error = refused(&text).expect("refused");
        assert!(error.contains("stripe.silence") && error.contains("more than \"0 s\""), "{error}");
    }
}

/// A marker before round 2 shows the loss of packet 1, the only one of round 1 on channel 1.
#[test]
fn marker_resynchronises_the_receiver_after_a_loss() {
    let text = "stop = { time = \"1 s\", warm_up = \"0 s\" }\n\
        measure = { events = 1000, packets = 1000 }\n\
        [stripe]\nlongest_packet = \"1000 B\"\nmarkers = { every_rounds = 1, interval = \"1 s\" }\n\
        [[channel]]\nrate = \"1 MB/s\"\nlose = [1]\n[[channel]]\nrate = \"1 MB/s\"\n\
        [[source]]\nkind.list.lengths = [\"1000 B\", \"1000 B\", \"1000 B\", \"1000 B\"]\n";
    let record = run(text);
    assert_eq!(words(&record, "packets", "fate"), ["lost", "delivered", "delivered", "delivered"]);
    assert_eq!(integers(&record, "packets", "position"), [0, 1, 2, 3]);
    assert_eq!((record.lost_on_channels, record.packets_out_of_order), (1, 0));
    // Packet 2 waits until the marker behind packet 1 arrives.
    let (event, time) = (words(&record, "events", "event"), integers(&record, "events", "time_ns"));
    let channel = words(&record, "events", "channel");
    let arrival_ns = (0..event.len())
        .filter(|row| event[*row] == "arrive-marker" && channel[*row] == "1")
        .map(|row| time[row])
        .find(|time| *time > 1_000_000)
        .expect("the marker of round 2 arrives");
    assert_eq!(integers(&record, "packets", "delivered_ns")[1], arrival_ns);
}

/// Equal packets that fill a quantum; the fourth packet of channel 1 is lost. Markers of round 7 go
/// before the turn of channel 2: the next packet of channel 1 is in round 8.
///
/// ```text
///   channel 1   1  3  5 (7)  9 11 13 M 15 17      the receiver is at round 7 when it finds M there
///   channel 2   2  4  6  8  10 12 M 14 16 18
/// ```
///
/// A number says 8, and the receiver skips the channel in round 7; the sender's round is 7, and
/// says nothing. Before the turn of channel 1 both say 7 behind packet 11, when the receiver is at
/// 6.
#[test]
fn round_marker_resynchronises_only_at_round_boundaries() {
    let order = |tells: &str, before: u32| {
        let lengths = ["\"500 B\""; 18].join(", ");
        let text = format!(
            "stop = {{ time = \"900 ms\", warm_up = \"0 s\" }}\nmeasure.packets = 100\n[stripe]\n\
             longest_packet = \"500 B\"\nmarkers = {{ every_rounds = 6, interval = \"1 s\", \
             before_channel = {before}, tells = \"{tells}\" }}\n\
             [[channel]]\nrate = \"1 MB/s\"\nlose = [4]\n[[channel]]\nrate = \"1 MB/s\"\n\
             [[source]]\nkind.list.lengths = [{lengths}]\n"
        );
        integers(&run(&text), "packets", "position")
    };
    // Delivery positions of packets 1 to 18.
    let middle = [1, 2, 3, 4, 5, 6, 0, 8, 7, 10, 9, 12, 11, 13, 14, 15, 16, 17];
    assert_eq!(order("number", 2), middle);
    let never = [1, 2, 3, 4, 5, 6, 0, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 17];
    assert_eq!(order("round", 2), never);
    let edge = [1, 2, 3, 4, 5, 6, 0, 8, 7, 10, 9, 11, 12, 13, 14, 15, 16, 17];
    assert_eq!(["number", "round"].map(|tells| order(tells, 1)), [edge, edge]);
}

/// The ratio of 6 to 10 Mbit/s is 3 : 5. With 1 : 2 the faster channel limits the pipe to 5 and 10
/// Mbit/s.
#[test]
fn generalised_round_robin_ratio_is_of_small_integers() {
    let goodput = |parameters: &str| {
        let text = format!(
            "stop.time = \"5 s\"\nstripe.scheduler.generalised-round-robin = {{ {parameters} }}\n\
             [[channel]]\nrate = \"6 Mbit/s\"\n[[channel]]\nrate = \"10 Mbit/s\"\n\
             [[source]]\npackets = {{ fixed = \"1000 B\" }}\n"
        );
        let record = run(&text);
        let data = 1.0 - record.message_share.expect("something was sent");
        record.goodput_bits_per_s.expect("something was delivered") / data / 1e6
    };
    for (parameters, megabits) in [("", 16.0), ("slowest_packets_max = 1", 15.0)] {
        let found = goodput(parameters);
        assert!((found / megabits - 1.0).abs() < 0.01, "{parameters}: {found}");
    }
    let none = "stop.time = \"1 s\"\nstripe.scheduler.generalised-round-robin = { slowest_packets_max = 0 }\n\
        [[channel]]\nrate = \"6 Mbit/s\"\n";
    let error = refused(none).expect("refused");
    assert!(error.contains("slowest_packets_max") && error.contains("at least 1"), "{error}");
}

/// The pipe carries 30 Mbit/s, less the markers.
#[test]
fn rates_of_unequal_channels_add_up() {
    let record = run("stop.time = \"5 s\"\nstripe.order = \"strict\"\n\
        [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
        [[channel]]\nrate = \"20 Mbit/s\"\ndelay = \"25 ms\"\n");
    let goodput = record.goodput_bits_per_s.expect("something was delivered");
    let markers = record.message_share.expect("something was sent");
    let expected = 30e6 * (1.0 - markers);
    assert!((goodput / expected - 1.0).abs() < 0.002, "{goodput} of {expected}");
    assert_eq!((record.packets_out_of_order, record.packets_lost), (0, 0));
    assert_eq!(record.in_order_bits_per_s, record.goodput_bits_per_s);
}

/// Packet 1 counts as lost when packet 3 arrives on channel 1, as channel 2 has already carried
/// packet 4.
#[test]
fn sequence_numbers_detect_a_loss_once_all_channels_are_past() {
    let text = "stop = { time = \"1 s\", warm_up = \"0 s\" }\nmeasure.packets = 10\n\
        [stripe]\nlongest_packet = \"1000 B\"\nreception = \"sequence-numbers\"\n\
        [[channel]]\nrate = \"1 MB/s\"\nlose = [1]\n[[channel]]\nrate = \"1 MB/s\"\n\
        [[source]]\nkind.list.lengths = [\"1000 B\", \"1000 B\", \"1000 B\", \"1000 B\"]\n";
    let record = run(text);
    // Each packet takes 1,004 us with its header; packet 3 follows packet 1.
    let delivered = integers(&record, "packets", "delivered_ns");
    assert_eq!(delivered, [0, 2_008_000, 2_008_000, 2_008_000]);
}

#[test]
fn early_ended_run_reports_rates_of_its_simulated_part() {
    let text = "stop = { time = \"10 s\", warm_up = \"1 s\" }\n[[channel]]\nrate = \"10 Mbit/s\"\n";
    let until = |seconds: u64| {
        let source = ScenarioSource::parse("s.toml", text, Path::new("."), &Overrides::default())
            .expect("it can be read");
        let mut run = Run::new(compile(&source).expect("it can be run"));
        while run.advance(100).expect("time goes on").now_ps < seconds * 1_000_000_000_000 {}
        run.record()
    };
    let early = until(4);
    let goodput = early.goodput_bits_per_s.expect("three seconds of the window are over");
    assert!((goodput - 10e6).abs() < 0.02 * 10e6, "{goodput}");
    let arrived = early.channels[0].arrived_bits_per_s.expect("the window has begun");
    assert!((arrived - 10e6).abs() < 0.02 * 10e6, "{arrived}");
    // The last step ends with the run.
    assert_eq!(integers(&early, "pipe", "to_ns").last(), Some(&early.end_ns));
    let too_early = until(0);
    assert_eq!(too_early.goodput_bits_per_s, None);
    assert_eq!(too_early.channels[0].arrived_bits_per_s, None);
    assert!(too_early.verdict_reason.contains("before the window began"));
}

/// A wait of 200 ms ends before packets arrive 300 ms late. With 600 ms, the pipe carries 40
/// Mbit/s, less markers.
#[test]
fn wait_below_the_skew_has_a_note_with_its_remedy() {
    let text = |delay: &str, wait: &str| {
        format!(
            "stop.time = \"4 s\"\nstripe.order = \"strict\"\n{wait}\n[[channel]]\nrate = \"20 Mbit/s\"\n\
             [[channel]]\nrate = \"20 Mbit/s\"\ndelay = \"{delay}\"\n"
        )
    };
    let short = run(&text("300 ms", ""));
    let [note] = &short.notes[..] else { panic!("{:?}", short.notes) };
    assert!(note.contains("stripe.wait = \"600 ms\""), "{note}");
    assert!(short.packets_out_of_order > 0);
    let long = run(&text("300 ms", "stripe.wait = \"600 ms\""));
    assert_eq!((long.notes.len(), long.packets_out_of_order), (0, 0));
    let goodput = long.goodput_bits_per_s.expect("something was delivered");
    assert!(goodput > 0.98 * 40e6, "{goodput}");
    assert!(run(&text("100 ms", "")).notes.is_empty());
}

#[test]
fn ineffective_channel_choice_keys_are_rejected() {
    let whole = TWO.replace("markers.send = false", "");
    let whole = format!("{whole}[[source]]\npackets = {{ fixed = \"500 B\" }}\n");
    let refusal_of = |keys: &str| refused(&whole.replace("[stripe]", &format!("[stripe]\n{keys}")));
    assert_eq!(refusal_of("order = \"free\"\ncontrol.by = \"cubic\""), None);
    for (keys, key, cure) in [
        ("order = \"strict\"\ncontrol.loss_threshold = 0.1", "stripe.control", "stripe.order"),
        ("order = \"free\"\nscheduler = \"round-robin\"", "stripe.scheduler", "leave it out"),
        ("order = \"free\"\nquanta = \"follow\"", "stripe.quanta", "leave it out"),
        ("order = \"free\"\nreception = \"none\"", "stripe.reception", "strict"),
        ("order = \"free\"\nmarkers.send = false", "stripe.markers.send", "strict"),
        ("order = \"free\"\ncontrol.headroom = 1.0", "stripe.control.headroom", "below 1"),
        ("control = { by = \"fixed\", headroom = 0.2 }", "stripe.control.headroom", "leave it out"),
        ("window = true\ncontrol.window_max = \"99 B\"", "stripe.control.window_max", "500 B"),
    ] {
        let error = refusal_of(keys).expect(keys);
        assert!(error.contains(&format!("`{key}`")) && error.contains(cure), "{error}");
    }
}

/// In free order, tags keep a flow in order even over a lossy channel.
#[test]
fn order_is_free_unless_a_key_requires_strict() {
    let run = |keys: &str| {
        run(&format!(
            "stop.time = \"1 s\"\n{keys}\n[[channel]]\nrate = \"10 Mbit/s\"\nloss = 0.01\n\
             [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n"
        ))
    };
    let free = run("");
    assert!(free.lost_on_channels > 0 && free.packets_lost < free.lost_on_channels);
    assert_eq!(free.packets_out_of_order, 0);
    for strict in ["stripe.order = \"strict\"", "stripe.markers.every_rounds = 2"] {
        assert!(run(strict).packets_out_of_order > 0, "{strict}");
    }
}
