//! The memory for what came and has not been given out: one pool for all channels, under a cap.
//!
//! ```text
//!   channel 0    held ########........ granted      what a user takes: held and granted,
//!   channel 1    held ##...... |  reserve           or its reserve if that is more
//!   copies       held #        |  reserve
//!                                                   all together: at most the cap
//! ```
//!
//! A user is a channel, or the copies of lost packets. Half of the cap is shared out among users as
//! reserves, which nobody else takes; the other half is for who needs more. A channel is granted
//! twice what it was seen to need: what was given out of it in as long as a report takes to bring
//! packets, and what waited in it while the order waited for others. So a grant grows as a window
//! of TCP does, twofold in a round trip, and falls when rates do.
//!
//! What comes within a grant has room. What comes beyond, from a sender that heeds no credits, gets
//! what nobody is promised, and is discarded where there is nothing left.
//!
//! A limit that falls frees its room once the sender says that it goes by it: reports carry a bit
//! that changes with it, and markers give that back. So it falls once in a round trip at the most, and
//! neither a lost report nor a wrong count lasts.
//!
//! Left frees the room of a channel at once, since a channel that died brings nothing more. Packets that
//! are still on their way there when it leaves have no credit any more: Left takes them for lost, and
//! they are accepted as long as there is room without a promise.
//!
//! Source: reserves and a shared rest, dynamic sharing of FCVC (Kung and Chapman, ICNP 1993; Kung, Blackwell
//! and Chapman, SIGCOMM 1994); twice what was read in a round trip, dynamic right-sizing (Fisk and Feng,
//! LANL 2001), as in Linux.
//!
//! Invariants: what is held is at most the cap, whatever comes; a user finds its reserve free; what is
//! granted to a channel that has not left has room, unless the cap is below the packets sent before the
//! first report.

use super::buffer::Buffer;
use super::copies::Copy;
use super::{Receiver, ReceiverOptions};
use crate::{Charge, Discard, Instant, Numbered};

/// A limit falls by no less than this part of what the channel is to have: ours, so that it does not
/// follow every packet.
const FALL_SHARE: u64 = 4;

/// What a channel is granted.
#[derive(Clone, Copy, Debug)]
struct Grant {
    /// Up to where the sender may go, as the last report said.
    limit: u32,
    /// Up to where it may have been told that it may.
    highest: u32,
    /// Changes whenever the limit falls.
    lowered: bool,
    /// What the last marker gave back of that.
    echoed: bool,
    need: Need,
}

/// What a channel was seen to need, charged.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    /// Since when it is looked at.
    since: Instant,
    /// What had been given out then, modulo 2^32.
    given: u32,
    /// The most that waited for the order since.
    waited: u64,
    /// What was needed in the time before.
    last: u64,
}

impl Need {
    /// What is needed, now that so much has been given out and so much waits.
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

    /// What may still come within the grant.
    fn promised(&self, accounted: u32) -> u32 {
        u32::try_from(self.highest.wrapping_sub(accounted).cast_signed()).unwrap_or(0)
    }

    /// The limit becomes this, or stays where it would fall by less or must not fall yet.
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

/// The memory, and who takes how much of it.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    charge: Charge,
    max: u64,
    packets_max: u64,
    /// What nobody else takes of it.
    reserve: u64,
    /// What the longest packet is charged, and whether it is known.
    longest: u32,
    knows_longest: bool,
    /// With fewer packets than that a channel has room within its reserve, whatever their length.
    places: usize,
    /// What waited when an epoch ended, until all of it is given out.
    flushed: u64,
    /// How many packets had been given out when one found no room, if that is so.
    full_after: Option<u64>,
    /// How many had been when nothing was left to give out: what waits then waits for others.
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

    /// More packets than ever wait.
    pub(super) const fn packets_max(&self) -> u64 {
        self.packets_max
    }

    /// Whether a packet of any length is sure to have room in a buffer.
    #[inline]
    pub(super) const fn has_place<P>(&self, buffer: &Buffer<P>) -> bool {
        buffer.packets() < self.places
    }

    /// Nothing is left to give out after so many packets.
    pub(super) const fn see_read(&mut self, packets: u64) {
        self.read_after = packets;
    }

    /// So much waits since the end of an epoch.
    pub(super) fn see_flush(&mut self, flushed: u64) {
        self.flushed = flushed;
        let places = self.reserve / u64::from(self.longest);
        // Where nobody knows the longest, and where something is flushed, each packet is looked at.
        let are_sure = self.knows_longest && flushed == 0;
        self.places = if are_sure { usize::try_from(places).unwrap_or(usize::MAX) } else { 0 };
    }

    /// A marker says which limit the sender goes by.
    pub(super) fn see_marker(&mut self, channel: usize, lowered: bool) {
        let grant = &mut self.grants[channel];
        grant.echoed = lowered;
        if lowered == grant.lowered {
            grant.highest = grant.limit;
        }
    }

    /// A channel has left: nothing more is to come on it than what it has.
    pub(super) fn see_left(&mut self, channel: usize, accounted: u32) {
        let grant = &mut self.grants[channel];
        (grant.limit, grant.highest) = (accounted, accounted);
    }

    /// A new epoch.
    pub(super) fn restart(&mut self) {
        self.grants.fill(Grant::new(self.charge));
    }
}

impl<S: Numbered, P> Receiver<S, P> {
    /// What is held, as it is charged: never above `buffer_bytes_max`.
    pub fn held_bytes(&self) -> u64 {
        let buffered = self.buffers.iter().map(|buffer| buffer.held(self.pool.charge));
        buffered.fold(self.pool.flushed + self.held_copies(), u64::saturating_add)
    }

    fn held_copies(&self) -> u64 {
        let repair = self.confirmed.as_ref().and_then(|confirmed| confirmed.repair.as_ref());
        repair.map_or(0, |repair| repair.copies.held())
    }

    /// Whether some channel found no room since anything was given out, or will find none for a
    /// longest packet.
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

    /// What a channel holds with a packet more that is charged so much.
    fn held_with(&self, channel: usize, charge: u32) -> u64 {
        self.buffers[channel].held(self.pool.charge).saturating_add(charge.into())
    }

    /// Whether a packet of so many bytes has room in the buffer of its channel: within the reserve,
    /// by the grant, or by what nobody is promised. As far as it is not accounted for yet, so much of
    /// it.
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

    /// The reason for discarding a numbered packet without room. Left takes the packets of its channel for
    /// lost and frees their room; such a packet is no evidence about the room of other channels.
    #[cold]
    pub(super) fn refuse_for_room(&mut self, channel: usize) -> Discard {
        if self.presence.is_out(channel) {
            return Discard::ChannelOut;
        }
        self.pool.full_after = Some(self.reception.packets);
        Discard::BufferFull
    }

    /// Whether all fit the cap where one user holds so much; with what others are promised or without.
    fn is_below_cap(&self, user: usize, held: u64, with_promises: bool) -> bool {
        let others = self.taken_but(user, with_promises);
        others.saturating_add(held.max(self.pool.reserve)) <= self.pool.max
    }

    /// What all users but one take.
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

    /// A copy is to wait for its turn; where there is no room, those that are needed later go.
    pub(super) fn take_copy(&mut self, copy: Copy<P>) -> Result<(), Discard> {
        // What goes on two channels may come on both before its turn.
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

    /// The limit of a channel that is to be reported, and the bit that goes with it.
    pub(super) fn limit(&mut self, now: Instant, channel: usize) -> (u32, bool) {
        let (charge, reserve) = (self.pool.charge, self.pool.reserve);
        let held = self.buffers[channel].held(charge);
        let (accounted, received, delay_ns) = self.reports.counts(channel, charge);
        // Modulo 2^32, as what was received is.
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
        // Below the cap, or a count is wrong, so that this is half a word.
        let granted = u32::try_from(wanted.saturating_sub(held)).unwrap_or(0);
        let grant = &mut self.pool.grants[channel];
        grant.set(accounted.wrapping_add(granted), wanted / FALL_SHARE);
        (grant.limit, grant.lowered)
    }

    /// Nobody is promised more than there is, and what is flushed is somewhere.
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

    /// It rises at once. It falls by a quarter of the need, and again only when a marker has said that
    /// the sender goes by the last fall; until then its room is kept.
    #[test]
    fn a_limit_falls_once_until_a_marker_gives_that_back() {
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

    /// What is given out in a span, and the most that waits in it, count from one span to the next.
    #[test]
    fn what_is_needed_is_of_this_span_or_the_last() {
        let mut need = Need::default();
        let mut see = |ms, given, waiting| need.see(at(ms), 20_000_000, given, waiting);
        assert_eq!(see(10, 100, 30), 130);
        assert_eq!(see(20, 150, 10), 180);
        assert_eq!((see(30, 160, 0), see(41, 170, 0), see(50, 170, 0)), (180, 180, 30));
        assert_eq!((see(62, 170, 0), see(83, 170, 0)), (30, 0));
    }
}
