//! Waiting for work, with a timer resolution of 1 ns.
//!
//! ```text
//!   work ─► pause, regardless of input ─► wait for input or deadline ─► work
//!           |<------ a granule ------>|
//! ```
//!
//! The pause reduces wake-ups and system calls, and does not affect kernel timestamps. If nothing
//! arrived during the previous pause, the process waits for input before it pauses, which saves a
//! sleep for each datagram of a slow channel.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use gingham_stripe::Instant;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;

use crate::clock::{now, since};

/// Maximum delay of a punctual wake-up; the pacer's burst of 1 ms compensates for it.
pub const LATE: Duration = Duration::from_millis(1);

/// Maximum duration of a poll that found input immediately, ten times the usual duration.
const AT_ONCE: Duration = Duration::from_micros(20);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    granule: Duration,
    is_busy: bool,
    worked_at: Instant,
    pub(crate) wakeups: Wakeups,
}

/// Wake-up counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wakeups {
    /// All wake-ups.
    pub all: u64,
    /// Wake-ups by timeout.
    pub timed: u64,
    /// Wake-ups by timeout that were later than [`LATE`].
    pub late: u64,
    /// Longest delay of a wake-up by timeout.
    pub latest: Duration,
}

impl Waiting {
    /// Creates the waiting state, and sets the thread's timer slack to 1 ns instead of the usual 50
    /// us.
    pub(crate) fn new(granule: Duration) -> io::Result<Self> {
        set_timerslack(1)?;
        Ok(Self { granule, is_busy: false, worked_at: now(), wakeups: Wakeups::default() })
    }

    /// Waits until a descriptor is ready or `until` has passed. The result may also contain
    /// descriptors that are not ready.
    pub(crate) fn wait(
        &mut self,
        until: Instant,
        readable: &[BorrowedFd<'_>],
        writable: &[BorrowedFd<'_>],
    ) -> io::Result<Ready> {
        let rested_at = self.worked_at.after(self.granule);
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

/// Set of descriptors that may be ready, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready(u64);

impl Ready {
    /// Set of all descriptors.
    pub const ANY: Self = Self(u64::MAX);

    fn of(fds: &[PollFd<'_>]) -> Self {
        let is_ready = |fd: &PollFd<'_>| fd.any().unwrap_or(true);
        let ready = fds.iter().enumerate().filter(|(_, fd)| is_ready(fd));
        Self(ready.fold(0, |all, (number, _)| all | bit(number)))
    }

    /// Returns whether a descriptor may be ready; always true from index 64 on.
    pub const fn has(self, number: usize) -> bool {
        number >= u64::BITS as usize || self.0 & bit(number) != 0
    }

    pub(crate) const fn from(self, number: usize) -> Self {
        let not_ready = !self.0;
        Self(if number < u64::BITS as usize { !(not_ready >> number) } else { u64::MAX })
    }
}

const fn bit(number: usize) -> u64 {
    if number < u64::BITS as usize { 1 << number } else { 0 }
}

fn sleep(until: Instant, fds: &mut [PollFd<'_>]) -> io::Result<i32> {
    let left = TimeSpec::from_duration(since(until, now()));
    match ppoll(fds, Some(left), None) {
        Ok(ready) => Ok(ready),
        Err(Errno::EINTR) => Ok(1),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn ready_sockets_are_indexed_by_number() {
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
    fn wait_reports_the_readable_socket() {
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
