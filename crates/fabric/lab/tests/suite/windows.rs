//! Windows and rate limits, and lanes of acknowledgements.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use crate::imported::{self, RING as IMPORTED, folder};
use gingham_kernel::Time;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::{AckPlan, Priority, RateLimit};
use gingham_topology::Proof;
use gingham_topology::routing::{LaneSet, VcClass};
use std::fmt::Write as _;

const STAR: &str = r#"[topology.generate.star]
hosts = 4

[network]
preset = "myrinet-1280"

[[traffic]]
name = "data"
priority = 2
load = 0.1
length = { fixed = "256 B" }

[[traffic]]
name = "bulk"
load = 0.1
length = { fixed = "256 B" }

[stop]
time = "1 ms"
"#;

fn laned() -> String {
    STAR.replace("\"myrinet-1280\"", "\"yum-1600\"\nlanes.count = 4")
}

const RING: &str = r#"
[topology.generate.ring]
switches = 5
hosts_per_switch = 1

[routing]
algorithm = "dimension-order"

[network]
preset = "yum-1600"
lanes = { count = 6 }

[[traffic]]
load = 0.1
length = { fixed = "64 B" }
lanes = [0, 1, 2]

[stop]
time = "20 us"
"#;

const WINDOW: &str = "traffic.0.window";

fn result(text: &str, settings: &[(&str, &str)]) -> Result<Compiled, LabError> {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    compile(&ScenarioSource::parse("flows.toml", text, &folder(), &overrides)?, false)
}

fn compiled(text: &str, settings: &[(&str, &str)]) -> Compiled {
    result(text, settings).unwrap_or_else(|error| panic!("{error}\n{settings:?}"))
}

fn error(text: &str, settings: &[(&str, &str)]) -> String {
    result(text, settings).unwrap_err().to_string()
}

fn ack(compiled: &Compiled) -> AckPlan {
    compiled.plan.classes[0].window.as_ref().unwrap().ack
}

#[test]
fn acks_default_to_the_settings_of_their_class() {
    let priority = |level| Priority::new(level).unwrap();
    let plain = compiled(STAR, &[]);
    assert!(plain.plan.classes.iter().all(|class| !class.is_controlled()));
    let given = compiled(STAR, &[(WINDOW, "{ packets = 8 }")]);
    let class = &given.plan.classes[0];
    assert!(class.is_controlled() && !given.plan.classes[1].is_controlled());
    assert_eq!(class.window.as_ref().unwrap().packets, 8);
    let vc_class = Some(VcClass(0));
    assert_eq!(ack(&given), AckPlan { payload_bytes: 20, priority: priority(2), vc_class });
    assert_eq!(given.plan.highest_priority(), priority(2));
    let written = "{ packets = 1, ack = { length = \"1 B\", priority = 7 } }";
    let other = compiled(STAR, &[(WINDOW, written)]);
    assert_eq!(ack(&other), AckPlan { payload_bytes: 1, priority: priority(7), vc_class });
    // Adapters have a queue for every level, including that of acknowledgements.
    assert_eq!(other.plan.highest_priority(), priority(7));
}

#[test]
fn acks_have_their_own_lanes() {
    let window = "{ packets = 8, ack = { lanes = [1, 3] } }";
    let own = compiled(&laned(), &[(WINDOW, window), ("traffic.0.lanes", "[0]")]);
    let plan = &own.plan;
    let lanes = |vc_class: VcClass| plan.lanes.allowed.anywhere(&plan.fabric, Some(vc_class));
    let of_class = |index: usize| lanes(plan.classes[index].vc_class.unwrap());
    let of_acks = lanes(ack(&own).vc_class.unwrap());
    assert_eq!(of_class(0), LaneSet::one(0));
    assert_eq!(of_acks, LaneSet::one(1) | LaneSet::one(3));
    assert_eq!(of_class(1), LaneSet::first_n(4));
    let same = compiled(&laned(), &[(WINDOW, "{ packets = 8 }"), ("traffic.0.lanes", "[2]")]);
    assert_eq!(ack(&same).vc_class, same.plan.classes[0].vc_class);
}

#[test]
fn ack_lanes_count_as_used() {
    let described = |ack: &str| {
        let window = format!("{{ packets = 8, ack = {{ {ack} }} }}");
        let lanes = [("traffic.0.lanes", "[0]"), ("traffic.1.lanes", "[0, 1]")];
        let settings = [lanes[0], lanes[1], (WINDOW, &*window)];
        compiled(&laned(), &settings).notes.join("\n")
    };
    assert!(described("lanes = [0]").contains("no class uses the lanes 2 and 3"));
    assert!(described("lanes = [2]").contains("no class uses lane 3"));
    assert!(!described("lanes = [2, 3]").contains("no class uses"));
    // Only acknowledgements make two levels.
    let one = [("traffic.0.priority", "0"), ("network.arbitration", "strict-priority")];
    let is_noted = |window: &str| {
        let settings = [one[0], one[1], (WINDOW, window)];
        let notes = compiled(STAR, &settings).notes.join("\n");
        notes.contains("all classes have the same")
    };
    assert!(is_noted("{ packets = 8 }"));
    assert!(!is_noted("{ packets = 8, ack = { priority = 1 } }"));
}

#[test]
fn acks_count_towards_the_longest_packet() {
    // 64 B are 4 flits, acknowledgements of 200 B 13: a lane of 18 has space for the former in
    // addition to its round trip, but not for the latter: 5 and 14 flits.
    let cut = laned().replace(
        "count = 4",
        "count = 4\nlanes.forwarding = \"virtual-cut-through\"\nlanes.depth = 18",
    );
    let is_noted = |window: &str| {
        let long = [
            ("traffic.0.length", "{ fixed = \"64 B\" }"),
            ("traffic.1.length", "{ fixed = \"64 B\" }"),
        ];
        let notes = compiled(&cut, &[long[0], long[1], (WINDOW, window)]).notes.join("\n");
        notes.contains("no room for a packet of 13 beside its round trip")
    };
    assert!(!is_noted("{ packets = 8 }"));
    assert!(is_noted("{ packets = 8, ack = { length = \"200 B\" } }"));
}

#[test]
fn short_acks_take_the_paths_of_short_messages() {
    let alternative =
        r#"{ algorithm = "in-transit", choose = { by-length = { below = "128 B" } } }"#;
    let described = |window: &str| {
        let settings = [("routing.alternative", alternative), (WINDOW, window)];
        compiled(STAR, &settings).notes.join("\n").contains("no packet takes its primary path")
    };
    assert!(described("{ packets = 8, ack = { length = \"128 B\" } }"));
    assert!(!described("{ packets = 8 }"));
}

const LEAVE_OUT: &str = "free of deadlock. Leave traffic.0.window.ack.lanes out, name at least two lanes there that no \
                         class uses, or allow it";

#[test]
fn unserved_lane_is_refused_at_the_class_naming_it() {
    let weights = "{ weighted-round-robin = { weights = [1, 1, 1, 0] } }";
    let demoted = "{ rate = 0.1, burst = \"1 KiB\", excess = { demote = \"bulk\" } }";
    let described = |key: &str, value: &str| {
        let settings = [
            ("network.lanes.crossbar_input", weights),
            ("traffic.0.lanes", "[0]"),
            ("traffic.0.policing", demoted),
            ("traffic.1.lanes", "[0]"),
            (key, value),
        ];
        error(&laned(), &settings)
    };
    let acks = described("traffic.1.window", "{ packets = 1, ack = { lanes = [3] } }");
    let expected =
        "in `traffic[1].window.ack.lanes`: acknowledgements of class `bulk` may go on lane 3";
    assert!(acks.contains(expected), "{acks}");
    let packets = described("traffic.1.lanes", "[3]");
    assert!(packets.contains("in `traffic[1].lanes`: packets of class `bulk` may"), "{packets}");
}

#[test]
fn ack_lanes_alone_can_close_a_cycle() {
    let proof = |settings: &[(&str, &str)]| compiled(RING, settings).proof;
    assert!(matches!(proof(&[]), Proof::Free { .. }));
    for lanes in ["[0, 1, 2]", "[3, 4, 5]"] {
        let window = format!("{{ packets = 2, ack = {{ lanes = {lanes} }} }}");
        assert!(matches!(proof(&[(WINDOW, &window)]), Proof::Free { .. }), "{lanes}");
    }
    // Packets are on lane 2 after the dateline, acknowledgements on 1 or 2 before it: the cycle
    // goes round the ring on lane 2 between the two, and from there by lane 1.
    let overlapping = (WINDOW, "{ packets = 2, ack = { lanes = [1, 2, 3] } }");
    let refused = result(RING, &[overlapping]).unwrap_err();
    let LabError::Deadlock(report) = &refused else { panic!("{refused}") };
    let has = |lane: &str| report.channels.iter().any(|channel| channel.ends_with(lane));
    assert!(has(" lane 1") && has(" lane 2") && !has(" lane 3"), "{refused}");
    assert!(refused.to_string().contains(LEAVE_OUT), "{refused}");
    assert_eq!(report.key.as_deref(), Some("traffic[0].window.ack.lanes"));
    // A single lane of acknowledgements leaves none after the dateline.
    let one = (WINDOW, "{ packets = 2, ack = { lanes = [3] } }");
    let refused = result(RING, &[one]).unwrap_err();
    let LabError::Deadlock(report) = &refused else { panic!("{refused}") };
    assert!(refused.to_string().contains(LEAVE_OUT), "{refused}");
    assert_eq!(report.key.as_deref(), Some("traffic[0].window.ack.lanes"));
    let asked = error(RING, &[one, ("network.lanes.datelines", "true")]);
    assert!(asked.contains("in `traffic[0].window.ack.lanes`: datelines share out"), "{asked}");
    assert!(
        asked.contains("acknowledgements of class `all` have but one: give them another"),
        "{asked}"
    );
}

#[test]
fn cycle_error_names_the_acks_that_close_it() {
    let other = "[[traffic]]\nname = \"other\"\nload = 0.1\nlength = { fixed = \"64 B\" }\nlanes = [0, 1, 2]\n";
    let text = RING.replace("[stop]", &format!("{other}\n[stop]"));
    let described = |settings: &[(&str, &str)]| match result(&text, settings) {
        Err(LabError::Deadlock(report)) => (report.lines.last().unwrap().clone(), report.key),
        other => panic!("{other:?}"),
    };
    let second = "traffic.1.window";
    let [good, bad] =
        ["{ packets = 2, ack = { lanes = [3, 4] } }", "{ packets = 2, ack = { lanes = [5] } }"];
    let (cure, key) = described(&[(WINDOW, good), (second, bad)]);
    assert!(cure.contains("Leave traffic.1.window.ack.lanes out"), "{cure}");
    assert_eq!(key.as_deref(), Some("traffic[1].window.ack.lanes"));
    // Each of the two alone closes the cycle.
    let (cure, key) = described(&[(WINDOW, bad), (second, bad)]);
    let both = "Leave traffic.0.window.ack.lanes and traffic.1.window.ack.lanes out";
    assert!(cure.contains(both), "{cure}");
    assert_eq!(key.as_deref(), Some("traffic[0].window.ack.lanes"));
    let (cure, key) = described(&[("traffic.0.lanes", "[0]"), (WINDOW, good)]);
    assert!(!cure.contains("acknowledgements cause this cycle"), "{cure}");
    assert_eq!(key, None);
}

#[test]
fn marking_without_windows_is_noted() {
    let marking = ("network.marking", "{ periodic = { every = 10 } }");
    let is_noted = |settings: &[(&str, &str)]| {
        let notes = compiled(STAR, settings).notes.join("\n");
        notes.contains("marking (network.marking) has no effect: no class has a window")
    };
    assert!(is_noted(&[marking]));
    assert!(!is_noted(&[marking, ("traffic.1.window", "{ packets = 8 }")]));
    assert!(!is_noted(&[]));
    for every in ["0", "2.5"] {
        let refused =
            error(STAR, &[("network.marking", &format!("{{ periodic = {{ every = {every} }} }}"))]);
        let described = format!(
            "in `network.marking.periodic.every`: found {every}, expected a whole number of 1 or more"
        );
        assert!(refused.contains(&described), "{refused}");
    }
}

#[test]
fn ack_service_levels_are_part_of_the_proof() {
    // By default the level of the reversed pair.
    let by_pair = compiled(IMPORTED, &[(WINDOW, "{ packets = 2 }")]);
    assert_eq!(ack(&by_pair).vc_class, None);
    assert!(matches!(by_pair.proof, Proof::Free { .. }));
    // All acknowledgements on one lane close the cycle that packets do not.
    let one = (WINDOW, "{ packets = 2, ack = { service_level = 3 } }");
    let refused = result(IMPORTED, &[one]).unwrap_err();
    let LabError::Deadlock(report) = &refused else { panic!("{refused}") };
    assert!(report.channels.iter().all(|channel| channel.ends_with(" lane 3")), "{refused}");
    let allowed = imported::result(IMPORTED, &[one], true).unwrap();
    assert_eq!(ack(&allowed).vc_class, Some(VcClass(3)));
    assert_eq!(allowed.plan.classes[0].vc_class, None);
    let cure =
        "Leave traffic.0.window.ack.service_level out, name another level there, or allow it";
    assert!(refused.to_string().contains(cure), "{refused}");
    assert_eq!(report.key.as_deref(), Some("traffic[0].window.ack.service_level"));
}

#[test]
fn acks_on_a_level_without_a_lane_are_refused() {
    let map = std::fs::read_to_string(folder().join("opensm-sl2vl.dump")).unwrap();
    // SL 14, which no pair uses, is mapped to 15 everywhere.
    let row = "0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7";
    let dropped = map.replace(row, "0  1  2  3  4  5  6  7  0  1  2  3  4  5 15  7");
    assert_ne!(map, dropped);
    let file = std::env::temp_dir().join(format!("gingham-acks-{}.dump", std::process::id()));
    std::fs::write(&file, dropped).unwrap();
    let name = file.display().to_string();
    let tables = ("routing.lane_tables", name.as_str());
    let by_pair = result(IMPORTED, &[tables, (WINDOW, "{ packets = 2 }")]);
    let window = "{ packets = 2, ack = { service_level = 14 } }";
    let text = error(IMPORTED, &[tables, (WINDOW, window)]);
    std::fs::remove_file(&file).unwrap();
    assert!(by_pair.is_ok());
    assert!(text.contains("in `routing.lane_tables`: packets of SL 14 are dropped at "), "{text}");
    assert!(text.contains("traffic.*.window.ack.service_level), or map it"), "{text}");
}

#[test]
fn rate_limit_becomes_the_time_of_64_kib() {
    // A byte takes 6,250 ps of 160 MB/s: at a quarter of that 25,000 ps.
    let alone = ("traffic.0.hosts", "[\"h2\"]");
    let paced = compiled(STAR, &[("traffic.0.rate_limit", "0.25"), alone]);
    let class = &paced.plan.classes[0];
    assert!(class.is_controlled());
    let refill = &class.rate_limit.as_ref().unwrap().refill;
    // At every host, because excess of another class may be sent as this one.
    assert_eq!(refill.len(), paced.plan.fabric.endpoints().len());
    assert!(refill.iter().all(|refill| refill.as_ps() == 65_536 * 25_000));
    let next = RateLimit::new(refill[0]).next_start(Time::from_ps(7), 256);
    assert_eq!(next.as_ps(), 7 + 256 * 25_000);
}

#[test]
fn too_slow_rate_limit_is_refused() {
    // 64 KiB at 6,250 ps a byte take 10^6 s at 4.1e-10 of the link.
    let rate_limit = |rate_limit: &'static str| ("traffic.0.rate_limit", rate_limit);
    assert!(result(STAR, &[rate_limit("4.2e-10")]).is_ok());
    assert!(result(STAR, &[rate_limit("4e-10")]).is_err());
    let any = ("traffic.0.length", "{ exponential = \"256 B\" }");
    let found = error(STAR, &[rate_limit("1e-5"), any]);
    assert!(found.contains("in `traffic[0].rate_limit`: at this rate limit 64 KiB, or a packet of class `data`, which may be of any length"));
    let cut = ("traffic.0.segmentation", "{ fixed = \"1 MiB\" }");
    assert!(result(STAR, &[rate_limit("1e-5"), any, cut]).is_ok());
    let demoting = [
        ("traffic.0.policing", "{ rate = 0.1, burst = \"1 KiB\", excess = { demote = \"bulk\" } }"),
        ("traffic.1.rate_limit", "1e-5"),
    ];
    assert!(result(STAR, &demoting).is_ok());
    let found = error(STAR, &[demoting[0], demoting[1], any]);
    assert!(
        found.contains(
            "in `traffic[1].rate_limit`: at this rate limit 64 KiB, or a packet of class `data`,"
        ),
        "{found}"
    );
}

fn refusals(cases: &[(&str, &[(&str, &str)])]) -> String {
    let mut table = String::new();
    for (text, settings) in cases {
        let found = error(text, settings);
        assert!(found.lines().count() <= 4, "{found}");
        let settings: Vec<String> =
            settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        writeln!(table, "{}\n{found}\n", settings.join("\n")).unwrap();
    }
    table
}

#[test]
fn invalid_windows_and_rate_limits_are_refused() {
    let laned = laned();
    let (star, laned) = (STAR, &*laned);
    let shallow = laned.replace(
        "lanes.count = 4",
        "lanes.count = 4\nlanes.forwarding = \"virtual-cut-through\"\nlanes.depth = [20, 20, 20, 2]",
    );
    let unserved = laned.replace(
        "lanes.count = 4",
        "lanes.count = 4\nlanes.crossbar_input = { weighted-round-robin = { weights = [1, 1, 1, 0] } }",
    );
    let in_transit = star.replace("star", "ring").replace("hosts = 4", "switches = 5").replace(
        "preset = \"myrinet-1280\"",
        "preset = \"myrinet-1280\"\nin_transit.pool = \"1000 B\"\n[routing]\nalgorithm = \"in-transit\"",
    );
    let [data, bulk] = [("traffic.0.lanes", "[0]"), ("traffic.1.lanes", "[0]")];
    let cases: &[(&str, &[(&str, &str)])] = &[
        (star, &[(WINDOW, "{ packets = 0 }")]),
        (star, &[(WINDOW, "{ packets = -3 }")]),
        (star, &[(WINDOW, "{ packets = 5000000000 }")]),
        (star, &[(WINDOW, "{ packets = 2.5 }")]),
        (star, &[(WINDOW, "8")]),
        (star, &[(WINDOW, "{ packet = 8 }")]),
        (star, &[(WINDOW, "{ packets = 8, ack = { length = \"0 B\" } }")]),
        (star, &[(WINDOW, "{ packets = 8, ack = { length = \"1 MiB\" } }")]),
        (star, &[(WINDOW, "{ packets = 8, ack = { priority = 8 } }")]),
        (star, &[(WINDOW, "{ packets = 8, ack = { lanes = [0] } }")]),
        (star, &[(WINDOW, "{ packets = 8, ack = { service_level = 0 } }")]),
        (laned, &[(WINDOW, "{ packets = 8, ack = { lanes = [4] } }")]),
        (laned, &[(WINDOW, "{ packets = 8, ack = { lanes = [] } }")]),
        (laned, &[(WINDOW, "{ packets = 8, ack = { lanes = [1, 1] } }")]),
        (laned, &[(WINDOW, "{ packets = 8, ack = { service_level = 1 } }")]),
        (
            &shallow,
            &[data, bulk, (WINDOW, "{ packets = 8, ack = { lanes = [3], length = \"33 B\" } }")],
        ),
        (&unserved, &[data, bulk, (WINDOW, "{ packets = 8, ack = { lanes = [3] } }")]),
        (&in_transit, &[(WINDOW, "{ packets = 8, ack = { length = \"1000 B\" } }")]),
        (IMPORTED, &[(WINDOW, "{ packets = 8, ack = { lanes = [1] } }")]),
        (IMPORTED, &[(WINDOW, "{ packets = 8, ack = { service_level = 16 } }")]),
        (
            IMPORTED,
            &[
                ("network.lanes.count", "4"),
                ("traffic.0.service_level", "0"),
                (WINDOW, "{ packets = 8, ack = { service_level = 5 } }"),
            ],
        ),
        (star, &[("traffic.0.rate_limit", "0")]),
        (star, &[("traffic.0.rate_limit", "-0.5")]),
        (star, &[("traffic.0.rate_limit", "1.01")]),
        (star, &[("traffic.0.rate_limit", "nan")]),
        (star, &[("traffic.0.rate_limit", "1e-300")]),
    ];
    insta::assert_snapshot!(refusals(cases));
}
