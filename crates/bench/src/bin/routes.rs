//! Measures the time to route a random irregular fabric.
//!
//! `gingham-bench-routes SWITCHES PORTS HOSTS (any|fewest|simple) (hosts|switches)` prints one line
//! of JSON; `PORTS` and `HOSTS` are per switch. The process's peak memory includes the fabric.
//!
//! | mode | routes |
//! |---|---|
//! | `any` | with in-transit hosts, over all shortest paths |
//! | `fewest` | with in-transit hosts, over those shortest paths with the fewest in-transit hosts |
//! | `simple` | those of the `simple-routes` algorithm |

use gingham_bench::timed;
use gingham_topology::generate::{Generator, Irregular};
use gingham_topology::routing::{
    Algorithm, Form, InTransit, KeptPath, PathSpread, Routes, SimpleRoutes, TransitHosts, route,
};
use gingham_topology::{EndpointId, NodeId};
use serde_json::{Value, json};
use std::process::ExitCode;

const USAGE: &str =
    "usage: gingham-bench-routes SWITCHES PORTS HOSTS (any|fewest|simple) (hosts|switches)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    gingham_bench::report(measure(&arguments))
}

fn measure(arguments: &[String]) -> Result<Value, String> {
    let [switches, ports, hosts, mode, spread] = arguments else { return Err(USAGE.into()) };
    let number = |text: &String| text.parse().map_err(|_| USAGE.to_owned());
    let shape = Irregular {
        switches: number(switches)?,
        ports: number(ports)?,
        hosts_per_switch: number(hosts)?,
        cables_per_pair_max: 1,
        rails: 1,
    };
    let spread = match spread.as_str() {
        "hosts" => PathSpread::Hosts,
        "switches" => PathSpread::Switches,
        _ => return Err(USAGE.into()),
    };
    let over = |hosts| Algorithm::InTransit(InTransit { hosts, spread, ..InTransit::default() });
    let algorithm = match mode.as_str() {
        "any" => over(TransitHosts::Any),
        "fewest" => over(TransitHosts::Fewest),
        "simple" => Algorithm::SimpleRoutes(SimpleRoutes { spread, ..SimpleRoutes::default() }),
        _ => return Err(USAGE.into()),
    };
    let fabric = Generator::Irregular(shape).generate(1).map_err(|error| error.to_string())?;
    let (routes, seconds) = timed(|| route(&fabric, &algorithm, Form::Source));
    let Ok(Routes::Source(routes)) = routes else { return Err("no source routes".into()) };
    let far = routes.kept(NodeId::new(0), EndpointId::new(fabric.endpoints().len() - 1));
    Ok(json!({
        "seconds": seconds,
        "hosts": fabric.endpoints().len(),
        "switches_on_a_path": far.map(KeptPath::switches),
    }))
}
