//! Path sets and in-transit hosts: refusals and notes.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_input::InputError;
use gingham_kernel::Span;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::{ContentionPlan, Decision, PathId, Switching, WhenFull};
use gingham_topology::Fabric;
use std::path::Path;

const RING: &str = r#"
[topology.generate.ring]
switches = 4
hosts_per_switch = 2

[routing]
algorithm = "up-down"

[network]
preset = "myrinet-1280"

[[traffic]]
load = 0.1
length = { fixed = "64 B" }

[stop]
time = "1 ms"
"#;

const ALTERNATIVE: &str =
    "{ algorithm = { up-down = { root = \"smallest-distance\" } }, choose = \"at-random\" }";

fn parse(settings: &[(&str, &str)]) -> Result<ScenarioSource, InputError> {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    ScenarioSource::parse("ring.toml", RING, Path::new("."), &overrides)
}

fn source(settings: &[(&str, &str)]) -> ScenarioSource {
    parse(settings).unwrap()
}

fn compiled(settings: &[(&str, &str)]) -> Compiled {
    compile(&source(settings), false).unwrap()
}

fn error(settings: &[(&str, &str)]) -> String {
    let error = match parse(settings) {
        Ok(source) => compile(&source, false).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    error.replace('\n', " ")
}

fn choice(choose: &str) -> Decision {
    compiled(&[("routing.alternative", ALTERNATIVE), (CHOOSE, choose)]).plan.routing.decision
}

const CHOOSE: &str = "routing.alternative.choose";

#[test]
fn single_algorithm_gives_one_path() {
    let plan = compiled(&[]).plan;
    assert_eq!((plan.routing.paths.len(), plan.routing.decision), (1, Decision::ByPair));
}

#[test]
fn second_algorithm_adds_an_alternative_path() {
    let plan = compiled(&[("routing.alternative", ALTERNATIVE)]).plan;
    assert_eq!(plan.routing.path_ids().collect::<Vec<_>>(), [PathId::PRIMARY, PathId::ALTERNATIVE]);
    assert_eq!(plan.routing.decision, Decision::AtRandom { alternative: 0.5 });
}

#[test]
fn path_choices_are_read_with_and_without_defaults() {
    assert_eq!(choice("\"by-length\""), Decision::ByLength { below_bytes: 64 });
    let by_length = choice("{ by-length = { below = \"1 KiB\" } }");
    assert_eq!(by_length, Decision::ByLength { below_bytes: 1_024 });
    assert_eq!(
        choice("{ at-random = { percent = 25 } }"),
        Decision::AtRandom { alternative: 0.25 }
    );
    let paper = ContentionPlan { alpha: 0.7, beta: 0.95, above: 1.5, below: 1.1, start: 1.0 };
    assert_eq!(choice("\"by-contention\""), Decision::ByContention(paper));
    let other =
        choice("{ by-contention = { alpha = 0, beta = 0.5, above = 2, below = 2, start = 3 } }");
    let expected = ContentionPlan { alpha: 0.0, beta: 0.5, above: 2.0, below: 2.0, start: 3.0 };
    assert_eq!(other, Decision::ByContention(expected));
}

#[test]
fn invalid_alternative_path_is_refused() {
    let alone = error(&[("routing.alternative", "{ choose = \"at-random\" }")]);
    assert!(
        alone.contains("in `routing.alternative`: an alternative path set needs the `algorithm`"),
        "{alone}"
    );
    let unchosen = error(&[("routing.alternative", "{ algorithm = \"up-down\" }")]);
    assert!(
        unchosen.contains("`choose` which packets take the alternative path: by-length, at-random"),
        "{unchosen}"
    );
    let table = error(&[("routing.alternative", ALTERNATIVE), ("routing.form", "table")]);
    assert!(table.contains("in `routing.form`: a packet chooses"), "{table}");
    assert!(table.contains("form = \"source\""), "{table}");
    let misplaced = error(&[("routing.choose", "at-random")]);
    assert!(misplaced.contains("unknown key `choose` in `routing`"), "{misplaced}");
    let misspelt = error(&[("routing.alternative", ALTERNATIVE), (CHOOSE, "by-lenght")]);
    assert!(misspelt.contains("did you mean `by-length`?"), "{misspelt}");
}

#[test]
fn invalid_choice_numbers_are_refused_at_their_key() {
    let cases = [
        ("{ by-length = { below = \"0 B\" } }", "by-length.below`: messages have from 1 B"),
        ("{ by-length = { below = \"2048 MiB\" } }", "by-length.below`: messages have from 1 B"),
        (
            "{ at-random = { percent = 101 } }",
            "at-random.percent`: packets out of a hundred, from 0 to 100, not 101",
        ),
        ("{ at-random = { percent = -1 } }", "at-random.percent`: packets"),
        ("{ at-random = { percent = nan } }", "at-random.percent`"),
        (
            "{ by-contention = { alpha = 1 } }",
            "by-contention.alpha`: the weight of the previous coefficient is at least 0 and below 1, not 1",
        ),
        ("{ by-contention = { beta = -0.1 } }", "by-contention.beta`: the weight"),
        ("{ by-contention = { beta = nan } }", "by-contention.beta`"),
        ("{ by-contention = { below = 0.9 } }", "by-contention.below`: a host goes back"),
        (
            "{ by-contention = { above = 1.05 } }",
            "by-contention.above`: a host would begin to use alternative paths above 1.05",
        ),
        ("{ by-contention = { above = inf } }", "by-contention.above`"),
        (
            "{ by-contention = { start = 0.5 } }",
            "by-contention.start`: the coefficient of a host that has sent nothing is at least 1, not 0.5",
        ),
        ("{ by-contention = { start = inf } }", "by-contention.start`"),
    ];
    for (choose, message) in cases {
        let found = error(&[("routing.alternative", ALTERNATIVE), (CHOOSE, choose)]);
        let expected = format!("in `routing.alternative.choose.{message}");
        assert!(found.contains(&expected), "{choose}: {found}");
    }
}

fn notes(settings: &[(&str, &str)]) -> Vec<String> {
    compiled(settings).notes
}

#[test]
fn unused_path_is_noted() {
    let cases = [
        (
            "\"by-length\"",
            Some(
                "no packet takes its primary path, all take the alternative one: all messages have at least 64 B",
            ),
        ),
        (
            "{ by-length = { below = \"65 B\" } }",
            Some(
                "no packet takes its alternative path, all take the primary one: all messages have less payload than 65 B",
            ),
        ),
        ("{ at-random = { percent = 0 } }", Some("no packet takes its alternative path")),
        ("{ at-random = { percent = 100 } }", Some("no packet takes its primary path")),
        ("{ by-contention = { below = 1 } }", Some("never goes back")),
        ("\"by-contention\"", None),
        ("\"at-random\"", None),
    ];
    for (choose, expected) in cases {
        let found = notes(&[("routing.alternative", ALTERNATIVE), (CHOOSE, choose)]);
        match expected {
            Some(expected) => {
                assert!(found.iter().any(|note| note.contains(expected)), "{choose}: {found:?}");
            }
            None => assert_eq!(found, [""; 0], "{choose}"),
        }
    }
    let same =
        notes(&[("routing.alternative", "{ algorithm = \"up-down\", choose = \"at-random\" }")]);
    assert!(same[0].contains("both path sets have the same algorithm"), "{same:?}");
}

#[test]
fn deadlock_free_paths_may_deadlock_together() {
    // Up*/down* from s0 has no path through s2, from s1 none through s3: together they close the
    // cycle.
    let root = |name| format!("{{ up-down = {{ root = {{ named = \"{name}\" }} }} }}");
    for name in ["s0", "s1"] {
        compiled(&[("routing.algorithm", &root(name))]);
    }
    let second = format!("{{ algorithm = {}, choose = \"at-random\" }}", root("s1"));
    let settings = [("routing.algorithm", &*root("s0")), ("routing.alternative", &*second)];
    let found = error(&settings);
    assert!(found.contains("these routes can deadlock"), "{found}");
    assert!(found.contains("each path set alone is free of deadlock"), "{found}");
    assert!(compile(&source(&settings), true).is_ok(), "who allows it gets it");
}

#[test]
fn in_transit_figures_default_to_the_preset() {
    let plan = compiled(&[]).plan;
    // 132 MB/s: 7,575.76 ps a byte.
    let spill = WhenFull::Spill { delay: Span::from_ns(5_000), byte: Span::from_ps(7_576) };
    let of = plan.in_transit;
    assert_eq!((of.detection, of.programming), (Span::from_ns(275), Span::from_ns(200)));
    assert_eq!((of.pool_bytes, of.when_full), (524_288, spill));
    let Switching::Wormhole(wormhole) = plan.switching else { panic!("wormhole") };
    assert_eq!(wormhole.mark_bytes, 2);
    let given = "{ detection = \"1375 ns\", programming = \"1 us\", pool = \"90 KiB\", spill_delay = \"1 us\", spill_rate = \"1 GB/s\" }";
    let of = compiled(&[("network.in_transit", given)]).plan.in_transit;
    assert_eq!((of.detection, of.programming), (Span::from_ns(1_375), Span::from_ns(1_000)));
    let spill = WhenFull::Spill { delay: Span::from_ns(1_000), byte: Span::from_ps(1_000) };
    assert_eq!((of.pool_bytes, of.when_full), (92_160, spill));
    let kwan = compiled(&[("network.preset", "myrinet-640")]).plan;
    let Switching::Wormhole(wormhole) = kwan.switching else { panic!("wormhole") };
    assert_eq!(wormhole.mark_bytes, 0);
}

#[test]
fn invalid_in_transit_figures_are_refused_at_their_key() {
    let cases = [
        (
            "{ when_full = \"stop\", spill_delay = \"1 us\" }",
            "spill_delay`: sets the cost of spilling",
        ),
        (
            "{ when_full = \"stop\", spill_rate = \"1 MB/s\" }",
            "spill_rate`: sets the cost of spilling",
        ),
        ("{ detection = \"2 s\" }", "detection`: a delay is at most 1 s, not 2 s"),
        ("{ programming = \"2 s\" }", "programming`: a delay is at most"),
        ("{ spill_delay = \"2 s\" }", "spill_delay`: a delay is at most"),
        ("{ spill_rate = \"1 B/s\" }", "spill_rate`: the bus to a host's memory carries at least"),
    ];
    for (section, message) in cases {
        let found = error(&[("network.in_transit", section)]);
        let expected = format!("in `network.in_transit.{message}");
        assert!(found.contains(&expected), "{section}: {found}");
    }
    let header = "{ route_bytes = true, type_bytes = \"2 B\", trailer_bytes = \"1 B\", mark_bytes = \"2 KiB\" }";
    let found = error(&[("network.header", header)]);
    assert!(found.contains("in `network.header.mark_bytes`: the mark before an in-transit host has at most 1024 B, not 2 KiB"), "{found}");
    let unknown = error(&[("network.in_transit.pol", "1 KiB")]);
    assert!(unknown.contains("did you mean `pool`?"), "{unknown}");
}

#[test]
fn unused_in_transit_section_is_noted() {
    let found = notes(&[("network.in_transit.detection", "1 us")]);
    assert!(found[0].contains("no path leads through an in-transit host"), "{found:?}");
}

#[test]
fn stopping_hosts_have_an_input_buffer() {
    let into_host = |settings: &[(&str, &str)]| {
        let plan = compiled(settings).plan;
        let host = plan.fabric.endpoint_ids().next().unwrap();
        let away = plan.fabric.endpoint_channel(host);
        plan.channel(Fabric::reverse(away)).slack
    };
    assert_eq!(into_host(&[]), None);
    let slack = into_host(&[("network.in_transit.when_full", "stop")]).unwrap();
    // The header is held for 475 ns, 76 flits of 6.25 ns: 77 without a STOP; 10 m hold 8 flits, so
    // that both directions and three more need 19, in addition to the preset's go = 40.
    assert_eq!((slack.go, slack.stop, slack.capacity), (40, 77, 96));
}

#[test]
fn stopping_hosts_are_part_of_the_proof() {
    // A ring of five turns up again only at s3: its host breaks the cycle while it ejects packets.
    let ring = [
        ("topology.generate.ring.switches", "5"),
        ("topology.generate.ring.hosts_per_switch", "1"),
        ("routing.algorithm", "in-transit"),
    ];
    assert!(compiled(&ring).proof.is_free());
    let stops = [&ring[..], &[("network.in_transit.when_full", "stop")]].concat();
    let refused = error(&stops);
    assert!(refused.contains("in transit at h3"), "{refused}");
    assert!(
        refused.contains("let full hosts spill (network.in_transit.when_full = \"spill\")"),
        "{refused}"
    );
    assert!(!compile(&source(&stops), true).unwrap().proof.is_free(), "allowed");
}

/// Five switches in a ring; s3 has no host.
const WITHOUT_A_HOST: &str = "{ inline = '''
switch = [{ name = \"s0\" }, { name = \"s1\" }, { name = \"s2\" }, { name = \"s3\" }, { name = \"s4\" }]
host = [{ name = \"h0\" }, { name = \"h1\" }, { name = \"h2\" }, { name = \"h4\" }]
cable = [
  { ends = [\"s0\", \"s1\"] }, { ends = [\"s1\", \"s2\"] }, { ends = [\"s2\", \"s3\"] },
  { ends = [\"s3\", \"s4\"] }, { ends = [\"s4\", \"s0\"] },
  { ends = [\"s0\", \"h0\"] }, { ends = [\"s1\", \"h1\"] }, { ends = [\"s2\", \"h2\"] }, { ends = [\"s4\", \"h4\"] },
]
''' }";

#[test]
fn nonminimal_pairs_are_noted_with_the_hostless_switch() {
    // From the root s0, s2 counts as above s3: the path from s4 to s2 by s3 goes down, and then up,
    // without a host to eject a packet.
    let found = notes(&[("topology", WITHOUT_A_HOST), ("routing.algorithm", "in-transit")]);
    assert!(
        found[0].starts_with("2 pairs of hosts go a longer way than their shortest"),
        "{found:?}"
    );
    assert!(found[0].contains("without a host that could send packets on (s3)"), "{found:?}");
}

/// The dragonfly of the paper: a = 4, p = h = 2, 9 groups.
const DRAGONFLY: &str = "
    topology.generate.dragonfly = { switches_per_group = 4, hosts_per_switch = 2, global_cables_per_switch = 2 }
    network.preset = \"myrinet-1280\"
    stop.time = \"20 us\"
    traffic = [{ load = 0.1, length = { fixed = \"64 B\" } }]
";

fn dragonfly(algorithm: &str) -> ScenarioSource {
    let text = format!("routing.algorithm = \"{algorithm}\"\n{DRAGONFLY}");
    let source = ScenarioSource::parse("fly.toml", &text, Path::new("."), &Overrides::default());
    source.expect("the scenario is lawful")
}

/// Local-global-local paths put at most 68 pairs on a channel between switches and 71 on a host's
/// link: their bound is 1. Some shortest paths use two global channels.
#[test]
fn dragonfly_shortest_paths_are_noted_with_both_bounds() {
    let notes = compile(&dragonfly("shortest-path"), true).expect("deadlock is allowed").notes;
    let found: Vec<_> =
        notes.iter().filter(|note| note.starts_with("dragonfly-shortest-path: ")).collect();
    let [note] = found.as_slice() else { panic!("{notes:?}") };
    assert!(note.contains("routing.algorithm = \"shortest-path\""), "{note}");
    assert!(note.contains("0.645") && note.contains("1.000"), "{note}");
    let notes = compile(&dragonfly("up-down"), false).expect("up-down is proved").notes;
    assert!(!notes.iter().any(|note| note.contains("dragonfly")), "{notes:?}");
}

/// Bounds: up-down .211, depth-first up-down .467, simple-routes .225 and smart .563.
#[test]
fn advice_names_the_best_proved_algorithm() {
    let Err(LabError::Deadlock(report)) = compile(&dragonfly("shortest-path"), false) else {
        panic!("shortest paths through a dragonfly can deadlock");
    };
    let advice = report.lines.last().expect("there is advice");
    assert!(advice.contains("routing.algorithm = \"smart\""), "{advice}");
    compile(&dragonfly("smart"), false).expect("the advised algorithm is free of deadlock");
}
