//! In-transit hosts: worms that a host takes in and sends on.
//!
//! ```text
//!   ejection channel ──► head arrives ──┬─ room in the pool ──► ready T_d + T_r later, while the rest arrives ──┐
//!                        (incoming)     └─ none: to memory ──► ready some time after the tail has arrived ──────┤
//!   host's channel   ◄── the worm that became ready first, else the adapter ◄───────────────── (ready) ◄────────┘
//! ```
//!
//! A worm of which something is still to arrive when it is sent on is fed by the channel into the host, in the same
//! manner as an output of a switch is fed by an input; one that is there whole is sent as if it began here. Source: Flich et
//! al. 2001, section III; `docs/concepts/timing.md` says when things happen.
//!
//! Invariant: the channel into a host keeps the runs of all flits that have not arrived, and those of the worm that is
//! arriving or sent on.

use crate::wormhole::event::Event;
use crate::wormhole::simulation::Simulation;
use crate::wormhole::state::Incoming;
use gingham_kernel::{Span, Time};
use gingham_model::{InTransitPlan, Plan, WhenFull};
use gingham_topology::{ChannelId, Fabric};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What an endpoint has of worms in transit.
#[derive(Clone, Debug)]
pub(crate) struct Transit {
    /// Worms on the way to it whose head was not looked at.
    incoming: VecDeque<Incoming>,
    /// The worm whose head was looked at last, which alone may still be arriving.
    latest: Option<Incoming>,
    /// One that goes by the host's memory and whose tail has not left the last switch, with the earliest that it can be ready.
    spilled: Option<Ready>,
    /// Those of which it is known when they are ready, the first on top.
    ready: BinaryHeap<Reverse<Ready>>,
    /// Bytes for which the pool has room.
    room_bytes: u64,
    /// Bytes of the pool that the worm in transit takes that is being sent, if one is.
    sending_bytes: Option<u64>,
}

/// A worm that may be sent on from some instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Ready {
    /// From when on, in picoseconds.
    pub(crate) at: u64,
    /// Number of its first flit on the channel into the host: the order of arrival.
    pub(crate) first: u64,
    /// What it takes of the pool.
    pub(crate) pool_bytes: u64,
    pub(crate) worm: Incoming,
}

impl Transit {
    /// By endpoint; empty if no path of the plan visits a host and no host has a port.
    pub(crate) fn all(plan: &Plan) -> Vec<Self> {
        let transit = Self {
            incoming: VecDeque::new(),
            latest: None,
            spilled: None,
            ready: BinaryHeap::new(),
            room_bytes: plan.in_transit.pool_bytes,
            sending_bytes: None,
        };
        let has_ports = plan.in_transit.when_full == WhenFull::Stop;
        let takes_in = has_ports || plan.has_in_transit_hosts();
        let endpoints = if takes_in { plan.fabric.endpoints().len() } else { 0 };
        vec![transit; endpoints]
    }

    /// The number of the first flit of the channel into the host that somebody may ask about, if so many have arrived and
    /// a worm is sent on from this number on.
    fn needed_from(&self, arrived: u64, sent_from: Option<u64>) -> u64 {
        let latest = self.latest.filter(|worm| worm.first + worm.flits > arrived);
        latest.map_or(arrived, |worm| worm.first).min(sent_from.unwrap_or(arrived))
    }
}

impl Simulation {
    /// A worm begins on `channel` into a host: remembers it if it is in transit there.
    #[inline(never)] // Most runs have no worms in transit: here and below their code stays out of the way.
    pub(crate) fn await_transit(&mut self, channel: ChannelId, worm: Incoming) {
        let host = self.places[channel.index()].receiver.expect("the channel ends at a host");
        let is_in_transit = self.worms.get(worm.worm).packet.destination != host;
        self.senders[channel.index()].in_transit = is_in_transit;
        if is_in_transit {
            self.transits[host.index()].incoming.push_back(worm);
        }
    }

    // Phase 4: request.

    /// Looks at the head of the next worm in transit that comes in `channel`, if it is there.
    #[inline(never)]
    pub(crate) fn recognise(&mut self, channel: ChannelId) {
        let host = self.places[channel.index()].receiver.expect("the channel ends at a host");
        let transit = &mut self.transits[host.index()];
        let Some(worm) = transit.incoming.front().copied() else { return };
        let sender = &self.senders[channel.index()];
        let arrival = sender.schedule.start_of(worm.first).map(|start| start + sender.latency);
        if arrival.is_none_or(|arrival| arrival > self.now) {
            return;
        }
        transit.incoming.pop_front();
        let InTransitPlan { detection, programming, .. } = self.plan.in_transit;
        let at = self.now + (detection + programming).as_ps();
        let ready = Ready { at, first: worm.first, pool_bytes: 0, worm };
        if let Some(pool_bytes) = self.take_room(channel, worm) {
            return self.send_on_from(channel, Ready { pool_bytes, ..ready });
        }
        let (transit, sender) = (&mut self.transits[host.index()], &self.senders[channel.index()]);
        self.endpoints.collector_mut().on_spilled(host, Time::from_ps(self.now));
        if sender.worm.is_some() && sender.worm_first == worm.first {
            transit.spilled = Some(ready);
        } else {
            let tail = sender.schedule.start_of(worm.first + worm.flits - 1);
            let arrival = tail.expect("what arrives is held") + sender.latency;
            self.fetch(channel, ready, arrival);
        }
    }

    /// Takes room in the pool for a worm that comes by `channel`, and remembers it as the one that arrives. Returns what it
    /// takes, if there is enough.
    pub(crate) fn take_room(&mut self, channel: ChannelId, worm: Incoming) -> Option<u64> {
        let host = self.places[channel.index()].receiver.expect("the channel ends at a host");
        let transit = &mut self.transits[host.index()];
        transit.latest = Some(worm);
        let bytes = worm.flits - u64::from(self.wormhole.mark_bytes);
        transit.room_bytes = transit.room_bytes.checked_sub(bytes)?;
        self.endpoints
            .collector_mut()
            .on_pool(host, self.plan.in_transit.pool_bytes - transit.room_bytes);
        Some(bytes)
    }

    /// The tail of a worm in transit has left on `channel` into a host, and will arrive at `arrival`.
    #[inline(never)]
    pub(crate) fn tail_of_transit_left(&mut self, channel: ChannelId, arrival: u64) {
        let host = self.places[channel.index()].receiver.expect("the channel ends at a host");
        self.senders[channel.index()].in_transit = false;
        self.forget_at_host(channel);
        // If its head is still to come, it is not known whether the pool has room.
        if let Some(spilled) = self.transits[host.index()].spilled.take() {
            self.fetch(channel, spilled, arrival);
        }
    }

    /// A worm is all in the memory of the host at `arrival`, and goes from there over the bus.
    fn fetch(&mut self, channel: ChannelId, spilled: Ready, arrival: u64) {
        let WhenFull::Spill { delay, byte } = self.plan.in_transit.when_full else {
            panic!("what finds no room waits in the input")
        };
        let bytes = spilled.worm.flits - u64::from(self.wormhole.mark_bytes);
        let fetched = arrival + delay.as_ps() + 2 * bytes * byte.as_ps();
        self.send_on_from(channel, Ready { at: spilled.at.max(fetched), ..spilled });
    }

    /// The worm that came by `channel` may be sent on from an instant on, which is now or later.
    pub(crate) fn send_on_from(&mut self, channel: ChannelId, ready: Ready) {
        let host = self.places[channel.index()].receiver.expect("the channel ends at a host");
        self.transits[host.index()].ready.push(Reverse(ready));
        let own = Fabric::reverse(channel);
        if ready.at == self.now {
            self.start_soon(own);
        } else {
            self.schedule(ready.at, Event::StartWorm { channel: own });
        }
    }

    /// The tail of a worm has left the host by `channel`: one in transit gives back its space. Returns whether it is one.
    #[inline(never)]
    pub(crate) fn leave_pool(&mut self, channel: ChannelId) -> bool {
        let host = self.places[channel.index()].sender.expect("a host sends");
        let transit = &mut self.transits[host.index()];
        let sent = transit.sending_bytes.take();
        if let Some(bytes) = sent {
            transit.room_bytes += bytes;
            self.offer_room(Fabric::reverse(channel));
        }
        sent.is_some()
    }

    // Phase 6: transfer.

    /// Sends on the worm that became ready first, if there is one; the host's `channel` is free.
    #[inline(never)]
    pub(crate) fn send_on(&mut self, channel: ChannelId) -> bool {
        let host = self.places[channel.index()].sender.expect("a host sends");
        let transit = &mut self.transits[host.index()];
        let Some(Reverse(ready)) = transit.ready.peek().copied() else { return false };
        if ready.at > self.now {
            return false;
        }
        transit.ready.pop();
        transit.sending_bytes = Some(ready.pool_bytes);
        let waited = Span::from_ps(self.now - ready.at);
        self.endpoints.collector_mut().on_reinjected(host, Time::from_ps(self.now), waited);
        let mark = u64::from(self.wormhole.mark_bytes);
        let arriving = Fabric::reverse(channel);
        let arrived = self.senders[arriving.index()].arrived_by(self.now);
        let is_whole = ready.first + ready.worm.flits <= arrived;
        if !is_whole {
            self.senders[arriving.index()].feeds = Some(channel);
            let sender = &mut self.senders[channel.index()];
            sender.feeder = Some(arriving);
            sender.feeder_first = ready.first + mark;
        }
        let Incoming { flits, position, .. } = ready.worm;
        let worm = Incoming { flits: flits - mark, position: position + 1, ..ready.worm };
        self.begin(channel, worm, self.now);
        true
    }

    /// Forgets those runs of `channel` into a host that nobody will ask about.
    #[inline(never)]
    pub(crate) fn forget_at_host(&mut self, channel: ChannelId) {
        let needed = self.needed_at_host(channel);
        let schedule = &mut self.senders[channel.index()].schedule;
        schedule.sum_up_to(needed);
        schedule.forget_before(needed);
    }

    /// The number of the first flit of `channel` into a host that somebody may still ask about.
    fn needed_at_host(&self, channel: ChannelId) -> u64 {
        let host = self.places[channel.index()].receiver.expect("the channel ends at a host");
        let sender = &self.senders[channel.index()];
        let transit = &self.transits[host.index()];
        let own = &self.senders[Fabric::reverse(channel).index()];
        let needed =
            transit.needed_from(sender.arrived_by(self.now), own.feed().map(|feed| feed.first));
        self.inputs[channel.index()].as_ref().map_or(needed, |input| needed.min(input.taken))
    }
}
