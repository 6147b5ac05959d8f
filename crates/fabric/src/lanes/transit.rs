//! In-transit hosts: packets that a host takes in and sends on, flit by flit.
//!
//! ```text
//!   first flit there ─► room in the pool? ─┬ yes ─► ready ─────────────► a lane of its queue, as flits come ─► tail left
//!                                          ├ no: by memory of the host, once all is there ─► ready
//!                                          └ no: it waits in the lane buffer, which takes no more (`stop`)
//! ```
//!
//! A host that takes in all that comes has no lane buffers: its flits are counted as they come, by packet. One that stops its
//! senders has, and reads them at the beginning of a tick, before its own link takes a flit.
//!
//! Source: Flich et al. 2001, section III; `docs/concepts/timing.md` says when things happen.
//!
//! Invariant: what is taken of a pool is the sum of what the packets in it need, and never more than it holds.

use crate::lanes::bits::Bits;
use crate::lanes::event::Event;
use crate::lanes::ring::Ring;
use crate::lanes::simulation::Simulation;
use crate::lanes::state::SHIFT;
use crate::lanes::worms::WormId;
use gingham_kernel::{Span, Time};
use gingham_model::{Plan, WhenFull};
use gingham_topology::routing::DatelineClass;
use gingham_topology::{ChannelId, Fabric};

/// All that is in transit.
#[derive(Clone, Debug)]
pub(crate) struct Transits {
    /// Whether hosts stop their senders.
    pub(crate) stops: bool,
    /// By host port, from the first on; empty where no path visits a host and none stops its senders.
    pub(crate) hosts: Vec<Transit>,
    pub(crate) passings: Vec<Passing>,
    free: Vec<usize>,
    /// By input lane of a host port, from the first on: the packet in transit whose flits come.
    coming: Vec<usize>,
    /// Flits that are there at hosts from a tick on: packets that they belong to, or, where hosts stop, input lanes.
    pub(crate) due: Ring,
    /// Host ports where something may leave a lane buffer at the next tick.
    pub(crate) reading: Bits,
}

/// What a host sends on.
#[derive(Clone, Debug)]
pub(crate) struct Transit {
    /// Packets that go on and whose tail has not left, in the order in which they were taken in.
    pub(crate) passing: Vec<usize>,
    /// Bytes taken of the pool.
    pub(crate) pool_bytes: u64,
    /// By lane: what it does with the packet that stands first in a lane buffer.
    pub(crate) readings: Box<[Reading]>,
}

/// What a host does with the packet that stands first in a lane buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// It was not read.
    Nothing,
    /// It ends here.
    Consuming,
    /// It goes on, and has room in the pool.
    Passing,
    /// It goes on, and waits for room since then.
    Waiting(u64),
}

/// Whether a flit is the first or the last of its packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) is_head: bool,
    pub(crate) is_tail: bool,
}

/// A packet that goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    pub(crate) worm: usize,
    /// The port of the host.
    port: usize,
    /// The group of queues in which it waits.
    pub(crate) group: usize,
    /// When its first flit was there.
    read_ps: u64,
    /// All its bytes.
    bytes: u64,
    /// Flits that have come.
    pub(crate) come: u32,
    is_spilled: bool,
    /// When it may be sent on, once that is known.
    pub(crate) ready_ps: Option<u64>,
    /// Whether a flit of it was sent on.
    pub(crate) has_begun: bool,
}

impl Transits {
    pub(crate) fn new(
        plan: &Plan,
        hosts: usize,
        ports: usize,
        shift: u32,
        ticks_ahead: u64,
    ) -> Self {
        let stops = plan.in_transit.when_full == WhenFull::Stop;
        let hosts = if stops || plan.has_in_transit_hosts() { hosts } else { 0 };
        let readings = vec![Reading::Nothing; 1 << shift].into_boxed_slice();
        let transit = Transit { passing: Vec::new(), pool_bytes: 0, readings };
        Self {
            stops,
            hosts: vec![transit; hosts],
            passings: Vec::new(),
            free: Vec::new(),
            coming: vec![0; hosts << shift],
            due: Ring::new(if hosts > 0 { ticks_ahead } else { 0 }),
            reading: Bits::new(ports),
        }
    }

    /// Whether anything can be in transit.
    #[inline]
    pub(crate) fn exist(&self) -> bool {
        !self.hosts.is_empty()
    }

    fn insert(&mut self, passing: Passing) -> usize {
        if let Some(place) = self.free.pop() {
            self.passings[place] = passing;
            return place;
        }
        self.passings.push(passing);
        self.passings.len() - 1
    }

    /// The packet that a host sends next of a group at `now`, if one is ready: what became ready first, and of
    /// these what came first.
    pub(crate) fn ripest(&self, host: usize, group: usize, now: u64) -> Option<usize> {
        let all = self.hosts[host].passing.iter().copied();
        let waiting = all.filter(|place| {
            let passing = &self.passings[*place];
            passing.group == group && !passing.has_begun
        });
        let ready = |place: usize| self.passings[place].ready_ps.filter(|ready| *ready <= now);
        waiting
            .filter_map(|place| Some((ready(place)?, place)))
            .min_by_key(|(ready, _)| *ready)
            .map(|(_, place)| place)
    }

    /// The groups of a host in which packets in transit wait, as bits.
    pub(crate) fn groups(&self, host: usize) -> u32 {
        let waiting = self.hosts[host].passing.iter().map(|place| &self.passings[*place]);
        waiting
            .filter(|passing| !passing.has_begun)
            .fold(0, |groups, passing| groups | 1 << passing.group)
    }
}

impl Simulation {
    /// Whether a worm that comes to a host port goes on there.
    pub(crate) fn goes_on(&self, port: usize, worm: usize) -> bool {
        let host = &self.hosts[port - self.layout.first_host];
        self.worms.get(worm).packet.destination != host.endpoint
    }

    /// A worm that goes on, whose first flit was there at an instant.
    fn take_up(&mut self, port: usize, worm: usize, read_ps: u64) -> usize {
        let host = &self.hosts[port - self.layout.first_host];
        let (packet, flits) = (self.worms.get(worm).packet, self.worms.get(worm).flits);
        let adapter = &self.endpoints.adapters[host.endpoint.index()];
        self.transits.insert(Passing {
            worm,
            port,
            group: adapter.group_of(packet.vc_class),
            read_ps,
            bytes: self.lanes.wire_bytes(flits.into()),
            come: 0,
            is_spilled: false,
            ready_ps: None,
            has_begun: false,
        })
    }

    /// A flit of a worm that goes on has left a switch, and will have arrived at a host that takes in all that comes.
    pub(crate) fn gather(&mut self, lane: usize, worm: usize, ends: Ends, arrived: u64) {
        let port = lane >> SHIFT;
        let incoming = lane - (self.layout.first_host << SHIFT);
        let channel = self.channel_into(port);
        if ends.is_head {
            let place = self.take_up(port, worm, arrived);
            self.transits.coming[incoming] = place;
            self.schedule(arrived, Event::Recognise { channel, worm: WormId::new(place) });
        }
        let place = self.transits.coming[incoming];
        self.transits.due.push(arrived.div_ceil(self.cycle_ps), place);
        if ends.is_tail {
            self.schedule(arrived, Event::Gather { channel, worm: WormId::new(place) });
        }
    }

    /// The channel that ends at a port.
    pub(crate) fn channel_into(&self, port: usize) -> ChannelId {
        Fabric::reverse(self.layout.channel_of[port].expect("a cable has two ends"))
    }

    /// The first flit of a packet in transit has come: it gets room in the pool, or goes by the memory of the host.
    pub(crate) fn recognise(&mut self, place: usize) {
        let passing = self.transits.passings[place];
        if self.pool_has_room(passing.port, passing.bytes) {
            return self.take_in(place);
        }
        let number = passing.port - self.layout.first_host;
        self.transits.passings[place].is_spilled = true;
        self.transits.hosts[number].passing.push(place);
        let endpoint = self.hosts[number].endpoint;
        self.endpoints.collector_mut().on_spilled(endpoint, Time::from_ps(self.now));
    }

    /// Whether the pool of a host has room for so much.
    pub(crate) fn pool_has_room(&self, port: usize, bytes: u64) -> bool {
        let host = &self.transits.hosts[port - self.layout.first_host];
        host.pool_bytes + bytes <= self.plan.in_transit.pool_bytes
    }

    /// A packet takes its room in the pool.
    fn take_in(&mut self, place: usize) {
        let Passing { port, bytes, read_ps, .. } = self.transits.passings[place];
        let number = port - self.layout.first_host;
        let host = &mut self.transits.hosts[number];
        host.passing.push(place);
        host.pool_bytes += bytes;
        let (endpoint, taken) = (self.hosts[number].endpoint, host.pool_bytes);
        self.endpoints.collector_mut().on_pool(endpoint, taken);
        let plan = self.plan.in_transit;
        let known = (read_ps + plan.detection.as_ps()).max(self.now);
        self.make_ready(place, known + plan.programming.as_ps());
    }

    fn make_ready(&mut self, place: usize, ready_ps: u64) {
        self.transits.passings[place].ready_ps = Some(ready_ps);
        let port = self.transits.passings[place].port;
        if ready_ps <= self.now {
            return self.rouse(port);
        }
        let channel = self.layout.channel_of[port].expect("a host has a channel");
        self.schedule(ready_ps, Event::Wake { channel });
    }

    /// The tail of a packet in transit has come.
    pub(crate) fn gathered(&mut self, place: usize) {
        let passing = self.transits.passings[place];
        let plan = self.plan.in_transit;
        if let (true, WhenFull::Spill { delay, byte }) = (passing.is_spilled, plan.when_full) {
            let copied = self.now + (delay + byte * (2 * passing.bytes)).as_ps();
            let known = passing.read_ps + (plan.detection + plan.programming).as_ps();
            self.make_ready(place, copied.max(known));
        }
    }

    /// The tail of a packet in transit has left its host.
    pub(crate) fn release(&mut self, place: usize) {
        let Passing { port, bytes, is_spilled, .. } = self.transits.passings[place];
        let host = &mut self.transits.hosts[port - self.layout.first_host];
        host.passing.retain(|other| *other != place);
        self.transits.free.push(place);
        if !is_spilled {
            host.pool_bytes -= bytes;
        }
        if self.transits.stops {
            self.transits.reading.insert(port);
            self.rouse(port);
        }
    }

    /// A packet in transit begins on a lane of its host: the worm, and its flits.
    pub(crate) fn begin_in_transit(&mut self, place: usize, began: u64) -> (usize, u32) {
        let passing = &mut self.transits.passings[place];
        passing.has_begun = true;
        let (id, port) = (passing.worm, passing.port);
        let worm = self.worms.get_mut(id);
        worm.position += 1;
        worm.dateline_class = DatelineClass::default();
        let flits = worm.flits;
        if began == self.now {
            self.reinject(place);
        } else {
            let channel = self.layout.channel_of[port].expect("a host has a channel");
            self.schedule(began, Event::Reinject { channel, worm: WormId::new(place) });
        }
        (id, flits)
    }

    /// A packet in transit begins now.
    pub(crate) fn reinject(&mut self, place: usize) {
        let passing = self.transits.passings[place];
        let endpoint = self.hosts[passing.port - self.layout.first_host].endpoint;
        let waited = Span::from_ps(self.now - passing.ready_ps.expect("what begins is ready"));
        self.endpoints.collector_mut().on_reinjected(endpoint, Time::from_ps(self.now), waited);
    }

    /// Flits that are there at hosts from this tick on.
    pub(crate) fn receive_at_hosts(&mut self, tick: u64) {
        let due = self.transits.due.take(tick);
        self.events += due.len() as u64;
        for &entry in &due {
            let entry = entry as usize;
            if self.transits.stops {
                let port = entry >> SHIFT;
                self.inputs[entry].present += 1;
                let state = &mut self.ports[port];
                state.occupancy = state.occupancy.wrapping_sub(tick);
                self.transits.reading.insert(port);
            } else {
                self.transits.passings[entry].come += 1;
                self.leaving.insert(self.transits.passings[entry].port);
            }
        }
        self.transits.due.give_back(tick, due);
        for word in 0..self.transits.reading.words.len() {
            let mut ports = self.transits.reading.take(word);
            while ports != 0 {
                self.read_lanes(word * 64 + ports.trailing_zeros() as usize, tick);
                ports &= ports - 1;
            }
        }
    }

    /// What can leave the lane buffers of a host does; as long as the pool has room for a packet that waits, the one that waits
    /// longest gets it, of equal ones that of the lowest lane.
    fn read_lanes(&mut self, port: usize, tick: u64) {
        let number = port - self.layout.first_host;
        loop {
            for lane in 0..usize::from(self.plan.lanes.count) {
                self.read_on(port, lane, tick);
            }
            let readings = &self.transits.hosts[number].readings;
            let waiting = readings.iter().enumerate().filter_map(|(lane, reading)| {
                let Reading::Waiting(since) = reading else { return None };
                let worm = self.queues.first(port << SHIFT | lane)? as usize;
                let bytes = self.lanes.wire_bytes(self.worms.get(worm).flits.into());
                self.pool_has_room(port, bytes).then_some((*since, lane, worm))
            });
            let Some((since, lane, worm)) = waiting.min() else { return };
            let place = self.take_up(port, worm, since);
            self.transits.coming[number << SHIFT | lane] = place;
            self.transits.hosts[number].readings[lane] = Reading::Passing;
            self.take_in(place);
        }
    }

    /// Everything leaves a lane buffer of a host up to a packet that waits for room.
    fn read_on(&mut self, port: usize, lane: usize, tick: u64) {
        let number = port - self.layout.first_host;
        let place = port << SHIFT | lane;
        while self.inputs[place].present > 0 {
            let worm = self.queues.first(place).expect("a flit has a worm") as usize;
            if self.transits.hosts[number].readings[lane] == Reading::Nothing {
                let goes_on = self.goes_on(port, worm);
                let read = if goes_on { Reading::Waiting(self.now) } else { Reading::Consuming };
                self.transits.hosts[number].readings[lane] = read;
            }
            let reading = self.transits.hosts[number].readings[lane];
            if matches!(reading, Reading::Waiting(_)) {
                return;
            }
            let input = &mut self.inputs[place];
            let is_head = input.left == self.worms.get(worm).flits;
            input.present -= 1;
            input.left -= 1;
            let is_tail = input.left == 0;
            let state = &mut self.ports[port];
            state.occupancy = state.occupancy.wrapping_add(tick);
            let credit = (state.peer as usize) << SHIFT | lane;
            self.credits.push(tick + u64::from(state.latency), credit);
            if reading == Reading::Passing {
                let passing = self.transits.coming[number << SHIFT | lane];
                self.transits.passings[passing].come += 1;
                self.leaving.insert(port);
            } else if is_head {
                self.worms.get_mut(worm).head_arrived_ps = self.now;
            }
            if is_tail {
                self.transits.hosts[number].readings[lane] = Reading::Nothing;
                let next = self.queues.pop(place);
                self.inputs[place].left =
                    next.map_or(0, |next| self.worms.get(next as usize).flits);
                if reading == Reading::Consuming {
                    self.deliver(WormId::new(worm));
                }
            }
        }
    }
}
