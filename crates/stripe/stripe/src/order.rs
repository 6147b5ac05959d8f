//! Order on a channel that has none: what comes over UDP is put in the order in which it was sent.
//!
//! ```text
//!   came    17  18  21  20  18  22  marker: 22 were sent       next is 19
//!   given   17  18                                             18 again: repeated
//!   held    20  21  22, the marker behind 21                   19 is waited for, at most the wait
//! ```
//!
//! It stands before a receiver of guaranteed order, one for each channel that may reorder or
//! duplicate: what it gives out is in order, with gaps, as on a channel that loses. Packets go by
//! their number on the channel, markers by how many packets they count before them. Everything else
//! goes through at once.
//!
//! A reset to an epoch that is over, or that goes on, may be a straggler or a duplicate; or the
//! sender has restarted and forgotten. It is given out, and believed, only after a quarter of a
//! second in which nothing of the present epoch has come.
//!
//! How long is waited is told, or found ([`OrderOptions::adapts`]): on a channel that keeps order
//! nothing is waited for then, and what comes late all the same is given out late.
//!
//! Source: RFC 1990, section 4.1, gives up a fragment once later ones have come on every link; with
//! a channel that reorders no later one proves anything, and only time does.
//!
//! Invariants: numbers given out rise within an epoch, but for those that are given out late; nothing is held for longer than the wait,
//! nor more than the options say; no allocation after set-up.

mod window;

use core::time::Duration;
use std::collections::VecDeque;

use crate::error::check_packets;
use crate::tag::ahead;
use crate::{Discard, Discards, Epoch, Instant, Kind, Marker, Message, OptionsError, Tag};
use window::Window;

/// After so many late markers in a row the number of the next packet is not believed.
const LATE_IN_A_ROW_MAX: u32 = 4;

/// So long nothing of the present epoch comes where the sender has forgotten it: longer than
/// between markers.
const ODD_WAIT: Duration = Duration::from_millis(250);

/// Markers that are held at once.
const MARKERS_MAX: usize = 8;

/// How much is waited for on a channel that reorders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderOptions {
    /// So long a packet waits for those before it: more than the channel holds one back.
    pub wait: Duration,
    /// So many numbers of packets are held back at most.
    pub packets_max: usize,
    /// It waits only where packets were seen to come late, one and a quarter times as long as they
    /// did and no longer than `wait`; what comes after all is given out late, for a receiver that has
    /// lost packets sent again and takes it in the place of a copy.
    pub adapts: bool,
}

impl Default for OrderOptions {
    /// 20 ms, and 256 packets; it always waits.
    fn default() -> Self {
        Self { wait: Duration::from_millis(20), packets_max: 256, adapts: false }
    }
}

/// What came on a channel, in its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordered<P> {
    /// A packet, its tag and its length.
    Packet(Tag, u32, P),
    /// A message.
    Message(Message),
}

#[derive(Clone, Debug)]
struct Held<P> {
    tag: Tag,
    length_bytes: u32,
    packet: P,
    at: Instant,
}

/// The order of one channel.
///
/// ```
/// use gingham_stripe::{ChannelOrder, Epoch, Instant, OrderOptions, Ordered, Tag};
///
/// let (now, epoch) = (Instant::ORIGIN, Epoch::new(1));
/// let mut order = ChannelOrder::synchronised(OrderOptions::default(), epoch)?;
/// let tag = |channel_sequence| Tag { channel_sequence, session: 1, ..Tag::default() };
/// order.handle_packet(now, tag(1), 100, "second")?;
/// assert_eq!(order.poll(now), None);
/// order.handle_packet(now, tag(0), 100, "first")?;
/// assert_eq!(order.poll(now), Some(Ordered::Packet(tag(0), 100, "first")));
/// assert_eq!(order.poll(now), Some(Ordered::Packet(tag(1), 100, "second")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChannelOrder<P> {
    options: OrderOptions,
    epoch: Option<Epoch>,
    /// The number of the next packet.
    next: u32,
    /// Held packets, each at its number modulo the length, where any packet has come.
    ring: Vec<Option<Held<P>>>,
    held: usize,
    /// When the oldest of what is held came, if nothing has been given out since this was found.
    oldest: Option<Instant>,
    /// A packet too far ahead for the ring, for which room is made by giving up numbers.
    far: Option<Held<P>>,
    /// Markers whose packets have not all been given out, by how many these are.
    markers: VecDeque<(Marker, Message, Instant)>,
    /// What the last marker that was given out counted, and when it had been sent.
    marked: Option<(u32, Instant)>,
    /// Markers in a row that came too late, with nothing in time between them.
    late_in_a_row: u32,
    window: Window,
    /// A packet that is given out late.
    late: Option<Held<P>>,
    /// Something to be given out at once.
    urgent: Option<Message>,
    /// What may come of a sender that forgot, and since when.
    odd: Option<(Message, Instant)>,
    discards: Discards,
}

impl<P> ChannelOrder<P> {
    /// Knows no epoch: it waits for a reset or a marker.
    pub fn new(options: OrderOptions) -> Result<Self, OptionsError> {
        check_packets("packets_max", options.packets_max)?;
        Ok(Self {
            options,
            epoch: None,
            next: 0,
            ring: Vec::new(),
            window: Window::new(&options),
            late: None,
            held: 0,
            oldest: None,
            far: None,
            markers: VecDeque::new(),
            marked: None,
            late_in_a_row: 0,
            urgent: None,
            odd: None,
            discards: Discards::default(),
        })
    }

    /// Takes packets of this epoch at once.
    pub fn synchronised(options: OrderOptions, epoch: Epoch) -> Result<Self, OptionsError> {
        Ok(Self { epoch: Some(epoch), ..Self::new(options)? })
    }

    /// Nothing has come for long: no memory is kept for what is held, if nothing is.
    pub fn rest(&mut self) {
        if self.held() == 0 && self.late.is_none() {
            self.ring = Vec::new();
            self.window.set_length(0);
        }
    }

    /// What was not used, and why.
    pub const fn discards(&self) -> &Discards {
        &self.discards
    }

    /// Packets that are held.
    pub fn held(&self) -> usize {
        self.held + usize::from(self.far.is_some())
    }

    /// For how long what is missing is waited for now.
    pub const fn window(&self) -> Duration {
        self.window.span()
    }

    /// A packet has come, or a copy. Poll until there is nothing before the next.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        tag: Tag,
        length_bytes: u32,
        packet: P,
    ) -> Result<(), Discard> {
        let taken = self.take_packet(Held { tag, length_bytes, packet, at: now });
        self.discards.count(taken)
    }

    /// A message has come. Poll until there is nothing before the next.
    pub fn handle_message(&mut self, now: Instant, message: Message) -> Result<(), Discard> {
        let taken = self.take_message(now, message);
        self.discards.count(taken)
    }

    /// The next in the order of the channel.
    pub fn poll(&mut self, now: Instant) -> Option<Ordered<P>> {
        if let Some(message) = self.urgent.take().or_else(|| self.believe_odd(now)) {
            return Some(Ordered::Message(message));
        }
        if let Some(Held { tag, length_bytes, packet, .. }) = self.late.take() {
            return Some(Ordered::Packet(tag, length_bytes, packet));
        }
        loop {
            if let Some(message) = self.next_marker() {
                return Some(Ordered::Message(message));
            }
            if let Some(Held { tag, length_bytes, packet, .. }) = self.next_packet() {
                return Some(Ordered::Packet(tag, length_bytes, packet));
            }
            self.give_up(now)?;
        }
    }

    /// When there will be something though nothing comes.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let odd = self.odd.map(|(_, since)| since.after(ODD_WAIT));
        let held = self.found_oldest().map(|at| at.after(self.window()));
        [held, odd].into_iter().flatten().min()
    }

    /// What is out of season begins an epoch if nothing else has come for long enough.
    fn believe_odd(&mut self, now: Instant) -> Option<Message> {
        let (message, _) = self.odd.take_if(|(_, since)| since.after(ODD_WAIT) <= now)?;
        self.start(message.epoch);
        if let Kind::Marker(marker) = message.kind {
            self.next = marker.sent_packets;
        }
        Some(message)
    }

    fn take_packet(&mut self, held: Held<P>) -> Result<(), Discard> {
        let Tag { channel_sequence, session, .. } = held.tag;
        if self.epoch.ok_or(Discard::Unsynchronised)?.low() != session {
            return Err(Discard::StaleEpoch);
        }
        if self.ring.is_empty() {
            let length = self.options.packets_max.next_power_of_two();
            self.ring = (0..length).map(|_| None).collect();
            self.window.set_length(length);
        }
        let ahead = ahead(channel_sequence, self.next);
        let slot = channel_sequence as usize & (self.ring.len() - 1);
        if ahead < 0 {
            return self.take_late(ahead.unsigned_abs(), held);
        }
        (self.odd, self.late_in_a_row) = (None, 0);
        if ahead == 0 && self.held > 0 {
            self.window.fill();
        }
        if ahead.unsigned_abs() as usize >= self.ring.len() {
            let full = self.far.is_some();
            self.hold(held.at);
            self.far.get_or_insert(held);
            if full { Err(Discard::BufferFull) } else { Ok(()) }
        } else if self.ring[slot].is_some() {
            Err(Discard::Repeated)
        } else {
            self.hold(held.at);
            self.ring[slot] = Some(held);
            self.held += 1;
            Ok(())
        }
    }

    /// A packet whose number was passed so many numbers ago.
    fn take_late(&mut self, passed: u32, held: Held<P>) -> Result<(), Discard> {
        let (number, wait) = (held.tag.channel_sequence, self.options.wait);
        if self.window.see_late(held.at, number, passed, wait) {
            self.late = Some(held);
            Ok(())
        } else if self.options.adapts {
            Err(Discard::Repeated)
        } else {
            Err(Discard::TooLate)
        }
    }

    fn take_message(&mut self, now: Instant, message: Message) -> Result<(), Discard> {
        let begun = self.next != 0 || self.held > 0 || self.marked.is_some();
        match (message.kind, self.epoch) {
            (Kind::Reset { .. }, Some(epoch)) if message.epoch == epoch && begun => {
                self.odd.get_or_insert((message, now));
                Err(Discard::RepeatedReset)
            }
            (_, Some(epoch)) if epoch.is_after(message.epoch) => {
                self.odd.get_or_insert((message, now));
                Err(Discard::StaleEpoch)
            }
            (Kind::Marker(marker), epoch) => {
                if epoch != Some(message.epoch) {
                    self.start(message.epoch);
                }
                self.take_marker(now, marker, message)
            }
            (Kind::Reset { .. }, _) => {
                if self.epoch != Some(message.epoch) {
                    self.start(message.epoch);
                }
                self.urgent = Some(message);
                Ok(())
            }
            _ => {
                self.urgent = Some(message);
                Ok(())
            }
        }
    }

    fn take_marker(
        &mut self,
        now: Instant,
        marker: Marker,
        message: Message,
    ) -> Result<(), Discard> {
        let is_before = |packets, sent_at| {
            let ahead = ahead(packets, marker.sent_packets);
            ahead < 0 || (ahead == 0 && sent_at < marker.sent_at)
        };
        let is_late = ahead(marker.sent_packets, self.next) < 0;
        if is_late || self.marked.is_some_and(|(packets, sent_at)| !is_before(packets, sent_at)) {
            self.late_in_a_row += 1;
            if self.late_in_a_row < LATE_IN_A_ROW_MAX {
                return Err(if is_late { Discard::TooLate } else { Discard::Repeated });
            }
            // It is the number here that is wrong, or the time of the last marker.
            self.start(message.epoch);
            self.next = marker.sent_packets;
        }
        let place = self
            .markers
            .partition_point(|(other, ..)| is_before(other.sent_packets, other.sent_at));
        let key = (marker.sent_packets, marker.sent_at);
        let same =
            |(other, ..): &(Marker, Message, Instant)| (other.sent_packets, other.sent_at) == key;
        if self.markers.get(place).is_some_and(same) {
            return Err(Discard::Repeated);
        }
        if self.markers.len() == MARKERS_MAX {
            return Err(Discard::BufferFull);
        }
        (self.odd, self.late_in_a_row) = (None, 0);
        self.hold(now);
        self.markers.insert(place, (marker, message, now));
        Ok(())
    }

    /// A marker all of whose packets have been given out, or given up.
    fn next_marker(&mut self) -> Option<Message> {
        let (marker, ..) = self.markers.front()?;
        if ahead(marker.sent_packets, self.next) > 0 {
            return None;
        }
        let (marker, message, _) = self.markers.pop_front()?;
        self.marked = Some((marker.sent_packets, marker.sent_at));
        self.oldest = None;
        Some(message)
    }

    fn next_packet(&mut self) -> Option<Held<P>> {
        self.place_far();
        let slot = self.next as usize & self.ring.len().checked_sub(1)?;
        let held = self.ring[slot].take()?;
        self.held -= 1;
        self.oldest = None;
        self.window.pass(self.next);
        self.next = self.next.wrapping_add(1);
        Some(held)
    }

    /// Puts what was too far ahead into the ring, once there is room.
    fn place_far(&mut self) {
        let length = self.ring.len();
        // It is never given up, so never behind.
        let ahead = |far: &Held<P>| ahead(far.tag.channel_sequence, self.next).unsigned_abs();
        let fits = |far: &mut Held<P>| (ahead(far) as usize) < length;
        if let Some(far) = self.far.take_if(fits) {
            let slot = far.tag.channel_sequence as usize & (length - 1);
            self.held += usize::from(self.ring[slot].replace(far).is_none());
        }
    }

    /// Gives up the numbers up to the next that is held or marked, if something has waited too long
    /// or needs room.
    fn give_up(&mut self, now: Instant) -> Option<()> {
        self.oldest = self.found_oldest();
        let overtaken_at = self.oldest?;
        let is_over = overtaken_at.after(self.window()) <= now;
        if !is_over && self.far.is_none() {
            return None;
        }
        let held =
            self.ring.iter().flatten().chain(&self.far).map(|held| held.tag.channel_sequence);
        let marked = self.markers.front().map(|(marker, ..)| marker.sent_packets);
        let nearest = held.chain(marked).map(|number| ahead(number, self.next)).min()?;
        self.window.give_up(self.next, nearest.unsigned_abs(), overtaken_at);
        self.next = self.next.wrapping_add(nearest.unsigned_abs());
        Some(())
    }

    /// Something that comes now is held.
    fn hold(&mut self, now: Instant) {
        self.oldest = self.found_oldest().or(Some(now));
    }

    /// When the oldest of what is held came.
    fn found_oldest(&self) -> Option<Instant> {
        if self.oldest.is_some() {
            return self.oldest;
        }
        if self.held() == 0 && self.markers.is_empty() {
            return None;
        }
        let held = self.ring.iter().flatten().chain(&self.far).map(|held| held.at);
        held.chain(self.markers.iter().map(|(_, _, at)| *at)).min()
    }

    fn start(&mut self, epoch: Epoch) {
        self.discards.add(Discard::Reset, self.held() as u64);
        self.ring.iter_mut().for_each(|slot| *slot = None);
        self.markers.clear();
        (self.far, self.marked, self.urgent, self.odd) = (None, None, None, None);
        (self.epoch, self.next, self.held) = (Some(epoch), 0, 0);
        (self.oldest, self.late_in_a_row, self.late) = (None, 0, None);
        self.window.restart();
    }
}
