//! Acceptance of connections on a listening socket.
//!
//! While no file descriptor is free, the socket is not polled for 1 s. Otherwise, a connection that
//! cannot be accepted would keep the socket readable, and the polling loop would never sleep.

use std::io;
use std::time::Duration;

use gingham_stripe::Instant;
use nix::errno::Errno;

/// Maximum number of connections accepted per turn of the event loop, which leaves time for other
/// work; 4,000 turns per second accept 64,000 connections.
pub const ACCEPTED_A_TURN: usize = 16;
/// Pause while no descriptor is free; clients retry for longer.
const REST: Duration = Duration::from_secs(1);

/// Accept limits of a listening socket.
#[derive(Debug, Default)]
pub struct Acceptor {
    left: usize,
    rests_until: Option<Instant>,
}

impl Acceptor {
    /// Starts a turn of the event loop.
    pub fn begin(&mut self, now: Instant) {
        self.rests_until = self.rests_until.filter(|until| now < *until);
        self.left = if self.rests() { 0 } else { ACCEPTED_A_TURN };
    }

    /// Returns the next connection of this turn, if any. `accept` must not block. If no descriptor
    /// is free, `give_up` may release a descriptor; it returns whether it did.
    pub fn next<T>(
        &mut self,
        now: Instant,
        accept: impl Fn() -> io::Result<T>,
        mut give_up: impl FnMut() -> bool,
    ) -> Option<T> {
        while self.left > 0 {
            self.left -= 1;
            let error = match accept() {
                Ok(connection) => return Some(connection),
                Err(error) => error,
            };
            match error.raw_os_error().map(Errno::from_raw) {
                Some(Errno::EAGAIN) => self.left = 0,
                Some(Errno::EINTR | Errno::ECONNABORTED) => {}
                Some(Errno::EMFILE | Errno::ENFILE) if give_up() => {}
                _ => (self.left, self.rests_until) = (0, Some(now.after(REST))),
            }
        }
        None
    }

    /// Returns whether accepting is paused, so that the socket must not be polled.
    pub const fn rests(&self) -> bool {
        self.rests_until.is_some()
    }

    /// Returns the end of the pause, if any.
    pub const fn next_at(&self) -> Option<Instant> {
        self.rests_until
    }
}

/// Closes the oldest waiting connection; returns false if none is waiting.
pub fn close_oldest<T>(waiting: &mut Vec<T>) -> bool {
    (!waiting.is_empty()).then(|| waiting.remove(0)).is_some()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::clock::now;

    fn turn(acceptor: &mut Acceptor, now: Instant, waiting: &Cell<usize>) -> usize {
        acceptor.begin(now);
        let accept = || {
            let left = waiting.get().checked_sub(1).ok_or(Errno::EAGAIN)?;
            waiting.set(left);
            Ok(())
        };
        std::iter::from_fn(|| acceptor.next(now, accept, || unreachable!("there is room"))).count()
    }

    #[test]
    fn turn_accepts_at_most_its_share() {
        let (mut acceptor, now, waiting) = (Acceptor::default(), now(), Cell::new(40));
        let turns = [(); 4].map(|()| turn(&mut acceptor, now, &waiting));
        assert_eq!((turns, acceptor.rests()), ([16, 16, 8, 0], false));
    }

    #[test]
    fn failed_accept_pauses_the_socket_for_one_second() {
        for errno in [Errno::EMFILE, Errno::ENFILE, Errno::ENOBUFS, Errno::EINVAL] {
            let (mut acceptor, began, asked) = (Acceptor::default(), now(), Cell::new(0));
            let mut next = |at| {
                acceptor.begin(at);
                let refuse = || -> io::Result<()> {
                    asked.set(asked.get() + 1);
                    Err(errno.into())
                };
                assert_eq!(acceptor.next(at, refuse, || false), None);
                (asked.get(), acceptor.next_at())
            };
            let after = |milliseconds| began.after(Duration::from_millis(milliseconds));
            assert_eq!(next(began), (1, Some(after(1_000))), "{errno}");
            assert_eq!(next(after(999)), (1, Some(after(1_000))));
            assert_eq!(next(after(1_000)), (2, Some(after(2_000))));
            assert_eq!(turn(&mut acceptor, after(2_000), &Cell::new(3)), 3);
            assert_eq!(acceptor.next_at(), None);
        }
    }

    #[test]
    fn released_descriptor_is_used_for_accept() {
        for errno in [Errno::EMFILE, Errno::ENFILE] {
            let (mut acceptor, now, held) = (Acceptor::default(), now(), Cell::new(2));
            acceptor.begin(now);
            let accept = || if held.get() > 0 { Err(errno.into()) } else { Ok(()) };
            let give_up = || {
                held.set(held.get() - 1);
                true
            };
            assert_eq!(acceptor.next(now, accept, give_up), Some(()));
            let rest = std::iter::from_fn(|| acceptor.next(now, || Ok(()), || false)).count();
            assert_eq!((rest, acceptor.rests()), (ACCEPTED_A_TURN - 3, false));
        }
        let (mut acceptor, now, asked) = (Acceptor::default(), now(), Cell::new(0));
        acceptor.begin(now);
        let accept = || {
            asked.set(asked.get() + 1);
            if asked.get() < 3 { Err(Errno::ECONNABORTED.into()) } else { Ok(()) }
        };
        assert_eq!(acceptor.next(now, accept, || unreachable!("there is room")), Some(()));
    }
}
