//! Hosts: sources create messages, adapters send them packet by packet on several lanes, and what arrives is put together.
//!
//! ```text
//!   queues of lanes 0, 1   [ p7 ][ p9 ]  ─┐   lane 0   p5: 3 of 20 flits sent   ┐
//!   queue of lane 2        [ p8 ]        ─┴─► lane 1   -                        ├─► one flit a tick
//!                                             lane 2   p6: 19 of 20 sent        ┘
//! ```
//!
//! The lanes of a host's port are `filled` while they are in the middle of a packet.

use crate::lanes::event::Event;
use crate::lanes::simulation::Simulation;
use crate::lanes::state::{HOST, Layout, SHIFT, SPECIAL, TO_HOST};
use crate::lanes::worms::{Worm, WormId};
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_model::{Endpoints, Next, Plan, Turn};
use gingham_topology::{ChannelId, EndpointId};

/// What a host has under way on its own channel.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) endpoint: EndpointId,
    pub(crate) channel: ChannelId,
    groups: Box<[Group]>,
    /// Groups in which something waits, as bits.
    waiting: u32,
    /// By lane.
    lanes: Box<[Sending]>,
    /// When it is woken, if it is.
    wake_ps: u64,
}

/// Queues of packets that may leave on the same lanes.
#[derive(Clone, Copy, Debug)]
struct Group {
    lanes: u16,
    /// Lanes in the middle of a packet of these queues.
    middle: u16,
}

/// What a lane of a host sends, or may begin to send.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    worm: u32,
    /// Flits that were not sent.
    left: u32,
    group: u8,
    /// The packet in transit that it is, if it is one.
    passing: Option<u32>,
    /// What its arbiter sees of it.
    head: Head,
}

/// A packet that may begin.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    flits: u32,
    /// When its message was created or, in transit, it was ready.
    came_ps: u64,
    passing: Option<u32>,
}

impl Host {
    /// The hosts in the order of their ports.
    pub(crate) fn all(
        plan: &Plan,
        layout: &Layout,
        endpoints: &Endpoints,
        shift: u32,
    ) -> Vec<Self> {
        let host = |channel: ChannelId| {
            let endpoint = plan.fabric.endpoint_at(plan.ends(channel).source);
            let endpoint = endpoint.expect("what begins at no switch begins at an endpoint");
            let groups = endpoints.adapters[endpoint.index()].groups();
            Self {
                endpoint,
                channel,
                groups: groups.map(|lanes| Group { lanes: lanes.bits(), middle: 0 }).collect(),
                waiting: 0,
                lanes: vec![Sending::default(); 1 << shift].into(),
                wake_ps: u64::MAX,
            }
        };
        layout.channel_of[layout.first_host..].iter().flatten().copied().map(host).collect()
    }
}

impl Simulation {
    /// A source creates a message.
    pub(crate) fn create(&mut self, source: usize) {
        if let Some(next) = self.endpoints.arrive(source, Time::from_ps(self.now)) {
            self.schedule(next.as_ps(), Event::Create { source });
        }
        let channel = self.plan.fabric.endpoint_channel(self.endpoints.endpoint(source));
        let port = self.layout.port_of[channel.index()] as usize;
        self.look_for_waiting(port);
        self.rouse(port);
    }

    /// Looks in which queues of a host something waits.
    fn look_for_waiting(&mut self, port: usize) {
        let host = &mut self.hosts[port - self.layout.first_host];
        let adapter = &self.endpoints.adapters[host.endpoint.index()];
        host.waiting = (0..host.groups.len())
            .fold(0, |groups, group| groups | u32::from(adapter.is_waiting(group)) << group);
    }

    /// The host at the start of `channel` may have something to send.
    pub(crate) fn wake(&mut self, channel: ChannelId) {
        let port = self.layout.port_of[channel.index()] as usize;
        self.hosts[port - self.layout.first_host].wake_ps = u64::MAX;
        self.rouse(port);
    }

    /// The worm has arrived whole at its destination.
    pub(crate) fn deliver(&mut self, worm: WormId) {
        let worm = self.worms.remove(worm);
        self.endpoints.deliver(&worm.packet, &worm.arrival(&self.lanes, self.now));
    }

    /// A host sends a flit, if it can.
    pub(crate) fn send_from_host(&mut self, port: usize, tick: u64) {
        let Some(began) = self.begin_flit(port, tick) else { return self.leaving.insert(port) };
        let could = self.lanes_to_go_on(port);
        let begins = self.lanes_to_begin(port, could, began);
        if could | begins == 0 {
            return;
        }
        let Some(lane) = self.choose_adapter(port, could | begins) else { return };
        if could >> lane & 1 == 0 {
            self.begin_packet(port, lane, began);
        }
        let host = &mut self.hosts[port - self.layout.first_host];
        host.lanes[lane].left -= 1;
        if host.lanes[lane].left == 0 {
            let sending = host.lanes[lane];
            host.groups[usize::from(sending.group)].middle &= !(1 << lane);
            self.ports[port].filled &= !(1 << lane);
            self.ports[port].link_open = u16::MAX;
            self.end_packet(port, sending, began);
        }
        if self.groups_waiting(port) != 0 {
            self.leaving.insert(port);
        }
        if self.ports[port].is(SPECIAL & !HOST) {
            self.carry(port, lane, tick, began);
        } else {
            self.launch(port, lane, tick + u64::from(self.ports[port].latency));
        }
    }

    /// The lanes of a host in the middle of a packet that can go on.
    #[inline]
    fn lanes_to_go_on(&self, port: usize) -> u16 {
        let could = self.ports[port].can_leave();
        if !self.transits.exist() {
            return could;
        }
        let host = &self.hosts[port - self.layout.first_host];
        let is_there = |lane: &usize| {
            let Sending { passing, left, .. } = host.lanes[*lane];
            passing.is_none_or(|place| {
                let passing = &self.transits.passings[place as usize];
                passing.come + left > self.worms.get(passing.worm).flits
            })
        };
        let lanes = (0..host.lanes.len()).filter(|lane| could >> lane & 1 == 1);
        lanes.filter(is_there).fold(0, |lanes, lane| lanes | 1 << lane)
    }

    /// The lane on which a host sends a packet in transit, if it is in the middle of it.
    pub(crate) fn lane_sending(&self, port: usize, place: usize) -> Option<usize> {
        let host = &self.hosts[port - self.layout.first_host];
        let is_on = |lane: &usize| {
            let is_middle = self.ports[port].filled >> lane & 1 == 1;
            is_middle && host.lanes[*lane].passing.is_some_and(|other| other as usize == place)
        };
        (0..host.lanes.len()).find(is_on)
    }

    /// The lanes on which packets of a group of a host may leave.
    pub(crate) fn lanes_of_group(&self, port: usize, group: usize) -> u16 {
        self.hosts[port - self.layout.first_host].groups[group].lanes
    }

    /// The groups of queues of a host in which something waits, as bits.
    #[inline]
    fn groups_waiting(&self, port: usize) -> u32 {
        let number = port - self.layout.first_host;
        let own = self.hosts[number].waiting;
        if self.transits.exist() { own | self.transits.groups(number) } else { own }
    }

    /// The lanes of a host on which a packet may begin at an instant, if so many others could go on.
    fn lanes_to_begin(&mut self, port: usize, could: u16, began: u64) -> u16 {
        let state = &self.ports[port];
        let (filled, credited, open) = (state.filled, state.credited, state.link_open);
        let number = port - self.layout.first_host;
        let waiting = self.groups_waiting(port);
        if waiting == 0 || open != u16::MAX {
            return 0;
        }
        let mut begins = 0;
        for group in 0..self.hosts[number].groups.len() {
            let Group { lanes, middle } = self.hosts[number].groups[group];
            let idle = lanes & !filled & credited;
            if waiting >> group & 1 == 0 || middle & could != 0 || idle == 0 {
                continue;
            }
            let idle = if self.choice.host_is_plain && !self.transits.exist() {
                idle
            } else {
                let Some(idle) = self.ask_adapter(port, group, idle & !begins, began) else {
                    continue;
                };
                idle
            };
            let mut left = idle & !begins;
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                self.hosts[number].lanes[lane].group = u8::try_from(group).expect("groups are few");
                left &= left - 1;
            }
            begins |= idle;
        }
        begins
    }
}

impl Simulation {
    /// Which of some idle lanes the next packet of a group may take at an instant, if there is one that may begin.
    #[inline(never)]
    fn ask_adapter(&mut self, port: usize, group: usize, idle: u16, now: u64) -> Option<u16> {
        let Candidate { flits, came_ps, passing } = self.next_of(port, group, now)?;
        let mut fitting = 0;
        for lane in (0..16).filter(|lane| idle >> lane & 1 == 1) {
            let is_whole =
                self.choice.adapter_is_by_packet || self.lanes.cut_through.contains(lane);
            let lane = usize::from(lane);
            let credit = u32::from(self.outputs[port << SHIFT | lane].credit);
            if is_whole && credit < flits && !self.ports[port].is(TO_HOST) {
                continue;
            }
            fitting |= 1 << lane;
            let head = self.choice.adapter_head(flits, came_ps);
            let sending = &mut self.hosts[port - self.layout.first_host].lanes[lane];
            (sending.head, sending.passing) = (head, passing);
        }
        if fitting == 0 && self.choice.has_policing {
            // One of a higher priority and fewer flits may find its tokens before this one its credits.
            self.leaving.insert(port);
        }
        Some(fitting)
    }

    /// The next packet of a group of a host, if one may begin at an instant: one in transit before those of the host's own.
    fn next_of(&mut self, port: usize, group: usize, now: u64) -> Option<Candidate> {
        let number = port - self.layout.first_host;
        if self.transits.exist()
            && let Some(place) = self.transits.ripest(number, group, self.now)
        {
            let passing = &self.transits.passings[place];
            let came_ps = passing.ready_ps.expect("what is ripe is ready");
            let flits = self.worms.get(passing.worm).flits;
            let passing = Some(u32::try_from(place).expect("packets in transit have 32 bits"));
            return Some(Candidate { flits, came_ps, passing });
        }
        let host = &mut self.hosts[number];
        let adapter = &mut self.endpoints.adapters[host.endpoint.index()];
        match adapter.next(group, Time::from_ps(now)) {
            Next::Packet { payload_bytes, created } => {
                let flits = self.lanes.packet_flits(payload_bytes);
                let flits = u32::try_from(flits).expect("a packet has fewer than 2^32 bytes");
                Some(Candidate { flits, came_ps: created.as_ps(), passing: None })
            }
            Next::Nothing => None,
            Next::At(time) => {
                if time.as_ps() < host.wake_ps {
                    host.wake_ps = time.as_ps();
                    let channel = host.channel;
                    self.schedule(time.as_ps(), Event::Wake { channel });
                }
                None
            }
        }
    }

    fn choose_adapter(&mut self, port: usize, lanes: u16) -> Option<usize> {
        if self.choice.adapter_is_in_turn() {
            return Some(crate::lanes::state::in_turn(lanes, &mut self.ports[port].link_after));
        }
        if self.ports[port].link_open != u16::MAX {
            // By the packet, it is in the middle of one.
            return Some(lanes.trailing_zeros() as usize);
        }
        let host = &self.hosts[port - self.layout.first_host];
        let heads = std::array::from_fn(|lane| {
            host.lanes.get(lane).map_or(Head::default(), |lane| lane.head)
        });
        let lane = self.choice.serve_adapter(port, lanes, &heads)?;
        if self.choice.adapter_is_by_packet {
            self.ports[port].link_open = 1 << lane;
        }
        Some(lane)
    }

    /// A packet begins on a lane of a host.
    fn begin_packet(&mut self, port: usize, lane: usize, began: u64) {
        let number = port - self.layout.first_host;
        let Sending { group, passing, head, .. } = self.hosts[number].lanes[lane];
        let (worm, flits) = match passing {
            Some(place) => self.begin_in_transit(place as usize, began),
            None => self.begin_own(port, group.into(), began),
        };
        self.ports[port].filled |= 1 << lane;
        let worm = u32::try_from(worm).expect("ids have 32 bits");
        let host = &mut self.hosts[number];
        host.lanes[lane] = Sending { worm, left: flits, group, passing, head };
        host.groups[usize::from(group)].middle |= 1 << lane;
        self.await_worm((self.ports[port].peer as usize) << SHIFT | lane, worm, flits);
    }

    /// A packet of a host's own begins: the worm, and its flits.
    fn begin_own(&mut self, port: usize, group: usize, began: u64) -> (usize, u32) {
        let host = &self.hosts[port - self.layout.first_host];
        let (endpoint, channel) = (host.endpoint, host.channel);
        let turn = self.endpoints.begin(endpoint, group, Time::from_ps(began));
        let Turn::Send(packet) = turn else { unreachable!("a packet was found to be there") };
        let first_node = self.plan.ends(channel).target.node;
        let worm = Worm::new(&self.plan, &self.lanes, packet, first_node, began);
        let flits = worm.flits;
        let worm = self.worms.insert(worm);
        if began == self.now {
            self.endpoints.refill(endpoint, &packet, Time::from_ps(began));
        } else if packet.is_first {
            self.schedule(began, Event::Begin { channel, worm });
        }
        self.look_for_waiting(port);
        (worm.index(), flits)
    }

    /// A packet that was taken by a tick before begins now on the channel of its host.
    pub(crate) fn begun_late(&mut self, channel: ChannelId, worm: WormId) {
        let port = self.layout.port_of[channel.index()] as usize;
        let endpoint = self.hosts[port - self.layout.first_host].endpoint;
        let packet = self.worms.get(worm.index()).packet;
        self.endpoints.refill(endpoint, &packet, Time::from_ps(self.now));
        self.look_for_waiting(port);
        self.rouse(port);
    }

    /// The last flit of a packet begins on the channel of a host.
    #[inline]
    fn end_packet(&mut self, port: usize, sending: Sending, began: u64) {
        if !self.looks_at_contention && sending.passing.is_none() {
            return;
        }
        let channel = self.hosts[port - self.layout.first_host].channel;
        let left = began + self.plan.channel(channel).flit.as_ps();
        let event = match sending.passing {
            Some(place) => Event::Release { channel, worm: WormId::new(place as usize) },
            None => Event::Left { channel, worm: WormId::new(sending.worm as usize) },
        };
        self.schedule(left, event);
    }

    /// The tail of a packet has left its host.
    pub(crate) fn left_host(&mut self, channel: ChannelId, worm: WormId) {
        let endpoint = self.plan.fabric.endpoint_at(self.plan.ends(channel).source);
        let endpoint = endpoint.expect("a host sends");
        let worm = self.worms.get(worm.index());
        let (began, now) = (Time::from_ps(worm.began_ps), Time::from_ps(self.now));
        let flit = self.plan.channel(channel).flit;
        self.endpoints.on_left(endpoint, began, now, worm.flits.into(), flit);
    }
}
