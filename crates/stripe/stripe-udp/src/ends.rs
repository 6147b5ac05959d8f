//! Many pipes in one process, on shared ports, as in a server.
//!
//! ```text
//!   port 0 ══► batches, in        ┌─ initiation: Noise identifies the sender
//!   port 1 ══► time order ────────┼─ from a known address of a peer: to its end    ──► ends
//!                                 └─ from an unknown address: keys are tried, rate limited
//!
//!   turn: receive ──► active ends ──► transmit, a quantum each, round robin ──► wait
//! ```
//!
//! A turn visits only active ends: those that received something, have work due, or were modified.
//!
//! Invariants: no end sends more than a quantum per round; unauthenticated input changes only
//! counters.

mod places;
mod unauthenticated;

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

use unauthenticated::Unauthenticated;
pub use unauthenticated::UnauthenticatedCounts;

/// Bytes that each end may send per round: one send call, or half a millisecond at 1 Gbit/s.
const QUANTUM_BYTES: u64 = 1 << 16;
/// Maximum rounds before receiving again; 64 quanta take 34 ms at 1 Gbit/s.
const ROUNDS: usize = 64;

/// Packet sources of all ends.
pub trait Sources {
    /// Type of a packet source.
    type One: Source;

    /// Returns the source of an end.
    fn of(&mut self, end: usize) -> &mut Self::One;
}

const NEVER: Instant = Instant::from_nanoseconds(u64::MAX);

/// Set of ends on shared ports.
#[derive(Debug)]
pub struct Ends {
    /// All ends, indexed by number; boxed because a growing vector would leave copies of their keys
    /// in memory.
    all: Vec<Option<Box<End>>>,
    due_at: Vec<Instant>,
    is_active: Vec<bool>,
    active: Vec<usize>,
    given: usize,
    first: usize,
    changed: Vec<usize>,
    owning: Vec<usize>,
    known: Ports,
    ports: Vec<Common>,
    unauthenticated: Unauthenticated,
    waiting: Waiting,
}

#[derive(Debug)]
struct Common {
    port: SharedPort,
    inbox: Inbox,
    is_quiet: bool,
    was_open: bool,
}

fn named(ends: &mut [Option<Box<End>>], number: usize) -> Option<(usize, &mut End)> {
    Some((number, ends.get_mut(number)?.as_mut()?))
}

impl Ends {
    /// Creates an empty set of ends that use this private key, with `granule` as the minimum time
    /// between wake-ups. Sets the thread's timer slack to 1 ns.
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
            unauthenticated: Unauthenticated::new(private)?,
            waiting: Waiting::new(granule).map_err(OpenError::Timer)?,
        })
    }

    /// Opens an end at the lowest free number, on shared ports if it has a peer. Returns the
    /// number.
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

    /// Opens an end like [`Self::add`], at the free `number`. Memory grows with the highest number.
    pub fn add_by(
        &mut self,
        number: usize,
        plan: &EndPlan,
        channels: Vec<(LinkPlan, Option<Opener>)>,
        epoch: Epoch,
    ) -> Result<(), OpenError> {
        self.add_at(now(), number, plan, channels, epoch)
    }

    /// Opens an end like [`Self::add_by`], at a given time.
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
        self.unauthenticated.add(number, &end)?;
        if self.all.len() <= number {
            self.all.resize_with(number + 1, || None);
            self.due_at.resize(number + 1, NEVER);
            self.is_active.resize(number + 1, false);
        }
        self.all[number] = Some(end);
        self.change(number);
        Ok(())
    }

    /// Removes an end and its unshared ports.
    pub fn remove(&mut self, number: usize) -> Option<Box<End>> {
        let end = self.all.get_mut(number)?.take()?;
        self.due_at[number] = NEVER;
        // The next end with this number must be able to become active.
        if take(&mut self.is_active[number]) {
            self.active.retain(|one| *one != number);
        }
        self.unauthenticated.remove(number, &end);
        self.changed.push(number);
        Some(end)
    }

    /// Returns an end, if present.
    pub fn end(&self, number: usize) -> Option<&End> {
        self.all.get(number)?.as_deref()
    }

    /// Returns an end for modification, and makes it active.
    pub fn end_mut(&mut self, number: usize) -> Option<&mut End> {
        self.change(number);
        self.all.get_mut(number)?.as_deref_mut()
    }

    fn change(&mut self, number: usize) {
        self.touch(number);
        self.changed.push(number);
    }

    /// Makes an end active.
    pub fn touch(&mut self, number: usize) {
        let is_there = self.all.get(number).is_some_and(Option::is_some);
        if is_there && !std::mem::replace(&mut self.is_active[number], true) {
            self.active.push(number);
        }
    }

    /// Returns the active ends.
    pub fn active(&self) -> &[usize] {
        &self.active
    }

    /// Receives for all ends.
    pub fn receive(&mut self) {
        self.receive_by(Moment::read);
    }

    /// Receives like [`Self::receive`], at a given time.
    pub fn receive_at(&mut self, now: Instant) {
        self.receive_by(|| Moment::at(now));
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

    fn first_come(&self) -> Option<usize> {
        let ports = self.ports.iter().enumerate();
        let come = ports.filter_map(|(place, one)| Some((one.inbox.next_at()?, place)));
        come.min().map(|(_, place)| place)
    }

    fn take_batch(&mut self, place: usize) -> usize {
        let mut inbox = take(&mut self.ports[place].inbox);
        let port = Rc::clone(&self.ports[place].port);
        let datagrams = inbox.take().map_or(0, |batch| {
            let (datagrams, at) = (batch.len(), batch.at);
            if let Some(from) = batch.from {
                let origin = Origin { at, port: &port, from, ecn: batch.ecn };
                self.unauthenticated.begin(origin);
                let mut whose = None;
                for datagram in batch.datagrams() {
                    whose = self.take_datagram(origin, datagram).or(whose);
                }
                self.unauthenticated.reply(origin, whose, &self.all);
            }
            datagrams.max(1)
        });
        self.ports[place].inbox = inbox;
        datagrams
    }

    fn take_datagram(&mut self, origin: Origin<'_>, datagram: &mut [u8]) -> Option<usize> {
        let Self { unauthenticated, all, .. } = self;
        let whose = if is_initiation(datagram) {
            unauthenticated.take_initiation(origin, datagram, all)
        } else {
            unauthenticated.take(origin, datagram, all)
        };
        if let Some(number) = whose {
            self.touch(number);
        }
        whose
    }

    /// Returns the next packet and its end; packets of each end are in order.
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

    /// Sends for all active ends.
    pub fn transmit(&mut self, sources: &mut impl Sources) {
        self.transmit_by(now, sources);
    }

    /// Sends like [`Self::transmit`], at a given time.
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
        // Ends with more work are due immediately, and become active again at the next reception.
        active.drain(..).for_each(|number| self.is_active[number] = false);
        self.active = active;
    }

    /// Returns the time of the next timeout.
    pub fn timeout(&self) -> Instant {
        self.due_at.iter().copied().fold(NEVER, Instant::min)
    }

    /// Waits until work is due, a descriptor in `also` is ready, or `until` has passed. Returns the
    /// descriptors in `also` that may be readable.
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

    fn follow(&mut self, now: Instant) {
        if !self.changed.is_empty() {
            for number in take(&mut self.changed) {
                if let Some((number, end)) = named(&mut self.all, number) {
                    self.unauthenticated.learn_remotes(number, end);
                }
            }
            let has_own =
                |number: &usize| self.all[*number].as_ref().is_some_and(|end| end.has_own());
            self.owning = (0..self.all.len()).filter(has_own).collect();
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

    /// Returns the counters of datagrams from unknown addresses.
    pub const fn unauthenticated(&self) -> &UnauthenticatedCounts {
        &self.unauthenticated.counts
    }

    /// Returns the wake-up counters.
    pub const fn wakeups(&self) -> &Wakeups {
        &self.waiting.wakeups
    }
}
