//! In-transit hosts and the choice of paths from scenario text to record.
//!
//! ```text
//!            s0             up*/down* from s0: s1 and s4 lie one below it, s2 and s3 two; s2 counts as above s3.
//!           /  \
//!         s1    s4          Between s4 and s2 the shortest path is by s3: down, and then up. With in-transit hosts it leads
//!          |     |          through h3; without it is by s0 and s1. All other shortest paths are legal.
//!         s2 -- s3
//! ```

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{ColumnData, Engine, Record, Run, Table, compile};
use std::path::Path;

const RING: &str = r#"
[topology.generate.ring]
switches = 5

[routing]
algorithm = "in-transit"

[network]
preset = "myrinet-1280"

[[traffic]]
hosts = ["h4-0"]
load = 0.1
length = { fixed = "64 B" }
destinations = { host = "h2-0" }

[stop]
time = "1 ms"
warm_up = "0 s"

[measure]
messages = "sample"
"#;

const POOL: &str = "network.in_transit.pool";
const LENGTH: &str = "traffic.0.length";
const ALTERNATIVE: &str = "routing.alternative";
/// Long enough for sections of the measurement to merge twice.
const LONG: (&str, &str) = ("stop.time", "4 ms");

fn backlogged(hosts: &str, length: &str) -> String {
    format!(
        "{{ hosts = [\"{hosts}\"], arrivals = \"backlogged\", length = {{ fixed = \"{length}\" }}, \
         destinations = {{ host = \"h2-0\" }} }}"
    )
}

fn source(settings: &[(&str, &str)]) -> ScenarioSource {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    ScenarioSource::parse("ring.toml", RING, Path::new("."), &overrides).unwrap()
}

fn record(settings: &[(&str, &str)]) -> Record {
    record_by(Engine::Fast, settings)
}

fn record_by(engine: Engine, settings: &[(&str, &str)]) -> Record {
    let mut run = Run::new(compile(&source(settings), false).unwrap(), engine);
    while !run.advance(100_000).expect("time goes on").done {}
    run.record()
}

/// Returns the error other than that stopping hosts could deadlock.
fn error(settings: &[(&str, &str)]) -> String {
    compile(&source(settings), true).unwrap_err().to_string().replace('\n', " ")
}

fn table<'a>(record: &'a Record, name: &str) -> &'a Table {
    record.tables.iter().find(|table| table.name == name).unwrap()
}

fn integers<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    let column = table.columns.iter().find(|column| column.name == name).unwrap();
    let ColumnData::Integers(values) = &column.data else { panic!("{name} has no integers") };
    values
}

fn reals<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    let column = table.columns.iter().find(|column| column.name == name).unwrap();
    let ColumnData::Reals(values) = &column.data else { panic!("{name} has no reals") };
    values
}

#[test]
fn messages_from_s4_to_s2_pass_one_host() {
    let record = record(&[LONG, ("stop.warm_up", "2 ms")]);
    let messages = table(&record, "messages");
    let through = integers(messages, "in_transit_hosts");
    assert!(through.len() > 200, "{} messages tell little", through.len());
    assert!(through.iter().all(|hosts| *hosts == 1));
    // s4, s3, s3 again, and s2.
    assert!(integers(messages, "switches").iter().all(|switches| *switches == 4));
    let class = &record.classes[0];
    assert_eq!(class.in_transit_hosts_mean, Some(1.0));
    assert_eq!(class.in_transit_hosts_half_width, Some(0.0));
    let hosts = table(&record, "in_transit");
    let packets = integers(hosts, "packets");
    assert_eq!(packets.iter().filter(|packets| **packets > 0).count(), 1, "{packets:?}");
    assert_eq!(packets.iter().sum::<u64>(), record.in_transit.packets);
    // All messages of the window, except those in flight at its end.
    assert!(record.in_transit.packets.abs_diff(through.len() as u64) <= 2, "{packets:?}");
    // 4 route bytes, a mark of 2, type and trailer of 3, 64 of payload: 73 at the source. Two route
    // bytes and the mark are consumed before, so 69 are in the pool. Further messages arrive
    // meanwhile.
    let peak = record.in_transit.pool_peak_bytes;
    assert!(peak >= 69 && peak.is_multiple_of(69), "{peak}");
    assert_eq!(record.in_transit.spilled_packets, 0);
    assert_eq!(record.notes, [""; 0]);
}

#[test]
fn pool_below_the_largest_packet_is_refused() {
    record(&[(POOL, "69 B")]);
    let found = error(&[(POOL, "68 B")]);
    assert!(
        found.contains(
            "in `network.in_transit.pool`: a packet of class `all` from `h4-0` to `h2-0`"
        ),
        "{found}"
    );
    assert!(found.contains("takes 69 B there, and the buffer of a host holds 68 B"), "{found}");
    assert!(found.contains("always spill: raise the pool, or cut packets with"), "{found}");
    record(&[(POOL, "37 B"), ("traffic.0.segmentation", "{ fixed = \"32 B\" }")]);
    // The path from s1 to s3 goes down twice.
    record(&[
        (POOL, "1 B"),
        ("traffic.0.hosts", "[\"h1-0\"]"),
        ("traffic.0.destinations", "{ host = \"h3-0\" }"),
    ]);
    // With unlimited lengths spilling is acceptable, but waiting would be forever.
    let exponential = (LENGTH, "{ exponential = \"64 B\" }");
    record(&[(POOL, "68 B"), exponential]);
    let stop = ("network.in_transit.when_full", "stop");
    let found = error(&[(POOL, "68 B"), exponential, stop]);
    assert!(found.contains("may be of any length, and the buffer"), "{found}");
    assert!(found.contains("wait for ever: raise the pool, or cut"), "{found}");
}

#[test]
fn spilled_packets_are_counted_and_noted() {
    // Two packets do not fit at once; on a full link the second arrives before the first has left.
    let record = record(&[(POOL, "69 B"), ("traffic.0", &backlogged("h4-0", "64 B"))]);
    assert!(record.in_transit.spilled_packets > 0);
    assert_eq!(record.in_transit.pool_peak_bytes, 69);
    let spilled = integers(table(&record, "in_transit"), "spilled_packets");
    assert_eq!(spilled.iter().sum::<u64>(), record.in_transit.spilled_packets);
    let note = &record.notes[0];
    assert!(note.contains("found no room in the in-transit buffer"), "{note}");
    assert!(note.contains("at `h3-0`") && note.contains("raise network.in_transit.pool"), "{note}");
}

#[test]
fn by_length_limit_takes_the_alternative_path() {
    let up_down = ("routing.algorithm", "up-down");
    let choose = "{ by-length = { below = \"64 B\" } }";
    let second = format!("{{ algorithm = \"in-transit\", choose = {choose} }}");
    let mixed = (LENGTH, "{ uniform = { from = \"60 B\", to = \"67 B\" } }");
    let record = record(&[up_down, (ALTERNATIVE, &second), mixed]);
    let messages = table(&record, "messages");
    let bytes = integers(messages, "payload_bytes");
    for (bytes, through) in bytes.iter().zip(integers(messages, "in_transit_hosts")) {
        assert_eq!(*through, u64::from(*bytes >= 64), "{bytes} B");
    }
    assert!([63, 64].iter().all(|limit| bytes.contains(limit)), "both sides of the limit");
}

#[test]
fn at_random_quarter_takes_the_in_transit_host() {
    let up_down = ("routing.algorithm", "up-down");
    let second =
        (ALTERNATIVE, "{ algorithm = \"in-transit\", choose = { at-random = { percent = 25 } } }");
    let record = record(&[up_down, second, ("traffic.0.load", "0.5")]);
    let through = integers(table(&record, "messages"), "in_transit_hosts");
    #[expect(clippy::cast_precision_loss, reason = "some thousand")]
    let (messages, second) = (through.len() as f64, through.iter().sum::<u64>() as f64);
    assert!(messages > 1_000.0, "{messages} messages tell little");
    let deviation = (messages * 0.25 * 0.75).sqrt();
    assert!((second - 0.25 * messages).abs() < 4.0 * deviation, "{second} of {messages}");
}

#[test]
fn hosts_sharing_a_path_measure_doubled_contention() {
    // h1 and h3 send to h2 alternately. After s2 a worm has 512 + 3 flits and no route byte left;
    // then 150 ns, 24 flits, until the next one begins. A host sends one each 2 x (515 + 24) flit
    // times, back to back. There it has one more route byte for each of two switches: 517 flits.
    let record = record(&[
        ("routing.algorithm", "up-down"),
        (ALTERNATIVE, "{ algorithm = \"up-down\", choose = \"by-contention\" }"),
        ("traffic.0", &backlogged("h1-0\", \"h3-0", "512 B")),
        LONG,
    ]);
    let steps = table(&record, "contention");
    let starts = integers(table(&record, "series"), "from_ps");
    assert!(integers(steps, "from_ps") == starts, "steps are those of the series");
    let [mean, highest, second] =
        ["coefficient_mean", "coefficient_max", "alternative_share"].map(|name| reals(steps, name));
    let last = mean.len() - 1;
    let expected = 2.0 * (515.0 + 24.0) / 517.0;
    assert!((mean[last] - expected).abs() < 0.01, "{}, not {expected}", mean[last]);
    assert!((highest[last] - expected).abs() < 0.01, "{}", highest[last]);
    assert!((second[last] - 1.0).abs() < 1e-12, "both beyond 1.5");
    assert!(second[0] < 1e-12 && mean[0] < 1.1, "a microsecond in, hardly a packet has left");
    // After 200 us some 30 packets of each have left, and .7^30 of the initial value is negligible.
    let settled = starts.iter().position(|from| *from >= 200_000_000).unwrap();
    assert!(mean[settled..].iter().all(|mean| (mean - expected).abs() < 0.01), "{mean:?}");
}

#[test]
fn adaptive_segments_follow_the_longer_path() {
    // Seven switches in a ring: from s5 to s3 by s4 and its host, over four switches, or by s6, s0,
    // s1 and s2, over six. 150 B are one packet of 6 x 25 B, and two of at most 4 x 25 B.
    let segmentation = "{ adaptive = \"25 B\" }";
    let traffic = format!(
        "{{ hosts = [\"h5-0\"], load = 0.1, length = {{ fixed = \"150 B\" }}, \
         destinations = {{ host = \"h3-0\" }}, segmentation = {segmentation} }}"
    );
    let ring = ("topology.generate.ring.switches", "7");
    let packets = |settings: &[(&str, &str)]| {
        let settings = [&[ring, ("traffic.0", traffic.as_str())], settings].concat();
        integers(table(&record(&settings), "messages"), "packets").to_vec()
    };
    let short = packets(&[]);
    assert!(!short.is_empty() && short.iter().all(|packets| *packets == 2), "{short:?}");
    let second = "{ algorithm = \"up-down\", choose = { at-random = { percent = 50 } } }";
    let long = packets(&[(ALTERNATIVE, second)]);
    assert!(!long.is_empty() && long.iter().all(|packets| *packets == 1), "{long:?}");
}

#[test]
fn unused_in_transit_and_contention_tables_are_empty() {
    let record = record(&[("routing.algorithm", "up-down")]);
    assert_eq!(integers(table(&record, "in_transit"), "packets"), [0; 0]);
    assert_eq!(integers(table(&record, "contention"), "from_ps"), [0; 0]);
    assert_eq!(record.in_transit.packets, 0);
    assert_eq!(record.classes[0].in_transit_hosts_mean, Some(0.0));
}

#[test]
fn both_engines_agree_on_in_transit_with_policing() {
    let urgent = "{ name = \"urgent\", priority = 2, load = 0.2, length = { fixed = \"200 B\" }, segmentation = \"adaptive\", \
                  policing = { rate = 0.1, burst = \"400 B\", excess = { demote = \"bulk\" } } }";
    let bulk = "{ name = \"bulk\", priority = 1, load = 0.3, length = { exponential = \"512 B\" }, \
                policing = { rate = 0.25, burst = \"512 B\", longest = \"256 B\" } }";
    let traffic = format!("[{urgent}, {bulk}]");
    let settings = [
        ("routing.algorithm", "up-down"),
        (ALTERNATIVE, "{ algorithm = \"in-transit\", choose = \"by-contention\" }"),
        ("network.arbitration", "strict-priority"),
        (POOL, "600 B"),
        ("traffic", &traffic),
        ("stop.time", "300 us"),
    ];
    let [by_runs, by_flits] =
        [Engine::Fast, Engine::Oracle].map(|engine| record_by(engine, &settings));
    assert_eq!(by_runs.tables, by_flits.tables);
    assert_eq!((by_runs.in_transit, &by_runs.notes), (by_flits.in_transit, &by_flits.notes));
    assert!(by_runs.in_transit.packets > 20 && by_runs.in_transit.spilled_packets > 0);
    assert!(by_runs.classes[0].messages_demoted > 0 && by_runs.classes[1].messages_delayed > 0);
    let second = reals(table(&by_runs, "contention"), "alternative_share");
    assert!(second.iter().any(|share| *share > 0.0) && second.iter().any(|share| *share < 1.0));
}

/// Streams of 64 MB/s, one of which fits into half a link of 160 MB/s: one of h3's own, and two
/// from h4 to h2, through h3, during and after it.
const STREAMS: [(&str, &str); 4] = [
    ("network.admission", r#"{ share = 0.5, length = "64 B" }"#),
    ("network.preset", "myrinet-1280"),
    ("stop.time", "600 us"),
    (
        "traffic",
        r#"[
  { name = "own", streams = { data = { mpeg2 = { mean = "640 B", deviation = "0 B" } }, interval = "10 us",
    placement = { pairs = ["h3-0 -> h4-0"] }, start = "0 s", lifetime = "200 us" } },
  { name = "far", streams = { data = { mpeg2 = { mean = "640 B", deviation = "0 B" } }, interval = "10 us",
    placement = { pairs = ["h4-0 -> h2-0"] }, start = "100 us", lifetime = "200 us" } },
  { name = "later", streams = { data = { mpeg2 = { mean = "640 B", deviation = "0 B" } }, interval = "10 us",
    placement = { pairs = ["h4-0 -> h2-0"] }, start = "300 us", lifetime = "200 us" } },
]"#,
    ),
];

/// From h4 a probe of 71 flits of 6.25 ns, one flit time and 475 ns in h3 go by four cables of 49.2
/// ns and three switches of 150 ns to port 0 of s3, on its second visit: 1,571.8 ns. Its response
/// of 69 flits goes from there by two cables and two switches: 829.65 ns, like both directions of
/// h3's own stream. The other probe goes one cable and one switch further, to s2, and the response
/// returns through h3: 1,771 ns in each direction.
#[test]
fn in_transit_host_refuses_stream_without_link_bandwidth() {
    for engine in [Engine::Fast, Engine::Oracle] {
        let record = record_by(engine, &STREAMS);
        let requests = table(&record, "requests");
        let column = requests.columns.iter().find(|column| column.name == "refused_by").unwrap();
        let ColumnData::Words { codes, values } = &column.data else { panic!("texts") };
        let refused_by = codes.iter().map(|code| values[*code as usize].as_str());
        assert_eq!(refused_by.collect::<Vec<_>>(), ["", "h3-0", ""]);
        assert_eq!(reals(requests, "set_up_ps"), [1_659_300.0, 2_401_450.0, 3_542_000.0]);
        let ledgers = table(&record, "ledgers");
        assert!(integers(ledgers, "reserved_max_bytes_per_s").contains(&64_000_000));
        assert!(integers(ledgers, "reserved_bytes_per_s").iter().all(|reserved| *reserved == 0));
    }
}

#[test]
fn pool_below_a_probe_is_refused() {
    let settings = [&STREAMS[..], &[("network.in_transit.pool", "700 B")]].concat();
    let settings = [&settings[..], &[("network.admission.length", "1 KiB")]].concat();
    let found = error(&settings);
    assert!(found.contains("a probe of the admission control has 1 KiB of payload"), "{found}");
}
