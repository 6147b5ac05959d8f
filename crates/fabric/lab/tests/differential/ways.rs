//! Comparison of every stepper with the oracle; prints the share of cases of each.

use crate::agreement::difference;
use crate::case::{Case, pick};
use crate::number;
use gingham_kernel::{Purpose, Stream};
use gingham_lab::compile;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_net::{ClassPlan, Crossbar, Plan, Scheduler, SteppedBy, Switching};
use gingham_topology::routing::LaneSet;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Round robin, one rate, and occasionally a feature that columns do not support.
#[test]
#[expect(clippy::print_stdout, reason = "who runs many cases by hand is told what took which way")]
fn all_steppers_agree_on_plain_virtual_lanes() {
    let (cases, first) = (number("CASES", 120), number("FIRST", 0));
    let mut taken = BTreeMap::new();
    for seed in first..first + cases {
        let (case, plan) = plain_case(seed);
        let found = std::panic::catch_unwind(|| difference(&plan));
        let found = found.unwrap_or_else(|_| Some("panic".into()));
        assert_eq!(found, None, "seed {seed}\n{:?}\n{}", plan.switching, case.to_toml());
        let way = gingham_engine::start(Arc::clone(&plan)).stepping().expect("it is stepped");
        let by_columns = gingham_engine::start_by(Arc::clone(&plan), SteppedBy::Columns);
        *taken.entry(format!("chosen: {:?}, {}", way.by, way.because)).or_insert(0_u64) += 1;
        let refusal =
            by_columns.err().map_or("can be stepped by columns", |refusal| refusal.because);
        *taken.entry(format!("columns: {refusal}")).or_insert(0) += 1;
    }
    for (way, count) in &taken {
        println!("{count} of {cases}: {way}");
    }
    let by_columns = taken.get("columns: can be stepped by columns").copied().unwrap_or(0);
    println!("by the oracle: 100 %, by ports: 100 %, by columns: {} %", by_columns * 100 / cases);
    // With fewer cases the share is too uncertain.
    assert!(cases < 40 || by_columns * 5 >= cases, "{taken:?}");
}

/// More switches than a word has bits, and many parallel cables in a column.
#[test]
fn engine_and_oracle_agree_over_many_switches() {
    let dimension_order = "routing.algorithm = \"dimension-order\"";
    let shortest = "routing.algorithm = \"shortest-path\"";
    let cases = [
        ("mesh = { dimensions = [9, 8] }", dimension_order, 1),
        ("mesh = { dimensions = [9, 8] }", dimension_order, 4),
        ("mesh = { dimensions = [5, 4, 4] }", dimension_order, 3),
        ("torus = { dimensions = [9, 8] }", dimension_order, 2),
        ("torus = { dimensions = [17, 4] }", dimension_order, 8),
        ("k-ary-n-tree = { arity = 4, levels = 3 }", shortest, 4),
    ];
    for (generator, routing, lanes) in cases {
        let text = format!(
            "topology.generate.{generator}\n{routing}\n\
             network = {{ preset = \"yum-1600\", lanes = {{ count = {lanes}, depth = 4 }} }}\n\
             traffic = [{{ load = 0.3, length.fixed = \"100 B\" }}]\n\
             stop = {{ time = \"3 us\", warm_up = \"0 ps\" }}\n"
        );
        let source =
            ScenarioSource::parse("case.toml", &text, Path::new("."), &Overrides::default());
        let compiled = compile(&source.unwrap(), true).unwrap();
        gingham_engine::start_by(Arc::clone(&compiled.plan), SteppedBy::Columns).unwrap();
        assert_eq!(difference(&compiled.plan), None, "{text}");
    }
}

/// Returns a random case, and its plan without most special features.
pub(crate) fn plain_case(seed: u64) -> (Case, Arc<Plan>) {
    let case = if seed % 4 == 3 { Case::lanes_in_transit(seed) } else { Case::lanes(seed) };
    let plan = compile(&case.source(), true).unwrap().plan;
    (case, Arc::new(plain(&plan, seed)))
}

fn plain(plan: &Plan, seed: u64) -> Plan {
    let mut draw = Stream::new(seed, "plain lanes", Purpose::Shuffle);
    let mut plan = plan.clone();
    let Switching::VirtualLanes(pipeline) = &plan.switching else { panic!("virtual lanes") };
    let mut lanes = (**pipeline).clone();
    (lanes.input_speedup, lanes.output_speedup) = (1, 1);
    lanes.crossbar_output = None;
    lanes.crossbar_input = Scheduler::default();
    plan.lanes.link_output = Scheduler::default();
    if plan.lanes.adapter_port.facts().by == gingham_net::Granularity::Packet {
        plan.lanes.adapter_port = Scheduler::default();
    }
    // Half of the plans have lanes that need more counter planes than usual.
    let are_deep = draw.below(2) == 0;
    let depths = lanes.depths_flits.iter_mut().chain(&mut lanes.output_depths_flits);
    for depth in depths.filter(|depth| **depth > 0) {
        *depth = if are_deep {
            pick(&mut draw, &[16, 31, 40, 64, 127])
        } else {
            (*depth).min(pick(&mut draw, &[15, 4, 15]))
        };
    }
    let longest = lanes.packet_flits(longest_bytes(&plan));
    let fits = |lane: &u8| u64::from(lanes.depths_flits[usize::from(*lane)]) >= longest;
    let cut_through = lanes.cut_through.lanes().filter(fits);
    lanes.cut_through = LaneSet::from_bits(cut_through.fold(0, |lanes, lane| lanes | 1 << lane));
    for channel in &mut plan.channels {
        channel.flit = lanes.cycle;
    }
    if lanes.crossbar == Crossbar::Multiplexed && draw.below(8) == 0 {
        lanes.output_depths_flits = [0; 16];
    }
    plan.switching = Switching::VirtualLanes(Arc::new(lanes));
    plan
}

fn longest_bytes(plan: &Plan) -> u32 {
    let sources = plan.classes.iter().flat_map(|class| &class.sources);
    let message = sources.map(|source| *source.payload_bytes().end()).max().unwrap_or(0);
    let of_class = |class: &ClassPlan| {
        let ack_bytes = class.window.as_ref().map_or(0, |window| window.ack.payload_bytes);
        class.longest_anywhere_bytes(message).max(ack_bytes)
    };
    plan.classes.iter().map(of_class).max().unwrap_or(0)
}
