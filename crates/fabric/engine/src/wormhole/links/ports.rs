//! Channels into hosts, and ports of hosts that stop their senders when the pool is full.
//!
//! While a port is open, arriving flits leave it at once: they are consumed or moved to the pool.
//! Flits that gathered earlier leave together when the port opens.
//!
//! Invariants: only the worm read last may have partly left the port; the channel into an
//! in-transit host keeps the runs of all flits that have not arrived, and of the worm that is
//! arriving or being re-injected.

use super::Links;
use super::ejection::Ejection;
use super::input::Head;
use crate::wormhole::clock::Clock;
use crate::wormhole::event::Event;
use crate::wormhole::worm::{Incoming, WormId, Worms};
use gingham_kernel::{Span, Time};
use gingham_topology::{ChannelId, Fabric};

impl Links {
    fn ejection_mut(&mut self, channel: ChannelId) -> &mut Ejection {
        self.ejections[channel.index()].as_mut().expect("the channel ends at a host")
    }

    pub(crate) fn may_begin(&self, channel: ChannelId, now: u64) -> bool {
        let sender = &self.senders[channel.index()];
        sender.worm.is_none() && sender.stopped_since.is_none() && sender.free_at() <= now
    }

    /// Returns when the worm that last left a host was allowed to start, and the flit time.
    pub(crate) fn last_begin(&self, channel: ChannelId) -> (Time, Span) {
        let sender = &self.senders[channel.index()];
        (Time::from_ps(sender.ready), Span::from_ps(sender.flit))
    }

    /// Returns whether a worm's tail has arrived. On a cable without delay, the event only
    /// predicted the arrival, and the release follows in a later phase of the same time.
    pub(crate) fn tail_at_host(
        &mut self,
        worms: &mut Worms,
        channel: ChannelId,
        worm: WormId,
        now: u64,
    ) -> bool {
        let sender = &mut self.senders[channel.index()];
        if sender.delay() > 0 {
            return true;
        }
        let is_there = sender.worm == Some(worm) && sender.tail_left_at(now);
        if !is_there || std::mem::replace(&mut sender.delivered, true) {
            return false;
        }
        worms.set_head_arrived(worm, sender.head_arrival());
        true
    }

    /// Handles the departure of a worm into a host without a port. Returns the arrival time of its
    /// tail, in ps, if the worm is in transit.
    pub(crate) fn leave_for_host(
        &mut self,
        clock: &mut Clock,
        worms: &mut Worms,
        channel: ChannelId,
        worm: WormId,
    ) -> Option<u64> {
        let sender = &mut self.senders[channel.index()];
        let arrival = clock.now() + sender.delay();
        if std::mem::take(&mut sender.in_transit) {
            self.forget_at_host(channel, clock.now());
            return Some(arrival);
        }
        let head_arrival = sender.head_arrival();
        let delivered = std::mem::take(&mut sender.delivered);
        if self.ejections.is_empty() {
            sender.schedule.forget_before(sender.schedule.end());
        } else {
            self.forget_at_host(channel, clock.now());
        }
        if !delivered {
            worms.set_head_arrived(worm, head_arrival);
            clock.schedule(arrival, Event::Deliver { channel, worm });
        }
        None
    }

    #[inline(never)] // Most runs have no worms in transit, so their code is kept out of line here and below.
    pub(super) fn await_transit(&mut self, worms: &Worms, channel: ChannelId, worm: Incoming) {
        let ejection = self.ejection_mut(channel);
        let is_in_transit = worms.get(worm.worm).packet.destination != ejection.host;
        if is_in_transit {
            ejection.incoming.push_back(worm);
        }
        self.senders[channel.index()].in_transit = is_in_transit;
    }

    pub(crate) fn tail_arrival(&self, channel: ChannelId, worm: Incoming) -> Option<u64> {
        let sender = &self.senders[channel.index()];
        if sender.worm.is_some() && sender.worm_first == worm.first {
            return None;
        }
        let tail = sender.arrival_of(worm.first + worm.flits - 1);
        Some(tail.expect("what arrives is held"))
    }

    pub(crate) fn keep_arriving(&mut self, channel: ChannelId, worm: Incoming) {
        self.ejection_mut(channel).latest = Some(worm);
    }

    /// Prepares the re-injection of a worm on channel `own`, from flit number `first` of the
    /// incoming channel on. The incoming channel feeds `own` if part of the worm has yet to arrive.
    pub(crate) fn feed_on(&mut self, own: ChannelId, worm: Incoming, first: u64, now: u64) {
        let arriving = Fabric::reverse(own);
        if worm.first + worm.flits > self.arrived(arriving, now) {
            self.senders[arriving.index()].feeds = Some(own);
            self.senders[own.index()].feed_by(arriving, first);
        }
    }

    #[inline(never)]
    pub(crate) fn forget_at_host(&mut self, channel: ChannelId, now: u64) {
        let sender = &self.senders[channel.index()];
        let own = &self.senders[Fabric::reverse(channel).index()];
        let ejection =
            self.ejections[channel.index()].as_ref().expect("the channel ends at a host");
        let sent_from = own.feeder.map(|_| own.feeder_first);
        let needed = ejection.needed_from(sender.arrived_by(now), sent_from);
        let port = self.inputs[channel.index()].as_ref();
        let needed = port.map_or(needed, |port| needed.min(port.taken));
        self.senders[channel.index()].forget_before(needed);
    }

    #[inline(never)]
    pub(super) fn gone_from_port(&self, channel: ChannelId, now: u64) -> u64 {
        let input = self.input(channel);
        if input.head == Head::Open { self.arrived(channel, now) } else { input.taken }
    }

    pub(crate) fn leave_for_port(&mut self, clock: &mut Clock, channel: ChannelId, worm: WormId) {
        self.forget_at_host(channel, clock.now());
        let sender = &self.senders[channel.index()];
        if sender.delay() > 0 {
            clock.schedule(clock.now() + sender.delay(), Event::Deliver { channel, worm });
        }
    }

    pub(crate) fn next_at_port(&self, channel: ChannelId) -> Option<Incoming> {
        self.input(channel).next().copied()
    }

    pub(crate) fn wait_at_port(&mut self, channel: ChannelId, now: u64) {
        self.input_mut(channel).head = Head::Full { read_at: now };
        self.note_change(channel);
    }

    pub(crate) fn waiting_at_port(&self, channel: ChannelId) -> Option<(Incoming, u64)> {
        let input = self.inputs[channel.index()].as_ref()?;
        let Head::Full { read_at } = input.head else { return None };
        Some((input.current?, read_at))
    }

    /// Opens a port: the gathered flits of its first worm leave at `now`. Returns whether they
    /// complete the worm.
    pub(crate) fn open_port(&mut self, channel: ChannelId, worm: Incoming, now: u64) -> bool {
        let end = worm.first + worm.flits;
        let arrived = self.arrived(channel, now).min(end);
        let input = self.input_mut(channel);
        input.taken_sum += i128::from(arrived - input.taken) * i128::from(now);
        input.taken = arrived;
        input.head = Head::Open;
        self.note_change(channel);
        if arrived == end {
            self.close_port(channel, end, 0, now);
        }
        arrived == end
    }

    pub(crate) fn tail_at_port(&mut self, channel: ChannelId, now: u64) -> Option<Incoming> {
        let (input, sender) = (self.input(channel), &self.senders[channel.index()]);
        let worm = input.current.filter(|_| input.head == Head::Open)?;
        let end = worm.first + worm.flits;
        if sender.arrived_by(now) < end {
            return None;
        }
        let latencies = i128::from(end - input.taken) * i128::from(sender.latency);
        let starts = sender.schedule.sum_before(end) - sender.schedule.sum_before(input.taken);
        self.close_port(channel, end, starts + latencies, now);
        Some(worm)
    }

    fn close_port(&mut self, channel: ChannelId, end: u64, sum: i128, now: u64) {
        self.input_mut(channel).close(end, sum);
        self.note_change(channel);
        self.forget_at_host(channel, now);
    }
}
