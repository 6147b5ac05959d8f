//! Compiles a scenario into a run's plan; rejects invalid values with file, line and key.

mod alone;
mod channels;
mod entry;
mod options;
mod sources;
mod spreading;

pub use alone::Alone;

use crate::plan::{Plan, Reception, Spread};
use crate::scenario::{Reception as Wanted, ScenarioSource, Tells};
use gingham_input::{FileRead, InputError};
use gingham_kernel::{Span, Time};

const STEPS: u64 = 200;
const STEPS_MAX: u64 = 100_000;
const ROWS_MAX: u64 = 50_000_000;
/// Maximum steps at one simulated time: enough to fill the longest queue, and reached within
/// seconds in an endless loop.
const STEPS_AT_ONE_INSTANT: u64 = 20_000_000;
/// Longest simulated time: one day, in ps.
const TIME_PS_MAX: u64 = 24 * 60 * 60 * 1_000_000_000_000;

/// Compiled scenario.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Plan of the run.
    pub plan: Plan,
    /// Files read by the scenario.
    pub files: Vec<FileRead>,
    /// Notes on automatic choices that may surprise the user.
    pub notes: Vec<String>,
    /// Reference run over the best single channel, if any.
    pub alone: Option<Alone>,
}

/// Compiles a scenario.
pub fn compile(source: &ScenarioSource) -> Result<Compiled, InputError> {
    let compiled = compile_one(source)?;
    let alone = alone::alone(source, &compiled.plan);
    Ok(Compiled { alone, ..compiled })
}

fn compile_one(source: &ScenarioSource) -> Result<Compiled, InputError> {
    let scenario = &source.scenario;
    let longest_bytes =
        channels::bytes(source, "stripe.longest_packet", scenario.stripe.longest_packet.0)?;
    options::check_choice(source)?;
    options::check_policies(source)?;
    let spread = spreading::spread(source)?;
    let reception = reception(source, &spread)?;
    options::check(source, reception)?;
    let links = channels::links(source, &spread, longest_bytes)?;
    let (sources, files) = sources::sources(source, longest_bytes)?;
    let (warm_up, stop, end) = times(source)?;
    let plan = Plan {
        seed: scenario.seed,
        sender: options::sender(source, links.len())?,
        receiver: options::receiver(source)?,
        round_alone: scenario.stripe.markers.tells == Tells::Round,
        tagged: scenario.has_tags(),
        restore: options::restore(source)?,
        resets: options::resets(source),
        entry: entry::entry(source, longest_bytes)?,
        backpressure: scenario.sees_queues(),
        reader: scenario.receiver.rate,
        warm_up,
        stop,
        end,
        step: step(source, stop)?,
        events_max: rows(source, "measure.events", scenario.measure.events)?,
        packets_max: rows(source, "measure.packets", scenario.measure.packets)?,
        percentiles: percentiles(source)?,
        steps_max: STEPS_AT_ONE_INSTANT,
        links,
        spread,
        reception,
        longest_bytes,
        sources,
    };
    options::check_room(source, &plan)?;
    check_backlogged(source, &plan)?;
    let notes = spreading::notes(source, &plan);
    Ok(Compiled { plan, files, notes, alone: None })
}

fn reception(source: &ScenarioSource, spread: &Spread) -> Result<Reception, InputError> {
    let stripe = &source.scenario.stripe;
    let follows = matches!(spread, Spread::Surplus | Spread::Packets(_));
    match stripe.reception {
        Wanted::Logical if !follows => Err(source.refuse(
            "stripe.reception",
            "a receiver cannot follow this scheduler by itself: set `stripe.reception` to \"none\" or \
             \"sequence-numbers\", or `stripe.scheduler` to one in rounds, such as \"surplus-round-robin\"",
        )),
        Wanted::Logical if stripe.markers.send => Ok(Reception::Logical),
        Wanted::Logical => Ok(Reception::Unmarked),
        Wanted::None => Ok(Reception::None),
        Wanted::SequenceNumbers => Ok(Reception::SequenceNumbers),
    }
}

fn times(source: &ScenarioSource) -> Result<(Time, Time, Time), InputError> {
    let stop = &source.scenario.stop;
    let time_ps = stop.time.as_ps();
    if time_ps == 0 || time_ps > TIME_PS_MAX {
        return Err(source.refuse("stop.time", "expected more than 0 s, and a day at the most"));
    }
    let warm_up_ps = stop.warm_up.map_or(time_ps / 10, Span::as_ps);
    if warm_up_ps >= time_ps {
        let message = format!("expected less than the {} of `stop.time`", stop.time);
        return Err(source.refuse("stop.warm_up", message));
    }
    if stop.follow.as_ps() > TIME_PS_MAX {
        return Err(source.refuse("stop.follow", "expected a day at the most"));
    }
    let end_ps = time_ps + stop.follow.as_ps();
    Ok((Time::from_ps(warm_up_ps), Time::from_ps(time_ps), Time::from_ps(end_ps)))
}

fn step(source: &ScenarioSource, stop: Time) -> Result<Span, InputError> {
    let Some(width) = source.scenario.measure.step else {
        return Ok(Span::from_ps(stop.as_ps().div_ceil(STEPS)));
    };
    if width == Span::ZERO || stop.as_ps() / width.as_ps() > STEPS_MAX {
        let message = format!("expected at least a {STEPS_MAX}th of `stop.time`");
        return Err(source.refuse("measure.step", message));
    }
    Ok(width)
}

fn rows(source: &ScenarioSource, key: &str, rows: u64) -> Result<usize, InputError> {
    let few = usize::try_from(rows).ok().filter(|_| rows <= ROWS_MAX);
    few.ok_or_else(|| source.refuse(key, format!("expected at most {ROWS_MAX} rows")))
}

fn percentiles(source: &ScenarioSource) -> Result<Vec<f64>, InputError> {
    let wanted = &source.scenario.measure.percentiles;
    match wanted.iter().position(|percentile| !(*percentile > 0.0 && *percentile < 100.0)) {
        None => Ok(wanted.clone()),
        Some(index) => {
            let key = format!("measure.percentiles.{index}");
            Err(source.refuse(&key, "expected a percentile above 0 and below 100"))
        }
    }
}

/// Rejects a backlogged source if nothing limits the sender, since it would send forever.
fn check_backlogged(source: &ScenarioSource, plan: &Plan) -> Result<(), InputError> {
    let endless =
        plan.sources.iter().position(|one| one.kind == crate::plan::SourceKind::Backlogged);
    match endless {
        Some(index) if !plan.backpressure && !source.scenario.is_held_back() => Err(source.refuse(
            &format!("source.{index}"),
            "a backlogged source never stops unless something holds the sender back: set \
             `stripe.backpressure = true` or `stripe.window = true`, or choose a source with a rate",
        )),
        _ => Ok(()),
    }
}
