//! What a fabric costs before a flit moves: to generate, route and prove it.
//!
//! `gingham-bench-setup GENERATOR ALGORITHM (source|table)` makes a fabric of a generator, in JSON
//! such as `{"fat-tree": {"ports": 8, "levels": 3}}`, routes it by the algorithm of that name, proves
//! the routes, and prints one line of JSON: the seconds of each step, and the process's peak of memory
//! after it.

use gingham_bench::{peak_mib, timed};
use gingham_topology::generate::Generator;
use gingham_topology::routing::{Algorithm, Form, Proof, prove_between_hosts, route_within};
use serde_json::{Value, json};
use std::process::ExitCode;

const USAGE: &str = "usage: gingham-bench-setup GENERATOR ALGORITHM (source|table)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    gingham_bench::report(measure(&arguments))
}

fn measure(arguments: &[String]) -> Result<Value, String> {
    let [generator, algorithm, form] = arguments else { return Err(USAGE.into()) };
    let generator: Generator =
        serde_json::from_str(generator).map_err(|error| error.to_string())?;
    let algorithm: Algorithm =
        serde_json::from_value(json!(algorithm)).map_err(|error| error.to_string())?;
    let form = match form.as_str() {
        "source" => Form::Source,
        "table" => Form::Table,
        _ => return Err(USAGE.into()),
    };
    let (fabric, generated) = step(|| generator.generate(1));
    let fabric = fabric.map_err(|error| error.to_string())?;
    let (routes, routing) = step(|| route_within(&fabric, &algorithm, form, u64::MAX));
    let routes = routes.map_err(|error| error.to_string())?;
    let (proof, proved) = step(|| prove_between_hosts(&fabric, &routes));
    Ok(json!({
        "switches": fabric.switches().len(),
        "hosts": fabric.endpoints().len(),
        "is_free": matches!(proof, Proof::Free { .. }),
        "generate": generated,
        "route": routing,
        "prove": proved,
    }))
}

/// The result of a step, with its seconds and the peak of memory since the process began.
fn step<T>(work: impl FnOnce() -> T) -> (T, Value) {
    let (result, seconds) = timed(work);
    (result, json!({ "seconds": seconds, "peak_mib": peak_mib() }))
}
