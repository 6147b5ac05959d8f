//! Queues limited by time, policers and cross traffic; the expected values are calculated by hand.

use crate::support::{integers, reals, refused, run, words};

/// Channel at a microsecond per byte, without delay; packets have 500 B.
fn scenario(channel: &str, source: &str, stripe: &str) -> String {
    format!(
        "stop = {{ time = \"1 s\", warm_up = \"0 s\" }}\nmeasure.packets = 100\n\
         [stripe]\nlongest_packet = \"500 B\"\nmarkers.send = false\nreception = \"none\"\n{stripe}\n\
         [[channel]]\nrate = \"1 MB/s\"\n{channel}\n[[source]]\nkind.list = {source}\n"
    )
}

fn list(count: usize, interval: &str) -> String {
    format!("{{ lengths = {:?}, interval = \"{interval}\" }}", vec!["500 B"; count])
}

/// Three packets wait for 0, 500 and 1,000 us; the fourth would wait for 1,500 us.
#[test]
fn queue_of_one_millisecond_bounds_the_wait() {
    let source = list(6, "0 s");
    let text = scenario("queue = \"1 ms\"", &source, "backpressure = false");
    let record = run(&text);
    let fates = words(&record, "packets", "fate");
    assert_eq!(fates[..4], ["delivered", "delivered", "delivered", "dropped"]);
    assert_eq!((record.packets_delivered, record.lost_in_queues), (3, 3));
    assert_eq!(record.channels[0].queue_bytes_max, 1_500);
    // The sender sees the queue and waits for space.
    let record = run(&scenario("queue = \"1 ms\"", &source, ""));
    assert_eq!((record.packets_delivered, record.lost_in_queues), (6, 0));
    assert_eq!(integers(&record, "packets", "delivered_ns")[5], 3_000_000);
    assert!(record.channels[0].queue_bytes_max <= 1_000);
}

/// At a tenth of the rate, a queue of 1 ms is 100 bytes: it holds a packet only if empty.
#[test]
fn time_bounded_queue_follows_the_rate() {
    let channel = "queue = \"1 ms\"\nrates = [{ at = \"0 s\", rate = \"100 kB/s\" }]";
    let record = run(&scenario(channel, &list(3, "1 ms"), "backpressure = false"));
    // The first packet is sent until 5 ms; the others would wait for 4 and 3 ms.
    assert_eq!(words(&record, "packets", "fate"), ["delivered", "dropped", "dropped"]);
    let record = run(&scenario(channel, &list(3, "1 ms"), ""));
    assert_eq!(integers(&record, "packets", "delivered_ns"), [5_000_000, 10_000_000, 15_000_000]);
}

/// A packet arrives every millisecond, but tokens suffice for one packet every 5 ms.
#[test]
fn policer_drops_four_of_five_packets() {
    let channel = "policer = { rate = \"100 kB/s\", burst = \"500 B\" }";
    let record = run(&scenario(channel, &list(12, "1 ms"), ""));
    let delivered = integers(&record, "packets", "delivered_ns");
    let passed: Vec<_> = (1..).zip(&delivered).filter(|(_, at)| **at > 0).collect();
    assert_eq!(passed, [(1, &500_000), (6, &5_500_000), (11, &10_500_000)]);
    assert_eq!((record.lost_at_policers, record.lost_in_queues, record.packets_lost), (9, 0, 9));
    let channel = &record.channels[0];
    assert_eq!((channel.packets_policed, channel.packets_dropped), (9, 0));
}

/// Cross traffic arrives first at 0, 1 and 2 ms, and takes half a millisecond; none arrives at 3
/// ms.
#[test]
fn competing_packets_go_first_when_they_arrive_first() {
    let channel = "competing = [{ rate = \"500 kB/s\", until = \"3 ms\", packet = \"500 B\" }]";
    let record = run(&scenario(channel, &list(4, "1 ms"), ""));
    let delivered = integers(&record, "packets", "delivered_ns");
    assert_eq!(delivered, [1_000_000, 2_000_000, 3_000_000, 3_500_000]);
    let channel = &record.channels[0];
    assert_eq!((channel.competing_packets, channel.competing_packets_dropped), (3, 0));
    assert_eq!((channel.queue_bytes_max, record.packets_sent), (1_000, 4));
}

#[test]
fn competing_packets_are_dropped_by_a_full_queue() {
    let channel = "queue = \"1500 B\"\ncompeting = [{ rate = \"1 MB/s\", until = \"10 ms\", packet = \"1000 B\" }]";
    let record = run(&scenario(channel, &list(2, "500 us"), "backpressure = false"));
    // At 0 the queue is full; at 0.5 ms our packet takes the space of departed bytes. At 1 ms 1,000
    // B are left, and cross traffic finds no space.
    assert_eq!(integers(&record, "packets", "delivered_ns"), [1_500_000, 2_000_000]);
    let channel = &record.channels[0];
    assert_eq!((channel.competing_packets, channel.competing_packets_dropped), (10, 1));
}

#[test]
fn poisson_spacing_depends_on_the_seed() {
    let channel =
        "competing = [{ rate = \"500 kB/s\", packet = \"500 B\", spacing = \"poisson\" }]";
    let text = scenario(channel, &list(50, "1 ms"), "");
    let delivered = |text: &str| integers(&run(text), "packets", "delivered_ns");
    assert_eq!(delivered(&text), delivered(&text));
    assert_ne!(delivered(&text), delivered(&format!("seed = 2\n{text}")));
}

#[test]
fn invalid_channel_values_are_rejected_with_line_and_key() {
    let burst =
        "s.toml:10:38: in `channel[0].policer.burst`: is below the 500 B of the longest packet";
    for (channel, said) in [
        ("policer = { rate = \"1 MB/s\", burst = \"499 B\" }", burst),
        ("queue = \"0 s\"", "s.toml:10:9: in `channel[0].queue`: a queue of 0 s lets nothing wait"),
        ("queue = \"499 B\"", "has no room for the longest packet of 500 B"),
        (
            "competing = [{ rate = \"1 MB/s\", packet = \"0 B\" }]",
            "`channel[0].competing[0].packet`: expected 1 B to 1 GiB",
        ),
        (
            "competing = [{ rate = \"1 MB/s\", at = \"2 s\", until = \"2 s\" }]",
            "`channel[0].competing[0].until`: expected a later instant than the 2 s of `at`",
        ),
        // 1 MB, the queue of 1 s at 1 MB/s, takes more than a day at 1 B/s.
        (
            "queue = \"1 s\"\nrates = [{ at = \"1 s\", rate = \"1 B/s\" }]",
            "`channel[0].rates[0].rate`: a packet could be on the way for 1000500 s",
        ),
    ] {
        let error = refused(&scenario(channel, &list(1, "1 ms"), "")).expect(channel);
        assert!(error.contains(said), "{error}");
    }
}

/// Each packet has a tag of 12 bytes.
#[test]
fn policer_burst_must_fit_a_tagged_packet() {
    let guaranteed = |burst: &str| {
        let channel = format!("policer = {{ rate = \"1 MB/s\", burst = \"{burst}\" }}");
        let text = scenario(&channel, &list(1, "1 ms"), "guaranteed = true");
        text.replace("markers.send = false\nreception = \"none\"\n", "")
    };
    let error = refused(&guaranteed("511 B")).expect("too short by a byte");
    assert!(error.contains("is below the 512 B of the longest packet"), "{error}");
    assert_eq!(refused(&guaranteed("512 B")), None);
}

#[test]
fn queue_without_a_unit_is_reported_with_both_kinds() {
    use gingham_stripelab::scenario::{Overrides, ScenarioSource};
    let text = scenario("queue = \"20\"", &list(1, "1 ms"), "");
    let error =
        ScenarioSource::parse("s.toml", &text, std::path::Path::new("."), &Overrides::default())
            .expect_err("no unit")
            .to_string();
    assert!(error.starts_with("s.toml:10:9: in `channel[0].queue`"), "{error}");
    assert!(error.contains("\"64 kB\" or \"20 ms\""), "{error}");
}

#[test]
fn series_has_the_queue_in_bytes_and_in_time() {
    let source = format!("{{ lengths = {:?}, interval = \"500 us\" }}", vec!["500 B"; 20]);
    let text = scenario("", &source, "backpressure = false")
        .replace("rate = \"1 MB/s\"", "rate = \"500 kB/s\"")
        .replace("measure.packets = 100", "measure = { packets = 100, step = \"1 ms\" }");
    let record = run(&text);
    let (bytes, wait) =
        (integers(&record, "series", "queue_bytes"), integers(&record, "series", "queue_ns"));
    // The packet that arrives at the end of the step is included.
    assert_eq!(bytes[..4], [1_000, 1_500, 2_000, 2_500]);
    assert_eq!(wait[..4], [2_000_000, 3_000_000, 4_000_000, 5_000_000]);
    assert!(reals(&record, "series", "round_trip_ns")[3].is_nan(), "there are no windows");
}

/// Each direction takes 10 ms; a marker forward has 68 B and a report back 76 B, at a microsecond
/// per byte.
#[test]
fn series_has_the_rtt_of_the_window_controller() {
    let text = scenario("delay = \"10 ms\"", &list(200, "2 ms"), "window = true")
        .replace("markers.send = false\nreception = \"none\"", "");
    let record = run(&text);
    let least = reals(&record, "series", "round_trip_min_ns");
    let smoothed = reals(&record, "series", "round_trip_ns");
    let at = 60;
    assert_eq!(least[at].to_bits(), 20_144_000.0_f64.to_bits());
    assert!(smoothed[at] >= least[at], "{}", smoothed[at]);
    assert!(reals(&record, "series", "pacing_rate_bytes_per_s")[at] > 0.0, "control paces");
}

#[test]
fn reverse_channel_of_one_200th_of_the_rate_suffices() {
    let channel = "[[channel]]\nrate = \"200 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"256 kB\"\n\
                   back = { rate = \"1 Mbit/s\" }\n";
    for channels in [1, 2] {
        let stop = "stop = { time = \"5 s\", warm_up = \"3 s\" }\n";
        let record = run(&format!("{stop}{}", channel.repeat(channels)));
        let share = record.goodput_bits_per_s.expect("it ran") / record.capacity_bits_per_s;
        assert!(share >= 0.95, "{share} with {channels} channels");
    }
}
