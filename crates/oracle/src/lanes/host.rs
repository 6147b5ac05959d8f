//! Hosts: messages are created, packets begin and have left, and what ends here is consumed.

use crate::lanes::clock::Tick;
use crate::lanes::event::{Event, Flit};
use crate::lanes::journey::JourneyId;
use crate::lanes::ports::Granting;
use crate::lanes::simulation::Simulation;
use gingham_model::{ArbiterPlace, Notice, Order, Weighing};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};

impl Simulation {
    /// Tells the endpoints what happens now, and carries out what they order, at the first tick
    /// from now on.
    pub(crate) fn tell(&mut self, notice: Notice<'_>) {
        self.endpoints.tell(self.timeline.now, notice);
        self.carry_out(self.clock.first_from(self.timeline.now));
    }

    /// Carries out what the endpoints order; hosts may send from a tick on.
    pub(crate) fn carry_out(&mut self, from: Tick) {
        while let Some(order) = self.endpoints.next_order() {
            match order {
                Order::Send { endpoint } => {
                    self.wake_adapter(self.plan.fabric.endpoint_channel(endpoint), from);
                }
                Order::CreateAt { source, at } => self.timeline.cause(at, Event::Create { source }),
                Order::WakeAt { endpoint, at } => self.timeline.cause(at, Event::Wake { endpoint }),
                Order::Weigh(weighing) => self.weigh(weighing),
                Order::Gather => self.tell_gathered(),
            }
        }
    }

    /// Tells the endpoints of outputs of a switch of which other lanes are held than before this stage
    /// of a tick.
    pub(crate) fn tell_lanes(&mut self, node: NodeId) {
        for output in self.channels_from(node) {
            let state = &self.outputs[output.index()];
            let is_free = |lane| state.lane(lane).holder.is_none();
            if let Some(free) = self.watched.change(output, is_free) {
                self.endpoints.tell(self.timeline.now, Notice::Lanes { output, free });
                self.carry_out(self.tick() + 1);
            }
        }
    }

    /// Tells the endpoints how many lane buffers between switches have no place free.
    fn tell_gathered(&mut self) {
        let full = self.watched.full(|channel, lane| {
            let depth = self.lane_plan.depths_flits[usize::from(lane)];
            self.input(channel).lane(lane).fill() == depth as usize
        });
        self.endpoints.tell(self.timeline.now, Notice::Gathered { full });
    }

    fn weigh(&mut self, Weighing { channel, place, lane, weight }: Weighing) {
        let arbiter = match place {
            ArbiterPlace::CrossbarInput => &mut self.input_mut(channel).way_of(lane).chooser,
            ArbiterPlace::CrossbarOutput => {
                let granting = self.outputs[channel.index()].way_of(lane);
                let Granting::Lanes(chooser) = granting else { panic!("it has no weights") };
                chooser
            }
            ArbiterPlace::LinkOutput | ArbiterPlace::AdapterPort => {
                &mut self.outputs[channel.index()].chooser
            }
        };
        arbiter.weigh(lane, weight);
    }

    /// A flit begins on a channel.
    pub(crate) fn begin(&mut self, channel: ChannelId, flit: Flit) {
        self.counts[channel.index()].data_flits += 1;
        let Some(host) = self.hosts[channel.index()] else { return };
        if flit.index > 0 {
            return;
        }
        let from = self.clock.first_after(self.timeline.now);
        if let Some(packet) = self.in_transit[host.index()].packet(flit.packet) {
            let now = self.timeline.now;
            let waited = now.since(packet.taken.ready.expect("what begins is ready"));
            let packet = &mut self.journeys.get_mut(flit.packet).packet;
            self.endpoints.tell(now, Notice::SentOn { endpoint: host, waited, packet });
            self.carry_out(from);
        } else {
            let packet = &self.journeys.get(flit.packet).packet;
            if self.endpoints.wanted().began.has(packet) {
                self.endpoints.tell(self.timeline.now, Notice::Began { endpoint: host, packet });
                self.carry_out(from);
            }
            self.wake_adapter(channel, from);
        }
    }

    /// The tail of a packet has left the channel of a host.
    pub(crate) fn tail_left(&mut self, channel: ChannelId, packet: JourneyId) {
        let host = self.host_of(channel);
        if self.in_transit[host.index()].packet(packet).is_some() {
            return self.release(host, packet);
        }
        let (began, flits, content) = {
            let journey = self.journeys.get(packet);
            (journey.began, journey.flits, journey.packet.content)
        };
        let flit = self.plan.channel(channel).flit;
        if self.endpoints.wanted().left {
            self.tell(Notice::Left { endpoint: host, began, flits, flit, content });
        }
    }

    /// A flit has arrived whole at a host that takes in all that comes.
    pub(crate) fn flit_arrives(&mut self, channel: ChannelId, flit: Flit) {
        if self.journeys.get(flit.packet).ends_with(channel) {
            return self.consume(flit);
        }
        let host = self.host_at(channel);
        if flit.index == 0 {
            self.take_in(host, flit.packet, self.timeline.now);
        }
        self.reassemble(host, flit);
    }

    /// A flit has come to its destination.
    pub(crate) fn consume(&mut self, flit: Flit) {
        self.flits_consumed += 1;
        let journey = self.journeys.get_mut(flit.packet);
        assert_eq!(journey.index_expected, flit.index, "flits of a packet stay in order");
        journey.index_expected += 1;
        journey.head_arrived.get_or_insert(self.timeline.now);
        if journey.is_tail(flit.index) {
            let journey = self.journeys.remove(flit.packet);
            let (packet, arrival) = (&journey.packet, &journey.arrival(self.timeline.now));
            self.tell(Notice::Received { packet, arrival });
        }
    }

    /// The host that sends on a channel.
    pub(crate) fn host_of(&self, channel: ChannelId) -> EndpointId {
        self.hosts[channel.index()].expect("a host sends here")
    }

    /// The host at the end of a channel.
    pub(crate) fn host_at(&self, channel: ChannelId) -> EndpointId {
        self.host_of(Fabric::reverse(channel))
    }

    pub(crate) fn ends_at_host(&self, channel: ChannelId) -> bool {
        self.hosts[Fabric::reverse(channel).index()].is_some()
    }
}
