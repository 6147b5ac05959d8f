//! Milestones of a compilation.

#![allow(clippy::unwrap_used, reason = "a scenario that cannot be read has failed")]

use crate::imported;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Milestone, compile_observed};
use std::path::Path;

const RING: &str = r#"
[topology.generate.ring]
switches = 5
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

const ALL: [Milestone; 5] =
    [Milestone::Fabric, Milestone::Routes, Milestone::Proof, Milestone::Plan, Milestone::Bound];

fn reported(
    text: &str,
    folder: &Path,
    settings: &[(&str, &str)],
    allow_deadlock: bool,
) -> (Vec<Milestone>, bool) {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    let source = ScenarioSource::parse("ring.toml", text, folder, &overrides).unwrap();
    let mut reported = Vec::new();
    let compiled =
        compile_observed(&source, allow_deadlock, &mut |milestone| reported.push(milestone));
    (reported, compiled.is_ok())
}

fn of_ring(settings: &[(&str, &str)], allow_deadlock: bool) -> (Vec<Milestone>, bool) {
    reported(RING, Path::new("."), settings, allow_deadlock)
}

#[test]
fn milestones_are_reported_once_in_order() {
    let alternative =
        "{ algorithm = { up-down = { root = \"smallest-distance\" } }, choose = \"at-random\" }";
    assert_eq!(of_ring(&[], false), (ALL.to_vec(), true));
    assert_eq!(
        of_ring(&[("routing.alternative", alternative)], false),
        (ALL.to_vec(), true),
        "two path sets"
    );
    assert_eq!(
        of_ring(&[("routing.algorithm", "shortest-path")], true),
        (ALL.to_vec(), true),
        "a cycle that is allowed"
    );
    let read = reported(imported::RING, &imported::folder(), &[], false);
    assert_eq!(read, (ALL.to_vec(), true), "fabric, routes and lanes from files");
}

#[test]
fn refused_scenario_reports_only_reached_milestones() {
    let refused = |settings: &[(&str, &str)]| {
        let (reported, is_compiled) = of_ring(settings, false);
        assert!(!is_compiled, "{settings:?}");
        reported
    };
    assert_eq!(refused(&[("stop.warm_up", "2 ms")]), [], "needs no fabric to be refused");
    assert_eq!(refused(&[("topology.generate.ring.switches", "0")]), []);
    let no_choice = "{ algorithm = \"up-down\" }";
    assert_eq!(refused(&[("routing.alternative", no_choice)]), ALL[..1]);
    assert_eq!(refused(&[("routing.algorithm", "shortest-path")]), ALL[..2], "a cycle");
    assert_eq!(refused(&[("traffic.0.load", "-1")]), ALL[..3]);
}
