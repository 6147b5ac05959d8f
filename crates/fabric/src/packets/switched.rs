//! What somebody wants to know of packets in switches: that they wait for an output, start on it, and
//! what all of an instant has come to.

use crate::packets::event::Event;
use crate::packets::network::Network;
use crate::packets::packet::{Moving, PacketId, Place};
use gingham_kernel::Time;
use gingham_model::{Notice, PacketsPlan, Stay};
use gingham_topology::ChannelId;

impl From<&Moving> for Stay {
    fn from(packet: &Moving) -> Self {
        let Moving { input, lane, came_ps, wire_bytes, output, lanes, .. } = *packet;
        let came = Time::from_ps(came_ps);
        Self { input, lane, came, wire_bytes: wire_bytes.into(), output, lanes }
    }
}

impl Network {
    /// The head of a packet that came by a channel is read, and who reads it may divert it. It is ready
    /// as soon as it cannot run dry.
    #[inline(never)]
    pub(crate) fn tell_read(&mut self, id: PacketId, input: ChannelId) {
        let Self { plan, clock, endpoints, packets, links, standing, .. } = self;
        let (now, moving) = (clock.now(), packets.get_mut(id));
        let waiting_flits = standing.bytes(input, moving.lane, now);
        let at = (input, moving.lane);
        let diverted = endpoints.read(clock.time(), at, waiting_flits, &mut moving.packet);
        if let Some(into_end) = diverted {
            moving.divert(plan, into_end);
        }
        let last_ps = moving.came_ps + links.line(input).bytes.of(moving.wire_bytes.into()).as_ps();
        let ways = (input, moving.output);
        let ready_ps = now.max(links.never_dry_ps(ways, moving.wire_bytes, last_ps));
        clock.schedule(ready_ps, Event::Ready { channel: input, packet: id });
    }

    /// The head of a packet was read, or was before.
    #[inline(never)]
    pub(crate) fn tell_queued(&mut self, id: PacketId) {
        let packet = self.packets.get_mut(id);
        if packet.place != Place::Coming {
            return;
        }
        packet.place = Place::Read;
        let stay = Stay::from(&*packet);
        self.tell(Notice::Queued { stay });
        self.read.push(stay);
    }

    /// A packet is about to start on its output.
    #[inline(never)]
    pub(crate) fn tell_forwarded(&mut self, id: PacketId, output: ChannelId) {
        let moving = self.packets.get_mut(id);
        let stay = Stay::from(&*moving);
        let now = self.clock.time();
        let left = now + self.links.line(output).bytes.of(stay.wire_bytes);
        let packet = &mut moving.packet;
        self.endpoints.tell(now, Notice::Forwarded { stay, left, packet });
    }

    /// All has happened of an instant at which heads were read.
    #[inline(never)]
    pub(crate) fn tell_settled(&mut self) {
        if self.read.len() == 1 {
            let stay = self.read.pop().expect("there is one");
            return self.tell_one_settled(stay);
        }
        let mut read = std::mem::take(&mut self.read);
        read.sort_unstable_by_key(|stay| stay.input);
        for stay in read.drain(..) {
            self.tell_one_settled(stay);
        }
        self.read = read;
    }

    #[inline]
    fn tell_one_settled(&mut self, stay: Stay) {
        let has_space = !self.wanted.switched.is_space() || self.has_space_for(&stay);
        self.tell(Notice::Settled { stay, has_space });
    }

    /// Whether an output knows of space for a packet as long as one, on a lane that it may take.
    fn has_space_for(&mut self, stay: &Stay) -> bool {
        let Self { links, credits, pauses, clock, .. } = self;
        if !links.is_into_switch(stay.output) {
            return true;
        }
        let blocks = PacketsPlan::blocks(stay.wire_bytes);
        stay.lanes.lanes().any(|lane| match pauses {
            Some(pauses) => !pauses.is_paused(stay.output, lane),
            None => u64::from(credits.free_now(stay.output, lane, clock.now())) >= blocks,
        })
    }
}
