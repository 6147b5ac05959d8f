//! Streams: their number, destinations, and refusals.

use crate::support::{compiled, compiled_in, folder, scenario};
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, Engine, Run, compile};
use gingham_net::traffic::DataPlan;
use std::collections::BTreeMap;
use std::path::Path;

const MPEG: &str =
    "data = { mpeg2 = { mean = \"1600 B\", deviation = \"0 B\" } }, interval = \"100 us\"";

fn star(hosts: usize, class: &str, streams: &str) -> String {
    let preset = "preset = \"myrinet-1280\"";
    scenario(
        &format!("star.hosts = {hosts}\nnetwork.{preset}"),
        &format!("{class}\nstreams = {{ {streams} }}\n"),
    )
}

fn ends(compiled: &Compiled) -> Vec<(String, String)> {
    let name = |endpoint| compiled.plan.fabric.endpoint_name(endpoint);
    let ends = compiled.plan.streams();
    ends.map(|(_, source, stream)| (name(source.endpoint), name(stream.destination))).collect()
}

fn received(compiled: &Compiled) -> Vec<usize> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, destination) in ends(compiled) {
        *counts.entry(destination).or_default() += 1;
    }
    counts.into_values().collect()
}

#[test]
fn load_is_rounded_to_a_number_of_streams() {
    // 16 B/us of 160: a tenth of the link each. Loads of .64 and .16 give 6 and 2.
    for (load, count) in [(0.64, 6), (0.16, 2), (0.05, 1), (1.2, 12)] {
        let compiled = compiled(&star(3, &format!("load = {load}"), MPEG));
        assert_eq!(compiled.plan.streams().count(), 3 * count, "{load}");
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let expected = count as f64 / 10.0;
        let class = gingham_net::ClassId::new(0);
        let offered = compiled.plan.offered_load(class).unwrap();
        assert!((offered - expected).abs() < 1e-9, "{offered}");
        assert_eq!(compiled.plan.classes[0].senders().count(), 3);
    }
}

#[test]
fn even_placement_gives_every_host_equal_streams() {
    for (hosts, count) in [(2, 3), (4, 3), (5, 1), (5, 7), (7, 20)] {
        let compiled = compiled(&star(hosts, "", &format!("count = {count}, {MPEG}")));
        assert_eq!(received(&compiled), vec![count; hosts], "{hosts} hosts");
        assert!(ends(&compiled).iter().all(|(source, destination)| source != destination));
    }
    // To all others equally often.
    let compiled = compiled(&star(5, "", &format!("count = 8, {MPEG}")));
    let mut pairs: BTreeMap<(String, String), usize> = BTreeMap::new();
    for pair in ends(&compiled) {
        *pairs.entry(pair).or_default() += 1;
    }
    assert_eq!(pairs.into_values().collect::<Vec<_>>(), [2; 20]);
}

#[test]
fn random_placement_excludes_only_the_own_host() {
    let streams = format!("count = 400, placement = \"random\", {MPEG}");
    let compiled = compiled(&star(5, "", &streams));
    // 400 expected, standard deviation sqrt(2,000 x 1/5 x 4/5) = 18 at the most.
    assert!(received(&compiled).iter().all(|count| count.abs_diff(400) < 90));
    assert_ne!(received(&compiled), [400; 5]);
    assert!(ends(&compiled).iter().all(|(source, destination)| source != destination));
}

#[test]
fn placement_pairs_get_one_numbered_stream_each() {
    let streams =
        format!("placement = {{ pairs = [\"h1 -> h0\", \"h0 -> h1\", \"h0 -> h1\"] }}, {MPEG}");
    let compiled = compiled(&star(3, "", &streams));
    let expected = [("h0", "h1"), ("h0", "h1"), ("h1", "h0")];
    assert_eq!(ends(&compiled), expected.map(|(from, to)| (from.to_owned(), to.to_owned())));
    let numbers: Vec<u32> = compiled.plan.streams().map(|(_, _, stream)| stream.number).collect();
    assert_eq!(numbers, [0, 1, 0]);
}

fn integers(record: &gingham_lab::Record, table: &str, column: &str) -> Vec<u64> {
    let table = record.tables.iter().find(|of| of.name == table).unwrap();
    let column = table.columns.iter().find(|of| of.name == column).unwrap();
    match &column.data {
        gingham_lab::ColumnData::Integers(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn streams_of_a_host_pair_are_counted_separately() {
    let streams = format!(
        "placement = {{ pairs = [\"h0 -> h1\"] }}, count = 2, start = \"0 s\", {MPEG}, message = \"800 B\""
    );
    let text = star(2, "window = { packets = 1 }\n", &streams) + "[measure]\nflows = true\n";
    let mut run = Run::new(compiled(&text), Engine::Fast);
    while !run.advance(100_000).expect("time goes on").done {}
    let record = run.record();
    // 10 frames of 2 messages each in a millisecond.
    assert_eq!(integers(&record, "flows", "messages_created"), [20, 20]);
    assert_eq!(integers(&record, "streams", "frames_begun"), [10, 10]);
    assert_eq!(record.classes[0].hosts, 1);
    assert_eq!(record.classes[0].frames.streams, 2);
}

#[test]
fn trace_sets_the_mean_rate_and_is_listed_as_file() {
    let folder = folder("trace", &[("film.txt", "100\n200\n300\n")]);
    let streams =
        "data = { trace = { file = \"film.txt\", first = 1 } }, interval = \"100 us\", count = 1";
    let compiled = compiled_in(&folder, &star(2, "", streams)).unwrap();
    let (_, _, stream) = compiled.plan.streams().next().unwrap();
    let DataPlan::Frames(frames) = &*stream.data else { panic!("a trace has frames") };
    assert!((frames.sizes.mean_bytes() - 200.0).abs() < 1e-9);
    assert_eq!(compiled.files.len(), 1);
}

fn refused(class: &str, streams: &str) -> String {
    let bad = [
        ("bad.txt", "100\n# two\n12 kB\n"),
        ("order.txt", "0 0 I 5\n1 33 B 3\n2 66 P 4\n"),
        ("empty.txt", "# nothing\n"),
    ];
    let folder = folder("refused", &bad);
    let error = compiled_in(&folder, &star(2, class, streams)).unwrap_err().to_string();
    error.replace(&folder.display().to_string(), "")
}

#[test]
fn invalid_streams_are_refused_with_their_key() {
    let trace = |file: &str| format!("data = {{ trace = {{ file = \"{file}\" }} }}, count = 1");
    for (class, streams, expected) in [
        ("", trace("bad.txt"), "bad.txt:3: in `traffic[0].streams.data.trace.file`: found `12 kB`"),
        (
            "",
            trace("order.txt"),
            "order.txt:2: in `traffic[0].streams.data.trace.file`: frame 1 (B) stands here, not before frame 0",
        ),
        ("", trace("empty.txt"), "the trace has no frames"),
        ("", trace("none.txt"), "cannot be read"),
        ("", MPEG.to_owned(), "say how many streams a host has"),
        ("load = 0.5", format!("count = 1, {MPEG}"), "leave one of them out"),
        ("load = 0.001", MPEG.to_owned(), "less than half of one"),
        ("load = 0.0", MPEG.to_owned(), "above 0 and at most 100"),
        ("length = { fixed = \"64 B\" }", format!("count = 1, {MPEG}"), "leave `length` out"),
        ("arrivals = \"poisson\"", format!("count = 1, {MPEG}"), "leave `arrivals` out"),
        ("", format!("count = 0, {MPEG}"), "from 1 to 1000000 streams, not 0"),
        ("", format!("count = 1000000, {MPEG}"), "2000000 streams would take about"),
        ("", format!("placement = {{ pairs = [\"h0 -> h9\"] }}, {MPEG}"), "no host is called `h9`"),
        ("", format!("placement = {{ pairs = [\"h0 -> h0\"] }}, {MPEG}"), "from `h0` to itself"),
        ("", format!("placement = {{ pairs = [\"h0, h1\"] }}, {MPEG}"), "a pair is written as"),
        ("", format!("placement = {{ pairs = [] }}, {MPEG}"), "at least one pair"),
        (
            "load = 0.1",
            format!("placement = {{ pairs = [\"h0 -> h1\"] }}, {MPEG}"),
            "leave `load` out",
        ),
        ("", format!("count = 1, solicits = 0.0, {MPEG}"), "above 0, such as 1, not 0"),
        ("", format!("count = 1, lifetime = \"99 us\", {MPEG}"), "is shorter than a frame"),
        (
            "",
            format!("count = 1, start = \"1 ms\", {MPEG}"),
            "streams start 1 ms after their class",
        ),
        (
            "",
            "data = \"on-off\", count = 1, deadline = {}".to_owned(),
            "a deadline is that of a frame",
        ),
        ("", "data = \"on-off\", count = 1, spread = \"even\"".to_owned(), "leave `spread` out"),
        ("", "data = { on-off = { rate = \"0 B/s\" } }, count = 1".to_owned(), "rate"),
        (
            "",
            "data = { on-off = { on = \"0 s\" } }, count = 1".to_owned(),
            "an on period must last",
        ),
        ("", "data = { mpeg2 = { mean = \"0 B\" } }, count = 1".to_owned(), "from 1 B"),
        ("", format!("count = 1, message = \"0 B\", {MPEG}"), "a message has from 1 B"),
        (
            "",
            format!("count = 1, deadline = {{ warm_up_frames = -1 }}, {MPEG}"),
            "frames of a stream are not counted, not -1",
        ),
        ("", "data = \"mpeg2\", interval = \"0 s\", count = 1".to_owned(), "from 1 ps"),
    ] {
        let message = refused(class, &streams);
        assert!(message.contains(expected), "{streams}: {message}");
        assert!(message.contains("traffic.toml") || message.contains(".txt"), "{message}");
    }
}

#[test]
fn recorded_stream_scenario_is_restored() {
    let text = star(3, "load = 0.2", MPEG);
    let folder = Path::new(".");
    let whole =
        ScenarioSource::parse("traffic.toml", &text, folder, &Overrides::default()).unwrap();
    let resolved = serde_json::to_value(&whole.scenario).unwrap();
    let restored = ScenarioSource::restore("record", &resolved, folder, "").unwrap();
    assert_eq!(restored.scenario, whole.scenario);
    compile(&restored, false).unwrap();
}

#[test]
fn run_without_counted_frames_is_noted() {
    let compiled = compiled(&star(2, "", &format!("count = 1, {MPEG}")));
    let noted = |text: &str| compiled.notes.iter().any(|note| note.contains(text));
    assert!(noted("has at most 10 frames in this run, and the first 100"), "{:?}", compiled.notes);
}

fn followed(flow: &str) -> Result<Option<usize>, String> {
    let streams = format!("placement = {{ pairs = [\"h0 -> h1\", \"h1 -> h0\"] }}, {MPEG}");
    let two = "name = \"video\"";
    let one = "[[traffic]]\nname = \"more\"\nhosts = [\"h0\"]\n";
    let more = format!("{one}streams = {{ count = 2, {MPEG} }}\n");
    let follow = format!("[measure.follow]\nflows = [\"{flow}\"]\nstep = \"10 us\"\n");
    let text = star(2, two, &streams) + &more + &follow;
    let compiled = compiled_in(Path::new("."), &text).map_err(|error| error.to_string())?;
    Ok(compiled.plan.follow.flows[0].stream.map(gingham_net::StreamId::index))
}

#[test]
fn ambiguous_stream_is_followed_by_number() {
    // Streams 0 and 1 are those of the first class, 2 and 3 those of the second.
    assert_eq!(followed("video: h1 -> h0"), Ok(Some(1)));
    assert_eq!(followed("video: h1 -> h0 #1"), Ok(Some(1)));
    assert_eq!(followed("more: h0 -> h1 #3"), Ok(Some(3)));
    for (flow, expected) in [
        ("more: h0 -> h1", "stands for 2 streams; one is needed"),
        ("more: h0 -> h1 #1", "stream 1 is none of this flow"),
        ("more: h1 -> h0", "sends nothing in class `more`"),
    ] {
        let message = followed(flow).unwrap_err();
        assert!(message.contains(expected), "{flow}: {message}");
    }
}
