//! In-transit hosts: worms that a host takes in and sends on, flit by flit.
//!
//! ```text
//!   FlitArrives ─► port ─► ReadHead ─┬ ends here ──► consumed
//!                  (unread flits)    └ goes on: pool, memory, or it waits ─► Passing ─► Transfer
//!                                               ▲ Release: the tail has left ─────────────┘
//! ```
//!
//! The port is empty but for a head that was not read yet, unless a worm waits for room in the pool: only where
//! the host stops its senders, and then the port is the input with its slack buffer.
//!
//! Invariants: what is taken of the pool is the sum of what the worms in it need, and never more than it holds.

use crate::wormhole::event::{Event, Flit};
use crate::wormhole::simulation::Simulation;
use crate::wormhole::worm::{Sending, WormId};
use gingham_kernel::Time;
use gingham_model::WhenFull;
use gingham_topology::{ChannelId, EndpointId, Fabric};
use std::collections::VecDeque;

/// What a host does with worms that come in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transit {
    port: Port,
    /// Flits that wait in a port without a slack buffer: the head that is read in the next phase.
    unread: VecDeque<Flit>,
    /// Worms that go on and whose tail has not left yet, in order of arrival.
    pub(crate) passing: Vec<Passing>,
    /// Bytes taken of the pool.
    pub(crate) pool_bytes: u64,
}

/// What the port is doing with the worm at its head.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Port {
    /// No head was read.
    #[default]
    Idle,
    /// The worm ends here.
    Consuming,
    /// It goes on, and has room.
    Passing { worm: WormId },
    /// It goes on, and has none yet.
    Waiting { worm: WormId, read: Time },
}

/// A worm that goes on.
#[derive(Clone, Debug)]
pub(crate) struct Passing {
    worm: WormId,
    /// When its head was read.
    read: Time,
    /// The first flit that is sent on: those before it are the mark.
    first: u64,
    /// Flits that are sent on.
    flits: u64,
    /// Flits that are here.
    pub(crate) gathered: VecDeque<Flit>,
    /// Whether it went to the memory of the host, the pool being full.
    is_spilled: bool,
    /// When it may be sent on, once that is known.
    ready: Option<Time>,
}

impl Transit {
    /// Whether a worm waits for room in the pool.
    fn is_waiting(&self) -> bool {
        matches!(self.port, Port::Waiting { .. })
    }

    /// Flits of worms that go on, and those that no one has read yet.
    pub(crate) fn flits(&self) -> usize {
        self.unread.len() + self.passing.iter().map(|passing| passing.gathered.len()).sum::<usize>()
    }

    /// What the worms in the pool need of it.
    pub(crate) fn needed_bytes(&self) -> u64 {
        self.passing.iter().filter(|passing| !passing.is_spilled).map(|passing| passing.flits).sum()
    }

    /// The worm that goes next at `now`, and since when it is ready: what became ready first, and of these what came first.
    fn ripest(&self, now: Time) -> Option<(WormId, Time)> {
        let ripe = |passing: &Passing| Some((passing.worm, passing.ready?));
        self.passing
            .iter()
            .filter_map(ripe)
            .filter(|(_, ready)| *ready <= now)
            .min_by_key(|(_, ready)| *ready)
    }

    fn passing_mut(&mut self, worm: WormId) -> &mut Passing {
        self.passing.iter_mut().find(|passing| passing.worm == worm).expect("the worm goes on")
    }
}

impl Simulation {
    // Phase 3: flits arrive.

    /// A flit has arrived whole at the end of a channel into a host.
    pub(crate) fn arrive_at_host(&mut self, channel: ChannelId, flit: Flit) {
        let host = self.host_at(channel);
        match self.transits[host.index()].port {
            Port::Idle if self.worms.get(flit.worm).ends_with(channel) => {
                self.transits[host.index()].port = Port::Consuming;
                self.take_in(channel, flit);
            }
            Port::Idle => {
                self.put_unread(channel, flit);
                self.cause(self.now, Event::ReadHead { channel });
            }
            Port::Consuming | Port::Passing { .. } => self.take_in(channel, flit),
            Port::Waiting { .. } => self.put_unread(channel, flit),
        }
    }

    // Phase 4: request.

    /// The tail of the worm that held `channel`, a host's own, has left.
    pub(crate) fn release_host(&mut self, channel: ChannelId) {
        let host = self.host_of(channel);
        match self.sending[host.index()].take().expect("a tail had a worm") {
            Sending::Own(own) => {
                let flit = self.plan.channel(channel).flit;
                self.endpoints.on_left(host, own.started, self.now, own.flits, flit);
            }
            Sending::InTransit(worm) => {
                let transit = &mut self.transits[host.index()];
                let place = transit.passing.iter().position(|passing| passing.worm == worm);
                let passed = transit.passing.remove(place.expect("the worm went on"));
                assert!(passed.gathered.is_empty(), "the tail was the last flit");
                if !passed.is_spilled {
                    transit.pool_bytes -= passed.flits;
                    self.cause(self.now, Event::ReadHead { channel: Fabric::reverse(channel) });
                }
            }
        }
    }

    /// Reads what stands in the port of a host, as far as there is room for it.
    pub(crate) fn read_at_host(&mut self, channel: ChannelId) {
        let host = self.host_at(channel);
        loop {
            if self.transits[host.index()].port == Port::Idle {
                let Some(flit) = self.unread(channel) else { return };
                self.read_worm(channel, flit);
            }
            if let Port::Waiting { worm, read } = self.transits[host.index()].port {
                self.admit(channel, worm, read);
            }
            let worm = match self.transits[host.index()].port {
                Port::Idle => unreachable!("a head was read"),
                Port::Waiting { .. } => return,
                Port::Passing { worm } => Some(worm),
                Port::Consuming => self.unread(channel).map(|flit| flit.worm),
            };
            while let Some(flit) = self.unread(channel).filter(|flit| Some(flit.worm) == worm) {
                self.leave_unread(channel);
                self.take_in(channel, flit);
            }
            if self.transits[host.index()].port != Port::Idle {
                return;
            }
        }
    }

    fn read_worm(&mut self, channel: ChannelId, flit: Flit) {
        let host = self.host_at(channel);
        let worm = self.worms.get(flit.worm);
        self.transits[host.index()].port = if worm.ends_with(channel) {
            Port::Consuming
        } else {
            assert_eq!(worm.path[worm.hops_read], channel, "a worm is read along its path");
            assert_eq!(worm.lead, flit.index, "what came before was stripped or dropped");
            Port::Waiting { worm: flit.worm, read: self.now }
        };
    }

    /// Gives a worm what it needs of the pool, or what it gets instead of it.
    fn admit(&mut self, channel: ChannelId, id: WormId, read: Time) {
        let host = self.host_at(channel);
        let plan = self.plan.in_transit;
        let mark = u64::from(self.wormhole.mark_bytes);
        let worm = self.worms.get_mut(id);
        let (first, flits) = (worm.lead + mark, worm.flits - worm.lead - mark);
        let has_room = self.transits[host.index()].pool_bytes + flits <= plan.pool_bytes;
        if !has_room && plan.when_full == WhenFull::Stop {
            assert!(flits <= plan.pool_bytes, "a pool holds every worm that is sent on");
            return;
        }
        worm.hops_read += 1;
        worm.lead = first;
        let transit = &mut self.transits[host.index()];
        transit.port = Port::Passing { worm: id };
        let ready = if has_room {
            transit.pool_bytes += flits;
            self.endpoints.collector_mut().on_pool(host, transit.pool_bytes);
            Some((read + plan.detection).max(self.now) + plan.programming)
        } else {
            self.endpoints.collector_mut().on_spilled(host, self.now);
            None
        };
        let gathered = VecDeque::new();
        transit.passing.push(Passing {
            worm: id,
            read,
            first,
            flits,
            gathered,
            is_spilled: !has_room,
            ready,
        });
        if let Some(ready) = ready {
            self.cause(ready, Event::Transfer { channel: Fabric::reverse(channel) });
        }
    }

    /// A flit leaves the port: it is consumed, dropped, or stays until it can go on.
    fn take_in(&mut self, channel: ChannelId, flit: Flit) {
        let host = self.host_at(channel);
        let is_tail = self.worms.get(flit.worm).is_tail(flit.index);
        let transit = &mut self.transits[host.index()];
        let port = transit.port;
        if is_tail {
            transit.port = Port::Idle;
        }
        match port {
            Port::Consuming => self.consume(flit),
            Port::Passing { worm } => {
                assert_eq!(worm, flit.worm, "worms do not mix");
                self.pass(channel, flit, is_tail);
            }
            Port::Idle | Port::Waiting { .. } => unreachable!("only what has room leaves the port"),
        }
    }

    fn pass(&mut self, channel: ChannelId, flit: Flit, is_tail: bool) {
        let (now, plan) = (self.now, self.plan.in_transit);
        let host = self.host_at(channel);
        let passing = self.transits[host.index()].passing_mut(flit.worm);
        if flit.index < passing.first {
            self.flits_dropped += 1;
            return;
        }
        passing.gathered.push_back(flit);
        let mut time = now;
        if let (true, true, WhenFull::Spill { delay, byte }) =
            (is_tail, passing.is_spilled, plan.when_full)
        {
            let copied = now + delay + byte * (2 * passing.flits);
            time = copied.max(passing.read + plan.detection + plan.programming);
            passing.ready = Some(time);
        }
        self.cause(time, Event::Transfer { channel: Fabric::reverse(channel) });
    }

    // Phase 6: transfer.

    /// The worm in transit that takes the channel of a host now, if one does.
    pub(crate) fn turn_of_transit(&mut self, host: EndpointId) -> Option<Sending> {
        let (worm, ready) = self.transits[host.index()].ripest(self.now)?;
        self.endpoints.collector_mut().on_reinjected(host, self.now, self.now.since(ready));
        Some(Sending::InTransit(worm))
    }

    /// The next flit of a worm in transit, if it is there.
    pub(crate) fn next_in_transit(&mut self, host: EndpointId, worm: WormId) -> Option<Flit> {
        self.transits[host.index()].passing_mut(worm).gathered.pop_front()
    }

    // The port: a slack buffer where the host stops its senders.

    fn unread(&self, channel: ChannelId) -> Option<Flit> {
        match &self.inputs[channel.index()] {
            Some(input) => input.front(),
            None => self.transits[self.host_at(channel).index()].unread.front().copied(),
        }
    }

    fn put_unread(&mut self, channel: ChannelId, flit: Flit) {
        let now = self.now;
        if let Some(input) = &mut self.inputs[channel.index()] {
            assert!(input.fill() < input.slack.capacity as usize, "a slack buffer overflowed");
            input.enter(flit, now);
            self.fill_changed(channel);
        } else {
            let host = self.host_at(channel);
            self.transits[host.index()].unread.push_back(flit);
        }
    }

    fn leave_unread(&mut self, channel: ChannelId) {
        let now = self.now;
        if let Some(input) = &mut self.inputs[channel.index()] {
            input.leave(now);
            self.fill_changed(channel);
        } else {
            let host = self.host_at(channel);
            self.transits[host.index()].unread.pop_front();
        }
    }

    /// Whether a worm waits for room in the pool of the host at the end of `channel`.
    pub(crate) fn is_waiting_at_host(&self, channel: ChannelId) -> bool {
        self.ends_at_host(channel) && self.transits[self.host_at(channel).index()].is_waiting()
    }

    pub(crate) fn ends_at_host(&self, channel: ChannelId) -> bool {
        self.endpoint_of[Fabric::reverse(channel).index()].is_some()
    }

    fn host_at(&self, channel: ChannelId) -> EndpointId {
        self.host_of(Fabric::reverse(channel))
    }

    fn host_of(&self, channel: ChannelId) -> EndpointId {
        self.endpoint_of[channel.index()].expect("a host sends here")
    }
}
