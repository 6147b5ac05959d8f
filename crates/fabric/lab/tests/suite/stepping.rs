//! Steppers of virtual lanes: the engine's choice, and refusals.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, Engine, Run, SteppedBy, compile};
use std::path::Path;

const MESH: &str = r#"
topology.generate.mesh.dimensions = [8, 8]
routing.algorithm = "dimension-order"
network = { preset = "yum-1600", lanes = { count = 4, depth = 8 } }
traffic = [{ load = 0.2, length = { fixed = "320 B" } }]
stop = { time = "60 us", warm_up = "0 ps" }
"#;

fn compiled(settings: &[(&str, &str)]) -> Compiled {
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    let source = ScenarioSource::parse("mesh.toml", MESH, Path::new("."), &overrides).unwrap();
    compile(&source, true).unwrap_or_else(|error| panic!("{error}\n{settings:?}"))
}

fn chosen(settings: &[(&str, &str)]) -> (SteppedBy, &'static str) {
    let stepping = Run::new(compiled(settings), Engine::Fast).stepping().unwrap();
    (stepping.by, stepping.because)
}

#[test]
fn columns_are_chosen_for_high_flit_rates() {
    let many = (SteppedBy::Columns, "every flit goes in turn, and many move in a tick");
    let few = (SteppedBy::Ports, "columns cost more in a tick than they save here");
    assert_eq!(chosen(&[]), many);
    assert_eq!(chosen(&[("traffic.0.load", "0.002")]), few);
    // Measured by `benches/columns.py`: a tick takes 6,830 instructions by ports and 5,729 by
    // columns; with 8 lanes 6,805 and 7,738.
    let seldom = ("traffic.0.load", "0.03");
    assert_eq!(chosen(&[seldom]), many);
    assert_eq!(chosen(&[seldom, ("network.lanes.count", "8")]), few);
    // Each flit is a head: 110,842 and 65,373 instructions.
    assert_eq!(chosen(&[("traffic.0.length.fixed", "16 B")]), many);
    // A host sends no more than its link carries, whatever its load.
    let class = |name| {
        format!(
            "{{ name = \"{name}\", hosts = [\"h0-0-0\"], load = 1.0, length.fixed = \"320 B\" }}"
        )
    };
    let four = format!("[{}]", ["a", "b", "c", "d"].map(class).join(", "));
    assert_eq!(chosen(&[("traffic", &four)]), few);
    assert_eq!(chosen(&[("topology.generate.mesh.dimensions", "[2, 2]")]), few);
    let delay = |cycles| ("network.lanes.credit_delay", cycles);
    assert_eq!(chosen(&[delay("1000")]), many);
    let late = "network.lanes.credit_delay is of more than 1,024 cycles";
    assert_eq!(chosen(&[delay("2000")]), (SteppedBy::Ports, late));
    let far = "a channel of the topology takes more than 1,024 cycles";
    let cable = ("network.cable_length", "20000 m");
    assert_eq!(chosen(&[cable, delay("1000")]), (SteppedBy::Ports, far));
}

#[test]
fn stepper_choice_counts_every_kind_of_traffic() {
    let replies = r#"[
        { name = "asked", load = 0.15, length = { fixed = "16 B" } },
        { name = "answers", arrivals = { reply = { to = "asked" } }, length = { fixed = "320 B" } },
    ]"#;
    assert_eq!(chosen(&[("traffic", replies)]).0, SteppedBy::Columns);
    let rare = replies.replace("0.15", "0.0001");
    assert_eq!(chosen(&[("traffic", &rare)]).0, SteppedBy::Ports);
    let backlogged = r#"[{ arrivals = "backlogged", length = { fixed = "320 B" } }]"#;
    assert_eq!(chosen(&[("traffic", backlogged)]).0, SteppedBy::Columns);
}

#[test]
fn literature_routers_are_stepped_by_columns() {
    for (preset, lanes) in [("booksim-iq", 1), ("peh-dally-2001", 2), ("caminos-basic", 2)] {
        let network = format!("{{ preset = \"{preset}\", lanes.count = {lanes} }}");
        assert_eq!(chosen(&[("network", &network)]).0, SteppedBy::Columns, "{preset}");
    }
}

#[test]
fn no_lane_is_too_deep_for_columns() {
    for depth in ["15", "16", "127", "65535"] {
        for key in ["network.lanes.depth", "network.lanes.output_depth"] {
            assert_eq!(chosen(&[(key, depth)]).0, SteppedBy::Columns, "{key} = {depth}");
        }
    }
}

#[test]
fn columns_name_the_key_they_do_not_support() {
    let cases = [
        ("network.lanes.crossbar_output", "first-come-first-served"),
        ("network.lanes.crossbar_input", "first-come-first-served"),
        ("network.lanes.link_output", "{ round-robin = { by = \"packet\" } }"),
        ("network.lanes.input_speedup", "2"),
        ("network.lanes.output_speedup", "2"),
    ];
    for (key, value) in cases {
        let mut settings = vec![(key, value)];
        if value.contains("packet") {
            settings.extend([
                ("network.lanes.forwarding", "virtual-cut-through"),
                ("network.lanes.depth", "40"),
            ]);
        }
        let refused = Run::stepped_by(compiled(&settings), SteppedBy::Columns).unwrap_err();
        let noted = refused.to_string();
        let first = format!("engine = \"columns\" does not step this run, because {key} ");
        assert!(noted.starts_with(&first), "{noted}");
        assert!(noted.ends_with("; engine = \"fast\" chooses what does"), "{noted}");
        let (by, because) = chosen(&settings);
        assert_eq!(by, SteppedBy::Ports);
        assert!(noted.contains(because), "{because}");
        Run::stepped_by(compiled(&settings), SteppedBy::Ports).unwrap();
    }
}

#[test]
fn wormhole_run_refuses_the_port_stepper() {
    let refused = Run::stepped_by(
        compiled(&[("network", "{ preset = \"myrinet-1280\" }")]),
        SteppedBy::Ports,
    );
    assert_eq!(
        refused.unwrap_err().to_string(),
        "engine = \"ports\" does not step this run, because network.preset is one without virtual lanes; \
         engine = \"fast\" chooses what does"
    );
}

/// A tick moves 81 flits across 6.3 switches each, and 4 of them are heads. Ports take 81 x 464 + 4
/// x 904 instructions; columns save 81 x 271 + 4 x 287 of these and cost 5 x 4 x 92 + 25 x 18, so
/// they are twice as fast. 30 ms are 375,000 ticks of 80 ns.
#[test]
fn long_port_run_notes_the_key_that_rules_out_columns() {
    let speedup = ("network.lanes.input_speedup", "2");
    let run = |settings: &[(&str, &str)]| Run::new(compiled(settings), Engine::Fast);
    let (long, far) = (("stop.time", "30 ms"), ("traffic.0.load", "0.002"));
    let slow = run(&[speedup, long]);
    let stepping = slow.stepping().unwrap();
    assert_eq!(
        (stepping.by, stepping.keys),
        (SteppedBy::Ports, &["network.lanes.input_speedup"][..])
    );
    assert_eq!(stepping.columns_faster, Some(2));
    let note = slow.compiled().notes.iter().find(|note| note.contains(speedup.0));
    assert!(note.is_some_and(|note| note.contains("about 2 times")), "{:?}", slow.compiled().notes);
    for settings in [&[speedup][..], &[speedup, long, far], &[long]] {
        let run = run(settings);
        let stepping = run.stepping().unwrap();
        assert_eq!((stepping.columns_faster, stepping.note()), (None, None), "{settings:?}");
        let noted = |note: &String| note.contains("by columns this run");
        assert!(!run.compiled().notes.iter().any(noted), "{settings:?}");
    }
}
