//! Measures one scenario on one engine, in a fresh process so that runs do not share caches or
//! memory.
//!
//! `gingham-bench SCENARIO.toml (fast|ports|columns|oracle|none) [KEY=VALUE ...]` simulates and
//! prints one line of JSON. The engine `none` stops after setup. With `--bare`, no results are
//! computed after the run, so that instruction counts cover only setup and run.

use gingham_bench::{Steps, timed};
use gingham_lab::scenario::{Overrides, ScenarioSource, Topology};
use gingham_lab::{
    ClassSummary, Compiled, Engine, Milestone, NoProgress, NotStepped, Run, SteppedBy,
    compile_observed,
};
use gingham_topology::ChannelId;
use serde_json::json;
use std::process::ExitCode;

const ENGINES: &str = "fast, ports, columns, oracle, none";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let bare = arguments.iter().position(|argument| argument == "--bare");
    let bare = bare.map(|place| arguments.remove(place)).is_some();
    gingham_bench::report(measure(&arguments, bare))
}

fn measure(arguments: &[String], bare: bool) -> Result<String, String> {
    let [scenario, engine, settings @ ..] = arguments else {
        return Err("usage: gingham-bench SCENARIO.toml ENGINE [KEY=VALUE ...]".into());
    };
    let start: fn(Compiled) -> Result<Run, NotStepped> = match engine.as_str() {
        "fast" | "none" => |compiled| Ok(Run::new(compiled, Engine::Fast)),
        "oracle" => |compiled| Ok(Run::new(compiled, Engine::Oracle)),
        "ports" => |compiled| Run::stepped_by(compiled, SteppedBy::Ports),
        "columns" => |compiled| Run::stepped_by(compiled, SteppedBy::Columns),
        other => {
            return Err(format!("no engine is called {other}; engines are {ENGINES}"));
        }
    };
    let setting = |text: &String| {
        let (key, value) = text.split_once('=').ok_or(format!("{text}: expected KEY=VALUE"))?;
        Ok::<_, String>((key.to_owned(), value.to_owned()))
    };
    let settings = settings.iter().map(setting).collect::<Result<_, _>>()?;
    let overrides = Overrides::texts(settings);
    let source = ScenarioSource::load(scenario.as_ref(), &overrides).map_err(|e| e.to_string())?;
    let mut steps = Steps::begin();
    let mut reached = |milestone| steps.end(step_to(milestone, &source.scenario.topology));
    let compiled = compile_observed(&source, false, &mut reached).map_err(|e| e.to_string())?;
    let setup = steps.into_json();
    let hosts = compiled.plan.classes.iter().map(|class| class.sources.len()).sum::<usize>();
    let cycle_ps = compiled.plan.switching.cycle_ps();
    let mut run = start(compiled).map_err(|e| e.to_string())?;
    if engine == "none" {
        return Ok(json!({ "hosts": hosts, "setup": setup }).to_string());
    }
    let (ended, seconds) = timed(|| -> Result<(), NoProgress> {
        while !run.advance(100_000)?.done {}
        Ok(())
    });
    ended.map_err(|stuck| stuck.to_string())?;
    if bare {
        return Ok(json!({ "hosts": hosts, "setup": setup }).to_string());
    }
    let record = run.record();
    let worm_hops: f64 = record.classes.iter().map(worm_hops).sum();
    let line = json!({
        "hosts": hosts,
        "stepping": run.stepping(),
        "seconds": seconds,
        "events": run.events(),
        "flit_hops": flit_hops(&run),
        "setup": setup,
        "cycles": cycle_ps.map(|cycle_ps| record.end_ps / cycle_ps),
        "worm_hops": worm_hops,
        "verdict": record.verdict,
        "accepted_load": record.classes[0].accepted_load,
        "end_ps": record.end_ps,
    });
    Ok(line.to_string())
}

fn step_to(milestone: Milestone, topology: &Topology) -> &'static str {
    match (milestone, topology) {
        (Milestone::Fabric, Topology::Generate(_)) => "generate",
        (Milestone::Fabric, _) => "read",
        (Milestone::Routes, _) => "route",
        (Milestone::Proof, _) => "prove",
        (Milestone::Plan, _) => "plan",
        (Milestone::Bound, _) => "bound",
    }
}

/// Returns the number of data flits sent by switches.
fn flit_hops(run: &Run) -> u64 {
    let plan = &run.compiled().plan;
    let counts = run.channel_counts();
    let of_switch = |channel: &ChannelId| plan.is_switch(plan.ends(*channel).source.node);
    let channels = ChannelId::first(counts.len()).filter(of_switch);
    channels.map(|channel| counts[channel.index()].data_flits).sum()
}

#[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
fn worm_hops(class: &ClassSummary) -> f64 {
    class.messages_followed as f64 * (class.hops_mean.unwrap_or(0.0) + 1.0)
}
