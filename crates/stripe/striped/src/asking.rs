//! Requests from the tunnel process to the monitor, which do not block the packet loop.
//!
//! ```text
//!   socket lost ──► queued ──► outstanding, one at a time ──► received ──► used at the next attempt
//!                     ▲                                                       |
//!                     +────── a failed request is reported and repeated ◄─────+
//! ```
//!
//! Before the first packet, and while a configuration is applied, the process waits for replies,
//! because it must report the outcome.
//!
//! Invariants: at most one request is outstanding; a socket requested under one configuration is
//! not used under the next.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use gingham_stripe_udp::Opening;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::line::{HalfLine, Request};

const ANSWERED_WITHIN: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Asking {
    line: HalfLine,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_carrying: bool,
    waiting: VecDeque<Request>,
    outstanding: Option<For>,
    came: BTreeMap<u32, io::Result<OwnedFd>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum For {
    Channel(u32),
    Nobody,
}

impl Asking {
    pub(crate) fn of(end: OwnedFd) -> Self {
        Self { line: HalfLine::of(end), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("one thread")
    }

    pub(crate) fn carry(&self) {
        self.state().is_carrying = true;
    }

    pub(crate) fn ask(&self, request: Request) -> io::Result<Option<OwnedFd>> {
        let state = &mut *self.state();
        while state.outstanding.is_some() {
            self.wait(state.is_carrying)?;
            self.take(state);
        }
        self.line.send_request(request)?;
        state.outstanding = Some(For::Nobody);
        self.wait(state.is_carrying)?;
        state.outstanding = None;
        let reply = self.line.next_reply();
        self.go_on(state);
        reply
    }

    pub(crate) fn queue_request(&self, request: Request) {
        let mut state = self.state();
        state.waiting.push_back(request);
        self.go_on(&mut state);
    }

    /// Returns a channel's socket; `WouldBlock` until the reply has arrived, unless `opening`
    /// allows blocking.
    pub(crate) fn socket(&self, channel: usize, opening: Opening) -> io::Result<OwnedFd> {
        let number = u32::try_from(channel).expect("channels are few");
        let request = Request::Open(number);
        if opening == Opening::Waits {
            return self.ask(request)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into());
        }
        let mut state = self.state();
        self.take(&mut state);
        if let Some(came) = state.came.remove(&number) {
            return came;
        }
        if state.outstanding != Some(For::Channel(number)) && !state.waiting.contains(&request) {
            state.waiting.push_back(request);
        }
        self.go_on(&mut state);
        Err(io::ErrorKind::WouldBlock.into())
    }

    pub(crate) fn receive_reply(&self) {
        let mut state = self.state();
        self.take(&mut state);
        self.go_on(&mut state);
    }

    pub(crate) fn forget(&self) {
        let mut state = self.state();
        state.waiting.retain(|request| !matches!(request, Request::Open(_)));
        state.came.clear();
        state.outstanding = state.outstanding.map(|_| For::Nobody);
    }

    fn take(&self, state: &mut State) {
        let Some(whose) = state.outstanding.filter(|_| self.has_come()) else { return };
        state.outstanding = None;
        let reply = self.line.next_reply();
        if let For::Channel(number) = whose {
            let gone = || io::Error::from(io::ErrorKind::UnexpectedEof);
            state.came.insert(number, reply.and_then(|socket| socket.ok_or_else(gone)));
        }
    }

    fn go_on(&self, state: &mut State) {
        if state.outstanding.is_some() {
            return;
        }
        let Some(request) = state.waiting.pop_front() else { return };
        if self.line.send_request(request).is_ok() {
            state.outstanding = Some(match request {
                Request::Open(number) => For::Channel(number),
                _ => For::Nobody,
            });
        }
    }

    fn has_come(&self) -> bool {
        self.within(Some(Duration::ZERO)).is_ok_and(|has_come| has_come)
    }

    fn wait(&self, is_carrying: bool) -> io::Result<()> {
        let has_come = self.within(is_carrying.then_some(ANSWERED_WITHIN))?;
        if has_come { Ok(()) } else { Err(Errno::ETIMEDOUT.into()) }
    }

    fn within(&self, time: Option<Duration>) -> io::Result<bool> {
        let mut fds = [PollFd::new(self.line.as_fd(), PollFlags::POLLIN)];
        loop {
            match ppoll(&mut fds, time.map(TimeSpec::from_duration), None) {
                Err(Errno::EINTR) => {}
                done => return Ok(done? > 0),
            }
        }
    }
}

impl AsFd for Asking {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (HalfLine, Asking) {
        let (monitor, other) = HalfLine::pair().expect("a pair");
        let asking = Asking::of(other);
        asking.carry();
        (monitor, asking)
    }

    fn kind(asking: &Asking, channel: usize) -> Option<io::ErrorKind> {
        asking.socket(channel, Opening::Asks).err().map(|error| error.kind())
    }

    fn reply(monitor: &HalfLine, channel: u32, result: io::Result<Option<OwnedFd>>) {
        let request = monitor.next_request().expect("the line is open");
        assert_eq!(request, Some(Request::Open(channel)));
        monitor.reply(result).expect("there is room");
    }

    fn socket() -> OwnedFd {
        std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket").into()
    }

    const NOT_YET: Option<io::ErrorKind> = Some(io::ErrorKind::WouldBlock);

    #[test]
    fn requested_socket_is_available_after_the_reply() {
        let (monitor, asking) = pair();
        for channel in [1, 2, 1, 2, 2] {
            assert_eq!(kind(&asking, channel), NOT_YET);
        }
        reply(&monitor, 1, Ok(Some(socket())));
        asking.receive_reply();
        assert_eq!([2, 1].map(|channel| kind(&asking, channel)), [NOT_YET, None]);
        reply(&monitor, 2, Err(Errno::ENODEV.into()));
        let error = asking.socket(2, Opening::Asks).expect_err("there is none");
        assert_eq!(error.raw_os_error(), Some(Errno::ENODEV as i32));
        assert_eq!(kind(&asking, 2), NOT_YET);
        reply(&monitor, 2, Ok(Some(socket())));
        assert_eq!(kind(&asking, 2), None);
        let mut fds = [PollFd::new(monitor.as_fd(), PollFlags::POLLIN)];
        let zero = TimeSpec::from_duration(Duration::ZERO);
        assert_eq!(ppoll(&mut fds, Some(zero), None), Ok(0), "nothing more was asked");
    }

    #[test]
    fn stale_request_is_not_used_after_a_reload() {
        let (monitor, asking) = pair();
        assert_eq!([1, 2, 3].map(|channel| kind(&asking, channel)), [NOT_YET; 3]);
        reply(&monitor, 1, Ok(Some(socket())));
        asking.receive_reply();
        asking.queue_request(Request::SetMtu(1_400));
        asking.forget();
        reply(&monitor, 2, Ok(Some(socket())));
        assert_eq!([2, 1].map(|channel| kind(&asking, channel)), [NOT_YET; 2]);
        assert_eq!(monitor.next_request().expect("open"), Some(Request::SetMtu(1_400)));
        monitor.reply(Ok(None)).expect("there is room");
        asking.receive_reply();
        reply(&monitor, 2, Ok(Some(socket())));
        assert_eq!(kind(&asking, 2), None);
        asking.receive_reply();
        reply(&monitor, 1, Err(Errno::EPERM.into()));
    }

    #[test]
    fn awaited_reply_is_matched_to_its_request() {
        let (monitor, asking) = pair();
        asking.queue_request(Request::SetMtu(1_400));
        let error = asking.socket(7, Opening::Waits).expect_err("nobody answers");
        assert_eq!(error.raw_os_error(), Some(Errno::ETIMEDOUT as i32));
        assert_eq!(monitor.next_request().expect("open"), Some(Request::SetMtu(1_400)));
        monitor.reply(Err(Errno::EPERM.into())).expect("there is room");
        let error = asking.socket(7, Opening::Waits).expect_err("nobody answers this one");
        assert_eq!(error.raw_os_error(), Some(Errno::ETIMEDOUT as i32));
        reply(&monitor, 7, Err(Errno::ENODEV.into()));
        monitor.reply(Ok(Some(socket()))).expect("there is room");
        assert!(asking.socket(8, Opening::Waits).is_ok());
        reply(&monitor, 8, Ok(None));
    }
}
