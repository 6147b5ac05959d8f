//! Memory for undelivered packets: one limited pool for all channels.
//!
//! ```text
//!   channel 0  held ########........ granted        charge of a user: held plus granted,
//!   channel 1  held ##...... |    reserve           or its reserve if larger
//!   copies     held #        |    reserve
//!                                                   the sum over users is at most the cap
//! ```
//!
//! A user is a channel, or the set of retransmitted copies. Half of the cap is divided among the
//! users as exclusive reserves; the rest is shared on demand. A channel is granted twice its
//! measured need: the charge of its packets delivered within a report interval plus a round trip,
//! and of its packets that waited for other channels.
//!
//! Packets beyond a grant use ungranted memory, or are discarded if there is none.
//!
//! A lowered credit limit frees its memory once the sender applies it: reports carry a bit that
//! flips with each reduction, and markers echo the bit.
//!
//! A deactivation frees the memory of a channel immediately. Packets in flight on the channel count
//! as lost, and are accepted only while memory is free.
//!
//! Sources: dynamic sharing of FCVC (Kung and Chapman, ICNP 1993; Kung, Blackwell and Chapman,
//! SIGCOMM 1994); dynamic right-sizing (Fisk and Feng, LANL 2001): twice the data read in a round
//! trip, as in Linux.
//!
//! Invariants: the charge held is at most the cap; a user's reserve is always available; a packet
//! within its channel's grant finds room, unless the channel was deactivated, or the cap is below
//! the charge of the packets sent before the first report.

use super::buffer::Buffer;
use super::copies::Copy;
use super::{Receiver, ReceiverOptions};
use crate::{Charge, Discard, Instant, Numbered};

/// Smallest reduction of a limit, as a fraction of the wanted memory (1/4), so that the limit does
/// not change with every packet (ours).
const FALL_SHARE: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Grant {
    limit: u32,
    /// Highest limit that the sender may still use.
    highest: u32,
    lowered: bool,
    echoed: bool,
    need: Need,
}

/// Recent memory need of a channel, as a memory charge.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    since: Instant,
    /// Charge of packets delivered up to `since`, modulo 2^32.
    given: u32,
    /// Maximum charge, during the present span, of packets that wait for earlier packets.
    waited: u64,
    last: u64,
}

impl Need {
    /// Updates the need; returns its maximum over the present and the previous span.
    #[inline]
    fn see(&mut self, now: Instant, span_ns: u64, given: u32, waiting: u64) -> u64 {
        self.waited = self.waited.max(waiting);
        let need = u64::from(given.wrapping_sub(self.given)).saturating_add(self.waited);
        let needs = need.max(self.last);
        let past_ns = now.nanoseconds().wrapping_sub(self.since.nanoseconds());
        if past_ns >= span_ns {
            *self = Self { since: now, given, waited: waiting, last: need };
        }
        needs
    }
}

impl Grant {
    const fn new(charge: Charge) -> Self {
        let first = charge.first();
        let need = Need { since: Instant::ORIGIN, given: 0, waited: 0, last: 0 };
        Self { limit: first, highest: first, lowered: false, echoed: false, need }
    }

    fn promised(&self, accounted: u32) -> u32 {
        u32::try_from(self.highest.wrapping_sub(accounted).cast_signed()).unwrap_or(0)
    }

    /// Sets the limit, unless it would fall by at most `fall_min`, or the sender has not confirmed
    /// the previous reduction.
    fn set(&mut self, limit: u32, fall_min: u64) {
        let rise = limit.wrapping_sub(self.limit).cast_signed();
        if rise < 0 {
            if self.echoed != self.lowered || u64::from(rise.unsigned_abs()) <= fall_min {
                return;
            }
            self.lowered = !self.lowered;
        }
        self.limit = limit;
        if limit.wrapping_sub(self.highest).cast_signed() > 0 {
            self.highest = limit;
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Pool {
    charge: Charge,
    max: u64,
    packets_max: u64,
    reserve: u64,
    longest: u32,
    knows_longest: bool,
    /// Packet count below which a channel is always within its reserve.
    places: usize,
    /// Charge of undelivered packets from an epoch that has ended.
    flushed: u64,
    /// Number of packets delivered when a packet last found no room.
    full_after: Option<u64>,
    /// Number of packets delivered when the reader last found none; while it is unchanged, held
    /// packets wait for other channels.
    read_after: u64,
    grants: Vec<Grant>,
}

impl Pool {
    pub(super) fn new(options: &ReceiverOptions, longest_bytes: u32, channels: usize) -> Self {
        let (longest, knows_longest) = (options.longest(longest_bytes), longest_bytes != u32::MAX);
        let (max, charge) = (options.buffer_bytes_max, options.charge);
        let reserve = (max / (2 * options.users(channels))).max(longest.into());
        let grants = vec![Grant::new(charge); channels];
        let (flushed, full_after, read_after) = (0, None, 0);
        let mut pool = Self {
            charge,
            max,
            packets_max: max / u64::from(charge.of(1)),
            reserve,
            longest,
            knows_longest,
            places: 0,
            flushed,
            full_after,
            read_after,
            grants,
        };
        pool.see_flush(0);
        pool
    }

    pub(super) const fn charge(&self) -> Charge {
        self.charge
    }

    pub(super) const fn packets_max(&self) -> u64 {
        self.packets_max
    }

    #[inline]
    pub(super) const fn has_place<P>(&self, buffer: &Buffer<P>) -> bool {
        buffer.packets() < self.places
    }

    pub(super) const fn see_read(&mut self, packets: u64) {
        self.read_after = packets;
    }

    pub(super) fn see_flush(&mut self, flushed: u64) {
        self.flushed = flushed;
        let places = self.reserve / u64::from(self.longest);
        // Every packet is checked if the maximum length is unknown, or packets of an ended epoch
        // remain.
        let are_sure = self.knows_longest && flushed == 0;
        self.places = if are_sure { usize::try_from(places).unwrap_or(usize::MAX) } else { 0 };
    }

    pub(super) fn see_marker(&mut self, channel: usize, lowered: bool) {
        let grant = &mut self.grants[channel];
        grant.echoed = lowered;
        if lowered == grant.lowered {
            grant.highest = grant.limit;
        }
    }

    pub(super) fn see_left(&mut self, channel: usize, accounted: u32) {
        let grant = &mut self.grants[channel];
        (grant.limit, grant.highest) = (accounted, accounted);
    }

    pub(super) fn restart(&mut self) {
        self.grants.fill(Grant::new(self.charge));
    }
}

impl<S: Numbered, P> Receiver<S, P> {
    /// Returns the memory charge of all held packets, at most `buffer_bytes_max`.
    pub fn held_bytes(&self) -> u64 {
        let buffered = self.buffers.iter().map(|buffer| buffer.held(self.pool.charge));
        buffered.fold(self.pool.flushed + self.held_copies(), u64::saturating_add)
    }

    fn held_copies(&self) -> u64 {
        let repair = self.confirmed.as_ref().and_then(|confirmed| confirmed.repair.as_ref());
        repair.map_or(0, |repair| repair.copies.held())
    }

    /// Returns whether a packet has found no room since the last delivery, or a packet of maximum
    /// length would find none.
    pub(super) fn is_full(&self) -> bool {
        let holds_more = |channel: usize| {
            let held = self.held_with(channel, self.pool.longest);
            self.is_within_reserve(held) || self.is_below_cap(channel, held, false)
        };
        self.pool.full_after == Some(self.reception.packets)
            || !(0..self.buffers.len()).all(holds_more)
    }

    const fn is_within_reserve(&self, held: u64) -> bool {
        held <= self.pool.reserve && self.pool.flushed == 0
    }

    fn held_with(&self, channel: usize, charge: u32) -> u64 {
        self.buffers[channel].held(self.pool.charge).saturating_add(charge.into())
    }

    /// Returns whether a packet of this length fits; `newly` is the part of its charge not
    /// accounted for yet.
    #[cold]
    pub(super) fn finds_room(&self, channel: usize, length_bytes: u32, newly: u32) -> bool {
        let held = self.held_with(channel, self.pool.charge.of(length_bytes));
        if self.is_within_reserve(held) {
            return true;
        }
        let grant = &self.pool.grants[channel];
        let accounted = self.reports.accounted(channel, self.pool.charge).wrapping_add(newly);
        let is_granted = grant.highest.wrapping_sub(accounted).cast_signed() >= 0;
        self.is_below_cap(channel, held, !is_granted)
    }

    /// Returns the reason for refusing a packet without room. A deactivated channel does not mark
    /// the pool as full.
    #[cold]
    pub(super) fn refuse_for_room(&mut self, channel: usize) -> Discard {
        if self.presence.is_out(channel) {
            return Discard::ChannelOut;
        }
        self.pool.full_after = Some(self.reception.packets);
        Discard::BufferFull
    }

    fn is_below_cap(&self, user: usize, held: u64, with_promises: bool) -> bool {
        let others = self.taken_but(user, with_promises);
        others.saturating_add(held.max(self.pool.reserve)) <= self.pool.max
    }

    fn taken_but(&self, user: usize, with_promises: bool) -> u64 {
        let mut taken = self.pool.flushed;
        for (channel, (buffer, grant)) in self.buffers.iter().zip(&self.pool.grants).enumerate() {
            if channel != user {
                let accounted = self.reports.accounted(channel, self.pool.charge);
                let promised = if with_promises { grant.promised(accounted) } else { 0 };
                let held = buffer.held(self.pool.charge);
                let needs = held.saturating_add(promised.into()).max(self.pool.reserve);
                taken = taken.saturating_add(needs);
            }
        }
        let repairs = self.options.guaranteed.is_some_and(|guarantee| guarantee.repair.is_some());
        if repairs && user != self.buffers.len() {
            taken = taken.saturating_add(self.held_copies().max(self.pool.reserve));
        }
        taken
    }

    /// Stores a copy; drops copies with later sequence numbers to make room.
    pub(super) fn take_copy(&mut self, copy: Copy<P>) -> Result<(), Discard> {
        // A packet sent on two channels may arrive on both before it is delivered.
        if self.buffers.get(usize::from(copy.channel)).is_some_and(|one| one.has(copy.sequence)) {
            return Err(Discard::Repeated);
        }
        let charge = u64::from(self.pool.charge.of(copy.length_bytes));
        let user = self.buffers.len();
        loop {
            let held = self.held_copies() + charge;
            let has_room = self.is_within_reserve(held) || self.is_below_cap(user, held, true);
            let repair = self.confirmed.as_mut().and_then(|confirmed| confirmed.repair.as_mut());
            let copies = &mut repair.ok_or(Discard::NotAsked)?.copies;
            if has_room || copies.has(copy.sequence) {
                return copies.push(copy);
            }
            if !copies.drop_after(copy.sequence) {
                return Err(Discard::CopiesFull);
            }
            self.reception.discards.add(Discard::CopiesFull, 1);
        }
    }

    pub(super) fn limit(&mut self, now: Instant, channel: usize) -> (u32, bool) {
        let (charge, reserve) = (self.pool.charge, self.pool.reserve);
        let held = self.buffers[channel].held(charge);
        let (accounted, received, delay_ns) = self.reports.counts(channel, charge);
        let given = received.wrapping_sub(u32::try_from(held).unwrap_or(u32::MAX));
        let is_read = self.pool.read_after == self.reception.packets;
        let waiting = if is_read { held } else { 0 };
        let needs = self.pool.grants[channel].need.see(now, delay_ns, given, waiting);
        let wanted = if needs <= reserve / 2 || self.presence.is_out(channel) {
            reserve
        } else {
            let room = self.pool.max.saturating_sub(self.taken_but(channel, true));
            needs.saturating_mul(2).min(room.max(reserve))
        };
        // Both the cap and this value fit into 31 bits, unless a count is wrong.
        let granted = u32::try_from(wanted.saturating_sub(held)).unwrap_or(0);
        let grant = &mut self.pool.grants[channel];
        grant.set(accounted.wrapping_add(granted), wanted / FALL_SHARE);
        (grant.limit, grant.lowered)
    }

    pub(super) fn repair_pool(&mut self) {
        let flushed = if self.flushed.is_empty() { 0 } else { self.pool.flushed };
        self.pool.see_flush(flushed.min(self.pool.max));
        for channel in 0..self.buffers.len() {
            let accounted = self.reports.accounted(channel, self.pool.charge);
            let grant = &mut self.pool.grants[channel];
            if u64::from(grant.promised(accounted)) > self.pool.max {
                (grant.limit, grant.highest) = (accounted, accounted);
            }
        }
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Pool: full_after, read_after, flushed, places, grants);
#[cfg(test)]
crate::corruption::corrupt!(Grant: limit, highest, lowered, echoed, need);
#[cfg(test)]
crate::corruption::corrupt!(Need: since, given, waited, last);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanoseconds(milliseconds * 1_000_000)
    }

    #[test]
    fn limit_falls_once_until_a_marker_echoes_it() {
        let mut grant = Grant::new(Charge::PACKETS);
        let look = |grant: &Grant| (grant.limit, grant.highest, grant.lowered);
        grant.set(100, 10);
        assert_eq!(look(&grant), (100, 100, false));
        grant.set(91, 10);
        assert_eq!(look(&grant), (100, 100, false));
        grant.set(60, 10);
        assert_eq!((look(&grant), grant.promised(50)), ((60, 100, true), 50));
        grant.set(20, 10);
        assert_eq!(look(&grant), (60, 100, true));
        grant.set(70, 10);
        assert_eq!(look(&grant), (70, 100, true));
        let pool = |lowered| {
            let charge = Charge::PACKETS;
            let options =
                ReceiverOptions { buffer_bytes_max: 200, charge, ..ReceiverOptions::default() };
            let mut pool = Pool::new(&options, 1, 1);
            pool.grants[0] = grant;
            pool.see_marker(0, lowered);
            look(&pool.grants[0])
        };
        assert_eq!((pool(false), pool(true)), ((70, 100, true), (70, 70, true)));
        grant.set(u32::MAX - 5, 10);
        assert_eq!(look(&grant), (70, 100, true));
    }

    #[test]
    fn need_covers_this_span_and_the_last() {
        let mut need = Need::default();
        let mut see = |ms, given, waiting| need.see(at(ms), 20_000_000, given, waiting);
        assert_eq!(see(10, 100, 30), 130);
        assert_eq!(see(20, 150, 10), 180);
        assert_eq!((see(30, 160, 0), see(41, 170, 0), see(50, 170, 0)), (180, 180, 30));
        assert_eq!((see(62, 170, 0), see(83, 170, 0)), (30, 0));
    }
}
