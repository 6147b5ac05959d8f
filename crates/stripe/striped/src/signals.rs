//! Signals, read from a descriptor (signalfd).

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

#[derive(Debug)]
pub(crate) struct Signals(SignalFd);

impl Signals {
    pub(crate) fn new(more: &[Signal]) -> io::Result<Self> {
        let users = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1];
        let mask: SigSet = users.into_iter().chain(more.iter().copied()).collect();
        mask.thread_block()?;
        Ok(Self(SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?))
    }

    pub(crate) fn next(&self) -> io::Result<Option<Signal>> {
        let Some(came) = self.0.read_signal()? else { return Ok(None) };
        let number = i32::try_from(came.ssi_signo).expect("signals have small numbers");
        Ok(Some(Signal::try_from(number)?))
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
