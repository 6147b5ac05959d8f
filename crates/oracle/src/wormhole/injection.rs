//! What leaves hosts: sources create messages, adapters send them packet by packet, and worms in
//! transit go on.

use crate::wormhole::event::{Event, Flit};
use crate::wormhole::host::{Host, Injection, LocalWorm};
use crate::wormhole::simulation::Simulation;
use crate::wormhole::worm::Worm;
use gingham_model::{Notice, Order, Turn};
use gingham_topology::{ChannelId, EndpointId};

impl Simulation {
    // Phase 1: create.

    /// Tells the endpoints what happens now, and carries out what they order.
    pub(crate) fn tell(&mut self, notice: Notice<'_>) {
        self.endpoints.tell(self.timeline.now, notice);
        self.carry_out();
    }

    pub(crate) fn carry_out(&mut self) {
        while let Some(order) = self.endpoints.next_order() {
            match order {
                Order::Send { endpoint } => {
                    let channel = self.host_channel(endpoint);
                    self.timeline.cause(self.timeline.now, Event::Transfer { channel });
                }
                Order::CreateAt { source, at } => self.timeline.cause(at, Event::Create { source }),
                Order::WakeAt { endpoint, at } => self.timeline.cause(at, Event::Wake { endpoint }),
                Order::Weigh(_) => unreachable!("a channel that is not divided has no weights"),
                Order::Gather => self.tell_gathered(),
            }
        }
    }

    /// Tells the endpoints of an output, if a worm has taken or released it.
    pub(crate) fn tell_lane(&mut self, output: ChannelId) {
        let is_free = self.outputs[output.index()].owner.is_none();
        if let Some(free) = self.watched.change(output, |_| is_free) {
            self.tell(Notice::Lanes { output, free });
        }
    }

    /// Tells the endpoints how many buffers between switches hold more than their STOP mark.
    fn tell_gathered(&mut self) {
        let full = self.watched.full(|channel, _| {
            let input = self.inputs[channel.index()].as_ref().expect("it ends at a switch");
            input.fill() > input.slack.stop as usize
        });
        self.endpoints.tell(self.timeline.now, Notice::Gathered { full });
    }

    // Phase 6: transfer.

    /// The host starts the next flit of the worm that holds its channel, or of one that takes it
    /// now.
    pub(crate) fn send_from_host(&mut self, endpoint: EndpointId, channel: ChannelId) {
        if self.hosts[endpoint.index()].injection.is_none() {
            let next = self.send_on(endpoint).or_else(|| self.start_worm(endpoint));
            self.hosts[endpoint.index()].injection = next;
        }
        let Host { injection, packets, .. } = &mut self.hosts[endpoint.index()];
        let flit = match injection {
            None => return,
            Some(Injection::Local(local)) => {
                local.next += 1;
                self.flits_entered += 1;
                Flit { worm: local.worm, index: local.next - 1 }
            }
            Some(Injection::InTransit(worm)) => {
                let packet = packets.iter_mut().find(|packet| packet.worm == *worm);
                let Some(flit) = packet.expect("the worm goes on").received.pop_front() else {
                    return;
                };
                flit
            }
        };
        self.send_data(channel, flit);
        if self.worms.get(flit.worm).is_tail(flit.index) {
            let left = self.outputs[channel.index()].busy_until;
            self.timeline.cause(left, Event::Release { output: channel });
        }
    }

    /// The worm in transit that goes next, if one is ready.
    fn send_on(&mut self, endpoint: EndpointId) -> Option<Injection> {
        let in_transit = &mut self.hosts[endpoint.index()].in_transit;
        let (worm, ready) = in_transit.next_ready(0, self.timeline.now)?;
        in_transit.begin(0);
        let (now, waited) = (self.timeline.now, self.timeline.now.since(ready));
        let packet = &mut self.worms.get_mut(worm).packet;
        self.endpoints.tell(now, Notice::SentOn { endpoint, waited, packet });
        self.carry_out();
        Some(Injection::InTransit(worm))
    }

    /// The next worm of the host's own, if there is one that may start.
    fn start_worm(&mut self, endpoint: EndpointId) -> Option<Injection> {
        let packet = match self.endpoints.turn(endpoint, 0, self.timeline.now) {
            Turn::Send(packet) => packet,
            Turn::At(time) => {
                self.timeline.cause(time, Event::Transfer { channel: self.host_channel(endpoint) });
                return None;
            }
            Turn::Nothing => return None,
        };
        if self.endpoints.wanted().began.has(&packet) {
            self.tell(Notice::Began { endpoint, packet: &packet });
        }
        let path = self.plan.path(packet.path_set, packet.source, packet.destination);
        let path = path.expect("destinations are drawn among those that a route reaches");
        let length = self.plan.length_of(&path[1..]);
        let flits = self.wormhole.worm_flits(packet.payload_bytes, length);
        let content = packet.content;
        let worm = Worm {
            packet,
            flits,
            length,
            path,
            head_arrived: None,
            index_expected: 0,
            hops_read: 0,
            lead: 0,
        };
        let (worm, started) = (self.worms.insert(worm), self.timeline.now);
        Some(Injection::Local(LocalWorm { worm, next: 0, flits, content, started }))
    }

    fn host_channel(&self, endpoint: EndpointId) -> ChannelId {
        self.plan.fabric.endpoint_channel(endpoint)
    }
}
