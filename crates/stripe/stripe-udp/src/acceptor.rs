//! Taking connections at a socket that listens, so that whoever opens them leaves time for all else.
//!
//! ```text
//!   readable ──► a turn: so many at most ──► the next turn
//!                  |
//!                  +── no descriptor is left, and none is given up ──► a second's rest: the socket
//!                                                                      is not waited for
//! ```
//!
//! Without the rest a connection that cannot be taken keeps the socket readable, and a loop that
//! waits for it never waits.
//!
//! Source: accept(2).
//!
//! Invariants: a turn takes a bounded number; where nothing can be taken nobody is woken for it.

use std::io;
use std::time::Duration;

use gingham_stripe::Instant;
use nix::errno::Errno;

/// Connections that are taken a turn, so that a flood leaves time for all else: 64,000 a second where
/// turns are as short as those of a pipe.
pub const ACCEPTED_A_TURN: usize = 16;
/// For so long a socket rests where no descriptor is left: one who connects tries for longer.
const REST: Duration = Duration::from_secs(1);

/// What is to be known of a socket that listens from one turn to the next.
#[derive(Debug, Default)]
pub struct Acceptor {
    left: usize,
    rests_until: Option<Instant>,
}

impl Acceptor {
    /// A turn begins.
    pub fn begin(&mut self, now: Instant) {
        self.rests_until = self.rests_until.filter(|until| now < *until);
        self.left = if self.rests() { 0 } else { ACCEPTED_A_TURN };
    }

    /// The next connection of this turn, by what accepts one without waiting. Where no descriptor is
    /// left it is asked whether one was given up.
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
                // It was over before it was taken.
                Some(Errno::EINTR | Errno::ECONNABORTED) => {}
                Some(Errno::EMFILE | Errno::ENFILE) if give_up() => {}
                _ => (self.left, self.rests_until) = (0, Some(now.after(REST))),
            }
        }
        None
    }

    /// Whether the socket is not to be waited for.
    pub const fn rests(&self) -> bool {
        self.rests_until.is_some()
    }

    /// When it is again.
    pub const fn next_at(&self) -> Option<Instant> {
        self.rests_until
    }
}

/// Gives up the oldest of those that wait, if any do.
pub fn close_oldest<T>(waiting: &mut Vec<T>) -> bool {
    (!waiting.is_empty()).then(|| waiting.remove(0)).is_some()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::clock::now;

    /// How many a turn takes where so many wait, and each of these is refused.
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
    fn a_turn_takes_what_waits_and_no_more_than_its_share() {
        let (mut acceptor, now, waiting) = (Acceptor::default(), now(), Cell::new(40));
        let turns = [(); 4].map(|()| turn(&mut acceptor, now, &waiting));
        assert_eq!((turns, acceptor.rests()), ([16, 16, 8, 0], false));
    }

    #[test]
    fn where_nothing_can_be_taken_the_socket_rests_a_second() {
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

    /// And one that was over before it was taken is passed over.
    #[test]
    fn a_descriptor_that_is_given_up_is_used() {
        for errno in [Errno::EMFILE, Errno::ENFILE] {
            let (mut acceptor, now, held) = (Acceptor::default(), now(), Cell::new(2));
            acceptor.begin(now);
            let accept = || if held.get() > 0 { Err(errno.into()) } else { Ok(()) };
            let give_up = || {
                held.set(held.get() - 1);
                true
            };
            assert_eq!(acceptor.next(now, accept, give_up), Some(()));
            // Two were refused, one was taken, and each counts.
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
