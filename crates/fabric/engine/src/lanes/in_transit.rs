//! In-transit hosts, which eject and re-inject packets flit by flit.
//!
//! A host that accepts every flit has no lane buffers: its flits are counted per packet on arrival.
//! A host that stops its senders reads its lane buffers at the beginning of a tick, before its
//! outgoing link takes a flit.
//!
//! Source: Flich et al. 2001, section III; `docs/concepts/timing.md` defines the times.

use crate::bits::Bits;
use crate::lanes::buffers::{Buffers, Ends};
use crate::lanes::context::Context;
use crate::lanes::event::Event;
use crate::lanes::layout::{LANES, Layout, SHIFT, number_of};
use crate::lanes::links::Links;
use crate::lanes::ring::Ring;
use crate::lanes::worms::{InTransitId, WormId};
use gingham_kernel::{Span, Time};
use gingham_net::{EjectionHead, Endpoints, InTransitHost, Notice, Plan, TakenIn, WhenFull};
use gingham_topology::EndpointId;

#[derive(Clone, Debug)]
pub(crate) struct InTransit {
    pub(crate) stops: bool,
    first_port: usize,
    /// State of each host port, from `first_port` on; empty if no path visits a host and no host
    /// stops its senders.
    hosts: Vec<InTransitPort>,
    packets: Vec<InTransitPacket>,
    free: Vec<InTransitId>,
    /// Packets with flits on their way to hosts that accept every flit.
    due: Ring,
    reading: Bits,
}

#[derive(Clone, Debug)]
pub(crate) struct InTransitPort {
    endpoint: EndpointId,
    pub(crate) machine: InTransitHost<InTransitId>,
    pub(crate) heads: [EjectionHead; LANES],
    receiving: [InTransitId; LANES],
    /// Sum of departure ticks minus sum of arrival ticks, over all flits of the lane buffers; may
    /// wrap.
    pub(crate) occupancy: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct InTransitPacket {
    pub(crate) worm: WormId,
    port: usize,
    /// Pool share, from the arrival of the first flit until the tail has left.
    pub(crate) taken: Option<TakenIn>,
    received: u32,
    pub(crate) has_begun: bool,
}

impl InTransit {
    pub(crate) fn new(
        plan: &Plan,
        layout: &Layout,
        endpoints: &Endpoints,
        ticks_ahead: u64,
    ) -> Self {
        let stops = plan.in_transit.when_full == WhenFull::Stop;
        let host = |channel| {
            let endpoint = plan.fabric.endpoint_at(plan.ends(channel).source);
            let endpoint = endpoint.expect("what begins at no switch begins at an endpoint");
            let groups = endpoints.adapter(endpoint).groups().len();
            InTransitPort {
                endpoint,
                machine: InTransitHost::new(plan.in_transit, groups),
                heads: [EjectionHead::default(); LANES],
                receiving: [InTransitId::new(0); LANES],
                occupancy: 0,
            }
        };
        let channels = layout.channels()[layout.first_host..].iter().flatten().copied();
        let exists = stops || plan.routing.has_in_transit_hosts();
        Self {
            stops,
            first_port: layout.first_host,
            hosts: channels.filter(|_| exists).map(host).collect(),
            packets: Vec::new(),
            free: Vec::new(),
            due: Ring::new(if exists { ticks_ahead } else { 0 }),
            reading: Bits::new(layout.channels().len()),
        }
    }

    #[inline]
    pub(crate) fn exists(&self) -> bool {
        !self.hosts.is_empty()
    }

    pub(crate) fn next_due(&self, tick: u64) -> Option<u64> {
        self.due.next_due(tick)
    }

    #[inline]
    pub(crate) fn host(&self, port: usize) -> &InTransitPort {
        &self.hosts[port - self.first_port]
    }

    fn host_mut(&mut self, port: usize) -> &mut InTransitPort {
        &mut self.hosts[port - self.first_port]
    }

    pub(crate) fn packet(&self, id: InTransitId) -> &InTransitPacket {
        &self.packets[id.index()]
    }

    pub(crate) fn taken_in(
        &self,
        port: usize,
    ) -> impl Iterator<Item = (InTransitId, &InTransitPacket, &TakenIn)> {
        let packets = InTransitId::first(self.packets.len()).zip(&self.packets);
        let of_port = packets.filter(move |(_, packet)| packet.port == port);
        of_port.filter_map(|(id, packet)| Some((id, packet, packet.taken.as_ref()?)))
    }

    pub(crate) fn has_flit(&self, id: InTransitId, left: u32, context: &Context) -> bool {
        let packet = self.packet(id);
        packet.received + left > context.worms.get(packet.worm).flits
    }

    pub(crate) fn goes_on(&self, port: usize, worm: WormId, context: &Context) -> bool {
        context.worms.get(worm).packet.destination != self.host(port).endpoint
    }

    fn insert(&mut self, port: usize, worm: WormId) -> InTransitId {
        let packet = InTransitPacket { worm, port, taken: None, received: 0, has_begun: false };
        if let Some(id) = self.free.pop() {
            self.packets[id.index()] = packet;
            return id;
        }
        self.packets.push(packet);
        InTransitId::new(self.packets.len() - 1)
    }

    pub(crate) fn reassemble(
        &mut self,
        lane: usize,
        worm: WormId,
        ends: Ends,
        arrived: u64,
        context: &mut Context,
    ) {
        let port = lane >> SHIFT;
        let channel = context.layout.channel_into(port);
        if ends.is_head {
            let packet = self.insert(port, worm);
            self.host_mut(port).receiving[number_of(lane)] = packet;
            context.clock.schedule(arrived, Event::Recognise { channel, packet });
        }
        let packet = self.host(port).receiving[number_of(lane)];
        self.due.push(arrived.div_ceil(context.clock.cycle_ps()), packet.index());
        if ends.is_tail {
            context.clock.schedule(arrived, Event::TailReceived { channel, packet });
        }
    }

    pub(crate) fn take_in(
        &mut self,
        id: InTransitId,
        head: u64,
        links: &mut Links,
        context: &mut Context,
    ) {
        let InTransitPacket { worm, port, .. } = *self.packet(id);
        let (bytes, now) = (context.wire_bytes(worm), Time::from_ps(context.clock.now()));
        let host = self.host_mut(port);
        let adapter = context.endpoints.adapter(host.endpoint);
        let group = adapter.group_of(context.worms.get(worm).packet.vc_class);
        let taken = host.machine.take_in(id, group, bytes, Time::from_ps(head), now);
        let taken = taken.expect("a host that stops its senders takes in what it has room for");
        let collector = context.endpoints.collector_mut();
        if taken.is_spilled {
            collector.on_spilled(host.endpoint, now);
        } else {
            collector.on_pool(host.endpoint, host.machine.pool_bytes());
        }
        self.packets[id.index()].taken = Some(taken);
        wake_when_ready(port, taken.ready, links, context);
    }

    pub(crate) fn receive_tail(
        &mut self,
        id: InTransitId,
        links: &mut Links,
        context: &mut Context,
    ) {
        let packet = &mut self.packets[id.index()];
        let taken = packet.taken.as_mut().expect("its first flit came before");
        let machine = &mut self.hosts[packet.port - self.first_port].machine;
        let ready = machine.tail_received(id, taken, Time::from_ps(context.clock.now()));
        wake_when_ready(packet.port, ready, links, context);
    }

    pub(crate) fn begin(
        &mut self,
        id: InTransitId,
        began: u64,
        context: &mut Context,
    ) -> (WormId, u32) {
        let packet = &mut self.packets[id.index()];
        packet.has_begun = true;
        let InTransitPacket { worm: worm_id, port, taken, .. } = *packet;
        let group = taken.expect("what begins was taken in").group;
        self.host_mut(port).machine.begin(group);
        let worm = context.worms.get_mut(worm_id);
        worm.route.reinject();
        let flits = worm.flits;
        if began == context.clock.now() {
            self.on_reinjected(id, context);
        } else {
            let channel = context.layout.channel(port);
            context.clock.schedule(began, Event::Reinject { channel, packet: id });
        }
        (worm_id, flits)
    }

    pub(crate) fn on_reinjected(&self, id: InTransitId, context: &mut Context) {
        let packet = self.packet(id);
        let ready = packet.taken.and_then(|taken| taken.ready).expect("what begins is ready");
        let now = context.clock.now();
        let waited = Span::from_ps(now - ready.as_ps());
        let endpoint = self.host(packet.port).endpoint;
        let Context { endpoints, worms, .. } = context;
        let packet = &mut worms.get_mut(packet.worm).packet;
        endpoints.notify(Time::from_ps(now), Notice::SentOn { endpoint, waited, packet });
    }

    pub(crate) fn release(&mut self, id: InTransitId, links: &mut Links, context: &mut Context) {
        let packet = &mut self.packets[id.index()];
        let (port, taken) = (packet.port, packet.taken.take());
        self.free.push(id);
        self.host_mut(port).machine.release(&taken.expect("what leaves was taken in"));
        if self.stops {
            self.reading.insert(port);
            links.ready.insert(port);
            context.clock.wake();
        }
    }

    pub(crate) fn receive(
        &mut self,
        links: &mut Links,
        buffers: &mut Buffers,
        context: &mut Context,
    ) {
        let tick = context.clock.tick();
        let ring = if self.stops { &mut links.ejections } else { &mut self.due };
        let due = ring.take(tick);
        context.clock.count(due.len() as u64);
        for &entry in &due {
            let entry = entry as usize;
            if self.stops {
                buffers.receive(entry);
                let host = &mut self.hosts[(entry >> SHIFT) - self.first_port];
                host.occupancy = host.occupancy.wrapping_sub(tick);
                self.reading.insert(entry >> SHIFT);
            } else {
                let packet = &mut self.packets[entry];
                packet.received += 1;
                links.ready.insert(packet.port);
            }
        }
        let ring = if self.stops { &mut links.ejections } else { &mut self.due };
        ring.give_back(tick, due);
        for word in 0..self.reading.words.len() {
            let mut ports = self.reading.take(word);
            while ports != 0 {
                let port = word * 64 + ports.trailing_zeros() as usize;
                self.read_lanes(port, links, buffers, context);
                ports &= ports - 1;
            }
        }
    }

    fn read_lanes(
        &mut self,
        port: usize,
        links: &mut Links,
        buffers: &mut Buffers,
        context: &mut Context,
    ) {
        loop {
            for lane in 0..usize::from(context.plan.lanes.count) {
                self.read_on(port << SHIFT | lane, links, buffers, context);
            }
            let worm = |lane: usize| buffers.worm(port << SHIFT | lane);
            let host = self.host(port);
            let next =
                host.machine.next_admitted(&host.heads, |lane| context.wire_bytes(worm(lane)));
            let Some((lane, since)) = next else { return };
            let id = self.insert(port, worm(lane));
            let host = self.host_mut(port);
            host.receiving[lane] = id;
            host.heads[lane] = EjectionHead::InTransit;
            self.take_in(id, since.as_ps(), links, context);
        }
    }

    /// Reads flits from a lane buffer until a packet has to wait for pool space.
    fn read_on(
        &mut self,
        lane: usize,
        links: &mut Links,
        buffers: &mut Buffers,
        context: &mut Context,
    ) {
        let (port, number) = (lane >> SHIFT, number_of(lane));
        let (now, tick) = (context.clock.now(), context.clock.tick());
        while buffers.lane(lane).present > 0 {
            let worm = buffers.worm(lane);
            if self.host(port).heads[number] == EjectionHead::Unread {
                let waiting = EjectionHead::Waiting { since: Time::from_ps(now) };
                let goes_on = self.goes_on(port, worm, context);
                let read = if goes_on { waiting } else { EjectionHead::Consumed };
                self.host_mut(port).heads[number] = read;
            }
            let head = self.host(port).heads[number];
            if matches!(head, EjectionHead::Waiting { .. }) {
                return;
            }
            let is_head = buffers.lane(lane).left == context.worms.get(worm).flits;
            let is_tail = buffers.leave(lane).left == 0;
            let host = self.host_mut(port);
            host.occupancy = host.occupancy.wrapping_add(tick);
            let link = links.port(port);
            let counts = tick + u64::from(link.credit_latency);
            links.send_credit(link.peer_lane(number), counts);
            if head == EjectionHead::InTransit {
                let id = host.receiving[number];
                self.packets[id.index()].received += 1;
                links.ready.insert(port);
            } else if is_head {
                context.worms.get_mut(worm).head_arrived_ps = now;
            }
            if is_tail {
                self.host_mut(port).heads[number] = EjectionHead::Unread;
                buffers.next_worm(lane);
                if head == EjectionHead::Consumed {
                    context.deliver(worm);
                }
            }
        }
    }
}

fn wake_when_ready(port: usize, ready: Option<Time>, links: &mut Links, context: &mut Context) {
    let Some(ready) = ready.map(Time::as_ps) else { return };
    if ready <= context.clock.now() {
        links.ready.insert(port);
        return context.clock.wake();
    }
    let channel = context.layout.channel(port);
    context.clock.schedule(ready, Event::Wake { channel });
}
