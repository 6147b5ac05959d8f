//! Engine against oracle: random small scenarios, every delivery to the picosecond.

#![allow(clippy::unwrap_used, reason = "a case that cannot be set up has failed")]

mod case;

use case::Case;
use gingham_kernel::Time;
use gingham_lab::compile;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_model::{Delivery, KeptMessages, MeasurePlan, Plan, Status};
use std::path::Path;
use std::sync::Arc;

/// What a run leaves that must agree.
#[derive(PartialEq, Debug)]
struct Outcome {
    status: Status,
    end: Time,
    /// The ledger with all its counts, as text.
    ledger: String,
    deliveries: Vec<Delivery>,
    /// (data flits, control flits, stops, stopped picoseconds) by channel.
    counts: Vec<(u64, u64, u64, u64)>,
}

macro_rules! outcome {
    ($simulation:expr) => {{
        let mut simulation = $simulation;
        // In pieces, because the size of a call must not matter.
        let mut deliveries = Vec::new();
        while *simulation.advance(1_009) == Status::Running {
            simulation.assert_invariants();
            deliveries.extend(simulation.take_messages());
        }
        deliveries.extend(simulation.take_messages());
        deliveries.sort_by_key(|delivery| delivery.message.id);
        let status = simulation.status().clone();
        let counts = simulation.channel_counts();
        Outcome {
            status,
            end: simulation.now(),
            ledger: format!("{:?}", simulation.ledger()),
            deliveries,
            counts: counts
                .iter()
                .map(|count| (count.data_flits, count.control_flits, count.stops, count.stopped_ps))
                .collect(),
        }
    }};
}

/// The first difference between engine and oracle, if there is one.
fn difference(plan: &Plan) -> Option<String> {
    let measure = MeasurePlan { messages: KeptMessages::All, ..plan.measure };
    let plan = &Arc::new(Plan { measure, ..plan.clone() });
    let oracle = outcome!(gingham_oracle::Simulation::new(Arc::clone(plan)));
    let engine = outcome!(gingham_fabric::Simulation::new(Arc::clone(plan)));
    if oracle.status != engine.status {
        return Some(format!("status: oracle {:?}, engine {:?}", oracle.status, engine.status));
    }
    if oracle.end != engine.end {
        return Some(format!("end: oracle {:?}, engine {:?}", oracle.end, engine.end));
    }
    for (true_one, other) in oracle.deliveries.iter().zip(&engine.deliveries) {
        if true_one != other {
            return Some(format!("oracle {true_one:?}\nengine {other:?}"));
        }
    }
    if oracle.deliveries.len() != engine.deliveries.len() {
        let counts = (oracle.deliveries.len(), engine.deliveries.len());
        return Some(format!("deliveries: oracle {}, engine {}", counts.0, counts.1));
    }
    for (index, (a, b)) in oracle.counts.iter().zip(&engine.counts).enumerate() {
        if a != b {
            return Some(format!("channel {index}: oracle {a:?}, engine {b:?}"));
        }
    }
    (oracle.ledger != engine.ledger)
        .then(|| format!("ledger: oracle {}\nengine {}", oracle.ledger, engine.ledger))
}

fn disagreement(case: &Case) -> Option<String> {
    let compiled = compile(&case.source(), true).unwrap_or_else(|error| panic!("{error}"));
    std::panic::catch_unwind(|| difference(&compiled.plan)).unwrap_or_else(|_| Some("panic".into()))
}

/// Every case in which engine and oracle once differed.
#[test]
fn engine_and_oracle_agree_on_kept_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/kept");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let source = ScenarioSource::load(&path, &Overrides::default()).unwrap();
        let compiled = compile(&source, true).unwrap();
        assert_eq!(difference(&compiled.plan), None, "{}", path.display());
        seen += 1;
    }
    assert!(seen > 0, "no case was found");
}

#[test]
fn engine_and_oracle_agree_on_random_scenarios() {
    let (cases, first) = (number("CASES", 300), number("FIRST", 0));
    for seed in first..first + cases {
        let case = Case::random(seed);
        if let Some(found) = disagreement(&case) {
            let (smaller, found) = case.shrunk(found, disagreement);
            panic!("seed {seed}: {found}\n--- replay ---\n{}", smaller.to_toml());
        }
    }
}

/// How many cases to try, and from which seed on, as `make oracle` says.
#[expect(clippy::disallowed_methods, reason = "a test run by hand takes its size from outside")]
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a whole number"))
}
