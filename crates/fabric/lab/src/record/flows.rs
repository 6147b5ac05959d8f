//! Tables of flows, and of each followed flow step by step.

use super::messages::Names;
use super::view::RunView;
use gingham_net::measure::{FlowReport, FlowStep, FlowValues};
use gingham_net::{FlowKey, Hold};
use gingham_results::{Builder, Table};

const PS_PER_NS: f64 = 1e3;
const PS_PER_S: f64 = 1e12;

pub(super) type OfFlow<T> = (FlowKey, T);

pub(super) fn table(names: &Names, view: &RunView<'_>) -> Table {
    let rows: Vec<_> = view.report.flows().into_iter().map(|flow| (flow.key, flow)).collect();
    columns(names, &rows)
}

pub(super) fn columns(names: &Names, rows: &[OfFlow<FlowReport>]) -> Table {
    let held = |hold: Hold| move |(_, flow): &OfFlow<FlowReport>| flow.held.of(hold);
    of_flows(names, rows)
        .integers(
            ("messages_created", "messages"),
            "created in the window, less those that policing dropped",
            |(_, flow)| flow.created.messages,
        )
        .integers(("messages_delivered", "messages"), "delivered in the window", |(_, flow)| {
            flow.delivered.messages
        })
        .reals(
            ("accepted_bytes_per_s", "B/s"),
            "payload delivered in the window, bytes per second",
            |(_, flow)| flow.accepted_bytes_per_ps.mean * PS_PER_S,
        )
        .known(
            ("accepted_bytes_per_s_half_width", "B/s"),
            "half-width of its 95 % interval",
            |(_, flow)| Some(flow.accepted_bytes_per_ps.half_width? * PS_PER_S),
        )
        .known(
            ("latency_mean_ns", "ns"),
            "mean latency of those created in the window",
            |(_, flow)| flow.latency_mean_ps.map(|ps| ps / PS_PER_NS),
        )
        .reals(
            ("held_window", "1"),
            "share of the window spent waiting for an acknowledgement because its own window was full",
            held(Hold::Window),
        )
        .reals(
            ("held_rate_limit", "1"),
            "share of the window spent waiting for its rate limit",
            held(Hold::RateLimit),
        )
        .reals(
            ("held_tokens", "1"),
            "share of the window spent waiting for tokens",
            held(Hold::Tokens),
        )
        .integers(
            ("packets_acknowledged", "packets"),
            "its packets acknowledged in the window",
            |(_, flow)| flow.acknowledged_packets,
        )
        .integers(
            ("packets_marked", "packets"),
            "of these, packets marked by a switch",
            |(_, flow)| flow.marked_packets,
        )
        .build(
            "flows",
            "one row per flow that had something to deliver in the window, if flows are counted",
        )
}

pub(super) fn series(names: &Names, view: &RunView<'_>) -> Table {
    let mut rows = Vec::new();
    for flow in view.report.flow_series() {
        rows.extend(flow.steps.into_iter().map(|step| (flow.key, step)));
    }
    series_columns(names, &rows)
}

pub(super) fn series_columns(names: &Names, rows: &[OfFlow<FlowStep>]) -> Table {
    let accepted = |values: &FlowValues| values.accepted_bytes_per_ps * PS_PER_S;
    let latency = |values: &FlowValues| values.latency_mean_ps.map(|ps| ps / PS_PER_NS);
    let smoothed = "average over steps centred on this one";
    of_flows(names, rows)
        .integers(("from_ps", "ps"), "start of the step", |(_, step)| step.from.as_ps())
        .integers(("to_ps", "ps"), "end of the step", |(_, step)| step.to.as_ps())
        .reals(
            ("accepted_bytes_per_s", "B/s"),
            "payload delivered in it, bytes per second",
            |(_, step)| accepted(&step.own),
        )
        .reals(("accepted_bytes_per_s_smoothed", "B/s"), smoothed, |(_, step)| {
            accepted(&step.smoothed)
        })
        .known(
            ("latency_mean_ns", "ns"),
            "mean latency of the messages created in it",
            |(_, step)| latency(&step.own),
        )
        .known(("latency_mean_ns_smoothed", "ns"), smoothed, |(_, step)| latency(&step.smoothed))
        .reals(
            ("held_window", "1"),
            "share of the step spent waiting for an acknowledgement because its window was full",
            |(_, step)| step.own.held.of(Hold::Window),
        )
        .reals(("held_window_smoothed", "1"), smoothed, |(_, step)| {
            step.smoothed.held.of(Hold::Window)
        })
        .reals(
            ("held_rate_limit", "1"),
            "share of the step spent waiting for its rate limit",
            |(_, step)| step.own.held.of(Hold::RateLimit),
        )
        .reals(("held_rate_limit_smoothed", "1"), smoothed, |(_, step)| {
            step.smoothed.held.of(Hold::RateLimit)
        })
        .reals(("held_tokens", "1"), "share of the step spent waiting for tokens", |(_, step)| {
            step.own.held.of(Hold::Tokens)
        })
        .reals(("held_tokens_smoothed", "1"), smoothed, |(_, step)| {
            step.smoothed.held.of(Hold::Tokens)
        })
        .build(
            "flow_series",
            "one row per followed flow and time step, from zero to the end of the window",
        )
}

pub(super) fn of_flows<'a, T>(names: &Names, rows: &'a [OfFlow<T>]) -> Builder<'a, OfFlow<T>> {
    let Names { classes, endpoints } = names.clone();
    Builder::new(rows)
        .words("class", "traffic class of its messages", classes, |(flow, _)| flow.class.index())
        .words("source", "sending host", endpoints.clone(), |(flow, _)| flow.source.index())
        .words("destination", "receiving host", endpoints, |(flow, _)| flow.destination.index())
        .texts("stream", "running number of its stream; empty for other sources", |(flow, _)| {
            flow.stream.map_or_else(String::new, |stream| stream.index().to_string())
        })
}

#[cfg(test)]
mod tests {
    use crate::compile::compile;
    use crate::record::{ColumnData, Record, Table};
    use crate::scenario::{Overrides, ScenarioSource};
    use gingham_kernel::{Span, Time};
    use gingham_net::measure::{ChannelCount, Collector};
    use gingham_net::{
        ClassId, Conformance, Delivery, FlowId, FlowKey, FollowPlan, Hold, Message, MessageNumber,
        Plan, Simulation,
    };
    use gingham_topology::{ChannelId, EndpointId};
    use std::path::Path;
    use std::sync::Arc;

    const TWO: &str = r#"
        topology.generate.star.hosts = 2
        network.preset = "myrinet-1280"

        [[traffic]]
        name = "data"
        load = 0.1
        length = { fixed = "256 B" }

        [stop]
        time = "1 us"
        warm_up = "0 s"
    "#;

    /// Returns the record of a run without traffic, after `story` has reported events to the run's
    /// collector.
    fn record(change: impl Fn(&mut Plan), story: impl Fn(&mut Collector)) -> Record {
        let overrides = Overrides::texts(Vec::new());
        let source = ScenarioSource::parse("two.toml", TWO, Path::new("."), &overrides).unwrap();
        let mut compiled = compile(&source, false).unwrap();
        let mut plan = (*compiled.plan).clone();
        plan.classes[0].sources.clear();
        change(&mut plan);
        compiled.plan = Arc::new(plan);
        let mut simulation: Box<dyn Simulation> = gingham_engine::start(Arc::clone(&compiled.plan));
        story(simulation.endpoints_mut().collector_mut());
        simulation.advance(u64::MAX);
        Record::new(&compiled, &*simulation, true)
    }

    fn key(source: usize) -> FlowKey {
        FlowKey {
            class: ClassId::new(0),
            source: EndpointId::new(source),
            destination: EndpointId::new(1 - source),
            stream: None,
        }
    }

    fn carry(collector: &mut Collector, flow: usize, created_ns: u64, delivered_ns: u64) {
        let [created, delivered] = [created_ns, delivered_ns].map(|ns| Time::from_ps(1_000 * ns));
        let message = Message {
            number: MessageNumber::new(0),
            class: ClassId::new(0),
            source: key(flow).source,
            destination: key(flow).destination,
            payload_bytes: 1_000,
            created,
            flow: Some(FlowId::new(flow)),
        };
        collector.on_created(&message);
        collector.on_delivered(&Delivery {
            message,
            posted: created,
            entered: created,
            head_arrived: delivered,
            delivered,
            hops: 1,
            in_transit_hosts: 0,
            packets: 1,
            wire_bytes: 1_004,
            conformance: Conformance::Conforming,
        });
    }

    /// Reports three messages from `h1` to `h0`, delayed for 0.4 us by the window and for 0.1 us by
    /// the rate limit, and a message in the other direction.
    fn feed(collector: &mut Collector) {
        for flow in [0, 1] {
            collector.on_flow(FlowId::new(flow), key(flow));
        }
        carry(collector, 0, 0, 100);
        carry(collector, 1, 0, 100);
        carry(collector, 1, 0, 200);
        carry(collector, 1, 699, 999);
        let [from, full, paced] = [0, 400_000, 500_000].map(Time::from_ps);
        collector.on_held(FlowId::new(1), Hold::Window, from, full);
        collector.on_held(FlowId::new(1), Hold::RateLimit, full, paced);
        collector.on_ack_queue(ClassId::new(0), 7);
        for (ps, marked) in [(300_000, true), (600_000, false), (900_000, true)] {
            collector.on_acknowledged(FlowId::new(1), 1, u32::from(marked), Time::from_ps(ps));
        }
    }

    fn table<'a>(record: &'a Record, name: &str) -> &'a Table {
        record.tables.iter().find(|table| table.name == name).unwrap()
    }

    fn column(table: &Table, name: &str) -> Vec<String> {
        let column = table.columns.iter().find(|column| column.name == name).unwrap();
        match &column.data {
            ColumnData::Integers(values) => values.iter().map(ToString::to_string).collect(),
            ColumnData::Reals(values) => values.iter().map(|value| format!("{value:.3}")).collect(),
            ColumnData::Words { codes, values } => {
                codes.iter().map(|code| values[*code as usize].clone()).collect()
            }
        }
    }

    fn columns(table: &Table, names: &[&str]) -> Vec<Vec<String>> {
        names.iter().map(|name| column(table, name)).collect()
    }

    #[test]
    fn flow_rows_hold_counts_latencies_and_held_shares() {
        let record = record(|plan| plan.measure.flows = true, feed);
        let flows = table(&record, "flows");
        let names = ["class", "source", "destination", "messages_created", "messages_delivered"];
        let expected = [["data", "data"], ["h0", "h1"], ["h1", "h0"], ["1", "3"], ["1", "3"]];
        assert_eq!(columns(flows, &names), expected);
        // Within 1 us, one flow delivers 1,000 bytes in one of 63 sections, the other 3,000 bytes
        // in three sections, with latencies of 100, 200 and 300 ns.
        let names = ["accepted_bytes_per_s", "latency_mean_ns", "held_window", "held_rate_limit"];
        let expected = [
            ["1000000000.000", "3000000000.000"],
            ["100.000", "200.000"],
            ["0.000", "0.400"],
            ["0.000", "0.100"],
        ];
        assert_eq!(columns(flows, &names), expected);
        assert_eq!(column(flows, "held_tokens"), ["0.000"; 2]);
        let names = ["packets_acknowledged", "packets_marked"];
        assert_eq!(columns(flows, &names), [["0", "3"], ["0", "2"]]);
        let half_widths = column(flows, "accepted_bytes_per_s_half_width");
        assert!(half_widths.iter().all(|width| width != "NaN"), "{half_widths:?}");
        // Jain's index of 1,000 and 3,000 bytes: (1 + 3)^2 / (2 x 10) = 0.8. Few sections contain
        // any delivery.
        let class = &record.classes[0];
        assert!((class.fairness.unwrap() - 0.8).abs() < 1e-12);
        assert_eq!((class.fairness_half_width, class.acks_waiting_max), (None, 7));
        let held =
            [class.held_window, class.held_rate_limit, class.held_tokens].map(Option::unwrap);
        assert!((held[0] - 0.2).abs() < 1e-12 && (held[1] - 0.05).abs() < 1e-12);
        assert!(held[2].abs() < 1e-12);
        assert!((class.packets_marked_share.unwrap() - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn followed_flow_has_one_row_per_step() {
        let follow = |plan: &mut Plan| {
            plan.follow = FollowPlan {
                flows: vec![key(1)],
                channels: Vec::new(),
                step: Span::from_ps(250_000),
                window_steps: 3,
            };
        };
        let record = record(follow, feed);
        let series = table(&record, "flow_series");
        let names = ["source", "from_ps", "to_ps"];
        let expected = [
            ["h1"; 4],
            ["0", "250000", "500000", "750000"],
            ["250000", "500000", "750000", "1000000"],
        ];
        assert_eq!(columns(series, &names), expected);
        // 1,000 bytes in 250 ns are 4 GB/s. The first step has two messages, the last has one.
        let names = [
            "accepted_bytes_per_s",
            "accepted_bytes_per_s_smoothed",
            "latency_mean_ns",
            "latency_mean_ns_smoothed",
            "held_window",
            "held_window_smoothed",
            "held_rate_limit",
            "held_rate_limit_smoothed",
        ];
        let expected = [
            ["8000000000.000", "0.000", "0.000", "4000000000.000"],
            ["4000000000.000", "2666666666.667", "1333333333.333", "2000000000.000"],
            ["150.000", "NaN", "300.000", "NaN"],
            ["150.000", "200.000", "300.000", "300.000"],
            ["1.000", "0.600", "0.000", "0.000"],
            ["0.800", "0.533", "0.200", "0.000"],
            ["0.000", "0.400", "0.000", "0.000"],
            ["0.200", "0.133", "0.133", "0.000"],
        ];
        assert_eq!(columns(series, &names), expected);
        let names = ["held_tokens", "held_tokens_smoothed"];
        assert_eq!(columns(series, &names), [["0.000"; 4]; 2]);
    }

    #[test]
    fn followed_channel_has_one_row_per_step() {
        let follow = |plan: &mut Plan| {
            plan.follow = FollowPlan {
                flows: Vec::new(),
                channels: vec![ChannelId::new(0)],
                step: Span::from_ps(500_000),
                window_steps: 3,
            };
        };
        // A flit takes 6,250 ps, and a step is 80 flit times.
        let sampled = |collector: &mut Collector| {
            for (ps, data_flits) in [(500_000, 40), (1_000_000, 60)] {
                let count = ChannelCount { data_flits, ..ChannelCount::default() };
                collector.on_sample(Time::from_ps(ps), &[count]);
            }
        };
        let record = record(follow, sampled);
        let series = table(&record, "link_series");
        let links = table(&record, "links");
        for name in ["from", "from_port", "to", "to_port"] {
            let own = &column(links, name)[0];
            assert_eq!(column(series, name), [own.clone(), own.clone()], "{name}");
        }
        let names = ["from_ps", "to_ps", "utilisation", "utilisation_smoothed"];
        let expected =
            [["0", "500000"], ["500000", "1000000"], ["0.500", "0.250"], ["0.375", "0.375"]];
        assert_eq!(columns(series, &names), expected);
    }

    #[test]
    fn flow_tables_are_empty_without_flows() {
        let record = record(|_| {}, |_| {});
        for (name, text) in [("flows", "class"), ("flow_series", "class"), ("link_series", "to")] {
            assert!(column(table(&record, name), text).is_empty(), "{name}");
        }
        let class = &record.classes[0];
        assert_eq!((class.fairness, class.acks_waiting_max), (None, 0));
        assert_eq!((class.held_window, class.packets_marked_share), (None, None));
    }
}
