//! Presets of current networks, and defaults from a fabric.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_kernel::Span;
use gingham_lab::scenario::{Overrides, Preset, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::{ClassId, SegmentationPlan, Switching};
use std::path::Path;
use std::sync::Arc;

fn chain(switches: usize, network: &str, traffic: &str) -> String {
    format!(
        r#"
        topology.generate.two-hosts.switches = {switches}
        network = {{ {network} }}
        measure.messages = "all"
        stop = {{ time = "20 us", warm_up = "0 ps" }}
        traffic = [{{ hosts = ["h0"], {traffic} }}]
        "#
    )
}

fn compiled_in(text: &str, folder: &Path) -> Result<Compiled, LabError> {
    let source = ScenarioSource::parse("net.toml", text, folder, &Overrides::default())?;
    compile(&source, false)
}

fn compiled(text: &str) -> Result<Compiled, LabError> {
    compiled_in(text, Path::new("."))
}

fn first_latency(text: &str) -> Span {
    let mut run = gingham_engine::start(Arc::clone(&compiled(text).unwrap().plan));
    run.advance(u64::MAX);
    let first = run.take_messages()[0];
    first.delivered.since(first.message.created)
}

/// Returns the latency that one more switch and cable add without contention, in ps.
fn added(network: &str) -> u64 {
    let rare = "arrivals = \"constant\", load = 0.001, length.fixed = \"64 B\"";
    let [one, two] = [2, 3].map(|switches| first_latency(&chain(switches, network, rare)));
    two.as_ps() - one.as_ps()
}

#[test]
fn switch_latency_matches_the_data_sheet_in_every_kind() {
    // Nanoseconds of a switch, and of error correction on a cable, as in
    // `docs/adr/0011-networks-of-today.md`; a cable itself has 50.
    let sheets = [
        ("infiniband-sdr", 200, 0),
        ("infiniband-ddr", 200, 0),
        ("infiniband-qdr", 100, 0),
        ("infiniband-fdr", 170, 0),
        ("infiniband-edr", 90, 0),
        ("infiniband-hdr", 130, 0),
        ("infiniband-ndr", 150, 0),
        ("infiniband-xdr", 150, 0),
        ("roce-25", 300, 205),
        ("roce-100", 300, 51),
        ("roce-200", 425, 51),
        ("roce-400", 425, 26),
        ("roce-800", 500, 26),
    ];
    for (name, switch_ns, correction_ns) in sheets {
        let expected = 1_000 * (switch_ns + 50 + correction_ns);
        let preset = format!("preset = \"{name}\"");
        let link = compiled(&chain(1, &preset, "load = 0.1")).unwrap().plan.channels[0].bytes;
        // A worm is forwarded once its header has arrived.
        for (kind, header) in [("packets", Span::ZERO), ("wormhole", link.of(1))] {
            let found = added(&format!("{preset}, switching = \"{kind}\""));
            assert_eq!(found, expected + header.as_ps(), "{name}, {kind}");
        }
        // Five stages act at multiples of the flit time; two may be lost from end to end.
        let found = added(&format!("{preset}, switching = \"virtual-lanes\""));
        let flit =
            compiled(&chain(1, &format!("{preset}, switching = \"virtual-lanes\""), "load = 0.1"));
        let flit = flit.unwrap().plan.channels[0].flit.as_ps();
        assert!(found.abs_diff(expected) < 2 * flit, "{name}: {found} for {expected}");
    }
}

#[test]
fn single_lane_fills_its_link_with_lanes_or_packets() {
    for kind in ["packets", "virtual-lanes"] {
        for name in ["infiniband-qdr", "infiniband-ndr", "infiniband-xdr", "roce-100", "roce-400"] {
            let network = format!("preset = \"{name}\", switching = \"{kind}\"");
            let text = chain(3, &network, "arrivals = \"backlogged\"");
            let plan = compiled(&text).unwrap().plan;
            let mut run = gingham_engine::start(Arc::clone(&plan));
            run.advance(u64::MAX);
            let found = run.take_messages();
            let [tenth, last] = [&found[10], found.last().unwrap()];
            let took = last.delivered.since(tenth.delivered).as_ps();
            let wire_bytes = match &plan.switching {
                Switching::Packets(packets) => packets.wire_bytes(tenth.message.payload_bytes),
                _ => u64::from(tenth.message.payload_bytes).div_ceil(64) * 64 + 64,
            };
            let bytes = (found.len() as u64 - 11) * wire_bytes;
            let of_link = plan.channels[0].bytes.of(bytes).as_ps();
            assert!(100 * of_link > 95 * took, "{name}, {kind}: {of_link} of {took} ps");
        }
    }
}

fn star(speeds: [&str; 3]) -> String {
    let cable = |index: usize, speed: &str| {
        let speed = if speed.is_empty() { String::new() } else { format!(", speed = \"{speed}\"") };
        format!("{{ ends = [\"s\", \"h{index}\"]{speed} }}")
    };
    let [a, b, c] = [0, 1, 2].map(|index| cable(index, speeds[index]));
    format!(
        r#"
        topology.inline = """
        switch = [{{ name = "s" }}]
        host = [{{ name = "h0" }}, {{ name = "h1" }}, {{ name = "h2" }}]
        cable = [{a}, {b}, {c}]
        """
        stop.time = "10 us"
        "#
    )
}

#[test]
fn fabric_speeds_determine_preset_and_packet_length() {
    let text = format!("{}[[traffic]]\nload = 0.1\n", star(["4xEDR", "4xHDR", "2xHDR"]));
    let compiled = compiled(&text).unwrap();
    let plan = compiled.plan;
    // The fastest generation determines the switch; cables keep their speeds.
    let Switching::Packets(packets) = &plan.switching else { panic!("whole packets") };
    assert_eq!(packets.forwarding_delay, Span::from_ns(130));
    let rates: Vec<u64> = plan.channels.iter().map(|channel| channel.flit.as_ps()).collect();
    assert_eq!(rates, [80, 80, 40, 40, 80, 80]);
    assert_eq!(*plan.classes[0].sources[0].payload_bytes().end(), 4_096);
    assert_eq!(plan.classes[0].segmentation, SegmentationPlan::Fixed(4_096));
}

#[test]
fn explicit_settings_override_fabric_speeds() {
    let speeds = star(["4xNDR"; 3]);
    let text = format!(
        "{speeds}network = {{ link_rate = \"1 GB/s\", preset = \"infiniband-hdr\", switching = \"virtual-lanes\" }}\n\
         [[traffic]]\nload = 0.1\nlength.fixed = \"100 B\"\nsegmentation = \"none\"\n"
    );
    let plan = compiled(&text).unwrap().plan;
    assert!(matches!(plan.switching, Switching::VirtualLanes(_)));
    assert_eq!(plan.classes[0].segmentation, SegmentationPlan::None);
    assert_eq!(*plan.classes[0].sources[0].payload_bytes().end(), 100);
    // A preset of a paper models no InfiniBand generation.
    let text = format!(
        "{speeds}network.preset = \"yum-1600\"\n[[traffic]]\nload = 0.1\nlength.fixed = \"100 B\"\n"
    );
    compiled(&text).unwrap();
    let text = format!("{}[[traffic]]\nload = 0.1\nlength.fixed = \"100 B\"\n", star([""; 3]));
    assert!(matches!(compiled(&text).unwrap().plan.switching, Switching::Wormhole(_)));
}

#[test]
fn preset_contradicting_the_speeds_is_refused() {
    let text = format!(
        "{}network.preset = \"infiniband-hdr\"\n[[traffic]]\nload = 0.1\n",
        star(["4xNDR"; 3])
    );
    let error = compiled(&text).unwrap_err().to_string();
    for noted in [
        "net.toml:",
        "network.preset",
        "infiniband-hdr",
        "4xNDR",
        "\"infiniband-ndr\"",
        "link_rate",
    ] {
        assert!(error.contains(noted), "{noted}: {error}");
    }
}

#[test]
fn dump_without_speeds_needs_a_preset() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dump-without-speeds");
    std::fs::create_dir_all(&folder).unwrap();
    let dump = "switchguid=0x1\nSwitch 2 \"S-1\"\n[1] \"H-2\"[1] # \"a\" \n[2] \"H-3\"[1] # \"b\" \n\n\
                caguid=0x2\nCa 1 \"H-2\" # \"a\"\n[1] \"S-1\"[1]\n\ncaguid=0x3\nCa 1 \"H-3\" # \"b\"\n[1] \"S-1\"[2]\n";
    std::fs::write(folder.join("net.ibnetdiscover"), dump).unwrap();
    let text =
        "topology.file = \"net.ibnetdiscover\"\nstop.time = \"10 us\"\n[[traffic]]\nload = 0.1\n";
    let error = compiled_in(text, &folder).unwrap_err().to_string();
    for noted in ["network.preset", "infiniband-ndr"] {
        assert!(error.contains(noted), "{noted}: {error}");
    }
    let named = format!("network.preset = \"infiniband-qdr\"\n{text}");
    assert!(matches!(compiled_in(&named, &folder).unwrap().plan.switching, Switching::Packets(_)));
}

#[test]
fn every_preset_compiles_with_every_switching_kind() {
    for preset in Preset::ALL {
        for kind in ["wormhole", "virtual-lanes", "packets"] {
            let network = format!("preset = \"{}\", switching = \"{kind}\"", preset.name());
            let text = chain(2, &network, "load = 0.1, length.fixed = \"32 B\"");
            let compiled = compiled(&text).unwrap_or_else(|error| panic!("{network}: {error}"));
            assert_eq!(compiled.parameters.switching.kind(), kind);
        }
    }
}

#[test]
fn explicit_pause_mark_keeps_the_preset_response_time() {
    let network = "preset = \"roce-100\", packets.flow_control.pfc.pause = \"100 kB\"";
    let plan = compiled(&chain(1, network, "load = 0.1")).unwrap().plan;
    let Switching::Packets(packets) = &plan.switching else { panic!("whole packets") };
    let pauses = packets.pauses.as_ref().unwrap();
    // 394 quanta of 512 bit times at 100 Gb/s.
    assert_eq!((pauses.pause_bytes[0], pauses.response_time.as_ps()), (100_000, 2_017_280));
}

fn over_router(switches: usize, preset: &str, traffic: &str) -> Compiled {
    compiled(&chain(switches, &format!("preset = \"{preset}\""), traffic)).unwrap()
}

#[test]
fn literature_routers_take_one_cycle_per_stage() {
    // A cycle is 1 ns, and a packet has 4 flits. Routing, allocation of a lane and of the switch,
    // crossbar and link are five cycles a switch; BookSim and CAMINOS need none for routing here.
    for (preset, cycles) in [("booksim-iq", 4), ("peh-dally-2001", 5), ("caminos-basic", 4)] {
        for switches in [1, 3] {
            let rare = "arrivals = \"bernoulli\", load = 0.001, length.fixed = \"64 B\"";
            let plan = over_router(switches, preset, rare).plan;
            let mut run = gingham_engine::start(plan);
            run.advance(u64::MAX);
            let first = run.take_messages()[0];
            let took = first.delivered.since(first.message.created);
            assert_eq!(took, Span::from_ns(cycles * switches as u64 + 4), "{preset}");
        }
    }
}

#[test]
fn booksim_iq_lane_spends_one_extra_cycle_per_packet() {
    // The next head is granted the lane a cycle after the previous tail crossed, and crosses in the
    // next, as in BookSim 2: 20 flits in 21 cycles.
    let text = chain(
        2,
        "preset = \"booksim-iq\", lanes.count = 1",
        "arrivals = \"backlogged\", length.fixed = \"320 B\"",
    );
    let mut run = gingham_engine::start(compiled(&text).unwrap().plan);
    run.advance(u64::MAX);
    let found = run.take_messages();
    let gaps = found.windows(2).skip(3).map(|pair| pair[1].delivered.since(pair[0].delivered));
    assert!(gaps.clone().count() > 100 && gaps.into_iter().all(|gap| gap == Span::from_ns(21)));
}

/// An 8x8 mesh, lanes of 8 flits, without self-traffic. The first number was measured with BookSim
/// 2, the others with a model of its source, in 12,000 to 40,000 cycles: see
/// `docs/how-to/booksim.md`.
#[test]
fn booksim_iq_meshes_accept_the_load_of_booksim() {
    let its_defaults = ", routing_cycles = 1, credit_delay = 1";
    for (lanes, delays, flits, accepts) in [
        (1, "", 20, 0.2324),
        (1, "", 1, 0.1885),
        (4, "", 20, 0.3668),
        (4, "", 1, 0.3760),
        (1, its_defaults, 20, 0.2236),
        (1, its_defaults, 1, 0.1396),
        (4, its_defaults, 20, 0.3680),
        (4, its_defaults, 1, 0.3770),
    ] {
        let lanes = format!("count = {lanes}{delays}");
        let accepted = (1..=2).map(|seed| accepted_by_mesh(&lanes, flits, seed)).sum::<f64>() / 2.0;
        let differs = (accepted / accepts - 1.0).abs();
        assert!(differs < 0.03, "{lanes}, packets of {flits} flits: {accepted}");
    }
}

/// Returns the accepted flits per host and cycle.
fn accepted_by_mesh(lanes: &str, flits: u64, seed: u64) -> f64 {
    let bytes = 16 * flits;
    let text = format!(
        r#"
        seed = {seed}
        topology.generate.mesh.dimensions = [8, 8]
        routing.algorithm = "dimension-order"
        network = {{ preset = "booksim-iq", lanes = {{ {lanes} }} }}
        traffic = [{{ arrivals = "bernoulli", load = 1.0, length.fixed = "{bytes} B" }}]
        stop = {{ time = "24 us", warm_up = "4 us" }}
    "#
    );
    let mut run = gingham_engine::start(compiled(&text).unwrap().plan);
    run.advance(u64::MAX);
    let accepted = run.collector().report().class(ClassId::new(0)).accepted_bytes_per_ps;
    // 64 hosts, flits of 16 B and cycles of 1,000 ps.
    accepted.unwrap().mean * 1_000.0 / 16.0 / 64.0
}

fn refusal(network: &str, traffic: &str) -> serde_json::Value {
    match compiled(&chain(2, network, traffic)) {
        Err(LabError::Input(error)) => error.to_json(),
        other => panic!("{network}; {traffic}: {other:?}"),
    }
}

/// The path MTU of InfiniBand is at most 4,096 B, regardless of the packets of a preset.
#[test]
fn packet_length_is_limited_by_the_technology() {
    let long = "load = 0.1, length.fixed = \"64000 B\"";
    for (preset, max) in [
        ("infiniband-sdr", 4_096),
        ("infiniband-ndr", 4_096),
        ("roce-25", 1_024),
        ("roce-400", 4_096),
    ] {
        let network = format!("preset = \"{preset}\"");
        let with = |segmentation: &str| format!("{long}, segmentation = {segmentation}");
        let fixed = |bytes: u32| with(&format!("{{ fixed = \"{bytes} B\" }}"));
        compiled(&chain(2, &network, &fixed(max))).unwrap();
        for (traffic, key) in [
            (fixed(max + 1), "traffic[0].segmentation.fixed"),
            (with("\"none\""), "traffic[0].segmentation"),
            (with("{ by-hops = [\"1 KiB\", \"9000 B\"] }"), "traffic[0].segmentation.by-hops[1]"),
        ] {
            let found = refusal(&network, &traffic);
            assert_eq!(found["key"], key, "{found}");
            assert!(found.to_string().contains(preset), "{found}");
        }
        let short = format!("load = 0.1, length.fixed = \"{max} B\", segmentation = \"none\"");
        compiled(&chain(2, &network, &short)).unwrap();
    }
    let limited = format!(
        "{long}, segmentation = \"none\", policing = {{ rate = 0.5, burst = \"4 KiB\", longest = \"1 KiB\" }}"
    );
    compiled(&chain(2, "preset = \"infiniband-ndr\"", &limited)).unwrap();
}

#[test]
fn adaptive_segments_are_capped_at_the_longest_packet() {
    let plan_of = |network: &str, segmentation: &str| {
        let traffic =
            format!("load = 0.1, length.fixed = \"64000 B\", segmentation = {segmentation}");
        let plan = compiled(&chain(2, network, &traffic)).unwrap().plan;
        let of = |switches: usize| plan.classes[0].segmentation.longest_bytes(|| switches);
        [of(1), of(2), of(3), of(9)]
    };
    let ndr = "preset = \"infiniband-ndr\"";
    // 128 KiB a switch.
    assert_eq!(plan_of(ndr, "\"adaptive\""), [4_096; 4]);
    assert_eq!(plan_of(ndr, "{ adaptive = \"1500 B\" }"), [1_500, 3_000, 4_096, 4_096]);
    let jumbo = "preset = \"roce-400\", packet_max = \"8 KiB\"";
    assert_eq!(plan_of(jumbo, "{ adaptive = \"3000 B\" }"), [3_000, 6_000, 8_192, 8_192]);
    // Presets without a technology have no limit.
    assert_eq!(plan_of("preset = \"santos-4x\"", "{ adaptive = \"2 KiB\" }")[1], 4_096);
    assert_eq!(plan_of("preset = \"myrinet-1280\"", "{ adaptive = \"5000 B\" }")[3], 45_000);
    let long = "preset = \"myrinet-1280\", packet_max = \"1 GiB\"";
    assert_eq!(plan_of(long, "{ adaptive = \"1 B\" }"), [1, 2, 3, 9]);
    let traffic = "load = 0.1, length.fixed = \"64 B\", segmentation = { adaptive = \"1 B\" }";
    let plan = compiled(&chain(2, long, traffic)).unwrap().plan;
    let expected = SegmentationPlan::PerSwitchUpTo { per_switch: 1, longest: 1 << 30 };
    assert_eq!(plan.classes[0].segmentation, expected);
    let none = "load = 0.1, length.fixed = \"64000 B\", segmentation = \"none\"";
    compiled(&chain(2, "preset = \"myrinet-1280\"", none)).unwrap();
}

#[test]
fn packet_max_sets_the_longest_packet() {
    let network = "preset = \"infiniband-ndr\", packet_max = \"2 KiB\"";
    let plan = compiled(&chain(2, network, "load = 0.1")).unwrap().plan;
    assert_eq!(plan.classes[0].segmentation, SegmentationPlan::Fixed(2_048));
    // No InfiniBand packet exceeds the longest path MTU.
    let jumbo = "preset = \"roce-400\", packet_max = \"8 KiB\"";
    let plan = compiled(&chain(2, jumbo, "load = 0.1")).unwrap().plan;
    assert_eq!(plan.classes[0].segmentation, SegmentationPlan::Fixed(8_192));
    let beyond = "preset = \"infiniband-ndr\", packet_max = \"8 KiB\"";
    assert_eq!(refusal(beyond, "load = 0.1")["key"], "network.packet_max");
    let raw = "preset = \"myrinet-1280\", packet_max = \"2 KiB\"";
    let found = refusal(raw, "load = 0.1, length.fixed = \"4 KiB\"");
    assert_eq!(found["key"], "traffic[0].segmentation");
    let ack =
        "load = 0.1, length.fixed = \"64 B\", window = { packets = 1, ack.length = \"4 KiB\" }";
    assert_eq!(refusal(raw, ack)["key"], "traffic[0].window.ack.length");
}

#[test]
fn zero_packet_max_is_refused_at_its_key() {
    for (preset, traffic) in [
        ("infiniband-ndr", "load = 0.1"),
        ("myrinet-1280", "load = 0.1, length.fixed = \"64 B\""),
        ("myrinet-1280", "load = 0.1, length.fixed = \"64 B\", segmentation = \"adaptive\""),
    ] {
        let found = refusal(&format!("preset = \"{preset}\", packet_max = \"0 B\""), traffic);
        assert_eq!(found["key"], "network.packet_max", "{preset}: {found}");
        let message = found["message"].as_str().unwrap();
        assert!(message.contains("at least 1 B of payload"), "{message}");
    }
}

/// Payload of h0, in packets of 4,096 B, as a share of the link into h5, beside backlogged hosts
/// with packets of 512 B.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 bytes")]
fn share_of_long_packets(arbitration: &str) -> f64 {
    let text = format!(
        r#"
        topology.generate.star.hosts = 6
        network = {{ preset = "infiniband-ndr"{arbitration} }}
        measure.messages = "all"
        stop = {{ time = "150 us", warm_up = "0 ps", follow = "0 ps" }}
        [[traffic]]
        name = "long"
        hosts = ["h0"]
        arrivals = "backlogged"
        destinations.host = "h5"
        [[traffic]]
        name = "short"
        hosts = ["h1", "h2", "h3", "h4"]
        arrivals = "backlogged"
        destinations.host = "h5"
        length.fixed = "512 B"
        "#
    );
    let mut run = gingham_engine::start(Arc::clone(&compiled(&text).unwrap().plan));
    run.advance(u64::MAX);
    // Buffers of 128 KiB are full by then: filling takes 5 x 2.6 us.
    let from = 50_000_000..150_000_000;
    let messages = run.take_messages();
    let of_long = messages.iter().filter(|found| found.message.class == ClassId::new(0));
    let late = of_long.filter(|found| from.contains(&found.delivered.as_ps()));
    let bytes: u64 = late.map(|found| u64::from(found.message.payload_bytes)).sum();
    // 50 GB/s is 20 ps a byte.
    bytes as f64 * 20.0 / 100e6
}

/// Packets have 26 B besides their payload. In round robin one packet of each host takes 4,122 + 4
/// x 538 B. With oldest first, shares are in proportion to the contents of full buffers: a packet
/// of 4,122 B takes 65 blocks, one of 538 B takes 9.
#[test]
fn output_arbiter_determines_the_share_of_long_packets() {
    let in_turn = 4_096.0 / (4_122.0 + 4.0 * 538.0);
    let by_age = (4_096.0 / 65.0) / (4_122.0 / 65.0 + 4.0 * 538.0 / 9.0);
    assert!(in_turn > 0.65 && by_age < 0.21, "{in_turn} {by_age}");
    let found = share_of_long_packets("");
    assert!((found - by_age).abs() < 0.02, "oldest first: {found}, not {by_age}");
    let found = share_of_long_packets(", arbitration = \"round-robin\"");
    assert!((found - in_turn).abs() < 0.02, "round robin: {found}, not {in_turn}");
}

#[test]
fn titles_name_the_arbiter() {
    for (network, title) in [
        ("preset = \"infiniband-ndr\"", "infiniband-ndr (whole packets, oldest-first)"),
        ("preset = \"myrinet-1280\"", "myrinet-1280 (wormhole, round-robin)"),
        ("preset = \"yum-1600\"", "yum-1600 (virtual lanes, round-robin)"),
        (
            "preset = \"infiniband-ndr\", arbitration = \"strict-priority\"",
            "infiniband-ndr (whole packets, strict-priority, changed)",
        ),
    ] {
        let text = chain(2, network, "load = 0.1, length.fixed = \"64 B\"");
        assert_eq!(compiled(&text).unwrap().network, title);
    }
}
