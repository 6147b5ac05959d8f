//! Guard against runs whose simulated time does not advance.
//!
//! Engines count events in their inner loops. The guard reads the time and the event count between
//! calls, at no cost to these loops. Its limit is far above the number of simultaneous events in
//! any real run: a schedule may create all messages at once, and each lane may start and end a
//! packet.

use gingham_kernel::Time;
use gingham_net::{Plan, Simulation};

const EVENTS_MAX: u64 = 100_000_000;
const EVENTS_PER_LANE: u64 = 1_000;
const PART_MAX: u64 = 1 << 22;

/// Error of a run that would never end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "simulated time stands still at {} ns: {events} events at one instant, and the run would never end. This is a \
     fault of gingham itself: please report it with the scenario",
    .at.as_ps() / 1_000
)]
pub struct NoProgress {
    /// Simulated time that no longer advances.
    pub at: Time,
    /// Lower bound on the number of events at this time.
    pub events: u64,
}

impl NoProgress {
    /// Error code.
    pub const CODE: &'static str = "time-stands-still";
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgressGuard {
    at: Time,
    /// Number of events handled before time reached `at`.
    events_before: u64,
    events_max: u64,
}

impl ProgressGuard {
    pub(crate) fn new(plan: &Plan) -> Self {
        let lanes = plan.channels.len() as u64 * u64::from(plan.lanes.count);
        Self::within(EVENTS_MAX + EVENTS_PER_LANE * lanes)
    }

    pub(crate) const fn within(events_max: u64) -> Self {
        Self { at: Time::ZERO, events_before: 0, events_max }
    }

    pub(crate) fn advance(
        &mut self,
        simulation: &mut dyn Simulation,
        events: u64,
    ) -> Result<(), NoProgress> {
        let end = simulation.events().saturating_add(events);
        while simulation.events() < end && simulation.endpoints().is_running() {
            let part = (end - simulation.events()).min(PART_MAX);
            simulation.advance(part);
            self.look(simulation.now(), simulation.events())?;
        }
        Ok(())
    }

    fn look(&mut self, now: Time, events: u64) -> Result<(), NoProgress> {
        if now > self.at {
            (self.at, self.events_before) = (now, events);
        }
        let at_instant = events - self.events_before;
        if at_instant > self.events_max {
            return Err(NoProgress { at: self.at, events: at_instant });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_guard_counts_events_since_time_advanced() {
        let mut guard = ProgressGuard::within(100);
        let time = Time::from_ps;
        assert_eq!(guard.look(time(0), 100), Ok(()));
        assert_eq!(guard.look(time(5_000), 150), Ok(()));
        assert_eq!(guard.look(time(5_000), 250), Ok(()));
        let stuck = NoProgress { at: time(5_000), events: 101 };
        assert_eq!(guard.look(time(5_000), 251), Err(stuck));
        assert!(stuck.to_string().contains("still at 5 ns"), "{stuck}");
        assert_eq!(guard.look(time(5_001), 300), Ok(()), "time goes on");
    }
}
