//! Hosts: sources create messages, and adapters send them packet by packet on several lanes.
//!
//! ```text
//!   queues of lanes 0, 1   [ p7 ][ p9 ]  ─┐   lane 0   p5: 3 of 20 flits sent   ┐
//!   queue of lane 2        [ p8 ]        ─┴─► lane 1   -                        ├─► one flit a tick
//!                                             lane 2   p6: 19 of 20 sent        ┘
//! ```
//!
//! A lane of a host's port is `filled` while a packet is in progress on it.

use crate::bits::members;
use crate::lanes::arbiters::Arbiters;
use crate::lanes::context::Context;
use crate::lanes::event::Event;
use crate::lanes::in_transit::InTransit;
use crate::lanes::layout::{Layout, SHIFT, lanes_of};
use crate::lanes::links::{Links, TO_HOST};
use crate::lanes::network::Network;
use crate::lanes::queues::Coming;
use crate::lanes::switches::Switches;
use crate::lanes::worms::{InTransitId, WormId};
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_net::congestion::{Onward, Waiter};
use gingham_net::{
    Adapter, ArbiterPlace, Created, Endpoints, Injection, Next, Notice, Order, PipelinePlan, Plan,
    Turn, Wanted, Weighing,
};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use pulp::{Arch, Simd, WithSimd};

#[expect(clippy::struct_excessive_bools, reason = "they do not depend on each other")]
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    first_port: usize,
    ports: Vec<Host>,
    arbiters: Arbiters,
    /// Whether all arbiters are the default, no adapter delays packets, and one credit suffices to
    /// start a packet.
    is_plain: bool,
    may_hold_back: bool,
    /// Whether the most recently examined packet lacks only credits to start.
    is_short: bool,
    injection: Injection,
    wanted: Wanted,
    gathered: Box<[ChannelId]>,
    is_to_gather: bool,
    arch: Arch,
}

#[derive(Clone, Debug)]
struct Host {
    endpoint: EndpointId,
    channel: ChannelId,
    peer: NodeId,
    groups: Box<[Group]>,
    waiting: u32,
    lanes: Box<[LaneSender]>,
    wake_ps: u64,
}

/// Queues of packets with the same set of permitted lanes.
#[derive(Clone, Copy, Debug)]
struct Group {
    lanes: u16,
    /// Bit set of lanes on which a packet of the group is in progress.
    middle: u16,
}

#[derive(Clone, Copy, Debug)]
struct LaneSender {
    worm: WormId,
    left: u32,
    group: u8,
    in_transit: Option<InTransitId>,
    head: Head,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    flits: u32,
    /// Creation time of the message or, for an in-transit packet, the time when it became ready, in
    /// ps.
    arrival_ps: u64,
    in_transit: Option<InTransitId>,
}

impl Hosts {
    pub(crate) fn new(
        plan: &Plan,
        lanes: &PipelinePlan,
        layout: &Layout,
        endpoints: &Endpoints,
    ) -> Self {
        let worm = WormId::new(0);
        let sender =
            LaneSender { worm, left: 0, group: 0, in_transit: None, head: Head::default() };
        let host = |channel: ChannelId| {
            let endpoint = plan.fabric.endpoint_at(plan.ends(channel).source);
            let endpoint = endpoint.expect("what begins at no switch begins at an endpoint");
            let groups = endpoints.adapter(endpoint).groups();
            Host {
                endpoint,
                channel,
                peer: plan.ends(channel).target.node,
                groups: groups.map(|lanes| Group { lanes: lanes.bits(), middle: 0 }).collect(),
                waiting: 0,
                lanes: vec![sender; plan.lanes.count.into()].into(),
                wake_ps: u64::MAX,
            }
        };
        let channels = layout.channels()[layout.first_host..].iter().flatten().copied();
        let ports: Vec<Host> = channels.map(host).collect();
        let arbiters = Arbiters::new(&plan.lanes.adapter_port, plan, lanes, ports.len());
        let may_hold_back = endpoints.adapters().iter().any(Adapter::may_hold_back);
        Self {
            first_port: layout.first_host,
            is_plain: arbiters.are_default && !may_hold_back && !lanes.counts_credits(),
            arbiters,
            ports,
            may_hold_back,
            is_short: false,
            injection: lanes.injection,
            wanted: endpoints.wanted(),
            gathered: plan.gathered_channels().into(),
            is_to_gather: false,
            arch: Arch::new(),
        }
    }

    /// Returns the channels whose full buffers must be counted now, for injection throttling.
    pub(crate) fn take_gather(&mut self) -> Option<&[ChannelId]> {
        std::mem::take(&mut self.is_to_gather).then_some(&self.gathered)
    }

    #[inline]
    fn host(&self, port: usize) -> &Host {
        &self.ports[port - self.first_port]
    }

    #[inline]
    fn host_mut(&mut self, port: usize) -> &mut Host {
        &mut self.ports[port - self.first_port]
    }

    #[inline(never)]
    pub(crate) fn create(&mut self, source: usize, links: &mut Links, context: &mut Context) {
        let Created { next, endpoint } = context.create_next(source);
        if let Some(at) = next {
            context.clock.schedule(at.as_ps(), Event::Create { source });
        }
        self.send_soon(endpoint, links, context);
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    fn send_soon(&mut self, endpoint: EndpointId, links: &mut Links, context: &mut Context) {
        let port = context.layout.port(context.plan.fabric.endpoint_channel(endpoint));
        self.update_waiting(port, context);
        links.ready.insert(port);
        context.clock.wake();
    }

    fn update_waiting(&mut self, port: usize, context: &Context) {
        let host = self.host_mut(port);
        host.waiting = context.endpoints.adapter(host.endpoint).waiting_groups();
    }

    pub(crate) fn wake(&mut self, channel: ChannelId, links: &mut Links, context: &mut Context) {
        let port = context.layout.port(channel);
        self.host_mut(port).wake_ps = u64::MAX;
        links.ready.insert(port);
        context.clock.wake();
    }

    pub(crate) fn begin_late(
        &mut self,
        channel: ChannelId,
        worm: WormId,
        links: &mut Links,
        context: &mut Context,
    ) {
        let endpoint = self.host(context.layout.port(channel)).endpoint;
        let packet = context.worms.get(worm).packet;
        context.notify(Notice::Began { endpoint, packet: &packet });
        self.send_soon(endpoint, links, context);
    }

    pub(crate) fn on_left(&self, channel: ChannelId, worm: WormId, context: &mut Context) {
        let endpoint = self.host(context.layout.port(channel)).endpoint;
        let worm = context.worms.get(worm);
        let carried = worm.packet.content;
        let (began, flits) = (Time::from_ps(worm.began_ps), worm.flits.into());
        let flit = context.plan.channel(channel).flit;
        context.notify(Notice::Left { endpoint, began, flits, flit, content: carried });
    }

    fn send_flit(&mut self, port: usize, network: &mut Network, context: &mut Context) {
        let tick = context.clock.tick();
        let Network { links, in_transit, .. } = network;
        let Some(began) = links.begin_flit(port, tick, &context.clock) else {
            links.set_wait(port, false, tick);
            return links.ready.insert(port);
        };
        let could = self.lanes_to_go_on(port, links, in_transit, context);
        let begins = self.lanes_to_begin(port, could, began, links, in_transit, context);
        if could | begins == 0 {
            let waits = self.waits(port, began, links, in_transit, context);
            return links.set_wait(port, waits, tick);
        }
        let Some(lane) = self.choose_lane(port, could | begins, links) else {
            return links.set_wait(port, false, tick);
        };
        if could >> lane & 1 == 0 {
            self.begin_packet(port, lane, began, network, context);
        }
        let Network { links, in_transit, .. } = network;
        let host = self.host_mut(port);
        let sender = &mut host.lanes[lane];
        sender.left -= 1;
        if sender.left == 0 {
            let sender = *sender;
            host.groups[usize::from(sender.group)].middle &= !(1 << lane);
            links.end_packet(port, lane);
            self.end_packet(port, sender, began, context);
        }
        if self.waiting_groups(port, in_transit) != 0 || links.port(port).is(TO_HOST) {
            links.ready.insert(port);
        }
        let link = links.port(port);
        if link.is_plain() {
            if network.links.spend_credit(port, lane) {
                network.links.ready.insert(port);
            }
            network.carry(port, lane, tick);
        } else {
            network.traverse_channel(port, lane, began, context);
        }
        let Network { links, in_transit, .. } = network;
        if in_transit.exists() && links.port(port).unsent() != 0 {
            links.set_wait(port, false, tick);
            links.ready.insert(port);
        } else {
            links.note_sent(port, tick);
        }
    }

    #[inline]
    fn lanes_to_go_on(
        &self,
        port: usize,
        links: &Links,
        in_transit: &InTransit,
        context: &Context,
    ) -> u16 {
        let could = links.port(port).can_send();
        if !in_transit.exists() {
            return could;
        }
        let is_there = |lane: &usize| {
            let sender = &self.host(port).lanes[*lane];
            sender.in_transit.is_none_or(|id| in_transit.has_flit(id, sender.left, context))
        };
        lanes_of(could).filter(is_there).fold(0, |lanes, lane| lanes | 1 << lane)
    }

    #[inline]
    fn waiting_groups(&self, port: usize, in_transit: &InTransit) -> u32 {
        let own = self.host(port).waiting;
        if in_transit.exists() { own | in_transit.host(port).machine.waiting_groups() } else { own }
    }

    /// Returns the lanes that may start a packet at `began` (ps). `could` contains the lanes that
    /// can continue a packet.
    fn lanes_to_begin(
        &mut self,
        port: usize,
        could: u16,
        began: u64,
        links: &mut Links,
        in_transit: &InTransit,
        context: &mut Context,
    ) -> u16 {
        self.is_short = false;
        let (all_idle, is_open) = (links.port(port).idle(), links.port(port).is_open());
        let waiting = self.waiting_groups(port, in_transit);
        if waiting == 0 || !is_open {
            return 0;
        }
        let is_held = self.injection == Injection::OneAtATime && self.is_in_own(port, links);
        if is_held && !in_transit.exists() {
            return 0;
        }
        let is_plain = self.is_plain && !in_transit.exists();
        if is_plain && let [Group { lanes, middle }] = *self.host(port).groups {
            return if middle & could == 0 { lanes & all_idle } else { 0 };
        }
        let mut begins = 0;
        for group in 0..self.host(port).groups.len() {
            let Group { lanes, middle } = self.host(port).groups[group];
            let mut idle = lanes & all_idle;
            if waiting >> group & 1 == 0 || middle & could != 0 || idle == 0 {
                continue;
            }
            if !is_plain {
                let next = self.next_of(port, group, began, is_held, in_transit, context);
                let fitting = |next| self.fitting_lanes(port, idle & !begins, next, links, context);
                idle = next.map_or(0, fitting);
            }
            for lane in lanes_of(idle & !begins) {
                let group = u8::try_from(group).expect("groups are few");
                self.host_mut(port).lanes[lane].group = group;
            }
            begins |= idle;
        }
        begins
    }

    #[inline(never)]
    fn fitting_lanes(
        &mut self,
        port: usize,
        idle: u16,
        next: Candidate,
        links: &mut Links,
        context: &Context,
    ) -> u16 {
        let takes_all = links.port(port).is(TO_HOST);
        let head = self.arbiters.head(next.flits, next.arrival_ps);
        let mut fitting = 0;
        for lane in lanes_of(idle) {
            let credit = u32::from(links.lane(port << SHIFT | lane).credit);
            if !takes_all && credit < self.credits_to_begin(lane, next.flits, context) {
                continue;
            }
            fitting |= 1 << lane;
            let sender = &mut self.host_mut(port).lanes[lane];
            (sender.head, sender.in_transit) = (head, next.in_transit);
        }
        self.is_short |= fitting == 0;
        if fitting == 0 && self.may_hold_back {
            // Retry at the next tick: a higher-priority packet with fewer flits may get its tokens
            // before this packet gets its credits, or this packet may become ineligible.
            links.ready.insert(port);
        }
        fitting
    }

    fn is_in_own(&self, port: usize, links: &Links) -> bool {
        let lanes = &self.host(port).lanes;
        lanes_of(links.port(port).filled).any(|lane| lanes[lane].in_transit.is_none())
    }

    /// Returns the next packet that may start at `now`, in-transit packets first. `is_held`
    /// excludes the host's own packets.
    #[inline(never)]
    fn next_of(
        &mut self,
        port: usize,
        group: usize,
        now: u64,
        is_held: bool,
        in_transit: &InTransit,
        context: &mut Context,
    ) -> Option<Candidate> {
        if in_transit.exists()
            && let Some((id, ready)) =
                in_transit.host(port).machine.next_ready(group, Time::from_ps(context.clock.now()))
        {
            let arrival_ps = ready.as_ps();
            let flits = context.worms.get(in_transit.packet(id).worm).flits;
            return Some(Candidate { flits, arrival_ps, in_transit: Some(id) });
        }
        if is_held {
            return None;
        }
        let host = self.host_mut(port);
        match context.endpoints.next(host.endpoint, group, Time::from_ps(now)) {
            Next::Packet { payload_bytes, created } => {
                let flits = context.lanes.packet_flits(payload_bytes);
                let flits = u32::try_from(flits).expect("a packet has fewer than 2^32 bytes");
                Some(Candidate { flits, arrival_ps: created.as_ps(), in_transit: None })
            }
            Next::Nothing => None,
            Next::At(time) => {
                if time.as_ps() < host.wake_ps {
                    host.wake_ps = time.as_ps();
                    context.clock.schedule(time.as_ps(), Event::Wake { channel: host.channel });
                }
                None
            }
        }
    }

    fn choose_lane(&mut self, port: usize, lanes: u16, links: &mut Links) -> Option<usize> {
        if self.arbiters.are_default {
            return Some(links.serve_round_robin(port, lanes));
        }
        if !links.port(port).is_open() {
            return Some(lanes.trailing_zeros() as usize);
        }
        let senders = &self.host(port).lanes;
        let head = |lane: usize| senders.get(lane).map_or_else(Head::default, |sender| sender.head);
        let heads = std::array::from_fn(head);
        let lane = self.arbiters.serve(port - self.first_port, lanes, &heads)?;
        if self.arbiters.are_by_packet {
            links.keep_to(port, lane);
        }
        Some(lane)
    }

    fn begin_packet(
        &mut self,
        port: usize,
        lane: usize,
        began: u64,
        network: &mut Network,
        context: &mut Context,
    ) {
        let LaneSender { group, in_transit: id, .. } = self.host(port).lanes[lane];
        let (worm, flits) = match id {
            Some(id) => network.in_transit.begin(id, began, context),
            None => self.begin_own(port, group.into(), began, &network.links, context),
        };
        let host = self.host_mut(port);
        let sender = &mut host.lanes[lane];
        (sender.worm, sender.left) = (worm, flits);
        host.groups[usize::from(group)].middle |= 1 << lane;
        network.links.begin_packet(port, lane);
        let coming = Coming { worm, flits, hop: 0 };
        network.buffers.expect_worm(network.links.port(port).peer_lane(lane), coming);
    }

    fn begin_own(
        &mut self,
        port: usize,
        group: usize,
        began: u64,
        links: &Links,
        context: &mut Context,
    ) -> (WormId, u32) {
        let &Host { endpoint, channel, peer, .. } = self.host(port);
        if self.wanted.loads {
            let loads = links.output_loads(endpoint, context);
            context.notify(Notice::Loads { endpoint, loads: &loads });
        }
        let turn = context.endpoints.turn(endpoint, group, Time::from_ps(began));
        let Turn::Send(packet) = turn else { unreachable!("a packet was found to be there") };
        let Context { plan, lanes, worms, .. } = context;
        let (worm, flits) = worms.begin(plan, lanes, packet, peer, began);
        if self.wanted.began.has(&packet) {
            if began == context.clock.now() {
                context.notify(Notice::Began { endpoint, packet: &packet });
            } else {
                context.clock.schedule(began, Event::Begin { channel, worm });
            }
        }
        self.update_waiting(port, context);
        (worm, flits)
    }

    #[inline]
    fn end_packet(&self, port: usize, sender: LaneSender, began: u64, context: &mut Context) {
        if !self.wanted.left && sender.in_transit.is_none() {
            return;
        }
        let channel = self.host(port).channel;
        let left = began + context.plan.channel(channel).flit.as_ps();
        let event = match sender.in_transit {
            Some(packet) => Event::Release { channel, packet },
            None => Event::Left { channel, worm: sender.worm },
        };
        context.clock.schedule(left, event);
    }
}

impl Hosts {
    pub(crate) fn waiters(&self, links: &Links, context: &Context, now: Time) -> Vec<Waiter> {
        let mut found = Vec::new();
        for (number, host) in self.ports.iter().enumerate() {
            let port = self.first_port + number;
            let is_short_of = |lane: u8, flits: u32| {
                let credit = links.lane(port << SHIFT | usize::from(lane)).credit;
                !links.port(port).is(TO_HOST) && u32::from(credit) < flits
            };
            for lane in LaneSet::from_bits(links.port(port).filled).lanes() {
                let packet = &context.worms.get(host.lanes[usize::from(lane)].worm).packet;
                let is_blocked = |lane| is_short_of(lane, 1);
                let onward = Onward::by(host.channel, LaneSet::one(lane), is_blocked);
                found.push(Waiter::sending(packet, onward));
            }
            for queued in context.endpoints.queued(host.endpoint, now) {
                let flits = context.lanes.packet_flits(queued.payload_bytes);
                let flits = u32::try_from(flits).expect("a packet has fewer than 2^32 bytes");
                let Group { lanes, .. } = host.groups[queued.group];
                let onward = Onward::by(host.channel, LaneSet::from_bits(lanes), |lane| {
                    is_short_of(lane, self.credits_to_begin(lane.into(), flits, context).max(1))
                });
                found.push(Waiter::queued(&queued, onward));
            }
        }
        found
    }

    pub(crate) fn lane_of(&self, port: usize, id: InTransitId, links: &Links) -> Option<usize> {
        let lanes = &self.host(port).lanes;
        lanes_of(links.port(port).filled).find(|lane| lanes[*lane].in_transit == Some(id))
    }

    pub(crate) fn lanes_of_group(&self, port: usize, group: usize) -> u16 {
        self.host(port).groups[group].lanes
    }

    /// Returns the number of credits needed to start a packet; 0 if the first flit's credit is
    /// enough.
    pub(crate) fn credits_to_begin(&self, lane: usize, flits: u32, context: &Context) -> u32 {
        let lane = u8::try_from(lane).expect("lanes are few");
        let is_by_packet = self.arbiters.are_by_packet;
        let credits = context.lanes.credits_to_begin(lane, flits.into(), is_by_packet);
        u32::try_from(credits).expect("a lane is of fewer than 2^32 flits")
    }
}

impl Hosts {
    #[inline(never)]
    fn waits(
        &self,
        port: usize,
        began: u64,
        links: &mut Links,
        in_transit: &InTransit,
        context: &Context,
    ) -> bool {
        let is_there = |lane: usize| {
            let sender = &self.host(port).lanes[lane];
            !in_transit.exists()
                || sender.in_transit.is_none_or(|id| in_transit.has_flit(id, sender.left, context))
        };
        let link = links.port(port);
        let unpaid = link.unsent() & !link.credited;
        if lanes_of(unpaid).any(is_there) {
            return true;
        }
        link.is_open()
            && (self.is_short || self.has_unasked(port, began, links, in_transit, context))
    }

    /// Returns whether a group that was skipped for lack of credits has a packet that neither a
    /// window nor a rate limit delays.
    fn has_unasked(
        &self,
        port: usize,
        began: u64,
        links: &mut Links,
        in_transit: &InTransit,
        context: &Context,
    ) -> bool {
        let is_held = self.injection == Injection::OneAtATime && self.is_in_own(port, links);
        let waiting = self.waiting_groups(port, in_transit);
        let link = *links.port(port);
        let (now, began) = (Time::from_ps(context.clock.now()), Time::from_ps(began));
        let host = self.host(port);
        let is_unasked = |(group, Group { lanes, .. }): &(usize, &Group)| {
            let idle = lanes & !link.filled;
            waiting >> group & 1 == 1 && idle != 0 && idle & link.credited == 0
        };
        let mut unasked = host.groups.iter().enumerate().filter(is_unasked).peekable();
        if self.may_hold_back && unasked.peek().is_some() {
            // Retry at the next tick: a rate limit may release a packet, or a window may close,
            // without a notice.
            links.ready.insert(port);
        }
        unasked.any(|(group, _)| {
            let has_transit = in_transit.exists()
                && in_transit.host(port).machine.next_ready(group, now).is_some();
            has_transit || !is_held && context.endpoints.has_ready(host.endpoint, group, began)
        })
    }
}

struct Stage<'a> {
    hosts: &'a mut Hosts,
    network: &'a mut Network,
    context: &'a mut Context,
}

impl WithSimd for Stage<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "it is compiled for what the machine has")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.hosts.send_all(self.network, self.context);
    }
}

impl Hosts {
    pub(crate) fn send(&mut self, network: &mut Network, context: &mut Context) {
        self.arch.dispatch(Stage { hosts: self, network, context });
    }

    #[expect(clippy::inline_always, reason = "it is compiled for what the machine has")]
    #[inline(always)]
    fn send_all(&mut self, network: &mut Network, context: &mut Context) {
        let tick = context.clock.tick();
        let is_plain = self.is_plain && !network.in_transit.exists();
        for word in self.first_port / 64..context.layout.channels().len() / 64 {
            let mut stay = 0;
            for bit in members(network.links.take_ready(word)) {
                let port = word * 64 + bit;
                let sent = if is_plain { self.send_body(port, network, tick) } else { None };
                match sent {
                    Some(stays) => stay |= u64::from(stays) << bit,
                    None => self.send_flit(port, network, context),
                }
            }
            network.links.ready.words[word] |= stay;
        }
    }

    /// Sends a body flit on an ordinary channel to a switch, if no packet could start. Returns
    /// `None` if no flit was sent, otherwise whether the host may send at the next tick.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every flit")]
    #[inline(always)]
    fn send_body(&mut self, port: usize, network: &mut Network, tick: u64) -> Option<bool> {
        let (link, host) = (network.links.port(port), &mut self.ports[port - self.first_port]);
        let could = link.can_send();
        let goes_on = host.waiting == 0
            || matches!(*host.groups, [Group { middle, .. }] if middle & could != 0);
        if could == 0 || !goes_on || !link.is_plain() {
            return None;
        }
        let (lane, can_send) = network.links.spend_round_robin_if(port, could, |lane| {
            let left = &mut host.lanes[lane].left;
            let goes_on = *left > 1;
            *left -= u32::from(goes_on);
            goes_on
        })?;
        network.carry(port, lane, tick);
        let stays = can_send || host.waiting != 0;
        if !stays || network.links.port(port).waits() {
            network.links.note_sent(port, tick);
        }
        Some(stays)
    }
}

impl Hosts {
    #[inline]
    pub(crate) fn carry_out(
        &mut self,
        links: &mut Links,
        switches: &mut Switches,
        context: &mut Context,
    ) {
        if context.endpoints.has_orders() {
            self.carry_out_some(links, switches, context);
        }
    }

    #[inline(never)]
    fn carry_out_some(
        &mut self,
        links: &mut Links,
        switches: &mut Switches,
        context: &mut Context,
    ) {
        while let Some(order) = context.endpoints.next_order() {
            match order {
                Order::Send { endpoint } => self.send_soon(endpoint, links, context),
                Order::CreateAt { source, at } => {
                    context.clock.schedule(at.as_ps(), Event::Create { source });
                }
                Order::WakeAt { endpoint, at } => {
                    context.clock.schedule(at.as_ps(), Event::WakeEndpoint { endpoint });
                }
                Order::Gather => self.is_to_gather = true,
                Order::Weigh(weighing) => self.weigh(weighing, links, switches, context),
            }
        }
    }

    fn weigh(
        &mut self,
        Weighing { channel, place, lane, weight }: Weighing,
        links: &mut Links,
        switches: &mut Switches,
        context: &Context,
    ) {
        let begins = context.layout.port(channel);
        let (port, arbiters) = match place {
            ArbiterPlace::CrossbarInput => {
                (context.layout.port(Fabric::reverse(channel)), &mut switches.arbiters)
            }
            ArbiterPlace::CrossbarOutput => {
                let outputs = switches.outputs.as_mut().expect("what is weighed has arbiters");
                (begins, &mut outputs.arbiters)
            }
            ArbiterPlace::LinkOutput => (begins, &mut links.arbiters),
            ArbiterPlace::AdapterPort => (begins - self.first_port, &mut self.arbiters),
        };
        arbiters.weigh(port, lane, weight);
    }
}
