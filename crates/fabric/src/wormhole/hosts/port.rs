//! The input port of a host that stops its sender when the pool is full.
//!
//! ```text
//!   Idle ── head read ──┬─ ends here, or finds room ──────────► Open ── tail arrived ──► Idle
//!                       └─ no room ──► Full ── room is there ────┘
//! ```
//!
//! What arrives while the port is open is consumed or goes into the pool in no time. What gathered before leaves all at once
//! when it opens, so that the fill of the port needs no schedule: it is what arrived since, or nothing.
//!
//! Invariant: a worm that is read is the only one of which flits have left the port and others have not.

use crate::wormhole::event::Event;
use crate::wormhole::simulation::Simulation;
use crate::wormhole::state::{Head, Incoming};
use crate::wormhole::transit::Ready;
use crate::wormhole::worm::WormId;
use gingham_topology::ChannelId;

impl Simulation {
    /// Flits that have left the port at the end of `channel`.
    #[inline(never)]
    pub(crate) fn gone_from_port(&self, channel: ChannelId) -> u64 {
        let input = self.inputs[channel.index()].as_ref().expect("a port of a host");
        if input.head == Head::Open { self.arrived(channel) } else { input.taken }
    }

    // Phase 3: flits arrive.

    /// The tail of the worm that goes through the port may have arrived.
    pub(crate) fn close_port(&mut self, channel: ChannelId) {
        let input = self.inputs[channel.index()].as_ref().expect("a port of a host");
        if input.head == Head::Idle {
            return self.consume_flit(channel);
        }
        let Some(worm) = input.current.filter(|_| input.head == Head::Open) else { return };
        let input = self.inputs[channel.index()].as_mut().expect("a port of a host");
        let sender = &mut self.senders[channel.index()];
        let end = worm.first + worm.flits;
        if sender.arrived_by(self.now) < end {
            return;
        }
        // They left when they arrived.
        let latencies = i128::from(end - input.taken) * i128::from(sender.latency);
        input.taken_sum -= sender.schedule.sum_before(input.taken);
        sender.schedule.sum_up_to(end);
        input.taken_sum += sender.schedule.sum_before(end) + latencies;
        input.taken = end;
        self.be_done_with(channel, worm);
    }

    /// A worm of one flit that ends here is consumed when that has arrived, where others are read before their tail is there.
    fn consume_flit(&mut self, channel: ChannelId) {
        let input = self.inputs[channel.index()].as_ref().expect("a port of a host");
        let is_here = |worm: &Incoming| worm.flits == 1 && self.ends_here(channel, *worm);
        if input.incoming.front().is_some_and(is_here) {
            self.read_at_host(channel);
        }
    }

    // Phase 4: request.

    /// The tail of `worm` has left on `channel` into a host with a port.
    pub(crate) fn leave_for_port(&mut self, channel: ChannelId, worm: WormId) {
        self.forget_at_host(channel);
        let sender = &self.senders[channel.index()];
        if sender.has_delay() {
            let arrival = self.now + (sender.latency - sender.flit);
            self.schedule(arrival, Event::Deliver { channel, worm });
        }
    }

    /// Reads the heads that stand at the port of a host, one after the other.
    #[inline(never)]
    pub(crate) fn read_at_host(&mut self, channel: ChannelId) {
        loop {
            let input = self.inputs[channel.index()].as_mut().expect("a port of a host");
            let Some(worm) = input.incoming.front().copied() else { return };
            let sender = &self.senders[channel.index()];
            if input.head != Head::Idle || sender.arrived_by(self.now) <= worm.first {
                return;
            }
            input.incoming.pop_front();
            input.current = Some(worm);
            if self.ends_here(channel, worm) {
                self.worms.set_head_arrived(worm.worm, self.now);
            } else if !self.take_in(channel, worm, self.now) {
                let input = self.inputs[channel.index()].as_mut().expect("a port of a host");
                (input.head, input.read_at) = (Head::Full, self.now);
                return self.unsettle(channel);
            }
            if !self.open_port(channel, worm) {
                return;
            }
        }
    }

    fn ends_here(&self, channel: ChannelId, worm: Incoming) -> bool {
        let host = self.places[channel.index()].receiver;
        host == Some(self.worms.get(worm.worm).packet.destination)
    }

    /// Takes room in the pool for a worm whose head was read at `read`, if there is enough.
    fn take_in(&mut self, channel: ChannelId, worm: Incoming, read: u64) -> bool {
        let plan = self.plan.in_transit;
        let Some(pool_bytes) = self.take_room(channel, worm) else { return false };
        let at = self.now.max(read + plan.detection.as_ps()) + plan.programming.as_ps();
        self.send_on_from(channel, Ready { at, first: worm.first, pool_bytes, worm });
        true
    }

    /// The pool has more room than before: the worm that waits for it may go through.
    pub(crate) fn offer_room(&mut self, channel: ChannelId) {
        let Some(input) = &self.inputs[channel.index()] else { return };
        let (Head::Full, Some(worm), read) = (input.head, input.current, input.read_at) else {
            return;
        };
        if self.take_in(channel, worm, read) && self.open_port(channel, worm) {
            self.schedule(self.now, Event::ReadHead { channel });
        }
    }

    /// What has gathered of the worm at the head leaves now. Returns whether that is all of it.
    fn open_port(&mut self, channel: ChannelId, worm: Incoming) -> bool {
        let input = self.inputs[channel.index()].as_mut().expect("a port of a host");
        let end = worm.first + worm.flits;
        let arrived = self.senders[channel.index()].arrived_by(self.now).min(end);
        input.taken_sum += i128::from(arrived - input.taken) * i128::from(self.now);
        input.taken = arrived;
        input.head = Head::Open;
        self.unsettle(channel);
        if arrived == end {
            self.be_done_with(channel, worm);
        }
        arrived == end
    }

    /// All of a worm has left the port.
    fn be_done_with(&mut self, channel: ChannelId, worm: Incoming) {
        let input = self.inputs[channel.index()].as_mut().expect("a port of a host");
        input.head = Head::Idle;
        input.current = None;
        self.unsettle(channel);
        self.forget_at_host(channel);
        if self.ends_here(channel, worm) {
            self.deliver(channel, worm.worm);
        }
    }
}
