//! Monitor's state of a bundle: its tunnel process, routes and control socket.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::process::Command;

use gingham_stripe::Instant;
use gingham_stripe_udp::BufferPlan;
use nix::errno::Errno;
use nix::unistd::User;

use super::control::Control;
use super::half::Half;
use super::watch::Sources;
use crate::check::Loaded;
use crate::config::Config;
use crate::line::Request;
use crate::logging::LogOptions;
use crate::orders::Order;
use crate::problem::Problem;
use crate::quota;
use crate::routes::{RoutePlan, Routing};

/// Path of the running program, valid even if its file was replaced.
const ITSELF: &str = "/proc/self/exe";
const OURS: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

pub(super) struct Bundle {
    pub(super) loaded: Loaded,
    pub(super) half: Half,
    pub(super) routing: Routing,
    pub(super) control: Control,
    sources: Sources,
    records: Vec<File>,
    pub(super) index: Option<u32>,
    refusal: Option<io::Error>,
    pub(super) is_ready: bool,
    pub(super) is_alive: bool,
}

impl Bundle {
    pub(super) fn start(
        loaded: Loaded,
        control: Control,
        logs: LogOptions,
    ) -> Result<Self, Problem> {
        let config = &loaded.checked.config;
        let refused = |error| Problem::environment("routes", error);
        let routing = Routing::new(RoutePlan::of(config)).map_err(refused)?;
        routing.take_left().map_err(refused)?;
        let half = Half::run(command(&loaded.path, logs));
        let half =
            half.map_err(|error| Problem::environment("the half that carries packets", error))?;
        Ok(Self {
            sources: Sources::of(config),
            records: quota::files(config),
            loaded,
            half,
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

    pub(super) const fn keeps_records(&self) -> bool {
        !self.records.is_empty()
    }

    /// Flushes the quota records. Errors are ignored here; the tunnel process detects them when it
    /// writes.
    pub(super) fn sync(&self) {
        self.records.iter().for_each(|record| drop(record.sync_data()));
    }

    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.half.fds().chain(self.control.fd())
    }

    pub(super) fn serve(&mut self, now: Instant) {
        if let Some(request) = self.half.next_request(now) {
            let result = self.grant(request);
            self.half.reply(now, result);
        }
    }

    pub(super) fn order(&self, order: &Order) {
        let _: io::Result<()> = self.half.order(order);
    }

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
            Request::Orders => self.half.give_orders().map(Some).ok_or_else(refusal),
            Request::Route(_) => Err(refusal()),
        }
    }

    fn check(&self, index: u32) -> io::Result<u32> {
        let named = nix::net::if_::if_nametoindex(self.config().name.as_str())?;
        if named == index { Ok(index) } else { Err(refusal()) }
    }

    pub(super) fn outcome(&mut self) -> Result<(), Problem> {
        match self.refusal.take() {
            Some(error) => Err(Problem::environment("routes", error)),
            None => self.half.outcome(),
        }
    }
}

pub(super) fn owner(config: &Config) -> Option<User> {
    config.user.as_deref().and_then(|user| User::from_name(user).ok().flatten())
}

fn command(path: &Path, logs: LogOptions) -> Command {
    let mut command = Command::new(ITSELF);
    for name in OURS {
        command.env_remove(name);
    }
    command.arg("carry").args(logs.arguments()).arg(path);
    command
}

fn refusal() -> io::Error {
    Errno::EPERM.into()
}
