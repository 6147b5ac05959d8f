//! Engine against oracle: random small scenarios, every delivery to the picosecond.

#![allow(clippy::unwrap_used, reason = "a case that cannot be set up has failed")]

mod admission;
mod agreement;
mod audited;
mod case;
mod closed;
mod ends;
mod in_transit;
mod lanes;
mod over_switches;
mod packets;
mod posting;
mod reached;
mod responses;
mod shrink;
mod streams;
mod tables;
mod throttled;
mod trees;
mod ways;
mod weighed;
mod wild;

use agreement::difference;
use case::Case;
use gingham_lab::compile;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_net::{
    ArbiterPlace, Arbitration, ClassId, KeptMessages, MeasurePlan, Plan, Scheduler, Status,
    Switching, WhenFull,
};
use gingham_topology::{ChannelId, EndpointId};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn disagreement(case: &Case) -> Option<String> {
    let compiled = compile(&case.source(), true).unwrap_or_else(|error| panic!("{error}"));
    std::panic::catch_unwind(|| difference(&compiled.plan)).unwrap_or_else(|_| Some("panic".into()))
}

/// Former differences, and cases that random ones do not reach.
#[test]
fn engine_and_oracle_agree_on_kept_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/kept");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let source = ScenarioSource::load(&path, &Overrides::default()).unwrap();
        let compiled = compile(&source, true).unwrap();
        assert_eq!(difference(&compiled.plan), None, "{}", path.display());
        seen += 1;
    }
    assert!(seen > 0, "no case was found");
}

#[test]
fn engine_and_oracle_agree_on_random_scenarios() {
    agree_on_random(Case::random);
}

#[test]
fn engine_and_oracle_agree_on_random_in_transit_scenarios() {
    agree_on_random(Case::in_transit);
}

/// In-transit paths with many more hosts than any algorithm uses.
#[test]
fn engine_and_oracle_agree_on_wild_paths() {
    let (cases, first) = (number("CASES", 60), number("FIRST", 0));
    let mut longest = 0;
    for seed in first..first + cases {
        let plan = compile(&Case::in_transit(seed).source(), true).unwrap().plan;
        let plan = wild::with_wild_paths(&plan, seed);
        assert_eq!(difference(&plan), None, "seed {seed}");
        let paths = plan
            .routing
            .path_ids()
            .flat_map(|path| plan.routing.routes(path).lengths(&plan.fabric));
        let switches = paths.flatten().flatten().max().unwrap_or(0);
        longest = switches.max(longest);
    }
    assert!(longest >= 10, "{longest} switches at the most");
}

#[test]
fn engine_and_oracle_agree_on_random_virtual_lanes() {
    agree_on_random(Case::lanes);
}

#[test]
fn engine_and_oracle_agree_on_in_transit_virtual_lanes() {
    agree_on_random(Case::lanes_in_transit);
}

#[test]
fn engine_and_oracle_agree_on_adaptive_routing() {
    agree_on_random(Case::adaptive);
}

/// Lane tables that no routing engine would write.
#[test]
fn engine_and_oracle_agree_on_random_tables_of_lanes() {
    let (cases, first) = (number("CASES", 60), number("FIRST", 0));
    let (mut several, mut by_vl) = (0, 0);
    for seed in first..first + cases {
        let plan = compile(&Case::lanes(seed).source(), true).unwrap().plan;
        let plan = tables::with_random_tables(&plan, seed);
        assert_eq!(difference(&plan), None, "seed {seed}");
        let chooses = |place| plan.arbiter(place).is_some_and(Scheduler::chooses_among_vls);
        let is_several = plan.lanes.allowed.lanes_per_vl() > 1;
        several += u64::from(is_several);
        by_vl += u64::from(is_several && ArbiterPlace::ALL.into_iter().any(chooses));
    }
    assert!(several * 5 > cases && by_vl * 25 > cases, "{several} and {by_vl} of {cases}");
}

#[test]
fn engine_and_oracle_agree_on_whole_packets() {
    agree_on_packets(|plan, _| plan.clone());
}

#[test]
fn engine_and_oracle_agree_on_closed_loops_of_whole_packets() {
    agree_on_packets(closed::with_closed_loops);
}

/// Former differences: cut-through between equal rates, hosts that need no credit, a deadlock check
/// while a tail leaves.
#[test]
fn engine_and_oracle_agree_on_kept_cases_of_whole_packets() {
    agree_on_one_of_packets(1_751, |plan, _| plan.clone());
    agree_on_one_of_packets(1_155, closed::with_closed_loops);
    agree_on_one_of_packets(1_978, closed::with_closed_loops);
}

fn agree_on_packets(more: fn(&Plan, u64) -> Plan) {
    let (cases, first) = (number("CASES", 200), number("FIRST", 0));
    for seed in first..first + cases {
        agree_on_one_of_packets(seed, more);
    }
}

fn agree_on_one_of_packets(seed: u64, more: fn(&Plan, u64) -> Plan) {
    let case = Case::lanes(seed);
    let plan = compile(&case.source(), true).unwrap().plan;
    let plan = packets::with_whole_packets(&more(&plan, seed), seed);
    let found = std::panic::catch_unwind(|| difference(&plan));
    let found = found.unwrap_or_else(|_| Some("panic".into()));
    assert_eq!(found, None, "seed {seed}\n{:?}\n{}", plan.switching, case.to_toml());
}

#[test]
fn engine_and_oracle_agree_on_closed_loops() {
    agree_on_closed_loops(Case::random, Case::in_transit);
}

#[test]
fn engine_and_oracle_agree_on_closed_loops_over_virtual_lanes() {
    agree_on_closed_loops(Case::lanes, Case::lanes_in_transit);
}

#[test]
fn engine_and_oracle_agree_on_posts() {
    agree_on_closed_loops_with(Case::random, Case::in_transit, posting::with_adapters);
}

#[test]
fn engine_and_oracle_agree_on_posts_over_virtual_lanes() {
    agree_on_closed_loops_with(Case::lanes, Case::lanes_in_transit, posting::with_adapters);
}

#[test]
fn engine_and_oracle_agree_on_posts_of_whole_packets() {
    agree_on_packets(|plan, seed| {
        posting::with_adapters(&closed::with_closed_loops(plan, seed), seed)
    });
}

#[test]
fn engine_and_oracle_agree_on_admission() {
    admission::agree_on_admission(|seed| {
        let plan = compile(&Case::random(seed).source(), true).unwrap().plan;
        admission::with_admission(&posting::with_adapters(&plan, seed), seed)
    });
}

#[test]
fn engine_and_oracle_agree_on_admission_over_in_transit_hosts() {
    admission::agree_on_admission_in_transit(|seed| {
        let case =
            if seed % 2 == 0 { Case::in_transit(seed) } else { Case::lanes_in_transit(seed) };
        let plan = compile(&case.source(), true).unwrap().plan;
        let plan = if seed % 3 == 0 {
            closed::with_closed_loops(&plan, seed)
        } else {
            plan.as_ref().clone()
        };
        admission::with_admission(&posting::with_adapters(&plan, seed), seed)
    });
}

#[test]
fn engine_and_oracle_agree_on_admission_over_virtual_lanes() {
    admission::agree_on_admission(|seed| {
        let plan = compile(&Case::lanes(seed).source(), true).unwrap().plan;
        let plan = if seed % 3 == 0 {
            closed::with_closed_loops(&plan, seed)
        } else {
            plan.as_ref().clone()
        };
        admission::with_admission(&posting::with_adapters(&plan, seed), seed)
    });
}

#[test]
fn engine_and_oracle_agree_on_admission_of_whole_packets() {
    admission::agree_on_admission(|seed| {
        let plan = compile(&Case::lanes(seed).source(), true).unwrap().plan;
        let plan = if seed % 3 == 0 {
            closed::with_closed_loops(&plan, seed)
        } else {
            plan.as_ref().clone()
        };
        let plan = packets::with_whole_packets(&posting::with_adapters(&plan, seed), seed);
        admission::with_admission(&plan, seed)
    });
}

#[test]
fn engine_and_oracle_agree_on_diverted_packets_on_virtual_lanes() {
    ends::agree_on_diverted(|seed| {
        let case = if seed % 3 == 0 { Case::lanes_in_transit(seed) } else { Case::lanes(seed) };
        closed::with_closed_loops(&compile(&case.source(), true).unwrap().plan, seed)
    });
}

#[test]
fn engine_and_oracle_agree_on_diverted_worms() {
    ends::agree_on_diverted(|seed| {
        let case = if seed % 3 == 0 { Case::in_transit(seed) } else { Case::random(seed) };
        closed::with_closed_loops(&compile(&case.source(), true).unwrap().plan, seed)
    });
}

#[test]
fn engine_and_oracle_agree_on_diverted_whole_packets() {
    ends::agree_on_diverted(|seed| {
        let plan = compile(&Case::lanes(seed).source(), true).unwrap().plan;
        let plan =
            if seed % 2 == 0 { closed::with_closed_loops(&plan, seed) } else { (*plan).clone() };
        packets::with_whole_packets(&plan, seed)
    });
}

#[test]
fn engine_and_oracle_agree_on_diverted_packets_over_tables_of_lanes() {
    ends::agree_on_diverted(|seed| {
        let plan = compile(&Case::lanes(seed).source(), true).unwrap().plan;
        tables::with_random_tables(&plan, seed)
    });
}

/// Seeds with which a host once re-injected a worm before reading the packets behind it.
const SENT_ON_BEFORE_ALL_WAS_READ: [u64; 2] = [5_232, 5_373];

fn agree_on_closed_loops(draw: fn(u64) -> Case, in_transit: fn(u64) -> Case) {
    agree_on_closed_loops_with(draw, in_transit, |plan, _| plan.clone());
}

fn agree_on_closed_loops_with(
    draw: fn(u64) -> Case,
    in_transit: fn(u64) -> Case,
    more: fn(&Plan, u64) -> Plan,
) {
    let (cases, first) = (number("CASES", 60), number("FIRST", 0));
    for seed in (first..first + cases).chain(SENT_ON_BEFORE_ALL_WAS_READ) {
        let case = if seed % 3 == 0 { in_transit(seed) } else { draw(seed) };
        let plan = compile(&case.source(), true).unwrap().plan;
        let plan = more(&closed::with_closed_loops(&plan, seed), seed);
        let found = std::panic::catch_unwind(|| difference(&plan));
        let found = found.unwrap_or_else(|_| Some("panic".into()));
        assert_eq!(found, None, "seed {seed}\n{}", case.to_toml());
    }
}

fn agree_on_random(draw: impl Fn(u64) -> Case) {
    let (cases, first) = (number("CASES", 150), number("FIRST", 0));
    for seed in first..first + cases {
        let case = draw(seed);
        if let Some(found) = disagreement(&case) {
            let (smaller, found) = case.shrunk(found, disagreement);
            panic!("seed {seed}: {found}\n--- replay ---\n{}", smaller.to_toml());
        }
    }
}

#[test]
fn random_scenarios_cover_all_endings_and_policing() {
    let (mut endings, mut policed) = (BTreeMap::new(), [0_u32; 3]);
    for seed in 0..300 {
        let plan = compile(&Case::random(seed).source(), true).unwrap().plan;
        let mut simulation = gingham_engine::start(Arc::clone(&plan));
        let status = simulation.advance(u64::MAX).clone();
        let (collector, end) = (simulation.collector(), simulation.now());
        let ending = match status {
            Status::Deadlocked(_) => "deadlocked",
            Status::Finished => "finished",
            _ if !collector.is_complete() => "some were not delivered",
            _ if end < plan.stop.time => "ended by a rule",
            _ if end == plan.stop.time => "nothing was left to follow",
            _ => "all were followed",
        };
        *endings.entry(ending).or_insert(0_u32) += 1;
        for class in ClassId::first(plan.classes.len()) {
            let of = collector.report().class(class);
            let counts = [of.delayed_messages, of.demoted_messages, of.dropped.messages];
            for (reached, count) in policed.iter_mut().zip(counts) {
                *reached += u32::from(count > 0);
            }
        }
    }
    assert_eq!(endings.len(), 6, "{endings:?}");
    assert!(policed.iter().all(|classes| *classes >= 5), "{policed:?}");
}

#[test]
fn random_scenarios_cover_segmentation_and_overtaking() {
    let mut reached = BTreeMap::new();
    for seed in 0..300 {
        let plan = compile(&Case::random(seed).source(), true).unwrap().plan;
        let measure = MeasurePlan { messages: KeptMessages::All, ..plan.measure };
        let mut simulation = gingham_engine::start(Arc::new(Plan { measure, ..(*plan).clone() }));
        simulation.advance(u64::MAX);
        let found = simulation.take_messages();
        let Switching::Wormhole(wormhole) = plan.switching else { panic!("wormhole") };
        let of_level =
            |level: usize| plan.classes.iter().any(|class| class.priority.level() == level);
        let levels = (0..8).filter(|level| of_level(*level)).count();
        let strict = wormhole.arbitration == Arbitration::StrictPriority;
        let overtaken = found.windows(2).any(|pair| {
            let [first, second] = [pair[0], pair[1]];
            first.message.source == second.message.source
                && first.message.id() > second.message.id()
                && first.entered < second.entered
        });
        for (what, holds) in [
            ("messages in several packets", found.iter().any(|delivery| delivery.packets > 1)),
            ("messages in one packet", found.iter().any(|delivery| delivery.packets == 1)),
            ("one overtaken at its host", overtaken),
            ("several levels in turn", levels > 1 && !strict),
            ("several levels at switches", levels > 1 && strict),
        ] {
            *reached.entry(what).or_insert(0_u32) += u32::from(holds);
        }
    }
    assert!(reached.values().all(|cases| *cases >= 20), "{reached:?}");
}

#[test]
fn random_scenarios_cover_in_transit_behaviour() {
    let mut reached = BTreeMap::new();
    for seed in 0..300 {
        let plan = compile(&Case::in_transit(seed).source(), true).unwrap().plan;
        let mut simulation = gingham_engine::start(Arc::clone(&plan));
        let is_knot = matches!(simulation.advance(u64::MAX), Status::Deadlocked(_));
        let collector = simulation.collector().report();
        let hosts =
            || EndpointId::first(plan.fabric.endpoints().len()).map(|host| collector.transit(host));
        let counts = simulation.channel_counts();
        let stops = plan.in_transit.when_full == WhenFull::Stop;
        let into_host = |channel: &ChannelId| !plan.is_switch(plan.ends(*channel).target.node);
        let mut ports = ChannelId::first(plan.channels.len()).filter(into_host);
        for (what, holds) in [
            ("sent on", hosts().any(|host| host.reinjected_packets > 0)),
            ("often", hosts().map(|host| host.reinjected_packets).sum::<u64>() > 50),
            (
                "waited for the link",
                hosts().any(|host| host.wait_mean_ps.is_some_and(|wait| wait > 0.0)),
            ),
            ("spilled", hosts().any(|host| host.spilled_packets > 0)),
            ("waited for room", ports.any(|port| counts[port.index()].occupancy_flit_ps > 0)),
            ("stopped by a host", ports.any(|port| counts[port.index()].stops > 0)),
            ("a knot with hosts in it", stops && is_knot),
            ("two path sets", plan.routing.paths.len() == 2),
        ] {
            *reached.entry(what).or_insert(0_u32) += u32::from(holds);
        }
    }
    assert!(reached.values().all(|cases| *cases >= 15), "{reached:?}");
}

/// Reads a number from the environment (`make oracle`).
#[expect(clippy::disallowed_methods, reason = "a test run by hand takes its size from outside")]
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a whole number"))
}
