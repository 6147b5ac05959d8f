//! From scenario text to record.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{ColumnData, Engine, LabError, Record, Run, Verdict, compile};
use std::path::Path;

const TORUS: &str = r#"
seed = 5

[topology.generate.torus]
dimensions = [3, 3]
hosts_per_switch = 2

[network]
preset = "myrinet-1280"

[[traffic]]
name = "short"
load = 0.1
length = { fixed = "32 B" }

[[traffic]]
name = "long"
hosts = ["h0-*"]
load = 0.1
length = { exponential = "512 B" }

[stop]
time = "3 ms"
"#;

fn load(text: &str, settings: &[(&str, &str)]) -> Result<ScenarioSource, LabError> {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    Ok(ScenarioSource::parse("torus.toml", text, Path::new("."), &overrides)?)
}

fn record(settings: &[(&str, &str)]) -> Record {
    let compiled = compile(&load(TORUS, settings).unwrap(), true).unwrap();
    let mut run = Run::new(compiled, Engine::Fast);
    while !run.advance(100_000).expect("time goes on").done {}
    run.record()
}

#[test]
fn light_load_is_accepted_with_confidence_intervals() {
    let record = record(&[("stop.time", "100 ms")]);
    assert_eq!(record.verdict, Verdict::Ok);
    assert_eq!(record.classes.iter().map(|class| class.hosts).collect::<Vec<_>>(), [18, 6]);
    for class in &record.classes {
        let half_width = class.accepted_load_half_width.unwrap();
        assert!((class.accepted_load - class.generated_load).abs() < half_width, "{class:?}");
        let relative = class.latency_half_width_ns.unwrap() / class.latency_mean_ns.unwrap();
        assert!(relative < 0.3, "{class:?}");
        assert!((class.generated_load - 0.1).abs() < 0.01, "{class:?}");
    }
}

#[test]
fn record_depends_on_scenario_and_seed_only() {
    assert_eq!(record(&[]).tables, record(&[]).tables);
    assert_ne!(record(&[]).tables, record(&[("seed", "6")]).tables);
}

#[test]
fn oracle_gives_the_same_record() {
    let run = |engine| {
        let source = load(TORUS, &[("stop.time", "1 ms")]).unwrap();
        let mut run = Run::new(compile(&source, true).unwrap(), engine);
        while !run.advance(100_000).expect("time goes on").done {}
        run.record()
    };
    let (fast, slow) = (run(Engine::Fast), run(Engine::Oracle));
    assert_eq!(fast.tables, slow.tables);
    assert_eq!(fast.classes, slow.classes);
}

#[test]
fn overload_is_saturated() {
    let settings = [("traffic.0.load", "1.0"), ("traffic.1.load", "1.0"), ("stop.time", "1 ms")];
    let record = record(&settings);
    assert_eq!(record.verdict, Verdict::Saturated, "{:?}", record.classes);
}

#[test]
fn saturated_classes_report_accepted_load_and_a_load_factor() {
    let settings = [("traffic.0.load", "1.0"), ("traffic.1.load", "1.0"), ("stop.time", "1 ms")];
    let class = record(&settings).classes.swap_remove(0);
    let reason = &class.verdict_reason;
    assert!(
        reason.contains(&format!(
            "took a load of {:.3} of {:.3}",
            class.accepted_load, class.generated_load
        )),
        "{reason}"
    );
    // Both classes should lower their loads, at most to the accepted load.
    let (_, factor) = reason.split_once("every load times ").unwrap();
    let factor: f64 = factor.parse().unwrap();
    let accepted = class.accepted_load / class.generated_load;
    assert!((0.8..1.0).contains(&(factor / accepted)), "{factor} of {accepted}: {reason}");
}

#[test]
fn advised_load_is_below_the_accepted_load() {
    let settings = [("traffic.0.load", "1.0"), ("traffic.1.load", "0.01"), ("stop.time", "1 ms")];
    let class = record(&settings).classes.swap_remove(0);
    let reason = &class.verdict_reason;
    let (_, offered) = reason.split_once("traffic.0.load = ").unwrap();
    let offered: f64 = offered.parse().unwrap();
    assert!(offered > 0.0 && offered < class.accepted_load, "{reason}");
}

#[test]
fn missed_interval_width_advises_a_sufficient_run_time() {
    let of = |time| {
        record(&[("stop.relative_width", "0.02"), ("stop.warm_up", "200 us"), ("stop.time", time)])
    };
    let record = of("2 ms");
    assert_eq!(record.verdict, Verdict::NotConverged);
    let class = &record.classes[1];
    let relative = class.latency_half_width_ns.unwrap() / class.latency_mean_ns.unwrap();
    assert!(relative > 0.02);
    let reason = &class.verdict_reason;
    assert!(reason.contains("2.0 % was wanted: let the run last about "), "{reason}");
    // The advice depends on a half-width with an error of its own.
    let (_, rest) = reason.split_once("last about ").unwrap();
    let (time, _) = rest.split_once(" (stop.time)").unwrap();
    let longer = of(time);
    let reached = |record: &Record| {
        let class = &record.classes[1];
        class.latency_half_width_ns.unwrap() / class.latency_mean_ns.unwrap()
    };
    assert!(reached(&longer) < 0.03, "{} after {time}", reached(&longer));
}

#[test]
fn run_ends_when_its_intervals_are_narrow() {
    let record = record(&[("stop.relative_width", "0.1"), ("stop.time", "1 s")]);
    assert_eq!(record.verdict, Verdict::Ok, "{}", record.verdict_reason);
    assert!(record.window_end_ps < 100_000_000_000, "{}", record.window_end_ps);
    for class in &record.classes {
        let relative = class.latency_half_width_ns.unwrap() / class.latency_mean_ns.unwrap();
        assert!(relative <= 0.1, "{class:?}");
    }
}

#[test]
fn deadlocked_run_names_the_cycle_and_the_remedy() {
    let text = TORUS.replace("[3, 3]", "[5]").replace("hosts = [\"h0-*\"]\n", "");
    let settings = [
        ("routing.algorithm", "shortest-path"),
        ("traffic.0.load", "1.0"),
        ("traffic.1.load", "1.0"),
    ];
    let compiled = compile(&load(&text, &settings).unwrap(), true).unwrap();
    let mut run = Run::new(compiled, Engine::Fast);
    while !run.advance(100_000).expect("time goes on").done {}
    let record = run.record();
    assert_eq!(record.verdict, Verdict::Deadlocked);
    assert!(record.deadlock.len() >= 5, "{:?}", record.deadlock);
    let reason = &record.verdict_reason;
    let (worms, first) = (record.deadlock.len(), &record.deadlock[0]);
    let expected_start = format!("{worms} worms wait for each other in a cycle ({first}, ");
    assert!(reason.starts_with(&expected_start), "{reason}");
    assert!(reason.contains("such as routing.algorithm = \"up-down\""), "{reason}");
}

#[test]
fn progress_follows_the_stop_rule_that_ends_the_run() {
    let of = |settings: &[(&str, &str)]| {
        let compiled = compile(&load(TORUS, settings).unwrap(), true).unwrap();
        let mut run = Run::new(compiled, Engine::Fast);
        let mut seen = Vec::new();
        loop {
            let progress = run.advance(2_000).expect("time goes on");
            seen.push((progress.fraction, progress.now_ps));
            if progress.done {
                break seen;
            }
        }
    };
    // By time alone, progress would stay at a few per cent.
    for rule in [("stop.messages", "2000"), ("stop.relative_width", "0.1")] {
        let seen = of(&[rule, ("stop.time", "1 s")]);
        let (_, end_ps) = *seen.last().unwrap();
        assert!(end_ps < 200_000_000_000, "{rule:?}: {end_ps}");
        let (fraction, _) = seen.iter().rev().find(|(_, now_ps)| now_ps * 4 < end_ps * 3).unwrap();
        assert!((0.3..1.0).contains(fraction), "{rule:?} at three quarters: {fraction}");
    }
    let seen = of(&[]);
    assert!(seen.windows(2).all(|pair| pair[0].0 <= pair[1].0), "time only goes on");
    assert!(seen.iter().all(|(fraction, _)| (0.0..=1.0).contains(fraction)));
}

#[test]
fn message_sample_is_a_subset_of_all_messages() {
    let rows = |table: &gingham_lab::Table| {
        let column = |column: &gingham_lab::Column| match &column.data {
            ColumnData::Integers(values) => values.clone(),
            ColumnData::Words { codes, .. } => codes.iter().map(|code| u64::from(*code)).collect(),
            ColumnData::Reals(_) => panic!("messages have whole numbers"),
        };
        let columns: Vec<Vec<u64>> = table.columns.iter().map(column).collect();
        let row = |index: usize| columns.iter().map(|column| column[index]).collect::<Vec<_>>();
        (0..columns[0].len()).map(row).collect::<Vec<_>>()
    };
    let compiled = compile(&load(TORUS, &[("measure.messages", "all")]).unwrap(), true).unwrap();
    let mut run = Run::new(compiled, Engine::Fast);
    let mut all = Vec::new();
    let mut pieces = 0;
    while let progress = run.advance(2_000).expect("time goes on")
        && !progress.done
    {
        let piece = rows(&run.take_messages());
        pieces += usize::from(!piece.is_empty());
        all.extend(piece);
    }
    all.extend(rows(&run.take_messages()));
    assert!(pieces > 10);
    assert_eq!(all.len() as u64, run.progress().delivered, "every message that was delivered");
    assert!(rows(&run.take_messages()).is_empty(), "what was taken is forgotten");
    let sampled = record(&[("measure.sample_size", "100")]);
    let sample = rows(&sampled.tables[0]);
    assert!((50..=100).contains(&sample.len()));
    for message in sample {
        let is_it = |row: &&Vec<u64>| (row[0], row[2]) == (message[0], message[2]);
        assert_eq!(all.iter().find(is_it), Some(&message));
    }
    assert!(rows(&record(&[("measure.messages", "none")]).tables[0]).is_empty());
}

#[test]
fn result_tables_describe_the_tables_of_a_record() {
    let shape = |table: &gingham_lab::Table| {
        let columns = table.columns.iter();
        let columns: Vec<_> = columns
            .map(|c| (c.name.clone(), c.unit.clone(), c.meaning.clone(), c.data.kind()))
            .collect();
        (table.name, table.meaning, columns)
    };
    let made: Vec<_> = record(&[]).tables.iter().map(shape).collect();
    let described: Vec<_> = gingham_lab::result_tables().iter().map(shape).collect();
    assert_eq!(made, described);
}

#[test]
fn very_short_run_is_not_converged() {
    assert_eq!(record(&[("stop.time", "5 us")]).verdict, Verdict::NotConverged);
}

#[test]
fn backlogged_class_is_never_saturated() {
    let text = TORUS
        .replace("name = \"short\"\nload = 0.1", "name = \"short\"\narrivals = \"backlogged\"");
    let compiled = compile(&load(&text, &[("stop.time", "1 ms")]).unwrap(), true).unwrap();
    let mut run = Run::new(compiled, Engine::Fast);
    while !run.advance(100_000).expect("time goes on").done {}
    let record = run.record();
    assert_ne!(record.classes[0].verdict, Verdict::Saturated);
    assert!(record.classes[0].accepted_load > 0.2, "{:?}", record.classes[0]);
}

#[test]
fn interrupted_run_has_an_interrupted_verdict() {
    let compiled = compile(&load(TORUS, &[]).unwrap(), true).unwrap();
    let mut run = Run::new(compiled, Engine::Fast);
    let progress = run.advance(5_000).expect("time goes on");
    assert!(progress.fraction > 0.0 && progress.fraction < 1.0, "{progress:?}");
    assert_eq!(run.record().verdict, Verdict::Interrupted);
}

#[test]
fn message_latency_is_delivery_minus_creation() {
    let record = record(&[("stop.messages", "500")]);
    let messages = record.tables.iter().find(|table| table.name == "messages").unwrap();
    let integers = |name: &str| {
        let column = messages.columns.iter().find(|column| column.name == name).unwrap();
        let ColumnData::Integers(values) = &column.data else { panic!("{name} holds integers") };
        values.clone()
    };
    let (created, delivered) = (integers("created_ps"), integers("delivered_ps"));
    // The window ends with a section, after 500 messages or a few more.
    assert!((500..1_000).contains(&created.len()), "{} messages", created.len());
    let added: Vec<_> = delivered.iter().zip(&created).map(|(end, start)| end - start).collect();
    assert_eq!(integers("latency_ps"), added);
}

#[test]
fn deadlock_prone_scenario_is_refused_with_its_cycle() {
    let text = TORUS.replace("[3, 3]", "[5]");
    let source = load(&text, &[("routing.algorithm", "shortest-path")]).unwrap();
    let Err(LabError::Deadlock(report)) = compile(&source, false) else {
        panic!("shortest paths on a ring of five can deadlock")
    };
    assert_eq!(report.channels.len(), 5);
    assert!(compile(&source, true).is_ok(), "unless that is allowed");
}

#[test]
fn semantic_errors_give_line_and_key() {
    let cases: &[&[(&str, &str)]] = &[
        &[("traffic.0.load", "1.5")],
        &[("traffic.0.load", "0")],
        &[("traffic.1.arrivals", "backlogged")],
        &[("traffic.1.hosts", "[\"h0-7-*\", \"h1-*\"]")],
        &[("traffic.0.destinations", "{ host = \"h9-9\" }")],
        &[("traffic.0.length", "{ fixed = \"0 B\" }")],
        &[("traffic.1.name", "short")],
        &[("network.slack", "{ capacity = 70, stop = 56, go = 40 }")],
        &[("network.slack", "{ capacity = 200, stop = 40, go = 56 }")],
        &[("stop.time", "0 s")],
        &[("stop.warm_up", "4 ms")],
        &[("stop.messages", "0")],
        &[("stop.messages", "1000000")],
        &[("stop.warm_up", "2990 us")],
        &[("stop.warm_up", "2.5 ms"), ("stop.relative_width", "0.05")],
        &[("stop.relative_width", "0")],
        &[("stop.relative_width", "1")],
        &[("stop.relative_width", "nan")],
        &[("stop.quantity", "hops")],
        &[("stop.quantity", "latncy")], // typos: on purpose
        &[("measure.percentiles", "[50, 100]")],
        &[("measure.percentiles", "[0]")],
        &[("measure.percentiles", "[99, 50, 99]")],
        &[("measure.percentiles", "[50, 99.99]"), ("stop.messages", "2000")],
        &[("measure.sample_size", "0")],
        &[("measure.messages", "some")],
        &[("measure.step", "10 ns")],
        &[("measure.step", "4 ms")],
        &[("topology.generate.torus.dimensions", "[]")],
        &[("topology", "{ file = \"missing.ibnetdiscover\" }")],
        &[("routing.algorithm", "{ up-down = { root = { named = \"s7-7\" } } }")],
        &[("network.link_rate", "80")],
        &[("network.link_rate", "999 B/s")],
        &[("network.link_rate", "50 GB/s"), ("network.routing_delay", "100 ms")],
        &[("network.setup_delay", "2 s")],
        &[("network.cable_length", "1000000000 m")],
        &[("network.link_rate", "50 GB/s"), ("network.cable_length", "10000000 m")],
        &[("network.preset", "myrinet-1281")],
    ];
    let messages: Vec<String> = cases
        .iter()
        .map(|settings| {
            let refused = load(TORUS, settings).and_then(|source| compile(&source, true));
            format!("{settings:?}\n{}\n", refused.expect_err("every case is wrong"))
        })
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}
