//! Waits for credits: for how long a channel took no flit although it could have with more credits.
//!
//! ```text
//!   filled and open, not credited    flits in output lanes, or of packets that a host is in the middle of
//!   SHORT                            a head without a lane, for want of credits alone
//!   UNPAID                           flits at the crossbar, if they take their credits there
//! ```
//!
//! A wait is recorded at its start and at its end. Any change to it makes its port ready or is
//! recorded directly, so that an unvisited port keeps its wait over any number of ticks.

use super::{LinkPort, Links, SLOW};

/// The channel waits.
const WAITS: u8 = 1;
/// VC allocation left a head without a lane for want of credits alone.
const SHORT: u8 = 2;
/// Flits could have crossed but for credits.
const UNPAID: u8 = 4;

/// Time that a channel waited for credits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CreditWait {
    /// Start of the wait that lasts, which may be to come; `NOT_WAITING` if none does.
    since_ps: u64,
    /// Picoseconds of all earlier waits.
    past_ps: u64,
}

/// No wait lasts.
const NOT_WAITING: u64 = u64::MAX;

impl CreditWait {
    pub(super) const NONE: Self = Self { since_ps: NOT_WAITING, past_ps: 0 };
}

impl LinkPort {
    /// Whether the channel waits for credits.
    #[inline]
    pub(crate) const fn waits(&self) -> bool {
        self.wait & WAITS != 0
    }

    /// Whether it cannot take a flit for want of credits alone.
    #[inline]
    const fn lacks_credits(&self) -> bool {
        self.can_send() == 0 && (self.unsent() != 0 || self.wait & (SHORT | UNPAID) != 0)
    }

    /// Lanes whose flits, or packets, would be sent if they had credits and the flits were there.
    #[inline]
    pub(crate) const fn unsent(&self) -> u16 {
        self.filled & self.open
    }
}

impl Links {
    /// Records whether a channel that takes no flit at a tick waits for credits.
    #[inline]
    pub(crate) fn note_not_sent(&mut self, port: usize, tick: u64) {
        self.set_wait(port, self.ports[port].lacks_credits(), tick);
    }

    /// A channel has taken a flit at a tick. Records whether it waits for credits after that.
    #[inline]
    pub(crate) fn note_sent(&mut self, port: usize, tick: u64) {
        let state = &self.ports[port];
        if state.waits() || state.lacks_credits() {
            self.note_wait_after(port, tick);
        }
    }

    #[inline(never)]
    fn note_wait_after(&mut self, port: usize, tick: u64) {
        self.set_wait(port, false, tick);
        self.note_not_sent(port, tick + 1);
    }

    /// Records whether a channel waits for credits from a tick on.
    #[inline]
    pub(crate) fn set_wait(&mut self, port: usize, waits: bool, tick: u64) {
        if self.ports[port].waits() != waits {
            self.change_wait(port, tick);
        }
    }

    #[inline(never)]
    fn change_wait(&mut self, port: usize, tick: u64) {
        let (state, wait) = (&mut self.ports[port], &mut self.credit_waits[port]);
        state.wait ^= WAITS;
        self.active.insert(port);
        let now = tick * self.cycle_ps;
        if state.waits() {
            // A slow channel may be in the middle of a flit.
            wait.since_ps = if state.is(SLOW) { now.max(self.free_ps[port]) } else { now };
        } else {
            wait.past_ps = wait.past_ps.wrapping_add(now.saturating_sub(wait.since_ps));
            wait.since_ps = NOT_WAITING;
        }
    }

    /// Returns the time up to `end_ps` that a channel waited for credits, in ps.
    pub(crate) fn waited_ps(&self, port: usize, end_ps: u64) -> u64 {
        let CreditWait { since_ps, past_ps } = self.credit_waits[port];
        past_ps.wrapping_add(end_ps.saturating_sub(since_ps))
    }

    /// Sets the waits of a port of a switch from the columns: the sum of end ticks minus start
    /// ticks, and whether a wait is in progress.
    pub(crate) fn write_wait(&mut self, port: usize, waited_ticks: u64, waits: bool) {
        let state = &mut self.ports[port];
        state.wait = state.wait & !WAITS | if waits { WAITS } else { 0 };
        let since_ps = if waits { 0 } else { NOT_WAITING };
        let past_ps = waited_ticks.wrapping_mul(self.cycle_ps);
        let wait = CreditWait { since_ps, past_ps };
        if self.credit_waits[port] != wait {
            self.active.insert(port);
        }
        self.credit_waits[port] = wait;
    }

    /// Gathers the outputs of switches that more flits may cross to than before, because a flit
    /// left or a credit arrived.
    pub(crate) fn gather_unpaid(&mut self) {
        for (unpaid, ready) in self.unpaid.words.iter_mut().zip(&self.ready.words) {
            *unpaid |= ready;
        }
    }

    /// Records whether VC allocation has left a head without a lane for want of credits alone.
    #[inline]
    pub(crate) fn set_short(&mut self, port: usize, is_short: bool) {
        self.set_cause(port, SHORT, is_short);
    }

    /// Records whether flits could have crossed but for credits.
    pub(crate) fn set_unpaid(&mut self, port: usize, is_unpaid: bool) {
        self.set_cause(port, UNPAID, is_unpaid);
    }

    /// What changes in a tick makes a difference from the next one on.
    #[inline]
    fn set_cause(&mut self, port: usize, cause: u8, is_so: bool) {
        let state = &mut self.ports[port];
        if (state.wait & cause != 0) != is_so {
            state.wait ^= cause;
            self.ready.insert(port);
        }
    }
}
