//! Event loop of the tunnel process, between the interface and the pipes.
//!
//! ```text
//!            ┌── until input arrives, a rate limit allows sending, or a signal ──┐
//!            ▼                                                                   │
//!   receive ──► write to the interface ──► read from it ──► transmit ──► wait (ppoll)
//! ```

mod handle_orders;
mod status_replies;

use std::fmt::Display;
use std::io::{self, stdin};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gingham_stripe::Instant;
use gingham_stripe_udp::{Ready, now};
use nix::sys::signal::Signal;
use nix::unistd::{User, getppid};
use tracing::info;

use crate::asking::Asking;
use crate::check::{Checked, read};
use crate::config::Config;
use crate::device::Tun;
use crate::line::Request;
use crate::logging::{LogLevel, LogOptions};
use crate::metrics::MetricsServer;
use crate::orders::{OrderLine, Reply};
use crate::packet::{IcmpErrors, clamp};
use crate::peers::Peers;
use crate::problem::Problem;
use crate::report;
use crate::sandbox::{self, Kept};
use crate::signals::Signals;
use status_replies::StatusReplies;

const READS_A_TURN: usize = 64;
const INTERFACE: usize = 0;
const SIGNALS: usize = 1;
const ORDERS: usize = 2;
const LINE: usize = 3;
const METRICS: usize = 4;
const POLL_EVERY: Duration = Duration::from_millis(100);
/// Maximum interval between updates if no event wakes the loop.
const POLL_BY: Duration = Duration::from_secs(1);

pub(crate) fn carry(path: &Path, logs: LogOptions) -> Result<(), Problem> {
    let halves = |error: &dyn Display| Problem::environment("privileges", error);
    let monitor = getppid();
    let checked = read(path)?;
    logs.begin(&checked.config);
    let user = checked.config.user.as_deref().map(User::from_name).transpose();
    let user = user.map_err(|errno| halves(&errno))?.flatten();
    let signals = Signals::new(&[]).map_err(|error| Problem::environment("signals", error))?;
    let line = stdin().as_fd().try_clone_to_owned().map_err(|error| halves(&error))?;
    let line = Arc::new(Asking::of(line));
    let orders = line.ask(Request::Orders).ok().flatten();
    let orders = OrderLine::of(orders.ok_or_else(|| halves(&"no line of orders"))?);
    let mut tunnel = Tunnel::open(&checked, &line, orders, logs.log_level)?;
    let routed = tunnel.tun.index().and_then(|index| line.ask(Request::Route(index)));
    routed.map_err(|_| Problem::Reported(6))?;
    let config = &checked.config;
    let kept = if config.is_ethernet() { Kept::RawSockets } else { Kept::Connections };
    let is_filtered =
        sandbox::enter(user.as_ref(), monitor, kept).map_err(|error| halves(&error))?;
    report::print(&report::ready(&checked.config.name, is_filtered));
    let ready = tunnel.orders.reply(&Reply::Ready(is_filtered));
    ready.map_err(|error| halves(&error))?;
    tunnel.run(&signals).map_err(|error| Problem::environment(&checked.config.name, error))?;
    tunnel.report("end");
    Ok(())
}

struct Tunnel {
    peers: Peers,
    tun: Tun,
    icmp_errors: IcmpErrors,
    line: Arc<Asking>,
    orders: OrderLine,
    metrics: Option<MetricsServer>,
    status_replies: StatusReplies,
    config: Config,
    log_level: Option<LogLevel>,
    began_at: Instant,
    is_whole: bool,
    mtu: u16,
    next_poll: Instant,
    poll_by: Instant,
}

impl Tunnel {
    fn open(
        checked: &Checked,
        line: &Arc<Asking>,
        orders: OrderLine,
        log_level: Option<LogLevel>,
    ) -> Result<Self, Problem> {
        let config = &checked.config;
        let refused = |error: &dyn Display| Problem::environment(&config.name, error);
        let prefix_bytes = Tun::prefix_bytes_of(config);
        let peers = Peers::open(checked, line, prefix_bytes).map_err(|error| refused(&error))?;
        let tun = Tun::new(config).map_err(|error| refused(&error))?;
        let metrics = config.metrics.map(|at| MetricsServer::open(at.0)).transpose();
        let metrics = metrics.map_err(|error| Problem::environment("metrics", error))?;
        let now = now();
        Ok(Self {
            orders,
            metrics,
            status_replies: StatusReplies::default(),
            config: config.clone(),
            log_level,
            began_at: now,
            poll_by: now,
            peers,
            tun,
            icmp_errors: IcmpErrors::new(now),
            line: Arc::clone(line),
            is_whole: config.offload,
            mtu: config.mtu,
            next_poll: now,
        })
    }

    fn run(&mut self, signals: &Signals) -> io::Result<()> {
        self.line.carry();
        let mut ready = Ready::ANY;
        loop {
            while ready.has(SIGNALS)
                && let Some(signal) = signals.next()?
            {
                match signal {
                    Signal::SIGUSR1 => self.report("counters"),
                    Signal::SIGHUP => {}
                    _ => return Ok(()),
                }
            }
            if ready.has(ORDERS) {
                self.handle_orders()?;
            }
            if ready.has(LINE) {
                self.line.receive_reply();
            }
            self.status_replies.go_on(now());
            self.serve_metrics(ready);
            self.peers.ends.receive();
            while let Some((mut packet, longest_bytes)) = self.peers.next_packet() {
                clamp(&mut packet.bytes, longest_bytes.into());
                self.tun.write(&packet.bytes);
            }
            self.tun.flush();
            self.read(ready.has(INTERFACE))?;
            self.peers.transmit(now());
            let mut also = vec![self.tun.as_fd(), signals.as_fd()];
            also.extend([self.orders.as_fd(), self.line.as_fd()]);
            also.extend(self.metrics.iter().flat_map(MetricsServer::fds));
            let replies_at = self.status_replies.next_at(now()).unwrap_or(self.poll_by);
            ready = self.peers.ends.wait(Some(self.poll_by.min(replies_at)), &also)?;
        }
    }

    fn read(&mut self, is_ready: bool) -> io::Result<()> {
        let now = now();
        if self.next_poll <= now {
            self.next_poll = now.after(POLL_EVERY);
            self.poll_by = now.after(POLL_BY);
            self.peers.poll(now);
            self.follow();
        }
        let Self { tun, peers, icmp_errors, .. } = self;
        let reads = if is_ready { READS_A_TURN } else { 0 };
        for _ in 0..reads {
            let is_there = tun.read(|packet| {
                let Some((peer, longest_bytes)) = peers.destination(packet) else { return };
                if packet.len() > usize::from(longest_bytes) {
                    icmp_errors.refuse(now, packet, longest_bytes);
                } else {
                    clamp(packet, longest_bytes.into());
                    peers.enqueue(now, peer, packet);
                }
            })?;
            if !is_there {
                break;
            }
        }
        while let Some(icmp_error) = icmp_errors.next_icmp_error() {
            tun.write(&icmp_error);
        }
        tun.flush();
        Ok(())
    }

    fn follow(&mut self) {
        let mtu = self.peers.longest_bytes();
        if mtu != self.mtu && !self.is_whole {
            self.mtu = mtu;
            info!(mtu, "the interface takes packets of another length");
            // If this fails, packets that are too long still cause an ICMP error.
            self.line.queue_request(Request::SetMtu(mtu.into()));
        }
    }

    fn serve_metrics(&mut self, ready: Ready) {
        let Some(mut metrics) = self.metrics.take() else { return };
        let (now, mut fds) = (now(), METRICS..METRICS + metrics.fds().count());
        if fds.any(|one| ready.has(one)) || metrics.is_due(now) {
            metrics.serve(now, || self.status());
        }
        self.metrics = Some(metrics);
    }

    fn report(&self, event: &str) {
        report::print(&report::counters(event, &self.status()));
    }
}
