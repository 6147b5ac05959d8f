//! Monitor process, which alone may change the network, and parses no packets.
//!
//! ```text
//!   monitor, with CAP_NET_ADMIN            socket pairs        one tunnel process per bundle
//!     checks the configuration                                   creates the interface, opens sockets,
//!     creates routes and rules    ◄── routes, a socket, MTU ──   drops its privileges ([`sandbox`]),
//!     removes them at the end     ─── done, or a descriptor ──►  carries packets
//!     serves `striped status` ... ─── orders ─────────────────►  reports its status, applies a new file
//!     watches the network         ◄── ready, alive, done ─────
//! ```
//!
//! When a tunnel process ends, its rules and routes are removed, and all others are stopped or
//! killed ([`half`]). If the monitor dies, the kernel kills the tunnel processes and removes their
//! interfaces; the next start removes the rules.
//!
//! Invariants: a request is granted only for resources that the configuration names; only a single
//! byte is read from a control connection; the monitor blocks only in `poll`.
//!
//! [`sandbox`]: crate::sandbox

mod bundle;
pub(crate) mod control;
mod half;
mod reload;
mod service;
mod watch;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::time::Duration;

use gingham_stripe::Instant;
use gingham_stripe_udp::now;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use tracing::{error, info};

use crate::check::load;
use crate::logging::LogOptions;
use crate::orders::{Order, Reply};
use crate::problem::Problem;
use crate::sandbox;
use crate::signals::Signals;
use bundle::Bundle;
use control::{Asked, Clients, Control};
use reload::Reloading;
use service::Service;
use watch::Watch;

pub(crate) fn up(
    paths: &[PathBuf],
    runtime: &std::path::Path,
    logs: LogOptions,
) -> Result<(), Problem> {
    let loaded = load(paths)?;
    if let Some(first) = loaded.first() {
        logs.begin(&first.checked.config);
    }
    let signals =
        Signals::new(&[Signal::SIGCHLD]).map_err(|error| Problem::environment("signals", error))?;
    let watch = Watch::open().map_err(|error| Problem::environment("netlink", error))?;
    let controls = loaded.iter().map(|one| Control::open(runtime, one));
    let controls = controls.collect::<Result<Vec<_>, _>>()?;
    let bundles = loaded.into_iter().zip(controls);
    let bundles = bundles.map(|(one, control)| Bundle::start(one, control, logs));
    let bundles = bundles.collect::<Result<Vec<_>, _>>()?;
    let is_other_user = bundles.iter().any(|one| one.loaded.checked.config.user.is_some());
    let halves = |error| Problem::environment("the half that carries packets", error);
    sandbox::keep_network(is_other_user).map_err(halves)?;
    let service = Service::default();
    let mut monitor = Monitor {
        bundles,
        watch,
        service,
        clients: Clients::default(),
        reloading: None,
        reloads: 0,
        is_ending: false,
    };
    monitor.serve(&signals).map_err(halves)?;
    monitor.bundles.iter_mut().try_for_each(Bundle::outcome)
}

const SYNC: Duration = Duration::from_secs(1);

struct Monitor {
    bundles: Vec<Bundle>,
    watch: Watch,
    service: Service,
    clients: Clients,
    reloading: Option<Reloading>,
    reloads: u64,
    is_ending: bool,
}

impl Monitor {
    fn serve(&mut self, signals: &Signals) -> io::Result<()> {
        while !self.have_ended(now())? {
            self.wait(signals)?;
            self.handle_signals(signals)?;
            for bundle in &mut self.bundles {
                bundle.serve(now());
            }
            self.handle_replies();
            self.finish_reload(now());
            self.handle_clients();
            self.watch.drain_notifications();
            if self.watch.is_due(now()) {
                self.announce_changes();
            }
            let is_alive = self.bundles.iter().all(|one| one.is_alive);
            if self.service.is_due(now(), is_alive) {
                for bundle in &mut self.bundles {
                    bundle.is_alive = false;
                    bundle.order(&Order::Ping);
                }
            }
        }
        Ok(())
    }

    fn have_ended(&mut self, now: Instant) -> io::Result<bool> {
        let mut have_ended = true;
        for bundle in &mut self.bundles {
            have_ended &= bundle.half.has_ended(now)?;
        }
        if !self.is_ending && self.bundles.iter().any(|one| one.half.is_ending()) {
            self.begin_end();
        }
        Ok(have_ended)
    }

    fn handle_signals(&mut self, signals: &Signals) -> io::Result<()> {
        while let Some(signal) = signals.next()? {
            match signal {
                Signal::SIGCHLD => {}
                Signal::SIGHUP => {
                    if let Err(problem) = self.reload() {
                        error!("{problem}");
                    }
                }
                Signal::SIGUSR1 => self.bundles.iter().for_each(|one| one.half.pass_on(signal)),
                _ => self.begin_end(),
            }
        }
        Ok(())
    }

    fn handle_clients(&mut self) {
        let controls = self.bundles.iter_mut().map(|one| &mut one.control);
        for (number, asked, client) in self.clients.take(now(), controls) {
            match asked {
                Asked::Status => self.bundles[number].order(&Order::Status(client)),
                Asked::Reload => match self.reload() {
                    Ok(()) => self.clients.reloads(client),
                    Err(problem) => control::reply(&client, &Err(problem)),
                },
                Asked::Down => {
                    self.clients.stays(client);
                    self.begin_end();
                }
            }
        }
    }

    fn wait(&self, signals: &Signals) -> io::Result<()> {
        let mut fds: Vec<BorrowedFd<'_>> = vec![signals.as_fd(), self.watch.as_fd()];
        fds.extend(self.bundles.iter().flat_map(Bundle::fds));
        fds.extend(self.clients.fds());
        let mut fds: Vec<_> =
            fds.into_iter().map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        let keeps_records = self.bundles.iter().any(Bundle::keeps_records);
        let synced_at = keeps_records.then(|| now().after(SYNC));
        let reloaded_by = self.reloading.as_ref().map(Reloading::due_at);
        let at = [self.watch.due_at(), self.service.due_at(), self.clients.due_at(), synced_at];
        let of = |one: &Bundle| [one.half.due_at(), one.control.due_at()].into_iter().flatten();
        let halves = self.bundles.iter().flat_map(of);
        let at = at.into_iter().flatten().chain(reloaded_by).chain(halves);
        let left = at.min().map(|at| {
            let left_ns = at.nanoseconds().saturating_sub(now().nanoseconds());
            PollTimeout::try_from(left_ns.div_ceil(1_000_000)).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut fds, left.unwrap_or(PollTimeout::NONE)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        self.bundles.iter().for_each(Bundle::sync);
        Ok(())
    }

    fn handle_replies(&mut self) {
        for number in 0..self.bundles.len() {
            for reply in self.bundles[number].half.replies(now()) {
                match reply {
                    Reply::Ready(_) => {
                        self.bundles[number].is_ready = true;
                        if self.bundles.iter().all(|one| one.is_ready) {
                            info!(bundles = self.bundles.len(), "ready");
                            service::ready(&self.bundles);
                            self.announce_changes();
                        }
                    }
                    Reply::Alive => self.bundles[number].is_alive = true,
                    Reply::Reloaded(reload) => self.follow_reload(number, reload, None),
                    Reply::Refused(reload, message) => {
                        self.follow_reload(number, reload, Some(&message));
                    }
                }
            }
        }
    }

    fn announce_changes(&mut self) {
        for bundle in &mut self.bundles {
            for order in bundle.changes() {
                bundle.order(&order);
            }
        }
    }

    fn begin_end(&mut self) {
        if !self.is_ending {
            self.is_ending = true;
            info!("ends");
            service::stopping();
        }
        self.bundles.iter_mut().for_each(|one| one.half.end(now()));
    }
}
