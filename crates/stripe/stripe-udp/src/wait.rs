//! Waiting until something can be done, to the nanosecond where the kernel can.
//!
//! ```text
//!   work ─► rest, whatever comes ─► until a datagram or the time ─► work
//!           |<--- a granule --->|
//! ```
//!
//! Without the rest each datagram would be worth a wake-up, and each packet that a pace lets go a
//! call. The kernel stamps what comes meanwhile, so that the rest is not taken for delay. Where
//! nothing came in the rest before, it is waited first, and rested only if something comes sooner:
//! a sleep less for each datagram of a slow channel.

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

/// A call that found something at once has taken less: ten times what it takes.
const AT_ONCE: Duration = Duration::from_micros(20);

/// Waiting, and what has been counted of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    granule: Duration,
    /// Whether something came during the rest before.
    is_busy: bool,
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
        Ok(Self { granule, is_busy: false, worked_at: now(), wakeups: Wakeups::default() })
    }

    /// Waits for any of these to be readable, of those to be writable, or until then. Which are was
    /// asked last, or might be where it was not.
    pub(crate) fn wait(
        &mut self,
        until: Instant,
        readable: &[BorrowedFd<'_>],
        writable: &[BorrowedFd<'_>],
    ) -> io::Result<Ready> {
        let rested_at = self.worked_at.after(self.granule);
        // Nothing but a signal ends the rest before its time.
        if self.is_busy && now() < rested_at && sleep(rested_at, &mut [])? > 0 {
            return Ok(Ready::ANY);
        }
        let on =
            |fds: &[_], flags| -> Vec<_> { fds.iter().map(|fd| PollFd::new(*fd, flags)).collect() };
        let mut fds = on(readable, PollFlags::POLLIN);
        fds.extend(on(writable, PollFlags::POLLOUT));
        let asked_at = now();
        let is_by_time = sleep(until, &mut fds)? == 0;
        let mut ready = Ready::of(&fds);
        self.worked_at = now();
        self.is_busy = self.worked_at < rested_at || since(self.worked_at, asked_at) < AT_ONCE;
        if self.worked_at < rested_at {
            sleep(rested_at, &mut [])?;
            ready = Ready::ANY;
            self.worked_at = now();
        }
        self.count(until.max(rested_at), is_by_time);
        Ok(ready)
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

/// Which of what was waited for may have something, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready(u64);

impl Ready {
    /// Any of them.
    pub const ANY: Self = Self(u64::MAX);

    fn of(fds: &[PollFd<'_>]) -> Self {
        let is_ready = |fd: &PollFd<'_>| fd.any().unwrap_or(true);
        let ready = fds.iter().enumerate().filter(|(_, fd)| is_ready(fd));
        Self(ready.fold(0, |all, (number, _)| all | bit(number)))
    }

    /// Whether this one may. Of more than 64 the others always may.
    pub const fn has(self, number: usize) -> bool {
        number >= u64::BITS as usize || self.0 & bit(number) != 0
    }

    /// Those from this one on.
    pub(crate) const fn from(self, number: usize) -> Self {
        let not_ready = !self.0;
        Self(if number < u64::BITS as usize { !(not_ready >> number) } else { u64::MAX })
    }
}

const fn bit(number: usize) -> u64 {
    if number < u64::BITS as usize { 1 << number } else { 0 }
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

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_is_ready_is_told_by_number() {
        let ready = Ready(0b1010);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|number| ready.has(number)),
            [false, true, false, true, false]
        );
        assert_eq!([0, 1].map(|number| ready.from(2).has(number)), [false, true]);
        assert!(ready.has(64) && ready.from(64).has(0));
        assert!((0..64).all(|number| Ready::ANY.from(3).has(number)));
    }

    #[test]
    fn it_is_told_which_socket_has_something() {
        let socket = || std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let (first, second) = (socket(), socket());
        let mut waiting = Waiting::new(Duration::ZERO).expect("timers");
        second.send_to(&[1], second.local_addr().expect("it is bound")).expect("it goes");
        let fds = [first.as_fd(), second.as_fd()];
        let until = now().after(Duration::from_secs(9));
        let ready = waiting.wait(until, &fds, &[]).expect("it waits");
        assert_eq!([ready.has(0), ready.has(1)], [false, true]);
    }
}
