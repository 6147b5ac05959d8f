//! The loop: packets from the interface into the pipe, and from the pipe to the interface.
//!
//! ```text
//!            ┌── until something comes, a pace lets something go, a signal ──┐
//!            ▼                                                               │
//!   receive ──► write to the interface ──► read from it ──► transmit ──► wait (ppoll)
//! ```

use std::fmt::Display;
use std::io::{self, stdin};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gingham_stripe::{Controlled, Epoch, Instant, Order};
use gingham_stripe_udp::{End, EndPlan, LinkPlan, Opener, Ready, StripingPlan, now};
use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{User, getppid};

use crate::allowed::Allowed;
use crate::check::{Checked, read};
use crate::config::{Channel, Config};
use crate::device::Tun;
use crate::entry::Entry;
use crate::line::{HalfLine, Request};
use crate::packet::{Answers, clamp};
use crate::problem::Problem;
use crate::report;
use crate::sandbox::{self, Kept};
use crate::signals::Signals;

/// Calls of the interface before the channels have their turn: at most as many packets as these
/// give out before the interface has its own.
const READS_A_TURN: usize = 64;
/// What is waited for beside the channels, in this order.
const INTERFACE: usize = 0;
const SIGNALS: usize = 1;
/// How often the queue hears of the round trip of the pipe, and the interface of its longest packet.
const ROUND_TRIP_EVERY: Duration = Duration::from_millis(100);
/// An epoch is a count of so many milliseconds: no end resets so often for long, and half of what
/// 32 bits count, within which one is told from an earlier one, is four years.
const EPOCH_MS: u128 = 64;

/// Carries packets for the half that runs this one, until a signal ends it.
pub(crate) fn carry(path: &Path) -> Result<(), Problem> {
    let halves = |error: &dyn Display| Problem::environment("privileges", error);
    let monitor = getppid();
    let checked = read(path)?;
    let user = checked.config.user.as_deref().map(User::from_name).transpose();
    let user = user.map_err(|errno| halves(&errno))?.flatten();
    // Whatever comes from here on ends us in order.
    let signals = Signals::new(&[]).map_err(|error| Problem::environment("signals", error))?;
    let line = stdin().as_fd().try_clone_to_owned().map_err(|error| halves(&error))?;
    let line = Arc::new(HalfLine::of(line));
    let mut tunnel = Tunnel::open(&checked, &line)?;
    // The other half says why not.
    let routed = tunnel.tun.index().and_then(|index| line.ask(Request::Route(index)));
    routed.map_err(|_| Problem::Told(6))?;
    let config = &checked.config;
    let kept = if config.is_ethernet() {
        Kept::RawSockets
    } else if config.channels.iter().any(Channel::is_tcp) {
        Kept::Connections
    } else {
        Kept::Nothing
    };
    let is_filtered =
        sandbox::enter(user.as_ref(), monitor, kept).map_err(|error| halves(&error))?;
    report::print(&report::ready(&checked.config.name, is_filtered));
    tunnel.run(&signals).map_err(|error| Problem::environment(&checked.config.name, error))?;
    tunnel.report("end");
    Ok(())
}

struct Tunnel {
    end: End,
    tun: Tun,
    entry: Entry,
    answers: Answers,
    allowed: Allowed,
    line: Arc<HalfLine>,
    is_whole: bool,
    /// What the interface may take at least and at most, and what it takes.
    mtus: (u16, u16),
    mtu: u16,
    round_trip_at: Instant,
}

impl Tunnel {
    fn open(checked: &Checked, line: &Arc<HalfLine>) -> Result<Self, Problem> {
        let config = &checked.config;
        let refused = |error: &dyn Display| Problem::environment(&config.name, error);
        let plan = plan(checked).map_err(|error| refused(&error))?;
        let mut end = End::open(&plan, links(config), epoch()).map_err(|error| refused(&error))?;
        for channel in 0..end.channels() {
            let line = Arc::clone(line);
            end.set_opener(channel, Opener::new(move || reopened(&line, channel)));
        }
        let tun = Tun::new(config).map_err(|error| refused(&error))?;
        let entry = Entry::new(plan.striping.longest_bytes, tun.prefix_bytes());
        let now = now();
        Ok(Self {
            end,
            tun,
            entry,
            answers: Answers::new(now),
            allowed: Allowed::new(config),
            line: Arc::clone(line),
            is_whole: config.offload,
            mtus: (config.mtu_min(), config.mtu),
            mtu: config.mtu,
            round_trip_at: now,
        })
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
            let longest_bytes = self.longest_bytes();
            while let Some(mut packet) = self.end.next_packet() {
                if !self.allowed.passes_out(&packet.bytes) {
                    continue;
                }
                clamp(&mut packet.bytes, longest_bytes.into());
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
            self.follow();
            if let Some(round_trip) = self.end.round_trip_least() {
                self.entry.set_round_trip(round_trip);
            }
        }
        let longest_bytes = self.longest_bytes();
        let Self { tun, entry, answers, allowed, .. } = self;
        let reads = if is_ready { READS_A_TURN } else { 0 };
        for _ in 0..reads {
            let is_there = tun.read(|packet| {
                if !allowed.passes_in(packet) {
                    return;
                }
                if packet.len() > usize::from(longest_bytes) {
                    answers.refuse(now, packet, longest_bytes);
                } else {
                    clamp(packet, longest_bytes.into());
                    entry.enqueue(packet);
                }
            })?;
            if !is_there {
                break;
            }
        }
        while let Some(answer) = answers.next_answer() {
            tun.write(&answer);
        }
        tun.flush();
        Ok(())
    }

    /// The longest packet that the bundle takes now. What goes whole goes however long.
    fn longest_bytes(&self) -> u16 {
        let longest_bytes = u16::try_from(self.end.longest_bytes()).unwrap_or(u16::MAX);
        let (least, most) = self.mtus;
        if self.is_whole { u16::MAX } else { longest_bytes.clamp(least, most) }
    }

    /// The interface takes what the bundle does.
    fn follow(&mut self) {
        let mtu = self.longest_bytes();
        if mtu != self.mtu && !self.is_whole {
            self.mtu = mtu;
            // Where that is refused, what is too long is answered all the same.
            let _: io::Result<_> = self.line.ask(Request::SetMtu(mtu.into()));
        }
    }

    fn report(&self, event: &str) {
        report::print(&report::counters(
            event,
            &self.end,
            &self.entry,
            &self.answers,
            &self.allowed,
            self.tun.refused,
        ));
    }
}

/// What carries the channels.
fn links(config: &Config) -> Vec<LinkPlan> {
    let over_ethernet = config.ethernet_plans().into_iter().map(LinkPlan::from);
    let plan = |channel: &Channel| {
        let over_udp = channel.plan(config.mark).map(LinkPlan::from);
        over_udp.or_else(|| channel.tcp_plan(config.mark, config.mtu.into()).map(LinkPlan::from))
    };
    config.channels.iter().filter_map(plan).chain(over_ethernet).collect()
}

/// A socket from the half that may open one.
fn reopened(line: &HalfLine, channel: usize) -> io::Result<OwnedFd> {
    let number = u32::try_from(channel).expect("channels are few");
    let given = line.ask(Request::Open(number))?;
    given.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
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
    Ok(EndPlan { striping, peer: checked.peer.clone(), ..EndPlan::free(mtu.into()) })
}

/// Over Ethernet, where no handshake names a session: later than that of any start before, unless
/// somebody puts the clock back.
fn epoch() -> Epoch {
    let since_1970 = clock_gettime(ClockId::CLOCK_REALTIME).expect("every Linux has this clock");
    let count = Duration::from(since_1970).as_millis() / EPOCH_MS;
    Epoch::new(u32::try_from(count % (1 << 32)).expect("below 2^32"))
}
