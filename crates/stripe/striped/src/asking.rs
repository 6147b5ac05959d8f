//! What the half that carries packets asks the other for, and how it goes on meanwhile.
//!
//! ```text
//!   a socket is gone ──► asked for ──► under way, one at a time ──► came ──► taken at the next try
//!                           ▲                                                      |
//!                           +──── an error is told once, and asked anew ◄──────────+
//! ```
//!
//! Before packets go, and while a file is followed, an answer is waited for: what it says is part of
//! what is said then. A file is followed in bounded time all the same.
//!
//! Invariants: one request is under way; the loop that carries packets waits for no answer; nothing
//! that was asked for under one file is taken under the next.

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

/// While packets are carried an answer is waited for so long: the other half gives it within a turn,
/// of which the longest reads files.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);

/// The end of the line that asks.
#[derive(Debug)]
pub(crate) struct Asking {
    line: HalfLine,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether packets are carried.
    is_carrying: bool,
    waiting: VecDeque<Request>,
    under_way: Option<For>,
    /// Sockets of channels, or why there is none, until somebody looks.
    came: BTreeMap<u32, io::Result<OwnedFd>>,
}

/// What becomes of an answer.
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

    /// Packets are carried from now on.
    pub(crate) fn carry(&self) {
        self.state().is_carrying = true;
    }

    /// Asks, and waits for the answer, not for long where packets are carried.
    pub(crate) fn ask(&self, request: Request) -> io::Result<Option<OwnedFd>> {
        let state = &mut *self.state();
        while state.under_way.is_some() {
            self.wait(state.is_carrying)?;
            self.take(state);
        }
        self.line.send_request(request)?;
        state.under_way = Some(For::Nobody);
        self.wait(state.is_carrying)?;
        state.under_way = None;
        let answer = self.line.next_answer();
        self.go_on(state);
        answer
    }

    /// Asks for what nobody needs to know the answer to.
    pub(crate) fn tell(&self, request: Request) {
        let mut state = self.state();
        state.waiting.push_back(request);
        self.go_on(&mut state);
    }

    /// A socket of a channel, by its number among all: where it is not waited for and is not there
    /// yet, `WouldBlock`.
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
        if state.under_way != Some(For::Channel(number)) && !state.waiting.contains(&request) {
            state.waiting.push_back(request);
        }
        self.go_on(&mut state);
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Takes the answer that has come, if one has, and asks for what is next.
    pub(crate) fn hear(&self) {
        let mut state = self.state();
        self.take(&mut state);
        self.go_on(&mut state);
    }

    /// Another file holds: what was asked for under the last one is of no use.
    pub(crate) fn forget(&self) {
        let mut state = self.state();
        state.waiting.retain(|request| !matches!(request, Request::Open(_)));
        state.came.clear();
        state.under_way = state.under_way.map(|_| For::Nobody);
    }

    fn take(&self, state: &mut State) {
        let Some(whose) = state.under_way.filter(|_| self.has_come()) else { return };
        state.under_way = None;
        let answer = self.line.next_answer();
        if let For::Channel(number) = whose {
            let gone = || io::Error::from(io::ErrorKind::UnexpectedEof);
            state.came.insert(number, answer.and_then(|socket| socket.ok_or_else(gone)));
        }
    }

    fn go_on(&self, state: &mut State) {
        if state.under_way.is_some() {
            return;
        }
        let Some(request) = state.waiting.pop_front() else { return };
        // Where that fails the other half is gone, which ends this one.
        if self.line.send_request(request).is_ok() {
            state.under_way = Some(match request {
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

    /// Whether something comes within a time, if that is bounded: by the call that the filter lets by.
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

    /// Both ends, of which one asks while it carries packets.
    fn pair() -> (HalfLine, Asking) {
        let (monitor, other) = HalfLine::pair().expect("a pair");
        let asking = Asking::of(other);
        asking.carry();
        (monitor, asking)
    }

    fn kind(asking: &Asking, channel: usize) -> Option<io::ErrorKind> {
        asking.socket(channel, Opening::Asks).err().map(|error| error.kind())
    }

    fn answer(monitor: &HalfLine, channel: u32, result: io::Result<Option<OwnedFd>>) {
        let request = monitor.next_request().expect("the line is open");
        assert_eq!(request, Some(Request::Open(channel)));
        monitor.answer(result).expect("there is room");
    }

    fn socket() -> OwnedFd {
        std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket").into()
    }

    const NOT_YET: Option<io::ErrorKind> = Some(io::ErrorKind::WouldBlock);

    /// Nobody answers, and it goes on; however often each asks, it is asked once.
    #[test]
    fn a_socket_is_there_at_the_next_try_after_the_answer() {
        let (monitor, asking) = pair();
        for channel in [1, 2, 1, 2, 2] {
            assert_eq!(kind(&asking, channel), NOT_YET);
        }
        answer(&monitor, 1, Ok(Some(socket())));
        asking.hear();
        assert_eq!([2, 1].map(|channel| kind(&asking, channel)), [NOT_YET, None]);
        answer(&monitor, 2, Err(Errno::ENODEV.into()));
        let error = asking.socket(2, Opening::Asks).expect_err("there is none");
        assert_eq!(error.raw_os_error(), Some(Errno::ENODEV as i32));
        // That was told, and it is asked anew.
        assert_eq!(kind(&asking, 2), NOT_YET);
        answer(&monitor, 2, Ok(Some(socket())));
        assert_eq!(kind(&asking, 2), None);
        let mut fds = [PollFd::new(monitor.as_fd(), PollFlags::POLLIN)];
        let zero = TimeSpec::from_duration(Duration::ZERO);
        assert_eq!(ppoll(&mut fds, Some(zero), None), Ok(0), "nothing more was asked");
    }

    #[test]
    fn what_was_asked_under_the_last_file_is_not_taken_under_this_one() {
        let (monitor, asking) = pair();
        assert_eq!([1, 2, 3].map(|channel| kind(&asking, channel)), [NOT_YET; 3]);
        answer(&monitor, 1, Ok(Some(socket())));
        asking.hear();
        asking.tell(Request::SetMtu(1_400));
        asking.forget();
        answer(&monitor, 2, Ok(Some(socket())));
        assert_eq!([2, 1].map(|channel| kind(&asking, channel)), [NOT_YET; 2]);
        // What is told is of this file.
        assert_eq!(monitor.next_request().expect("open"), Some(Request::SetMtu(1_400)));
        monitor.answer(Ok(None)).expect("there is room");
        asking.hear();
        answer(&monitor, 2, Ok(Some(socket())));
        assert_eq!(kind(&asking, 2), None);
        asking.hear();
        answer(&monitor, 1, Err(Errno::EPERM.into()));
    }

    /// The answers before it are not taken for its own, and who is late is not waited for.
    #[test]
    fn an_answer_that_is_waited_for_is_the_own() {
        let (monitor, asking) = pair();
        asking.tell(Request::SetMtu(1_400));
        let error = asking.socket(7, Opening::Waits).expect_err("nobody answers");
        assert_eq!(error.raw_os_error(), Some(Errno::ETIMEDOUT as i32));
        assert_eq!(monitor.next_request().expect("open"), Some(Request::SetMtu(1_400)));
        monitor.answer(Err(Errno::EPERM.into())).expect("there is room");
        let error = asking.socket(7, Opening::Waits).expect_err("nobody answers this one");
        assert_eq!(error.raw_os_error(), Some(Errno::ETIMEDOUT as i32));
        answer(&monitor, 7, Err(Errno::ENODEV.into()));
        monitor.answer(Ok(Some(socket()))).expect("there is room");
        assert!(asking.socket(8, Opening::Waits).is_ok());
        answer(&monitor, 8, Ok(None));
    }
}
