//! Surplus round robin packet by packet: queues that share a channel, or channels that share a
//! queue.

use gingham_fairq::{Causal, SurplusRoundRobin};
use pyo3::prelude::*;

use crate::error;

type Scheduler = SurplusRoundRobin<{ gingham_fairq::CHANNELS_MAX }>;
/// Queue or channel index, and the round and deficit before the packet is sent.
type Turn = (usize, u32, u32);

/// Returns the turn of each packet when one queue is striped over channels.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python gives values")]
pub(crate) fn share_load(
    py: Python<'_>,
    quanta: Vec<u32>,
    lengths: Vec<u32>,
) -> PyResult<Vec<Turn>> {
    let mut scheduler = scheduler(py, &quanta)?;
    Ok(lengths.into_iter().map(|length| turn(&mut scheduler, length)).collect())
}

/// Returns the service order of backlogged queues, up to the first turn of an empty queue.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python gives values")]
pub(crate) fn serve_queues(
    py: Python<'_>,
    quanta: Vec<u32>,
    queues: Vec<Vec<u32>>,
) -> PyResult<Vec<Turn>> {
    let mut scheduler = scheduler(py, &quanta)?;
    let mut queues: Vec<_> = queues.into_iter().map(Vec::into_iter).collect();
    let mut turns = Vec::new();
    while let Some(length) = queues.get_mut(scheduler.current()).and_then(Iterator::next) {
        turns.push(turn(&mut scheduler, length));
    }
    Ok(turns)
}

/// Creates a scheduler without a limit on packet lengths; long packets use up several rounds.
fn scheduler(py: Python<'_>, quanta: &[u32]) -> PyResult<Scheduler> {
    let longest = quanta.iter().copied().min().unwrap_or(1);
    Scheduler::new(longest, quanta).map_err(|refused| error::refusal(py, refused))
}

fn turn(scheduler: &mut Scheduler, length: u32) -> Turn {
    let channel = scheduler.current();
    let number = scheduler.number(channel);
    scheduler.charge(length);
    (channel, number.round.get(), number.deficit_bytes)
}
