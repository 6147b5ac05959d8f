//! Hosts: sources create messages, adapters start packets, and packets are delivered.

use crate::packets::clock::Clock;
use crate::packets::event::Event;
use crate::packets::network::Network;
use crate::packets::network::blocks_of;
use crate::packets::packet::{Moving, PacketId};
use crate::packets::switches::LANES;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_net::{Content, Created, Next, Notice, Order, Turn, Weighing};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId, NodeId};

#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    /// Index in `senders` of the host that sends on each channel, `None` for channels from switches.
    of_channel: Vec<Option<u32>>,
    senders: Vec<Host>,
    /// Whether [`Network::is_plain`] holds.
    are_plain: bool,
}

#[derive(Clone, Debug)]
struct Host {
    endpoint: EndpointId,
    peer: NodeId,
    groups: Box<[LaneSet]>,
    is_in_line: bool,
    sending: Content,
    /// Time of the next start attempt after tokens or a rate limit held back a packet, in ps; 0 if
    /// none is scheduled.
    released_ps: u64,
}

#[derive(Clone, Copy, Debug)]
struct Offers {
    eligible: u16,
    is_any_ready: bool,
    groups: [u8; LANES],
    heads: [Head; LANES],
}

impl Hosts {
    pub(crate) fn new(network: &Network) -> Self {
        let plan = &network.plan;
        let host = |endpoint: EndpointId| {
            let channel = plan.fabric.endpoint_channel(endpoint);
            let groups: Box<[_]> = network.endpoints.adapter(endpoint).groups().collect();
            Host {
                endpoint,
                peer: plan.ends(channel).target.node,
                is_in_line: network.arbiters.is_empty() && *groups == [LaneSet::one(0)],
                groups,
                sending: Content::Control,
                released_ps: 0,
            }
        };
        let mut of_channel = vec![None; plan.channels.len()];
        for endpoint in plan.fabric.endpoint_ids() {
            let number = u32::try_from(endpoint.index()).expect("ids have 32 bits");
            of_channel[plan.fabric.endpoint_channel(endpoint).index()] = Some(number);
        }
        let senders = plan.fabric.endpoint_ids().map(host).collect();
        Self { of_channel, senders, are_plain: network.is_plain() }
    }

    #[inline]
    pub(crate) fn at(&self, channel: ChannelId) -> Option<usize> {
        self.of_channel[channel.index()].map(|number| number as usize)
    }

    pub(crate) fn create(source: usize, network: &mut Network) {
        let Created { next, endpoint } =
            network.endpoints.create_next(source, network.clock.time());
        if let Some(at) = next {
            network.clock.schedule(at.as_ps(), Event::Create { source });
        }
        network.try_at_end(network.plan.fabric.endpoint_channel(endpoint));
        network.carry_out();
    }

    pub(crate) fn on_left(&self, number: usize, channel: ChannelId, network: &mut Network) {
        network.clock.start(channel);
        if network.wanted.left {
            let endpoint = self.senders[number].endpoint;
            let (flits, span) = network.links.last(channel);
            let content = self.senders[number].sending;
            let began = Time::from_ps(network.clock.now() - span.as_ps());
            let flit = network.plan.channel(channel).flit;
            network.notify(Notice::Left { endpoint, began, flits, flit, content });
            network.carry_out();
        }
    }

    pub(crate) fn deliver(channel: ChannelId, id: PacketId, network: &mut Network) {
        let Network { plan, packets, endpoints, clock, .. } = network;
        let now = clock.time();
        let moving = packets.remove(id);
        let first_byte = plan.channel(channel).bytes.of(1);
        let head_arrived = Time::from_ps(moving.came_ps) + first_byte;
        let arrival = &moving.arrival(head_arrived, now);
        endpoints.notify(now, Notice::Received { packet: &moving.packet, arrival });
    }

    pub(crate) fn try_start(&mut self, number: usize, channel: ChannelId, network: &mut Network) {
        let chosen = if self.senders[number].is_in_line {
            self.next_in_line(number, channel, network).then_some((0, 0))
        } else {
            self.choose(number, channel, network)
        };
        let Some((lane, group)) = chosen else { return };
        let Host { endpoint, peer, .. } = self.senders[number];
        if network.wanted.loads {
            network.notify_loads(endpoint);
        }
        let Turn::Send(packet) = network.endpoints.turn(endpoint, group, network.clock.time())
        else {
            unreachable!("a packet was found to be there")
        };
        self.senders[number].sending = packet.content;
        let wire_bytes = network.wire_bytes(packet.payload_bytes);
        let moving = Moving::new(&network.plan, packet, wire_bytes, channel, peer);
        let id = network.packets.insert(moving);
        if self.are_plain {
            network.start::<true>(id, (channel, lane), |_| None);
        } else {
            network.start::<false>(id, (channel, lane), |_| None);
        }
        if network.wanted.began.has(&packet) {
            network.notify(Notice::Began { endpoint, packet: &packet });
            network.carry_out();
        }
        let waits = network.endpoints.adapter(endpoint).waiting_groups() != 0;
        if waits || network.wanted.left {
            network.await_end(channel);
        }
    }

    #[inline]
    fn next_in_line(&mut self, number: usize, channel: ChannelId, network: &mut Network) -> bool {
        let host = &mut self.senders[number];
        match network.endpoints.next(host.endpoint, 0, network.clock.time()) {
            Next::Packet { payload_bytes, .. } => {
                let blocks = blocks_of(network.wire_bytes(payload_bytes));
                let has_blocks = network.has_blocks::<false>(channel, 0, blocks);
                network.set_credit_wait(channel, !has_blocks);
                return has_blocks;
            }
            Next::At(time) => host.hold_until(time, channel, &mut network.clock),
            Next::Nothing => {}
        }
        network.set_credit_wait(channel, false);
        false
    }

    fn choose(
        &mut self,
        number: usize,
        channel: ChannelId,
        network: &mut Network,
    ) -> Option<(u8, usize)> {
        let offers = self.offers(number, channel, network);
        network.set_credit_wait(channel, offers.is_any_ready && offers.eligible == 0);
        let lane = network.serve(channel, offers.eligible, &offers.heads)?;
        Some((lane, offers.groups[usize::from(lane)].into()))
    }

    fn offers(&mut self, number: usize, channel: ChannelId, network: &mut Network) -> Offers {
        let mut offers = Offers {
            eligible: 0,
            is_any_ready: false,
            groups: [0; LANES],
            heads: [Head::default(); LANES],
        };
        let host = &mut self.senders[number];
        let now = network.clock.time();
        let mut waiting = network.endpoints.adapter(host.endpoint).waiting_groups();
        while waiting != 0 {
            let group = waiting.trailing_zeros() as usize;
            waiting &= waiting - 1;
            match network.endpoints.next(host.endpoint, group, now) {
                Next::Packet { payload_bytes, created } => {
                    offers.is_any_ready = true;
                    let length_bytes = network.wire_bytes(payload_bytes);
                    let head = Head { length_bytes, arrival_ps: created.as_ps() };
                    let blocks = blocks_of(length_bytes);
                    for lane in host.groups[group].lanes() {
                        let is_taken = offers.eligible >> lane & 1 == 1;
                        if !is_taken && network.has_blocks::<false>(channel, lane, blocks) {
                            offers.eligible |= 1 << lane;
                            offers.groups[usize::from(lane)] =
                                u8::try_from(group).expect("groups are few");
                            offers.heads[usize::from(lane)] = head;
                        }
                    }
                }
                Next::At(time) => host.hold_until(time, channel, &mut network.clock),
                Next::Nothing => {}
            }
        }
        offers
    }
}

impl Host {
    fn hold_until(&mut self, time: Time, channel: ChannelId, clock: &mut Clock) {
        let time_ps = time.as_ps();
        let is_known = self.released_ps > clock.now() && self.released_ps <= time_ps;
        if !is_known {
            self.released_ps = time_ps;
            clock.schedule(time_ps, Event::Released { channel });
        }
    }
}

impl Network {
    #[inline]
    pub(crate) fn carry_out(&mut self) {
        while let Some(order) = self.endpoints.next_order() {
            match order {
                Order::Send { endpoint } => {
                    self.try_at_end(self.plan.fabric.endpoint_channel(endpoint));
                }
                Order::CreateAt { source, at } => {
                    self.clock.schedule(at.as_ps(), Event::Create { source });
                }
                Order::WakeAt { endpoint, at } => {
                    self.clock.schedule(at.as_ps(), Event::Wake { endpoint });
                }
                Order::Gather => self.notify_gathered(),
                Order::Weigh(Weighing { channel, lane, weight, .. }) => {
                    if let Some(arbiter) = self.arbiters.get_mut(channel.index()) {
                        arbiter.weigh(lane, weight);
                    }
                }
            }
        }
    }

    #[inline]
    pub(crate) fn wire_bytes(&self, payload_bytes: u32) -> u32 {
        let bytes = self.packets_plan.wire_bytes(payload_bytes);
        u32::try_from(bytes).expect("a packet has fewer than 2^32 bytes")
    }
}
