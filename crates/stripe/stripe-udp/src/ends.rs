//! Many pipes in one process, each with its own peer: they have ports in common, as a server's have.
//!
//! ```text
//!   port 0 ══► batches, in the    ┌─ an initiation: whose it is, Noise says
//!   port 1 ══► order of time ─────┼─ from where a peer was heard before: that one's     ──► ends
//!                                 └─ from elsewhere: tried with keys, so many a second
//!
//!   turn: receive ──► ends with something to do ──► transmit, a quantum each, in rotation ──► wait
//! ```
//!
//! Only ends are touched for which something came, or is due, or to which something was given: when
//! the next is due is a scan over one number an end.
//!
//! Invariants: no end sends more than a quantum before all others that are to send have had theirs;
//! what is not authentic changes nothing but counts.

mod places;
mod strangers;

use std::io;
use std::mem::take;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::Duration;

use gingham_stripe::{Epoch, Instant};
use gingham_stripe_crypt::{PrivateKey, is_initiation};

use crate::clock::{Moment, now};
use crate::end::{DATAGRAMS_A_TURN, End, EndPlan, Origin, Source};
use crate::error::{Meaning, OpenError};
use crate::inbox::Inbox;
use crate::link::LinkPlan;
use crate::port::{Ports, SharedPort};
use crate::socket::Opener;
use crate::striping::Packet;
use crate::wait::{Ready, Waiting, Wakeups};

pub use strangers::StrangerCounts;
use strangers::Strangers;

/// What an end sends before the others have their turn: half a millisecond at 1 Gbit/s, and what
/// goes in one call.
const QUANTUM_BYTES: u64 = 1 << 16;
/// Turns before what has come is taken: as much as 64 quanta, 30 ms of 1 Gbit/s.
const ROUNDS: usize = 64;

/// Where the packets of each end come from.
pub trait Sources {
    /// Where those of one come from.
    type One: Source;

    /// Where those of this end come from.
    fn of(&mut self, end: usize) -> &mut Self::One;
}

/// Never.
const NEVER: Instant = Instant::from_nanoseconds(u64::MAX);

/// Many ends, by their numbers.
#[derive(Debug)]
pub struct Ends {
    /// Each stands where it was made: no copy of its keys is left where a list grew from.
    all: Vec<Option<Box<End>>>,
    /// When something is to be done at each though nothing comes.
    due_at: Vec<Instant>,
    is_active: Vec<bool>,
    /// Those at which something is to be done in this turn.
    active: Vec<usize>,
    /// Up to which of them packets were given out.
    given: usize,
    /// Who sends first in the next turn, a number that grows.
    first: usize,
    /// Those whose channels may be others than before.
    changed: Vec<usize>,
    /// Those for which something comes that nobody else has.
    owning: Vec<usize>,
    known: Ports,
    ports: Vec<Common>,
    strangers: Strangers,
    waiting: Waiting,
}

/// A port that ends have in common, and what came there.
#[derive(Debug)]
struct Common {
    port: SharedPort,
    inbox: Inbox,
    /// Nothing had come when it was waited for last.
    is_quiet: bool,
    was_open: bool,
}

/// An end that is there.
fn named(ends: &mut [Option<Box<End>>], number: usize) -> Option<(usize, &mut End)> {
    Some((number, ends.get_mut(number)?.as_mut()?))
}

impl Ends {
    /// None yet, for whose packets this key is, with so much time between two wake-ups at least.
    /// The calling thread is woken to the nanosecond from then on.
    pub fn new(private: Option<&PrivateKey>, granule: Duration) -> Result<Self, OpenError> {
        Ok(Self {
            all: Vec::new(),
            due_at: Vec::new(),
            is_active: Vec::new(),
            active: Vec::new(),
            given: 0,
            first: 0,
            changed: Vec::new(),
            owning: Vec::new(),
            known: Ports::in_common(),
            ports: Vec::new(),
            strangers: Strangers::new(private)?,
            waiting: Waiting::new(granule).map_err(OpenError::Timer)?,
        })
    }

    /// Opens one more, and gives its number, the lowest that is free. Where datagrams are sealed it
    /// has ports in common with all others.
    pub fn add(
        &mut self,
        plan: &EndPlan,
        channels: Vec<impl Into<LinkPlan>>,
        epoch: Epoch,
    ) -> Result<usize, OpenError> {
        let channels = channels.into_iter().map(|one| (one.into(), None)).collect();
        let free = self.all.iter().position(Option::is_none);
        let number = free.unwrap_or(self.all.len());
        self.add_by(number, plan, channels, epoch)?;
        Ok(number)
    }

    /// The same, at a number that is free, with sockets that openers give, now and later, where there
    /// are any. What there is room for grows with the highest number.
    pub fn add_by(
        &mut self,
        number: usize,
        plan: &EndPlan,
        channels: Vec<(LinkPlan, Option<Opener>)>,
        epoch: Epoch,
    ) -> Result<(), OpenError> {
        self.add_at(now(), number, plan, channels, epoch)
    }

    /// As [`Self::add_by`], at a time that is told.
    pub fn add_at(
        &mut self,
        now: Instant,
        number: usize,
        plan: &EndPlan,
        channels: Vec<(LinkPlan, Option<Opener>)>,
        epoch: Epoch,
    ) -> Result<(), OpenError> {
        if self.end(number).is_some() {
            return Err(OpenError::Taken(number));
        }
        let ports = if plan.peer.is_some() { self.known.clone() } else { Ports::default() };
        let end = Box::new(End::open_on(now, plan, channels, epoch, (ports, self.waiting))?);
        self.strangers.add(number, &end)?;
        if self.all.len() <= number {
            self.all.resize_with(number + 1, || None);
            self.due_at.resize(number + 1, NEVER);
            self.is_active.resize(number + 1, false);
        }
        self.all[number] = Some(end);
        self.change(number);
        Ok(())
    }

    /// An end is there no longer, nor any port that was its alone.
    pub fn remove(&mut self, number: usize) -> Option<Box<End>> {
        let end = self.all.get_mut(number)?.take()?;
        self.due_at[number] = NEVER;
        // Whoever comes there next is to have turns.
        if take(&mut self.is_active[number]) {
            self.active.retain(|one| *one != number);
        }
        self.strangers.remove(number, &end);
        self.changed.push(number);
        Some(end)
    }

    /// An end.
    pub fn end(&self, number: usize) -> Option<&End> {
        self.all.get(number)?.as_deref()
    }

    /// An end, to which something may be done: it has a turn.
    pub fn end_mut(&mut self, number: usize) -> Option<&mut End> {
        self.change(number);
        self.all.get_mut(number)?.as_deref_mut()
    }

    fn change(&mut self, number: usize) {
        self.touch(number);
        self.changed.push(number);
    }

    /// An end has a turn: there may be packets for it to send.
    pub fn touch(&mut self, number: usize) {
        let is_there = self.all.get(number).is_some_and(Option::is_some);
        if is_there && !std::mem::replace(&mut self.is_active[number], true) {
            self.active.push(number);
        }
    }

    /// Those that have a turn.
    pub fn active(&self) -> &[usize] {
        &self.active
    }

    /// Takes what has come for all ends.
    pub fn receive(&mut self) {
        self.receive_by(Moment::read);
    }

    /// As [`Self::receive`], at a time that is told: by it ports in memory have their times.
    pub fn receive_at(&mut self, now: Instant) {
        self.receive_by(|| Moment::told(now));
    }

    fn receive_by(&mut self, read: impl Fn() -> Moment) {
        let moment = read();
        self.follow(moment.now);
        self.given = 0;
        for number in 0..self.all.len() {
            if self.due_at[number] <= moment.now {
                self.touch(number);
            }
        }
        for place in 0..self.ports.len() {
            if !take(&mut self.ports[place].is_quiet) {
                self.fill(place, &moment);
            }
        }
        let mut left = DATAGRAMS_A_TURN;
        while let Some(place) = self.first_come() {
            left = left.saturating_sub(self.take_batch(place));
            let inbox = &self.ports[place].inbox;
            if left > 0 && inbox.was_full() && inbox.next_at().is_none() {
                self.fill(place, &read());
            }
        }
        for number in &self.active {
            if let Some(end) = &mut self.all[*number] {
                if end.has_own() {
                    end.receive_by(&read);
                }
                end.settle(moment.now);
            }
        }
    }

    fn fill(&mut self, place: usize, moment: &Moment) {
        let Common { port, inbox, .. } = &mut self.ports[place];
        let filled = {
            let port = port.borrow();
            if !port.is_open() {
                return;
            }
            inbox.fill(|bytes, arrivals| port.receive(bytes, arrivals), moment)
        };
        if filled.is_err_and(|error| Meaning::of(&error) == Meaning::Gone) {
            port.borrow_mut().close();
        }
    }

    /// The port on which something came first of what is not taken.
    fn first_come(&self) -> Option<usize> {
        let ports = self.ports.iter().enumerate();
        let come = ports.filter_map(|(place, one)| Some((one.inbox.next_at()?, place)));
        come.min().map(|(_, place)| place)
    }

    /// Takes the next batch of a port: how many datagrams it was.
    fn take_batch(&mut self, place: usize) -> usize {
        // Others are told of what is in it.
        let mut inbox = take(&mut self.ports[place].inbox);
        let port = Rc::clone(&self.ports[place].port);
        let datagrams = inbox.take().map_or(0, |batch| {
            let (datagrams, at) = (batch.len(), batch.at);
            if let Some(from) = batch.from {
                let origin = Origin { at, port: &port, from, ecn: batch.ecn };
                self.strangers.begin(origin);
                let mut whose = None;
                for datagram in batch.datagrams() {
                    whose = self.take_datagram(origin, datagram).or(whose);
                }
                self.strangers.reply(origin, whose, &self.all);
            }
            datagrams.max(1)
        });
        self.ports[place].inbox = inbox;
        datagrams
    }

    /// Takes a datagram: whose it was, if it was anybody's.
    fn take_datagram(&mut self, origin: Origin<'_>, datagram: &mut [u8]) -> Option<usize> {
        let Self { strangers, all, .. } = self;
        let whose = if is_initiation(datagram) {
            strangers.take_initiation(origin, datagram, all)
        } else {
            strangers.take(origin, datagram, all)
        };
        if let Some(number) = whose {
            self.touch(number);
        }
        whose
    }

    /// The next packet, and of which end: of each in its order.
    pub fn next_packet(&mut self) -> Option<(usize, Packet)> {
        while let Some(number) = self.active.get(self.given).copied() {
            let end = self.all[number].as_mut();
            if let Some(packet) = end.and_then(|end| end.next_packet()) {
                return Some((number, packet));
            }
            self.given += 1;
        }
        None
    }

    /// Sends what is to be said and, as far as windows and paces let them go, copies and packets, of
    /// all ends that have a turn.
    pub fn transmit(&mut self, sources: &mut impl Sources) {
        self.transmit_by(now, sources);
    }

    /// As [`Self::transmit`], at a time that is told.
    pub fn transmit_at(&mut self, now: Instant, sources: &mut impl Sources) {
        self.transmit_by(|| now, sources);
    }

    fn transmit_by(&mut self, now: impl Fn() -> Instant, sources: &mut impl Sources) {
        let mut active = take(&mut self.active);
        if !active.is_empty() {
            let first = self.first % active.len();
            active.rotate_left(first);
            self.first = self.first.wrapping_add(1);
        }
        for _ in 0..ROUNDS {
            if active.is_empty() {
                break;
            }
            active.retain(|number| {
                let Some(end) = &mut self.all[*number] else { return false };
                let has_more = end.transmit_some(now(), sources.of(*number), QUANTUM_BYTES);
                if !has_more {
                    end.rest();
                }
                self.due_at[*number] = if has_more { Instant::ORIGIN } else { end.due_at() };
                self.is_active[*number] = has_more;
                has_more
            });
        }
        // These have their turn next.
        active.drain(..).for_each(|number| self.is_active[number] = false);
        self.active = active;
    }

    /// When something is to be done though nothing comes.
    pub fn timeout(&self) -> Instant {
        self.due_at.iter().copied().fold(NEVER, Instant::min)
    }

    /// Waits until something is to be done, one of these is readable, or it is so late. Tells which
    /// of these may be.
    pub fn wait(&mut self, until: Option<Instant>, also: &[BorrowedFd<'_>]) -> io::Result<Ready> {
        self.follow(now());
        let mut waiting = self.waiting;
        let due_at = self.timeout();
        let until = until.map_or(due_at, |until| until.min(due_at));
        let ports: Vec<_> = self.ports.iter().map(|one| one.port.borrow()).collect();
        let mut fds: Vec<_> = ports.iter().filter_map(|port| port.fd()).collect();
        let (mut own, mut writable) = (Vec::new(), Vec::new());
        for number in &self.owning {
            let Some(end) = &self.all[*number] else { continue };
            let (before, awaited) = (fds.len(), writable.len());
            fds.extend(end.fds());
            writable.extend(end.writable_fds());
            own.push((*number, fds.len() - before, writable.len() > awaited));
        }
        fds.extend(also);
        let ready = waiting.wait(until, &fds, &writable);
        drop((fds, writable));
        drop(ports);
        self.waiting = waiting;
        let mut ready = ready?;
        for one in self.ports.iter_mut().filter(|one| one.port.borrow().fd().is_some()) {
            one.is_quiet = !ready.has(0);
            ready = ready.from(1);
        }
        for (number, count, is_awaited) in own {
            if is_awaited || (0..count).any(|one| ready.has(one)) {
                self.touch(number);
            }
            if let Some(end) = &mut self.all[number] {
                end.set_ready(ready);
            }
            ready = ready.from(count);
        }
        Ok(ready)
    }

    /// Ports, and what is known of channels, are those of the ends that are there.
    fn follow(&mut self, now: Instant) {
        if !self.changed.is_empty() {
            for number in take(&mut self.changed) {
                if let Some((number, end)) = named(&mut self.all, number) {
                    self.strangers.learn_remotes(number, end);
                }
            }
            let has_own =
                |number: &usize| self.all[*number].as_ref().is_some_and(|end| end.has_own());
            self.owning = (0..self.all.len()).filter(has_own).collect();
            // Those of the list, and ours.
            self.ports.retain(|one| Rc::strong_count(&one.port) > 2);
            for port in self.known.list() {
                if !self.ports.iter().any(|one| Rc::ptr_eq(&one.port, &port)) {
                    let inbox = Inbox::new(port.borrow().batches(), now);
                    self.ports.push(Common { port, inbox, is_quiet: false, was_open: true });
                }
            }
        }
        for Common { port, was_open, .. } in &mut self.ports {
            let is_open = port.borrow().is_open();
            if std::mem::replace(was_open, is_open) && !is_open {
                self.all.iter_mut().flatten().for_each(|end| end.lose_port(port, now));
            }
        }
    }

    /// What has been counted of who was not known.
    pub const fn strangers(&self) -> &StrangerCounts {
        &self.strangers.counts
    }

    /// What has been counted of wake-ups.
    pub const fn wakeups(&self) -> &Wakeups {
        &self.waiting.wakeups
    }
}
