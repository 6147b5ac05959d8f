//! Virtual lanes from a scenario to deliveries.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_kernel::Time;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{ColumnData, Compiled, Engine, LabError, Run, SteppedBy, compile};
use gingham_net::{Delivery, PathId, Plan, Status};
use gingham_topology::{EndpointId, Fabric};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

const MESH: &str = r#"
topology.generate.mesh.dimensions = [3, 3]
routing.algorithm = "dimension-order"
stop.time = "60 us"
stop.warm_up = "0 ps"
"#;

fn source(text: &str) -> Result<ScenarioSource, LabError> {
    Ok(ScenarioSource::parse("lanes.toml", text, Path::new("."), &Overrides::default())?)
}

fn compiled(text: &str) -> Compiled {
    let compiled = source(text).and_then(|source| compile(&source, false));
    compiled.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns all deliveries, equal in both engines.
fn run(plan: &Arc<Plan>) -> Vec<Delivery> {
    let mut oracle = gingham_oracle::start(Arc::clone(plan));
    while *oracle.advance(10_007) == Status::Running {
        oracle.assert_invariants();
    }
    oracle.assert_invariants();
    let mut engine = gingham_engine::start(Arc::clone(plan));
    engine.advance(u64::MAX);
    engine.assert_invariants();
    let found = engine.take_messages();
    assert_eq!(found, oracle.take_messages());
    assert_eq!(engine.channel_counts(), oracle.channel_counts());
    found
}

fn deliveries(text: &str) -> Vec<Delivery> {
    run(&compiled(&format!("measure.messages = \"all\"\n{text}")).plan)
}

fn preset(lanes: &str) -> String {
    format!("[network]\npreset = \"yum-1600\"\nlanes = {{ {lanes} }}\n")
}

#[test]
fn lone_packet_time_matches_the_formula() {
    // 200 MB/s: 80 ns a flit of 16 B, 5 ns a byte; 10 m: 49.2 ns, one cycle.
    for (switches, payload, flit, [pipeline_cycles, routing_cycles], metres) in [
        (1_u64, 640_u64, 16_u64, [0_u64, 1], 10_u64),
        (2, 16, 16, [0, 1], 10),
        (3, 17, 16, [7, 0], 0),
        (4, 1_000, 64, [2, 5], 100),
        (5, 9, 1, [40, 1], 20),
    ] {
        let text = format!(
            r#"
            topology.generate.two-hosts.switches = {switches}
            network = {{ preset = "yum-1600", cable_length = "{metres} m", lanes = {{
                flit = "{flit} B", pipeline_cycles = {pipeline_cycles}, routing_cycles = {routing_cycles}, depth = 1000 }} }}
            stop = {{ time = "2 ms", warm_up = "0 ps" }}
            traffic = [{{
                hosts = ["h0"], arrivals = {{ constant = {{ phase = "0 ps" }} }}, load = 0.001,
                length = {{ fixed = "{payload} B" }},
            }}]
            "#
        );
        let delivery = deliveries(&text)[0];
        // `docs/concepts/timing.md`: a lone packet over virtual lanes.
        let (cycle, delay) = (5_000 * flit, 4_920 * metres);
        let cycles = switches * (4 + pipeline_cycles + routing_cycles + delay.div_ceil(cycle));
        let flits = payload.div_ceil(flit);
        assert_eq!(delivery.entered.as_ps(), 0);
        assert_eq!(delivery.delivered.as_ps(), (cycles + flits) * cycle + delay);
        assert_eq!(delivery.head_arrived.as_ps(), (cycles + 1) * cycle + delay);
        assert_eq!(delivery.wire_bytes, flits * flit);
    }
}

/// A lane carries the full rate if its buffer holds a round trip, most of which is the pipeline: a
/// switch of 130 ns, at 25 GB/s.
#[test]
fn pipeline_depth_does_not_lower_lane_rate() {
    // A cycle of 2.56 ns, and 130 ns are 51 of them: 46 before the lanes, 5 in the stages.
    let delivered = |cycles: &str, depth: u32| {
        let text = format!(
            r#"
            topology.generate.two-hosts.switches = 2
            network = {{ preset = "yum-1600", link_rate = "25 GB/s", lanes = {{
                count = 1, flit = "64 B", {cycles}, depth = {depth} }} }}
            stop = {{ time = "200 us", warm_up = "0 ps" }}
            traffic = [{{ hosts = ["h0"], arrivals = "backlogged", length = {{ fixed = "4096 B" }} }}]
            "#
        );
        f64::from(u32::try_from(deliveries(&text).len()).unwrap()) * 4_096.0 / (200e-6 * 25e9)
    };
    let round_trip = 2 * 20 + 46 + 3;
    assert!(delivered("pipeline_cycles = 46", round_trip) > 0.95);
    // Packets take the routing cycles one after the other.
    assert!(delivered("routing_cycles = 47", round_trip) < 0.60);
    let half = delivered("pipeline_cycles = 46", round_trip / 2);
    assert!((0.45..0.55).contains(&half), "{half}");
}

const WRONG: &[&str] = &[
    "lanes.count = 0",
    "lanes.count = 17",
    "lanes.count = 2\nlanes.depth = [4, 4, 4]",
    "lanes.depth = 0",
    "lanes.depth = [10, 10, -3]\nlanes.count = 3",
    "lanes.depth = 70000",
    "lanes.depth = \"deep\"",
    "lanes.depth = 2.5",
    "lanes.flit = \"0 B\"",
    "lanes.flit = \"1 MiB\"",
    "lanes.forwarding = \"cut-through\"",
    "lanes.forwarding = [\"wormhole\"]",
    "lanes.forwarding = \"virtual-cut-through\"",
    "lanes.pipeline_cycles = 70000",
    "lanes.routing_cycles = -1",
    "lanes.crossbar = \"half\"",
    "lanes.cuont = 3", // typos: on purpose
    "lanes = 4",
    "lanes.link_output = { weighted-round-robin = { weights = [0, 0] } }\nlanes.count = 2",
    "lanes.link_output = { weighted-round-robin = { weights = [1, 2, 3] } }\nlanes.count = 2",
    "lanes.link_output = { weighted-round-robin = { weights = [0, 1] } }\nlanes.count = 2",
    "lanes.link_output = { round-robin = { by = \"packet\" } }",
    "lanes.link_output = { infiniband = { low = [{ lane = 4, weight = 1 }] } }\nlanes.count = 4\nlanes.forwarding = \"virtual-cut-through\"\nlanes.depth = 100",
    "lanes.adapter_port = \"infiniband\"",
    "slack = { capacity = 200, stop = 56, go = 40 }",
    "routing_delay = \"150 ns\"",
    "setup_delay = \"150 ns\"",
    "header = { route_bytes = true }",
    "header = { mark_bytes = \"2 B\" }",
    "header = { type_bytes = \"1 MiB\" }",
    "preset = \"myrinet-1280\"\nlanes.count = 4",
    "cable_length = \"100000000 m\"",
];

const WRONG_CLASSES: &[&str] = &[
    "lanes = []",
    "lanes = [4]",
    "lanes = [0, -1]",
    "lanes = [0, 1, 0]",
    "lanes = 2",
    "service_level = 3",
];

#[test]
fn invalid_lane_settings_are_refused() {
    let class = "[[traffic]]\nload = 0.1\nlength = { fixed = \"640 B\" }\n";
    let network = |keys: &str| {
        let preset = if keys.contains("preset") { "" } else { "preset = \"yum-1600\"\n" };
        format!("{MESH}{class}[network]\n{preset}{keys}\n")
    };
    let with_class = |keys: &&str| {
        format!("{MESH}[network]\npreset = \"yum-1600\"\nlanes.count = 4\n{class}{keys}\n")
    };
    let wormhole = format!("{MESH}{class}lanes = [0]\n");
    let few = format!(
        "{}{class}{}lanes.datelines = true\nlanes.count = 1\n",
        MESH.replace("mesh", "torus").replace("[3, 3]", "[4, 4]"),
        "[network]\npreset = \"yum-1600\"\n"
    );
    let no_grid = format!(
        "{}{class}[network]\npreset = \"yum-1600\"\nlanes.datelines = true\n",
        "topology.generate.irregular.switches = 6\nstop.time = \"60 us\"\n"
    );
    let huge = "topology.generate.star.hosts = 5000\nstop.time = \"60 us\"\nnetwork.preset = \"yum-1600\"\n";
    let huge = format!("{huge}{class}");
    let slow = r#"
        topology.inline = """
        switch = [{ name = "s" }]
        host = [{ name = "a" }, { name = "b" }]
        cable = [{ ends = ["s", "a"], speed = "10 GB/s" }, { ends = ["s", "b"], speed = "1 MB/s" }]
        """
        stop.time = "60 us"
        network.preset = "yum-1600"
    "#;
    let slow = format!("{slow}{class}");
    let by_hops = MESH.to_owned()
        + "network = { preset = \"yum-1600\", lanes.forwarding = \"virtual-cut-through\" }\n"
        + class
        + "segmentation = { by-hops = [\"16 B\", \"640 B\", \"16 B\"] }\n";
    let texts = WRONG.iter().map(|keys| (*keys, network(keys)));
    let texts = texts.chain(WRONG_CLASSES.iter().map(|keys| (*keys, with_class(keys))));
    let texts = texts.chain([
        ("lanes in a wormhole network", wormhole),
        ("one lane for two dateline classes", few),
        ("no grid", no_grid),
        ("too many lanes", huge),
        ("too slow a cable", slow),
        ("packets that are longer over fewer switches", by_hops),
    ]);
    let mut messages = String::new();
    for (keys, text) in texts {
        let refused = source(&text).and_then(|source| compile(&source, true));
        let message = refused.err().unwrap_or_else(|| panic!("{keys} is taken"));
        writeln!(messages, "{keys}\n  => {message}\n").unwrap();
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn surprising_settings_are_noted() {
    let class = "[[traffic]]\nload = 0.1\nlength = { fixed = \"64 B\" }\n";
    let ring = "topology.generate.ring.switches = 4\nrouting.algorithm = \"dimension-order\"\nstop.time = \"60 us\"\n";
    let cases = [
        ("nothing", format!("{MESH}{}{class}", preset("depth = 10"))),
        ("shallow lanes", format!("{MESH}{}{class}", preset("depth = 4"))),
        ("long cables", format!("{MESH}{}cable_length = \"100 m\"\n{class}", preset("count = 2"))),
        (
            "cut-through",
            format!("{MESH}{}{class}", preset("depth = 6, forwarding = \"virtual-cut-through\"")),
        ),
        (
            "endless cables",
            format!("{MESH}{}cable_length = \"1000000 m\"\n{class}", preset("depth = 1")),
        ),
        ("lanes for nothing", format!("{MESH}{}{class}lanes = [1, 3]\n", preset("count = 5"))),
        ("one lane for nothing", format!("{MESH}{}{class}lanes = [0]\n", preset("count = 2"))),
        ("datelines that nobody asked for", format!("{ring}{}{class}", preset("count = 2"))),
        (
            "datelines of classes",
            format!(
                "{ring}{}{class}lanes = [0, 1]\n{class}name = \"b\"\nlanes = [2, 3]\n",
                preset("count = 4")
            ),
        ),
        ("datelines that nothing crosses", format!("{MESH}{}{class}", preset("datelines = true"))),
    ];
    let mut notes = String::new();
    for (what, text) in cases {
        writeln!(notes, "{what}: {:#?}\n", compiled(&text).notes).unwrap();
    }
    insta::assert_snapshot!(notes);
}

fn two_hosts(switches: u64, lanes: &str, classes: &str) -> Vec<Delivery> {
    deliveries(&format!(
        r#"
        topology.generate.two-hosts.switches = {switches}
        network = {{ preset = "yum-1600", lanes = {{ {lanes} }} }}
        stop = {{ time = "400 us", warm_up = "0 ps" }}
        {classes}
        "#
    ))
}

/// A flit takes 80 ns, and 10 m of cable less than that.
const CYCLE_PS: u64 = 80_000;
const DELAY_PS: u64 = 49_200;

#[test]
fn packets_of_a_message_are_spaced_by_routing_cycles() {
    for (switches, payload, longest, routing_cycles) in
        [(1_u64, 1_000_u64, 100_u64, 1_u64), (3, 640, 64, 0), (4, 333, 16, 2), (2, 48, 64, 1)]
    {
        let lanes = format!("count = 1, depth = 1000, routing_cycles = {routing_cycles}");
        let class = format!(
            "traffic = [{{ hosts = [\"h0\"], arrivals.constant.phase = \"0 ps\", load = 0.001,
               length.fixed = \"{payload} B\", segmentation.fixed = \"{longest} B\" }}]"
        );
        let delivery = two_hosts(switches, &lanes, &class)[0];
        // `docs/concepts/timing.md`: a head requests 1 + R ticks after the previous tail crossed,
        // and crosses at the next.
        let packets = payload.div_ceil(longest);
        let flits = |packet: u64| longest.min(payload - packet * longest).div_ceil(16);
        let behind = |packet| flits(packet) + 1 + routing_cycles;
        let cycles =
            switches * (4 + routing_cycles + 1) + flits(0) + (1..packets).map(behind).sum::<u64>();
        assert_eq!(
            delivery.latency().as_ps(),
            cycles * CYCLE_PS + DELAY_PS,
            "{switches}, {longest}"
        );
        assert_eq!(u64::from(delivery.packets), packets);
        assert_eq!(delivery.wire_bytes, 16 * (0..packets).map(flits).sum::<u64>());
    }
}

#[test]
fn load_and_rate_count_bytes_not_flits() {
    let constant = "traffic = [{ hosts = [\"h0\"], arrivals.constant.phase = \"0 ps\", load = 0.2, length.fixed = \"160 B\" }]";
    let found = two_hosts(1, "", constant);
    // 160 B of 5 ns each, at a fifth of the link.
    assert!(
        found
            .iter()
            .zip(0..)
            .all(|(delivery, n)| delivery.message.created.as_ps() == n * 4_000_000)
    );
    assert_eq!(found.len(), 100);
    let policed =
        "traffic = [{ hosts = [\"h0\"], arrivals = \"backlogged\", length.fixed = \"160 B\",
        policing = { rate = 0.25, burst = \"160 B\" } }]";
    let entered: Vec<u64> =
        two_hosts(1, "", policed).iter().map(|delivery| delivery.entered.as_ps()).collect();
    // A bucket is full again after 160 B of 5 ns at a quarter of the link, a whole number of
    // cycles.
    assert!(entered.windows(2).all(|pair| pair[1] - pair[0] == 3_200_000), "{entered:?}");
    assert!(entered.len() > 100);
}

#[test]
fn excess_is_dropped_or_demoted_to_other_lanes() {
    let classes = |excess: &str| {
        format!(
            "[[traffic]]\nname = \"urgent\"\npriority = 1\nlanes = [1]\narrivals = \"constant\"\nload = 0.4\n\
             length.fixed = \"160 B\"\npolicing = {{ rate = 0.2, burst = \"160 B\", excess = {excess} }}\n\
             [[traffic]]\nname = \"bulk\"\nlanes = [0]\narrivals = \"constant\"\nload = 0.1\nlength.fixed = \"160 B\"\n"
        )
    };
    let of = |excess: &str| two_hosts(1, "count = 2", &classes(excess));
    // The runs end at different times.
    let count = |found: &[Delivery], class: usize| {
        let messages = found.iter().map(|delivery| delivery.message);
        let of_window = messages.filter(|message| message.created < Time::from_ps(400_000_000));
        of_window.filter(|message| message.class.index() == class).count()
    };
    let (dropped, demoted) = (of("\"drop\""), of("{ demote = \"bulk\" }"));
    // Every other message conforms.
    assert_eq!(2 * count(&dropped, 0), count(&demoted, 0));
    assert_eq!(count(&dropped, 1), count(&demoted, 1));
}

#[test]
fn priority_waits_for_packet_on_same_lane_flit_on_other() {
    let classes = |lane: u64| {
        format!(
            "[[traffic]]\nname = \"bulk\"\nhosts = [\"h0\"]\nlanes = [0]\narrivals = \"backlogged\"\nlength.fixed = \"1600 B\"\n\
             [[traffic]]\nname = \"urgent\"\nhosts = [\"h0\"]\nlanes = [{lane}]\npriority = 1\narrivals = \"constant\"\nload = 0.01\n\
             length.fixed = \"16 B\"\n"
        )
    };
    let waits = |lane: u64| -> Vec<u64> {
        let found = two_hosts(1, "count = 2, depth = 200", &classes(lane));
        let urgent = found.iter().filter(|delivery| delivery.message.class.index() == 1);
        urgent.map(|of| (of.entered.as_ps() - of.message.created.as_ps()) / CYCLE_PS).collect()
    };
    let (behind, beside) = (waits(0), waits(1));
    assert!(behind.len() > 20 && beside.len() > 20);
    // At most the packet of 101 flits (1,600 B and 2 B of overhead); on a separate lane only the
    // flit on the channel and one of the other lane.
    assert!(behind.iter().all(|cycles| *cycles <= 101), "{behind:?}");
    assert!(behind.iter().any(|cycles| *cycles > 50), "{behind:?}");
    assert!(beside.iter().all(|cycles| *cycles <= 2), "{beside:?}");
}

#[test]
fn strict_priority_at_switches_starves_the_lowest_level() {
    let class = |host: usize, priority: u64| {
        format!(
            "[[traffic]]\nname = \"of-h{host}\"\nhosts = [\"h{host}\"]\npriority = {priority}\narrivals = \"backlogged\"\n\
             length.fixed = \"160 B\"\ndestinations.host = \"h3\"\n"
        )
    };
    let shares = |arbitration: &str| -> [usize; 3] {
        let found = deliveries(&format!(
            "topology.generate.star.hosts = 4\nstop = {{ time = \"1 ms\", warm_up = \"0 ps\" }}\n\
             network = {{ preset = \"yum-1600\", arbitration = \"{arbitration}\", lanes.count = 1 }}\n{}{}{}",
            class(0, 1),
            class(1, 1),
            class(2, 0)
        ));
        [0, 1, 2].map(|class| found.iter().filter(|of| of.message.class.index() == class).count())
    };
    let [a, b, c] = shares("round-robin");
    assert!(a.abs_diff(b) <= 1 && b.abs_diff(c) <= 1, "{a}, {b}, {c}");
    let [a, b, c] = shares("strict-priority");
    // At its turn one of the two higher levels always requests.
    assert!(a.abs_diff(b) <= 1 && a > 100 && c <= 1, "{a}, {b}, {c}");
}

#[test]
fn long_messages_take_the_in_transit_path() {
    let text = r#"
        topology.generate.ring = { switches = 8, hosts_per_switch = 2 }
        stop = { time = "400 us", follow = "400 us", warm_up = "0 ps" }
        measure.messages = "all"
        [network]
        preset = "yum-1600"
        lanes.count = 4
        [routing]
        algorithm = "up-down"
        alternative = { algorithm = "in-transit", choose = { by-length = { below = "100 B" } } }
        [[traffic]]
        load = 0.1
        stop = "300 us"
        length = { bimodal = { short = "64 B", long = "320 B", long_share = 0.5 } }
    "#;
    let stop = "in_transit = { when_full = \"stop\", pool = \"64 KiB\" }";
    for when_full in ["", "in_transit.pool = \"400 B\"", stop] {
        let text = text.replace("lanes.count", &format!("{when_full}\nlanes.count"));
        // A full host that stops its senders may close a cycle, but not at this load.
        let plan = compile(&source(&text).unwrap(), true).unwrap().plan;
        let mut simulation = gingham_oracle::start(Arc::clone(&plan));
        simulation.advance(u64::MAX);
        let found = simulation.take_messages();
        let hosts_on = |delivery: &Delivery| {
            let (from, to) = (delivery.message.source, delivery.message.destination);
            let set = if delivery.message.payload_bytes < 100 {
                PathId::PRIMARY
            } else {
                PathId::ALTERNATIVE
            };
            let path = plan.path(set, from, to).unwrap();
            plan.length_of(&path[1..]).in_transit_hosts as u64
        };
        let expected: u64 = found.iter().map(hosts_on).sum();
        let hosts = plan.fabric.endpoint_ids();
        let measured = simulation.collector().report();
        let sent_on: u64 = hosts.map(|host| measured.transit(host).reinjected_packets).sum();
        assert!(expected > 20);
        assert_eq!((sent_on, simulation.status()), (expected, &Status::Finished), "{when_full}");
    }
}

#[test]
fn finished_network_delivered_all_bytes_in_whole_flits() {
    let text = format!(
        "{MESH}measure.messages = \"all\"\n{}[[traffic]]\nload = 0.5\nstop = \"30 us\"\nlength = {{ uniform = {{ from = \"1 B\", to = \"500 B\" }} }}\n",
        "network = { preset = \"yum-1600\", header = { type_bytes = \"2 B\" }, lanes = { count = 2, depth = [3, 7] } }\n"
    );
    let plan = compiled(&text).plan;
    let mut simulation = gingham_engine::start(Arc::clone(&plan));
    assert_eq!(simulation.advance(u64::MAX), &Status::Finished);
    simulation.assert_invariants();
    let found = simulation.take_messages();
    let flits = |of: &Delivery| u64::from(of.message.payload_bytes + 2).div_ceil(16);
    assert!(found.iter().all(|of| of.wire_bytes == 16 * flits(of)));
    let hops = |of: &Delivery| {
        let path = plan.path(PathId::PRIMARY, of.message.source, of.message.destination);
        path.unwrap().len() as u64
    };
    let carried: u64 = simulation.channel_counts().iter().map(|count| count.data_flits).sum();
    assert_eq!(carried, found.iter().map(|of| flits(of) * hops(of)).sum::<u64>());
    assert!(found.len() > 100);
}

/// Returns the flits that one lane carries by 400 us.
fn carried(depth: u64, metres: u64, forwarding: &str, bytes: u64) -> u64 {
    let text = format!(
        "topology.generate.two-hosts.switches = 2\nmeasure.messages = \"none\"\nstop = {{ time = \"400 us\", warm_up = \"0 ps\", follow = \"0 ps\" }}\n\
         network = {{ preset = \"yum-1600\", cable_length = \"{metres} m\", lanes = {{ count = 1, depth = {depth}, forwarding = \"{forwarding}\" }} }}\n\
         traffic = [{{ hosts = [\"h0\"], arrivals = \"backlogged\", length.fixed = \"{bytes} B\" }}]\n"
    );
    let plan = compiled(&text).plan;
    let mut simulation = gingham_engine::start(Arc::clone(&plan));
    simulation.advance(u64::MAX);
    let other = plan.fabric.endpoint_channel(plan.fabric.endpoint_ids().last().unwrap());
    let last = Fabric::reverse(other);
    simulation.channel_counts()[last.index()].data_flits
}

#[test]
fn noted_depth_is_the_minimum_for_full_rate() {
    for (metres, enough) in [(10, 5), (100, 17)] {
        // Packets that never end, and short ones, which lose two cycles each at a switch, but
        // nothing due to credits.
        let of = |depth| carried(depth, metres, "wormhole", 64_000);
        let (full, less) = (of(10 * enough), of(enough - 1));
        assert!(full - of(enough) < 20, "{metres} m");
        // One place fewer: the lane carries its depth per round trip.
        assert!(less * enough < full * (enough - 1) + 20 * enough, "{metres} m: {less} of {full}");
        for flits in [1, 5, 20] {
            let of = |depth| carried(depth, metres, "virtual-cut-through", 16 * flits);
            // Space for a packet, and for the flits of the previous one in flight when its head
            // requests: 2 D + 4.
            let enough = of(flits + enough + 1);
            let full = of(10 * (flits + 20));
            assert!(
                full.abs_diff(enough) < 2 * flits + 20,
                "{metres} m, {flits}: {full}, {enough}"
            );
            let cycles = 400_000_000 / CYCLE_PS;
            assert!(
                full.abs_diff(cycles * flits / (flits + 2)) < 2 * flits + 20,
                "{full} of {cycles}"
            );
        }
        assert!(20 * carried(20, metres, "virtual-cut-through", 320) < 18 * full);
    }
}

/// Returns the utilisation of the channel of a backlogged host, and its share of time without
/// credits, equal under each stepper.
fn busy_and_waiting(lanes: &str) -> [f64; 2] {
    let text = format!(
        r#"
        topology.generate.two-hosts.switches = 1
        network = {{ preset = "yum-1600", cable_length = "10 m", lanes = {{ {lanes} }} }}
        traffic = [{{ hosts = ["h0"], arrivals = "backlogged", length.fixed = "320 B" }}]
        stop = {{ time = "2 ms", warm_up = "0 ps" }}
        "#
    );
    let by = |by| Run::stepped_by(compiled(&text), by).unwrap();
    let [oracle, ports, columns] =
        [Run::new(compiled(&text), Engine::Oracle), by(SteppedBy::Ports), by(SteppedBy::Columns)]
            .map(|mut run| {
                run.advance(u64::MAX).expect("time goes on");
                let channel = run.compiled().plan.fabric.endpoint_channel(EndpointId::new(0));
                let record = run.record();
                let links = record.tables.iter().find(|table| table.name == "links").unwrap();
                ["utilisation", "stopped_share"].map(|name| {
                    let column = links.columns.iter().find(|column| column.name == name).unwrap();
                    let ColumnData::Reals(values) = &column.data else {
                        panic!("{name} holds no real numbers")
                    };
                    values[channel.index()]
                })
            });
    assert_eq!([ports, columns], [oracle; 2]);
    oracle
}

/// With `D` = 1 the credit of a flit counts again after five cycles within a packet.
#[test]
fn links_table_reports_lane_credit_waits() {
    for lanes in ["count = 1, depth = 3", "count = 1, depth = 3, output_depth = 0"] {
        let [busy, waiting] = busy_and_waiting(lanes);
        assert!(busy > 0.5 && busy < 0.6, "{busy}");
        assert!((busy + waiting - 1.0).abs() < 1e-9, "{busy} {waiting}");
    }
    let cut_through = "count = 1, depth = 30, forwarding = \"virtual-cut-through\"";
    let [busy, waiting] = busy_and_waiting(cut_through);
    // Each packet takes two more cycles, for routing the next head.
    assert!((busy - 20.0 / 22.0).abs() < 1e-3, "{busy}");
    assert!((busy + waiting - 1.0).abs() < 1e-9, "{busy} {waiting}");
    let [busy, waiting] = busy_and_waiting("count = 4, depth = 40");
    assert!((busy - 1.0).abs() < 1e-12 && waiting.abs() < 1e-12, "{busy} {waiting}");
}
