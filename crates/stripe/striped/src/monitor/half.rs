//! Monitor's state of a tunnel process: a child process and the sockets to it.
//!
//! ```text
//!   runs ── asked to end, invalid message, or ──► ends ── exited ──► ended
//!           socket closed: SIGTERM                 |                   ▲
//!                                                  +── 5 s: SIGKILL ───+
//! ```
//!
//! Invariants: the monitor never blocks on a tunnel process; each iteration processes a bounded
//! number of messages.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use gingham_stripe::Instant;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tracing::error;

use crate::line::{HalfLine, Request};
use crate::orders::{Order, OrderLine, Reply};
use crate::problem::Problem;

/// Time from SIGTERM to SIGKILL. A process normally ends within one iteration of its loop; `striped
/// down` waits twice as long.
pub(super) const ENDS_WITHIN: Duration = Duration::from_secs(5);
/// Maximum replies per iteration, more than the orders sent in an iteration.
const REPLIES_A_TURN: usize = 16;

pub(super) struct Half {
    child: Child,
    line: HalfLine,
    orders: OrderLine,
    given: Option<OwnedFd>,
    state: State,
    is_connected: bool,
    fault: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Runs,
    /// SIGTERM was sent; SIGKILL is due at this time.
    Ends(Instant),
    Killed,
    Ended(ExitStatus),
}

impl Drop for Half {
    fn drop(&mut self) {
        if !matches!(self.state, State::Ended(_)) {
            self.pass_on(Signal::SIGKILL);
            // Does not block, as SIGKILL cannot be ignored.
            let _: io::Result<ExitStatus> = self.child.wait();
        }
    }
}

impl Half {
    pub(super) fn run(mut command: Command) -> io::Result<Self> {
        let (line, other) = HalfLine::pair()?;
        let (orders, given) = OrderLine::pair()?;
        let child = command.stdin(Stdio::from(other)).spawn()?;
        let (given, state) = (Some(given), State::Runs);
        Ok(Self { child, line, orders, given, state, is_connected: true, fault: None })
    }

    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [self.line.as_fd(), self.orders.as_fd()].into_iter().filter(|_| self.is_connected)
    }

    pub(super) const fn due_at(&self) -> Option<Instant> {
        if let State::Ends(by) = self.state { Some(by) } else { None }
    }

    pub(super) fn is_ending(&self) -> bool {
        self.state != State::Runs
    }

    /// Returns whether the process has ended; kills it if SIGKILL is due.
    pub(super) fn has_ended(&mut self, now: Instant) -> io::Result<bool> {
        if matches!(self.state, State::Ended(_)) {
            return Ok(true);
        }
        if let Some(status) = self.child.try_wait()? {
            (self.state, self.is_connected) = (State::Ended(status), false);
            return Ok(true);
        }
        if self.due_at().is_some_and(|by| by <= now) {
            error!(process = self.child.id(), "a half did not end in time after SIGTERM: killed");
            self.state = State::Killed;
            self.fault.get_or_insert("did not end in time after SIGTERM, and was killed");
            self.pass_on(Signal::SIGKILL);
        }
        Ok(false)
    }

    pub(super) fn end(&mut self, now: Instant) {
        if self.state == State::Runs {
            self.state = State::Ends(now.after(ENDS_WITHIN));
        }
        self.pass_on(Signal::SIGTERM);
    }

    pub(super) fn pass_on(&self, signal: Signal) {
        if let (false, Ok(id)) =
            (matches!(self.state, State::Ended(_)), i32::try_from(self.child.id()))
        {
            // The process is not yet reaped, so its id is not reused.
            let _: nix::Result<()> = kill(Pid::from_raw(id), signal);
        }
    }

    fn leave(&mut self, now: Instant, fault: Option<&'static str>) {
        self.is_connected = false;
        self.fault = self.fault.or(fault);
        self.end(now);
    }

    pub(super) fn next_request(&mut self, now: Instant) -> Option<Request> {
        let mut fds = [PollFd::new(self.line.as_fd(), PollFlags::POLLIN)];
        if !self.is_connected || !poll(&mut fds, PollTimeout::ZERO).is_ok_and(|count| count > 0) {
            return None;
        }
        match self.line.next_request() {
            Ok(Some(request)) => return Some(request),
            Ok(None) => self.leave(now, None),
            Err(_) => self.leave(now, Some("sent an unexpected request")),
        }
        None
    }

    pub(super) fn reply(&mut self, now: Instant, result: io::Result<Option<OwnedFd>>) {
        if self.line.reply(result).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            self.leave(now, Some("does not read the replies to its requests"));
        }
    }

    pub(super) fn give_orders(&mut self) -> Option<OwnedFd> {
        self.given.take()
    }

    pub(super) fn order(&self, order: &Order) -> io::Result<()> {
        self.orders.order(order)
    }

    pub(super) fn takes_orders(&self) -> bool {
        let mut fds = [PollFd::new(self.orders.as_fd(), PollFlags::POLLOUT)];
        poll(&mut fds, PollTimeout::ZERO).is_ok() && fds[0].revents() == Some(PollFlags::POLLOUT)
    }

    pub(super) fn replies(&mut self, now: Instant) -> Vec<Reply> {
        let mut replies = Vec::new();
        while self.is_connected && replies.len() < REPLIES_A_TURN {
            match self.orders.next_reply() {
                Ok(Some(reply)) => replies.push(reply),
                Ok(None) => break,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    self.leave(now, Some("sent an unexpected reply"));
                }
                Err(_) => self.leave(now, None),
            }
        }
        replies
    }

    /// Returns the result of the process; unless it was killed, the process has printed its errors.
    pub(super) fn outcome(&self) -> Result<(), Problem> {
        let State::Ended(status) = self.state else { return Ok(()) };
        let of_half =
            |what: &str| Err(Problem::Environment(format!("the half that carries packets {what}")));
        match (self.fault, status.code()) {
            (Some(fault), _) => of_half(fault),
            (None, Some(0)) => Ok(()),
            (None, Some(code)) => Err(Problem::Reported(u8::try_from(code).unwrap_or(6))),
            (None, None) => {
                let signal = status.signal().unwrap_or(0);
                of_half(&format!("was ended by signal {signal}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use gingham_stripe_udp::now;

    use super::*;

    fn half(script: &str) -> Half {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Half::run(command).expect("a shell")
    }

    const STUBBORN: &str =
        "trap '' TERM; printf '\\004\\0\\0\\0\\0' >&0; while :; do sleep 9; done";

    fn until(half: &mut Half, mut is_so: impl FnMut(&mut Half) -> bool) {
        while !is_so(half) {
            sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn half_with_invalid_request_is_killed_after_its_time() {
        let (mut half, began) = (half(STUBBORN), now());
        until(&mut half, |half| {
            assert_eq!(half.next_request(began), None);
            half.is_ending()
        });
        assert_eq!((half.fds().count(), half.due_at()), (0, Some(began.after(ENDS_WITHIN))));
        let before = began.after(ENDS_WITHIN.saturating_sub(Duration::from_nanos(1)));
        assert!(!half.has_ended(before).expect("a child") && half.due_at().is_some());
        half.end(before);
        until(&mut half, |half| half.has_ended(began.after(ENDS_WITHIN)).expect("a child"));
        let problem = half.outcome().expect_err("it said nonsense").to_string();
        assert!(problem.contains("sent an unexpected request"), "{problem}");
    }

    #[test]
    fn half_that_ignores_sigterm_is_killed_and_reported() {
        let mut half =
            half("trap '' TERM; printf '\\003\\0\\0\\0\\0' >&0; while :; do sleep 9; done");
        until(&mut half, |half| half.next_request(now()) == Some(Request::Orders));
        half.end(now());
        let later = now().after(ENDS_WITHIN);
        until(&mut half, |half| half.has_ended(later).expect("a child"));
        let problem = half.outcome().expect_err("it was killed").to_string();
        assert!(problem.contains("did not end in time after SIGTERM"), "{problem}");
    }

    #[test]
    fn exited_half_is_reported_by_its_code() {
        for (script, code) in [("exit 0", None), ("exit 2", Some(2)), ("kill -9 $$", Some(6))] {
            let mut half = half(script);
            until(&mut half, |half| {
                assert_eq!(half.next_request(now()), None);
                half.has_ended(now()).expect("a child")
            });
            assert!(half.is_ending() && half.fds().next().is_none());
            assert_eq!(half.outcome().err().map(|problem| problem.code()), code, "{script}");
        }
    }

    #[test]
    fn flooding_half_is_served_in_bounded_turns() {
        let mut half = half("while printf '\\003\\0\\0\\0\\0' >&0; do :; done");
        until(&mut half, |half| {
            if half.next_request(now()).is_some() {
                half.reply(now(), Err(io::ErrorKind::PermissionDenied.into()));
            }
            half.is_ending()
        });
        until(&mut half, |half| half.has_ended(now()).expect("a child"));
        let given = OrderLine::of(half.give_orders().expect("it did not ask"));
        assert!(half.give_orders().is_none());
        half.is_connected = true;
        for _ in 0..=REPLIES_A_TURN {
            given.reply(&Reply::Alive).expect("there is room");
        }
        assert_eq!(half.replies(now()).len(), REPLIES_A_TURN);
        assert_eq!(half.replies(now()).len(), 1);
        let problem = half.outcome().expect_err("it read no replies").to_string();
        assert!(problem.contains("does not read the replies"), "{problem}");
    }
}
