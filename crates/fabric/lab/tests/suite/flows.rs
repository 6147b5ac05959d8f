//! Flow statistics, equal in both engines.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_kernel::Span;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{ColumnData, Compiled, Engine, Record, Run, Table, compile};
use gingham_net::{
    AckPlan, Acknowledged, ClassId, FlowKey, FollowPlan, Marking, Periodic, Plan, Priority,
    Response, WindowPlan,
};
use gingham_topology::EndpointId;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;

const STAR: &str = r#"
    topology.generate.star.hosts = 3
    network.preset = "PRESET"

    [[traffic]]
    name = "data"
    arrivals = "backlogged"
    hosts = ["h0", "h1"]
    destinations = { hot-spot = { hosts = ["h2"], share = 1.0 } }
    length = { fixed = "256 B" }

    [stop]
    time = "2 ms"
    warm_up = "200 us"
"#;

const PRESETS: [&str; 2] = ["myrinet-1280", "yum-1600"];

fn compiled(preset: &str, change: impl Fn(&mut Plan)) -> Compiled {
    let text = STAR.replace("PRESET", preset);
    let overrides = Overrides::texts(Vec::new());
    let source = ScenarioSource::parse("star.toml", &text, Path::new("."), &overrides).unwrap();
    let mut compiled = compile(&source, false).unwrap();
    let mut plan = (*compiled.plan).clone();
    change(&mut plan);
    compiled.plan = Arc::new(plan);
    compiled
}

fn record(preset: &str, change: impl Fn(&mut Plan)) -> Record {
    let run = |engine| {
        let mut run = Run::new(compiled(preset, &change), engine);
        while !run.advance(100_000).expect("time goes on").done {}
        run.record()
    };
    let (fast, slow) = (run(Engine::Fast), run(Engine::Oracle));
    assert_eq!(fast.tables, slow.tables);
    fast
}

fn window(plan: &mut Plan) {
    let ack = AckPlan { payload_bytes: 20, priority: Priority::default(), vc_class: None };
    plan.classes[0].window = Some(WindowPlan {
        packets: 1,
        acknowledged: Acknowledged::All,
        ack,
        response: Response::default(),
    });
}

fn table<'a>(record: &'a Record, name: &str) -> &'a Table {
    record.tables.iter().find(|table| table.name == name).unwrap()
}

fn reals(table: &Table, name: &str) -> Vec<f64> {
    let column = table.columns.iter().find(|column| column.name == name).unwrap();
    let ColumnData::Reals(values) = &column.data else { panic!("{name} holds no real numbers") };
    values.clone()
}

#[test]
fn windowed_flows_are_counted_and_share_fairly() {
    for preset in PRESETS {
        let record = record(preset, window);
        let class = &record.classes[0];
        let (fairness, half_width) = (class.fairness.unwrap(), class.fairness_half_width.unwrap());
        assert!(1.0 - fairness <= half_width && fairness > 0.999, "{fairness} +- {half_width}");
        assert!((1..=2).contains(&class.acks_waiting_max), "{}", class.acks_waiting_max);
        let flows = table(&record, "flows");
        let accepted: f64 = reals(flows, "accepted_bytes_per_s").iter().sum();
        assert!((accepted / class.accepted_bytes_per_s - 1.0).abs() < 1e-9);
        // The next packet waits for the acknowledgement.
        let held = reals(flows, "held_window");
        assert!(held.len() == 2 && held.iter().all(|share| *share > 0.3), "{held:?}");
        assert!(class.verdict_reason.contains("that its window and the network took"));
    }
}

fn integers(table: &Table, name: &str) -> Vec<u64> {
    let column = table.columns.iter().find(|column| column.name == name).unwrap();
    let ColumnData::Integers(values) = &column.data else { panic!("{name} holds no integers") };
    values.clone()
}

#[test]
fn marks_returned_by_acks_are_counted() {
    // The switch marks all data and acknowledgements, every third packet, or none.
    let shares = [(Some(1), 1.0..=1.0), (Some(3), 0.2..=0.5), (None, 0.0..=0.0)];
    for (preset, (every, expected)) in
        PRESETS.into_iter().flat_map(|preset| shares.clone().map(|share| (preset, share)))
    {
        let record = record(preset, |plan| {
            window(plan);
            plan.marking =
                every.and_then(NonZeroU64::new).map(|every| Marking::Periodic(Periodic { every }));
        });
        let flows = table(&record, "flows");
        let [acknowledged, marked] = ["packets_acknowledged", "packets_marked"]
            .map(|name| integers(flows, name).iter().sum::<u64>());
        let delivered: u64 = integers(flows, "messages_delivered").iter().sum();
        assert!(
            acknowledged.abs_diff(delivered) <= 2 && acknowledged > 100,
            "{acknowledged}, {delivered}"
        );
        let share = record.classes[0].packets_marked_share.unwrap();
        assert!(expected.contains(&share), "{share}");
        assert!((share * real(acknowledged) - real(marked)).abs() < 1e-6);
    }
}

#[expect(clippy::cast_precision_loss, reason = "few packets")]
fn real(count: u64) -> f64 {
    count as f64
}

#[test]
fn followed_series_average_to_the_counts() {
    for preset in PRESETS {
        let follow = |plan: &mut Plan| {
            window(plan);
            let [source, destination] = [0, 2].map(EndpointId::new);
            plan.follow = FollowPlan {
                flows: vec![FlowKey { class: ClassId::new(0), source, destination, stream: None }],
                channels: vec![plan.fabric.endpoint_channel(source)],
                step: Span::from_ns(100_000),
                window_steps: 5,
            };
        };
        let record = record(preset, follow);
        let mean = |table: &Table, name: &str| {
            // Without the two steps of the warm-up.
            let values = reals(table, name).split_off(2);
            assert_eq!(values.len(), 18);
            values.iter().sum::<f64>() / 18.0
        };
        let (series, flows) = (table(&record, "flow_series"), table(&record, "flows"));
        for name in ["accepted_bytes_per_s", "held_window"] {
            // The window begins with a section, shortly after the warm-up.
            let (found, expected) = (mean(series, name), reals(flows, name)[0]);
            assert!((found / expected - 1.0).abs() < 0.01, "{name}: {found}, not {expected}");
        }
        let busy = mean(table(&record, "link_series"), "utilisation");
        let channel = compiled(preset, follow).plan.follow.channels[0];
        let expected = reals(table(&record, "links"), "utilisation")[channel.index()];
        assert!((busy / expected - 1.0).abs() < 0.01, "{busy}, not {expected}");
    }
}
