//! Hosts: sources create messages, adapters send them packet by packet, and put together what arrives.

use crate::wormhole::event::Event;
use crate::wormhole::simulation::Simulation;
use crate::wormhole::state::Incoming;
use crate::wormhole::worm::{Worm, WormId};
use gingham_kernel::{Span, Time};
use gingham_model::Turn;
use gingham_topology::ChannelId;

impl Simulation {
    pub(crate) fn start_sources(&mut self) {
        for index in 0..self.endpoints.source_count() {
            if let Some(first) = self.endpoints.await_arrival(index) {
                let source = u32::try_from(index).expect("a plan has fewer than 2^32 sources");
                self.schedule(first.as_ps(), Event::Create { source });
            }
        }
    }

    // Phase 1: create.

    pub(crate) fn create(&mut self, source: u32) {
        if let Some(next) = self.endpoints.arrive(source as usize, Time::from_ps(self.now)) {
            self.schedule(next.as_ps(), Event::Create { source });
        }
        let endpoint = self.endpoints.endpoint(source as usize);
        self.start_soon(self.plan.fabric.endpoint_channel(endpoint));
    }

    /// Starts the next worm in phase 6 of this instant: now, if nothing else is to happen before.
    pub(crate) fn start_soon(&mut self, channel: ChannelId) {
        if self.senders[channel.index()].worm.is_some() {
            return;
        }
        if self.instant_is_over() {
            self.start_worm(channel);
        } else {
            self.schedule(self.now, Event::StartWorm { channel });
        }
    }

    // Phase 3: flits arrive.

    /// The tail of `worm` has arrived. On a cable without delay that was a prediction, and the release, a later
    /// phase of this instant, is still to come.
    pub(crate) fn tail_arrives(&mut self, channel: ChannelId, worm: WormId) {
        if self.inputs[channel.index()].is_some() {
            return self.close_port(channel);
        }
        let sender = &mut self.senders[channel.index()];
        if !sender.has_delay() {
            let is_there = sender.worm == Some(worm) && sender.tail_left_at(self.now);
            if !is_there || std::mem::replace(&mut sender.delivered, true) {
                return;
            }
            self.worms.set_head_arrived(worm, sender.head_arrival());
        }
        self.deliver(channel, worm);
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every worm")]
    #[inline(always)]
    pub(crate) fn deliver(&mut self, channel: ChannelId, worm: WormId) {
        let worm = self.worms.remove(worm);
        debug_assert_eq!(
            self.plan.fabric.endpoint_at(self.plan.ends(channel).target),
            Some(worm.packet.destination),
            "a worm arrives where its packet goes"
        );
        let arrival = worm.arrival(&self.wormhole, self.now);
        self.endpoints.deliver(&worm.packet, &arrival);
    }

    // Phase 4: release.

    /// The tail of `worm` has left on `channel` into a host that takes in all that comes.
    pub(crate) fn leave_for_host(&mut self, channel: ChannelId, worm: WormId) {
        let sender = &mut self.senders[channel.index()];
        let arrival = self.now + (sender.latency - sender.flit);
        if sender.in_transit {
            return self.tail_of_transit_left(channel, arrival);
        }
        let head_arrival = sender.head_arrival();
        let delivered = std::mem::take(&mut sender.delivered);
        if self.transits.is_empty() {
            sender.schedule.forget_before(sender.schedule.end());
        } else {
            self.forget_at_host(channel);
        }
        if !delivered {
            self.worms.set_head_arrived(worm, head_arrival);
            self.schedule(arrival, Event::Deliver { channel, worm });
        }
    }

    /// The tail of a worm of so many flits has left the host at the start of `channel`.
    #[inline]
    pub(crate) fn leave_host(&mut self, channel: ChannelId, flits: u64) {
        if !self.transits.is_empty() || self.looks_at_contention {
            self.settle_leaving(channel, flits);
        }
        self.start_soon(channel);
    }

    #[inline(never)]
    fn settle_leaving(&mut self, channel: ChannelId, flits: u64) {
        let is_local = self.transits.is_empty() || !self.leave_pool(channel);
        if is_local && self.looks_at_contention {
            self.weigh_contention(channel, flits);
        }
    }

    /// Tells the adapter how long a packet of its own took to leave.
    fn weigh_contention(&mut self, channel: ChannelId, flits: u64) {
        let host = self.places[channel.index()].sender.expect("a host sends");
        let sender = &self.senders[channel.index()];
        // The first flit starts when the host begins to send the worm.
        let (started, now) = (Time::from_ps(sender.ready), Time::from_ps(self.now));
        let flit = Span::from_ps(sender.flit);
        self.endpoints.on_left(host, started, now, flits, flit);
    }

    // Phase 6: transfer.

    /// Starts the next worm of the host at the start of `channel`, if there is one and it may.
    pub(crate) fn start_worm(&mut self, channel: ChannelId) {
        let sender = &self.senders[channel.index()];
        if sender.worm.is_some() || sender.stopped_since.is_some() || sender.free_at() > self.now {
            return;
        }
        if !self.transits.is_empty() && (self.control_waits(channel) || self.send_on(channel)) {
            return;
        }
        let endpoint = self.places[channel.index()].sender.expect("a worm starts at a host");
        let now = Time::from_ps(self.now);
        let packet = match self.endpoints.take(endpoint, 0, now) {
            Turn::Send(packet) => packet,
            Turn::At(time) => return self.schedule(time.as_ps(), Event::StartWorm { channel }),
            Turn::Nothing => return,
        };
        let worm = Worm::new(&self.plan, packet, self.places[channel.index()].target);
        let flits = worm.flits(&self.wormhole);
        let worm = self.worms.insert(worm);
        self.begin(channel, Incoming { worm, first: 0, flits, position: 0 }, self.now);
    }
}
