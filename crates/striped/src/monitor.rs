//! The small half: it alone may change the network, and reads no packet.
//!
//! ```text
//!   this half, with CAP_NET_ADMIN          socket pair         the half that carries packets
//!     checks the configuration                                   makes the interface, opens sockets,
//!     makes routes and rules      ◄── routes, a socket, MTU ──   gives up all that it may ([`sandbox`]),
//!     takes all back              ─── done, or a descriptor ──►  carries
//! ```
//!
//! It runs the other half, passes signals on to it, and takes back what was made when that ends,
//! however it ends. Where this half dies the other one does too, and the interface with it; rules
//! are taken back by the next start.
//!
//! Invariant: a request gets what the configuration names, or nothing.
//!
//! [`sandbox`]: crate::sandbox

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use gingham_stripe_udp::BufferPlan;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::check::load;
use crate::config::Config;
use crate::line::{HalfLine, Request};
use crate::problem::Problem;
use crate::routes::{RoutePlan, Routing};
use crate::sandbox;
use crate::signals::Signals;

/// This program, whatever became of its file.
const ITSELF: &str = "/proc/self/exe";

/// Runs the half that carries packets until it ends.
pub(crate) fn up(path: &Path) -> Result<(), Problem> {
    let config = load(path)?.config;
    let signals =
        Signals::new(&[Signal::SIGCHLD]).map_err(|error| Problem::environment("signals", error))?;
    let refused = |error| Problem::environment("routes", error);
    let routing = Routing::new(RoutePlan::of(&config)).map_err(refused)?;
    routing.take_left().map_err(refused)?;
    let halves = |error| Problem::environment("the half that carries packets", error);
    let (line, child) = spawn(path).map_err(halves)?;
    sandbox::keep_network(config.user.is_some()).map_err(halves)?;
    let mut monitor = Monitor { config, line, child, routing, index: None, refusal: None };
    let status = monitor.serve(&signals).map_err(halves)?;
    match monitor.refusal {
        Some(error) => Err(refused(error)),
        None => outcome(status),
    }
}

/// Runs the other half, with its end of the pair as its standard input.
fn spawn(path: &Path) -> io::Result<(HalfLine, Child)> {
    let (line, other) = HalfLine::pair()?;
    let child = Command::new(ITSELF).arg("carry").arg(path).stdin(Stdio::from(other)).spawn()?;
    Ok((line, child))
}

/// What became of the other half: it has said why it ends, unless it was ended.
fn outcome(status: ExitStatus) -> Result<(), Problem> {
    if status.success() {
        return Ok(());
    }
    let told = status.code().and_then(|code| u8::try_from(code).ok()).map(Problem::Told);
    Err(told.unwrap_or_else(|| {
        let signal = status.signal().unwrap_or(0);
        Problem::Environment(format!("the half that carries packets was ended by signal {signal}"))
    }))
}

struct Monitor {
    config: Config,
    line: HalfLine,
    child: Child,
    routing: Routing,
    /// The interface.
    index: Option<u32>,
    /// Why there are no routes.
    refusal: Option<io::Error>,
}

impl Monitor {
    /// Serves the other half until it has ended.
    fn serve(&mut self, signals: &Signals) -> io::Result<ExitStatus> {
        loop {
            let fds = [signals.as_fd(), self.line.as_fd()];
            let mut fds = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
            match poll(&mut fds, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            let is_asked = fds[1].any().unwrap_or(false);
            while let Some(signal) = signals.next()? {
                if signal != Signal::SIGCHLD {
                    self.pass_on(signal);
                } else if let Some(status) = self.child.try_wait()? {
                    return Ok(status);
                }
            }
            if is_asked {
                let Some(request) = self.line.next_request()? else {
                    // It is about to end, or makes no sense.
                    self.pass_on(Signal::SIGTERM);
                    return self.child.wait();
                };
                let result = self.grant(request);
                // Where nobody hears it, the other half is gone, which is noticed next.
                let _: io::Result<()> = self.line.answer(result);
            }
        }
    }

    fn pass_on(&self, signal: Signal) {
        if let Ok(id) = i32::try_from(self.child.id()) {
            // It is not waited for yet, so the number is its own.
            let _: nix::Result<()> = kill(Pid::from_raw(id), signal);
        }
    }

    fn grant(&mut self, request: Request) -> io::Result<Option<OwnedFd>> {
        match request {
            Request::Route(index) if self.index.is_none() => {
                self.index = Some(self.check(index)?);
                let made = self.routing.add(index);
                if let Err(error) = &made {
                    self.refusal = Some(io::Error::new(error.kind(), error.to_string()));
                }
                made.map(|()| None)
            }
            Request::SetMtu(mtu) => {
                let (index, mtu) = self.index.zip(u16::try_from(mtu).ok()).ok_or_else(refusal)?;
                if !(self.config.mtu_min()..=self.config.mtu).contains(&mtu) {
                    return Err(refusal());
                }
                self.routing.set_mtu(index, mtu).map(|()| None)
            }
            Request::Open(channel) => {
                let named = self.config.channels_at().nth(channel as usize);
                let channel = named.map(|at| at.channel);
                let Config { mark, mtu, .. } = self.config;
                let over_tcp = channel.and_then(|channel| channel.tcp_plan(mark, mtu.into()));
                if let Some(plan) = over_tcp {
                    return plan.open().map(Some);
                }
                let plan = channel.and_then(|channel| channel.plan(mark));
                let socket = plan.ok_or_else(refusal)?.open(&BufferPlan::default())?;
                Ok(Some(socket.into()))
            }
            Request::Route(_) => Err(refusal()),
        }
    }

    /// Whether the number is that of the interface which the configuration names.
    fn check(&self, index: u32) -> io::Result<u32> {
        let named = nix::net::if_::if_nametoindex(self.config.name.as_str())?;
        if named == index { Ok(index) } else { Err(refusal()) }
    }
}

/// What is asked for is not named.
fn refusal() -> io::Error {
    Errno::EPERM.into()
}
