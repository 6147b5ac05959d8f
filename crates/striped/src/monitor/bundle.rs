//! A bundle as the small half has it: the half that carries its packets, its routes, its control socket.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use gingham_stripe_udp::BufferPlan;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User};

use super::Ended;
use super::control::Control;
use super::watch::Sources;
use crate::check::Loaded;
use crate::config::Config;
use crate::line::{HalfLine, Request};
use crate::logging::LogOptions;
use crate::orders::{Order, OrderLine, Reply};
use crate::problem::Problem;
use crate::quota;
use crate::routes::{RoutePlan, Routing};

/// This program, whatever became of its file.
const ITSELF: &str = "/proc/self/exe";
/// What the other half need not know.
const OURS: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

pub(super) struct Bundle {
    pub(super) loaded: Loaded,
    line: HalfLine,
    orders: OrderLine,
    /// The other end of that, until it is asked for.
    given: Option<OwnedFd>,
    child: Child,
    ended: Ended,
    pub(super) routing: Routing,
    pub(super) control: Control,
    sources: Sources,
    /// What the other half writes and is to be on the disk soon.
    records: Vec<File>,
    /// The interface.
    pub(super) index: Option<u32>,
    /// Why there are no routes.
    refusal: Option<io::Error>,
    pub(super) is_ready: bool,
    pub(super) is_alive: bool,
}

impl Bundle {
    /// Runs the half that carries packets, which makes the interface.
    pub(super) fn start(
        loaded: Loaded,
        control: Control,
        logs: LogOptions,
    ) -> Result<Self, Problem> {
        let config = &loaded.checked.config;
        let refused = |error| Problem::environment("routes", error);
        let routing = Routing::new(RoutePlan::of(config)).map_err(refused)?;
        routing.take_left().map_err(refused)?;
        let halves = |error| Problem::environment("the half that carries packets", error);
        let (line, other) = HalfLine::pair().map_err(halves)?;
        let (orders, given) = OrderLine::pair().map_err(halves)?;
        let child = spawn(&loaded.path, other, logs).map_err(halves)?;
        Ok(Self {
            sources: Sources::of(config),
            records: quota::files(config),
            loaded,
            line,
            orders,
            given: Some(given),
            child,
            ended: None,
            routing,
            control,
            index: None,
            refusal: None,
            is_ready: false,
            is_alive: true,
        })
    }

    pub(super) const fn config(&self) -> &Config {
        &self.loaded.checked.config
    }

    /// Whether the other half writes records.
    pub(super) const fn keeps_records(&self) -> bool {
        !self.records.is_empty()
    }

    /// What the other half has written is on the disk then. Where that fails, so will its writing.
    pub(super) fn sync(&self) {
        self.records.iter().for_each(|record| drop(record.sync_data()));
    }

    pub(super) fn fds(&self) -> [BorrowedFd<'_>; 3] {
        [self.line.as_fd(), self.orders.as_fd(), self.control.as_fd()]
    }

    pub(super) fn has_ended(&mut self) -> io::Result<bool> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended.is_some())
    }

    /// Ends the other half, serves it until it has, and waits for it.
    pub(super) fn end(&mut self) -> io::Result<()> {
        while !self.has_ended()? {
            let mut fds = [PollFd::new(self.line.as_fd(), PollFlags::POLLIN)];
            let asked = poll(&mut fds, PollTimeout::NONE);
            let is_asked = !matches!(asked, Err(Errno::EINTR)) && asked? > 0;
            if is_asked && !self.serve_one()? {
                self.ended = Some(self.child.wait()?);
            }
        }
        Ok(())
    }

    /// Gives what the other half asks for.
    pub(super) fn serve(&mut self) -> io::Result<()> {
        let mut fds = [PollFd::new(self.line.as_fd(), PollFlags::POLLIN)];
        if poll(&mut fds, PollTimeout::ZERO)? > 0 && !self.serve_one()? {
            // It is about to end, or makes no sense.
            self.pass_on(Signal::SIGTERM);
            self.ended = Some(self.child.wait()?);
        }
        Ok(())
    }

    /// Whether there was a request.
    fn serve_one(&mut self) -> io::Result<bool> {
        let Some(request) = self.line.next_request()? else { return Ok(false) };
        let result = self.grant(request);
        // Where nobody hears it, the other half is gone, which is noticed next.
        let _: io::Result<()> = self.line.answer(result);
        Ok(true)
    }

    pub(super) fn pass_on(&self, signal: Signal) {
        if let (None, Ok(id)) = (self.ended, i32::try_from(self.child.id())) {
            // It is not waited for yet, so the number is its own.
            let _: nix::Result<()> = kill(Pid::from_raw(id), signal);
        }
    }

    /// Where it is not heard the other half is gone, or has more to do than it does.
    pub(super) fn order(&self, order: &Order) {
        let _: io::Result<()> = self.orders.order(order);
    }

    pub(super) fn next_reply(&self) -> io::Result<Option<Reply>> {
        self.orders.next_reply()
    }

    /// What the other half is to hear of the network.
    pub(super) fn changes(&mut self) -> Vec<Order> {
        self.sources.changes(&self.loaded.checked.config)
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
                let config = self.config();
                if !(config.mtu_min()..=config.mtu).contains(&mtu) {
                    return Err(refusal());
                }
                self.routing.set_mtu(index, mtu).map(|()| None)
            }
            Request::Open(channel) => {
                let config = self.config();
                let channel = config.channel_asked(channel as usize);
                let over_tcp = channel.and_then(|channel| channel.tcp_plan(config));
                if let Some(plan) = over_tcp {
                    return plan.open().map(Some);
                }
                let plan = channel.and_then(|channel| channel.plan(config.mark));
                let socket = plan.ok_or_else(refusal)?.open(&BufferPlan::default())?;
                Ok(Some(socket.into()))
            }
            Request::Orders => self.given.take().map(Some).ok_or_else(refusal),
            Request::Route(_) => Err(refusal()),
        }
    }

    /// Whether the number is that of the interface which the configuration names.
    fn check(&self, index: u32) -> io::Result<u32> {
        let named = nix::net::if_::if_nametoindex(self.config().name.as_str())?;
        if named == index { Ok(index) } else { Err(refusal()) }
    }

    /// What became of it, once it has ended.
    pub(super) fn outcome(&mut self) -> Result<(), Problem> {
        match (self.refusal.take(), self.ended) {
            (Some(error), _) => Err(Problem::environment("routes", error)),
            (None, Some(status)) => outcome(status),
            (None, None) => Ok(()),
        }
    }
}

/// Who else may ask: the user that carries packets.
pub(super) fn owner(config: &Config) -> Option<User> {
    config.user.as_deref().and_then(|user| User::from_name(user).ok().flatten())
}

/// Runs the other half, with its end of the pair as its standard input.
fn spawn(path: &Path, line: OwnedFd, logs: LogOptions) -> io::Result<Child> {
    let mut command = Command::new(ITSELF);
    for name in OURS {
        command.env_remove(name);
    }
    command.arg("carry").args(logs.arguments()).arg(path).stdin(Stdio::from(line)).spawn()
}

/// What became of the other half: it has said why it ends, unless it was ended.
pub(super) fn outcome(status: ExitStatus) -> Result<(), Problem> {
    if status.success() {
        return Ok(());
    }
    let told = status.code().and_then(|code| u8::try_from(code).ok()).map(Problem::Told);
    Err(told.unwrap_or_else(|| {
        let signal = status.signal().unwrap_or(0);
        Problem::Environment(format!("the half that carries packets was ended by signal {signal}"))
    }))
}

/// What is asked for is not named.
fn refusal() -> io::Error {
    Errno::EPERM.into()
}
