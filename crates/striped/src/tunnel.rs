//! The loop: packets from the interface into the pipe, and from the pipe to the interface.
//!
//! ```text
//!            ┌── until something comes, a pace lets something go, a signal ──┐
//!            ▼                                                               │
//!   receive ──► write to the interface ──► read from it ──► transmit ──► wait (ppoll)
//! ```

use std::fmt::Display;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use gingham_stripe::{Controlled, Epoch, Instant, Order};
use gingham_stripe_udp::{End, EndPlan, LinkPlan, ProtectionPlan, Ready, StripingPlan, now};
use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};

use crate::check::{Checked, load};
use crate::config::Config;
use crate::device::Tun;
use crate::entry::Entry;
use crate::problem::Problem;
use crate::report;
use crate::signals::Signals;

/// Calls of the interface before the channels have their turn: at most as many packets as these
/// give out before the interface has its own.
const READS_A_TURN: usize = 64;
/// What is waited for beside the channels, in this order.
const INTERFACE: usize = 0;
const SIGNALS: usize = 1;
/// How often the queue hears of the round trip of the pipe.
const ROUND_TRIP_EVERY: Duration = Duration::from_millis(100);
/// An epoch is a count of so many milliseconds: no end resets so often for long, and half of what
/// 32 bits count, within which one is told from an earlier one, is four years.
const EPOCH_MS: u128 = 64;

/// Carries packets until a signal ends it.
pub(crate) fn up(path: &Path) -> Result<(), Problem> {
    let checked = load(path)?;
    // Whatever comes from here on ends us in order.
    let signals = Signals::new().map_err(|error| Problem::environment("signals", error))?;
    let mut tunnel = Tunnel::open(&checked)?;
    report::print(&report::ready(&checked.config.name));
    tunnel.run(&signals).map_err(|error| Problem::environment(&checked.config.name, error))?;
    tunnel.report("end");
    Ok(())
}

struct Tunnel {
    end: End,
    tun: Tun,
    entry: Entry,
    round_trip_at: Instant,
}

impl Tunnel {
    fn open(checked: &Checked) -> Result<Self, Problem> {
        let config = &checked.config;
        let refused = |error: &dyn Display| Problem::environment(&config.name, error);
        let plan = plan(checked).map_err(|error| refused(&error))?;
        let end = End::open(&plan, links(config), epoch()).map_err(|error| refused(&error))?;
        let tun = Tun::new(config).map_err(|error| refused(&error))?;
        let entry = Entry::new(plan.striping.longest_bytes, tun.prefix_bytes());
        Ok(Self { end, tun, entry, round_trip_at: now() })
    }

    fn run(&mut self, signals: &Signals) -> io::Result<()> {
        let mut ready = Ready::ANY;
        loop {
            while ready.has(SIGNALS)
                && let Some(signal) = signals.next()?
            {
                match signal {
                    Signal::SIGUSR1 => self.report("counters"),
                    _ => return Ok(()),
                }
            }
            self.end.receive();
            while let Some(packet) = self.end.next_packet() {
                self.tun.write(&packet.bytes);
            }
            self.tun.flush();
            self.read(ready.has(INTERFACE))?;
            self.end.transmit(&mut self.entry);
            ready = self.end.wait(None, &[self.tun.as_fd(), signals.as_fd()])?;
        }
    }

    /// Takes what waits at the interface, if anything may, into the queue.
    fn read(&mut self, is_ready: bool) -> io::Result<()> {
        let now = now();
        self.entry.advance(now);
        if self.round_trip_at <= now {
            self.round_trip_at = now.after(ROUND_TRIP_EVERY);
            if let Some(round_trip) = self.end.round_trip_least() {
                self.entry.set_round_trip(round_trip);
            }
        }
        let reads = if is_ready { READS_A_TURN } else { 0 };
        for _ in 0..reads {
            if !self.tun.read(|packet| self.entry.enqueue(packet))? {
                break;
            }
        }
        Ok(())
    }

    fn report(&self, event: &str) {
        report::print(&report::counters(event, &self.end, &self.entry, self.tun.refused));
    }
}

/// What carries the channels.
fn links(config: &Config) -> Vec<LinkPlan> {
    let over_ethernet = config.ethernet_plans().into_iter().map(LinkPlan::from);
    let plans = config.channels.iter().filter_map(|channel| channel.plan(config.mark));
    plans.map(LinkPlan::from).chain(over_ethernet).collect()
}

fn plan(checked: &Checked) -> Result<EndPlan, String> {
    if checked.config.is_ethernet() {
        return checked.config.ethernet_plan();
    }
    let Config { mtu, order, control, .. } = checked.config;
    let mut striping = match order.into() {
        Order::Free => StripingPlan::free(mtu.into()),
        Order::Strict => StripingPlan::strict(mtu.into()),
    }
    .repaired();
    if let Some(plan) = &mut striping.sender.control {
        plan.by = Controlled::from(control);
    }
    let protection = checked.secret.map(|(secret, role)| ProtectionPlan::new(secret, role.into()));
    Ok(EndPlan { striping, protection, ..EndPlan::free(mtu.into()) })
}

/// Later than that of any start before, unless somebody puts the clock back.
fn epoch() -> Epoch {
    let since_1970 = clock_gettime(ClockId::CLOCK_REALTIME).expect("every Linux has this clock");
    let count = Duration::from(since_1970).as_millis() / EPOCH_MS;
    Epoch::new(u32::try_from(count % (1 << 32)).expect("below 2^32"))
}
