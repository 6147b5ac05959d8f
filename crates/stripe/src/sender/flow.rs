//! Flow: what may be in flight on each channel, and quanta that follow the rates.
//!
//! ```text
//!   report --> round trip --> flight window --> may the next packet go?
//!         \--> capacity ----^        |
//!                  \-----------------+--> shares --> wishes for quanta
//! ```
//!
//! Without windows a sender that knows nothing fills the queues of the channels, one more than the
//! other, until they overflow: skew grows, delay grows, packets are lost. With them a channel holds
//! what its way holds and a short queue, and the sender waits for it instead; and where it waits it
//! learns a rate.
//!
//! Each part is a file; `docs/concepts/striping-rates.md` says how they work together.
//!
//! Invariants: nothing here is needed for order, which windows and quanta, whatever they are, leave
//! exact; whole numbers; no allocation after set-up.

mod aggregation;
mod capacity;
mod ceiling;
mod options;
mod path;
mod round_trip;
mod seen;
mod shares;
mod units;

use core::time::Duration;

use crate::{Instant, Report, Sent};
pub use options::{FlightPlan, SharePlan};

use options::nanoseconds;
use path::Path;
use shares::Shares;

/// What the sender has found out of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// What it carries, if that is known.
    pub bytes_per_second: Option<u64>,
    /// The least time there and back, of the last while.
    pub round_trip_least: Duration,
    /// The smoothed time there and back.
    pub round_trip: Duration,
    /// The mean difference of a time there and back to the next.
    pub variation: Duration,
    /// Bytes that may be in flight.
    pub window_bytes: u64,
    /// Bytes that are.
    pub in_flight_bytes: u64,
}

/// The channel for which the sender waits, and since when.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    channel: usize,
    since_ns: u64,
}

/// What is in flight on all channels.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    paths: Vec<Path>,
    shares: Option<Shares>,
    sample_ns: u64,
    waiting: Option<Waiting>,
}

impl Flow {
    /// For channels with these quanta.
    pub(super) fn new(
        plan: FlightPlan,
        shares: Option<SharePlan>,
        longest_bytes: u32,
        quanta: impl Iterator<Item = u32>,
    ) -> Self {
        let path = |quantum| Path::new(plan, longest_bytes, quantum);
        let paths: Vec<Path> = quanta.map(path).collect();
        Self {
            shares: shares.map(|plan| Shares::new(plan, longest_bytes, paths.len())),
            sample_ns: nanoseconds(plan.sample),
            waiting: None,
            paths,
        }
    }

    /// Somebody knows what a channel carries.
    pub(super) fn tell(&mut self, channel: usize, bytes_per_second: u64) {
        self.paths[channel].tell(bytes_per_second);
    }

    pub(super) fn flight(&self, channel: usize, sent: Sent) -> Flight {
        let path = &self.paths[channel];
        let trip = path.round_trip();
        Flight {
            bytes_per_second: path.bytes_per_second(),
            round_trip_least: Duration::from_nanos(trip.least_ns()),
            round_trip: Duration::from_nanos(trip.smoothed_ns()),
            variation: Duration::from_nanos(trip.variation_ns()),
            window_bytes: path.window_bytes(),
            in_flight_bytes: path.in_flight_bytes(sent),
        }
    }

    /// Whether a packet may go on a channel.
    pub(super) fn admits(&self, channel: usize, sent: Sent) -> bool {
        self.paths[channel].admits(sent)
    }

    /// It is this channel's turn, and so much was sent on it: the sender waits for it, or not.
    pub(super) fn see_turn(&mut self, now: Instant, channel: usize, sent: Sent) {
        let now_ns = now.nanoseconds();
        let waits = !self.admits(channel, sent);
        match self.waiting {
            Some(waiting) if waiting.channel == channel && waits => {}
            Some(waiting) => {
                if let Some(path) = self.paths.get_mut(waiting.channel) {
                    let waited_ns = now_ns.saturating_sub(waiting.since_ns);
                    path.seen.waited_ns = path.seen.waited_ns.saturating_add(waited_ns);
                }
                self.waiting = None;
            }
            None => {}
        }
        if waits && self.waiting.is_none() {
            self.waiting = Some(Waiting { channel, since_ns: now_ns });
        }
    }

    /// A report on a channel has come, whose quantum is now this.
    pub(super) fn take_report(
        &mut self,
        now: Instant,
        channel: usize,
        (sent, quantum): (Sent, u32),
        report: &Report,
    ) {
        let path = &mut self.paths[channel];
        path.set_quantum(quantum);
        path.take(now, sent, report);
        if path.wants_emptying(now.nanoseconds()) {
            // Where one is held up all are: so let it be at the same time.
            self.paths.iter_mut().for_each(Path::start_emptying);
        }
    }

    /// Quanta are changing.
    pub(super) fn see_changes(&mut self, now: Instant) {
        if let Some(shares) = &mut self.shares {
            shares.look_anew(now.nanoseconds(), &mut self.paths, self.sample_ns);
        }
    }

    /// Quanta that are wished, if there are any; the present ones are 0 where a channel is out.
    pub(super) fn plan(
        &mut self,
        now: Instant,
        quanta: impl Iterator<Item = u32>,
    ) -> Option<&mut [u32]> {
        let shares = self.shares.as_mut().filter(|shares| shares.are_due(now.nanoseconds()))?;
        for (path, quantum) in self.paths.iter_mut().zip(quanta) {
            path.set_quantum(quantum);
            path.mend();
        }
        shares.plan(now.nanoseconds(), &mut self.paths, self.sample_ns)
    }

    /// A new epoch.
    pub(super) fn restart(&mut self) {
        self.waiting = None;
        self.paths.iter_mut().for_each(Path::restart);
    }
}

#[cfg(test)]
impl Flow {
    pub(super) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.waiting =
            Some(Waiting { channel: crate::corruption::index(words), since_ns: words() });
        self.paths.iter_mut().for_each(|path| path.corrupt(words));
        if let Some(shares) = &mut self.shares {
            shares.corrupt(words);
        }
    }
}
