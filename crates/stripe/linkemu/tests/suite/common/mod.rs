//! Helpers of the scenarios: one byte per ns, times in ps.

#![allow(dead_code, reason = "each test file uses its part")]

use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{Channel, DropReason, Fate, Parameters, Probability};

/// Clean channel with a delay of 5 ns.
pub(crate) fn clean(queue_bytes: u64) -> Parameters {
    let rate = Rate::from_bytes_per_second(1_000_000_000);
    Parameters::clean(rate, queue_bytes, Span::from_ps(5_000))
}

pub(crate) fn channel(parameters: Parameters) -> Channel {
    Channel::new(parameters, 1, "east").expect("parameters that make sense")
}

pub(crate) fn probability(value: f64) -> Probability {
    Probability::new(value).expect("a probability")
}

pub(crate) fn offer(
    channel: &mut Channel,
    now_ps: u64,
    length_bytes: u32,
) -> Result<Vec<u64>, DropReason> {
    match channel.offer(Time::from_ps(now_ps), length_bytes) {
        Fate::Dropped(reason) => Err(reason),
        fate => Ok(fate.arrivals().map(|arrival| arrival.at.as_ps()).collect()),
    }
}

pub(crate) fn offer_all(
    channel: &mut Channel,
    packets: &[(u64, u32)],
) -> Vec<Result<Vec<u64>, DropReason>> {
    packets.iter().map(|(now_ps, bytes)| offer(channel, *now_ps, *bytes)).collect()
}

/// Offers packets a millisecond apart.
pub(crate) fn sparse(channel: &mut Channel, count: u64, length_bytes: u32) -> Vec<Fate> {
    (0..count).map(|number| channel.offer(Time::from_ps(number * APART_PS), length_bytes)).collect()
}

pub(crate) const APART_PS: u64 = 1_000_000_000;
