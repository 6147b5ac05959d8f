//! Waiting until something can be done, to the nanosecond where the kernel can.
//!
//! ```text
//!   work ─► rest, whatever comes ─► until a datagram or the time ─► work
//!           |<--- a granule --->|
//! ```
//!
//! Without the rest each datagram would be worth a wake-up, and each packet that a pace lets go a
//! call. The kernel stamps what comes meanwhile, so that the rest is not taken for delay.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use gingham_stripe::Instant;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;

use crate::clock::{now, since};

/// A wake-up is late where it comes so much after its time: what the pacer's burst of a millisecond
/// just makes good.
pub const LATE: Duration = Duration::from_millis(1);

/// Waiting, and what has been counted of it.
#[derive(Debug)]
pub(crate) struct Waiting {
    granule: Duration,
    worked_at: Instant,
    pub(crate) wakeups: Wakeups,
}

/// What has been counted of wake-ups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wakeups {
    /// All.
    pub all: u64,
    /// Those by time.
    pub timed: u64,
    /// Those by time that came later than [`LATE`].
    pub late: u64,
    /// By how much the latest was too late.
    pub latest: Duration,
}

impl Waiting {
    /// The calling thread is woken to the nanosecond from now on, not to the kernel's usual 50 us.
    pub(crate) fn new(granule: Duration) -> io::Result<Self> {
        set_timerslack(1)?;
        Ok(Self { granule, worked_at: now(), wakeups: Wakeups::default() })
    }

    /// Waits for any of these to be readable, of those to be writable, or until then.
    pub(crate) fn wait(
        &mut self,
        until: Instant,
        readable: &[BorrowedFd<'_>],
        writable: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let rested_at = self.worked_at.after(self.granule);
        // Nothing but a signal ends the rest before its time.
        if now() < rested_at && sleep(rested_at, &mut [])? > 0 {
            return Ok(());
        }
        let on =
            |fds: &[_], flags| -> Vec<_> { fds.iter().map(|fd| PollFd::new(*fd, flags)).collect() };
        let mut fds = on(readable, PollFlags::POLLIN);
        fds.extend(on(writable, PollFlags::POLLOUT));
        let is_by_time = sleep(until, &mut fds)? == 0;
        self.worked_at = now();
        self.count(until.max(rested_at), is_by_time);
        Ok(())
    }

    fn count(&mut self, until: Instant, is_by_time: bool) {
        let wakeups = &mut self.wakeups;
        wakeups.all += 1;
        if is_by_time {
            let late = since(self.worked_at, until);
            wakeups.timed += 1;
            wakeups.late += u64::from(late > LATE);
            wakeups.latest = wakeups.latest.max(late);
        }
    }
}

/// Sleeps until then, or until something is readable: how many are.
fn sleep(until: Instant, fds: &mut [PollFd<'_>]) -> io::Result<i32> {
    let left = TimeSpec::from_duration(since(until, now()));
    match ppoll(fds, Some(left), None) {
        Ok(ready) => Ok(ready),
        // A signal: somebody wants to be heard.
        Err(Errno::EINTR) => Ok(1),
        Err(errno) => Err(errno.into()),
    }
}
