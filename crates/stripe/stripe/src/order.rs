//! Per-channel reorder buffer: UDP does not preserve order.
//!
//! ```text
//!   received   17  18  21  20  18  22  marker: 22 packets sent    next is 19
//!   released   17  18                                             second 18: duplicate
//!   held       20  21  22, the marker behind 21                   wait for 19
//! ```
//!
//! The output is in order with gaps, as on a channel that only loses packets. Packets are ordered
//! by channel sequence number, and markers by the number of packets sent before them. Other
//! messages are released immediately.
//!
//! A reset to the present or an earlier epoch may be late or duplicated, or its sender may have
//! lost its state. It is released if no packet or marker of the present epoch arrives for 250 ms.
//!
//! Source: RFC 1990, section 4.1, except that losses are detected by timeout, because the channel
//! reorders.
//!
//! Invariants: released sequence numbers increase within an epoch, except those of late packets; no
//! packet or marker is held longer than the wait; no allocation after set-up.

mod window;

use core::time::Duration;
use std::collections::VecDeque;

use crate::error::check_packets;
use crate::tag::ahead;
use crate::{Discard, Discards, Epoch, Instant, Kind, Marker, Message, OptionsError, Tag};
use window::Window;

/// Number of consecutive late markers after which the expected sequence number is assumed to be
/// wrong.
const LATE_IN_A_ROW_MAX: u32 = 4;

/// Time after which the sender is assumed to have forgotten the present epoch; longer than the
/// marker interval.
const ODD_WAIT: Duration = Duration::from_millis(250);

const MARKERS_MAX: usize = 8;

/// Limits of a channel's reorder buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderOptions {
    /// Maximum time that a packet waits for earlier packets; must exceed the channel's delay
    /// variation.
    pub wait: Duration,
    /// Buffer size: the maximum span of the sequence numbers held.
    pub packets_max: usize,
    /// Whether the wait adapts to the measured lateness: zero at first, then 1.25 times the
    /// lateness of a packet. Packets that arrive after this wait are still released, for receivers
    /// with retransmission.
    pub adapts: bool,
}

impl Default for OrderOptions {
    /// Returns limits of 20 ms and 256 packets, without adaptation.
    fn default() -> Self {
        Self { wait: Duration::from_millis(20), packets_max: 256, adapts: false }
    }
}

/// Packet or message released in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordered<P> {
    /// Packet with its tag and its length in bytes.
    Packet(Tag, u32, P),
    /// Control message.
    Message(Message),
}

#[derive(Clone, Debug)]
struct Held<P> {
    tag: Tag,
    length_bytes: u32,
    packet: P,
    at: Instant,
}

/// Reorder buffer of a channel.
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
    next: u32,
    /// Held packets, indexed by sequence number modulo the length; empty until a packet arrives.
    ring: Vec<Option<Held<P>>>,
    held: usize,
    /// Arrival time of the oldest held packet or marker; `None` until recomputed after a release.
    oldest: Option<Instant>,
    /// Packet too far ahead for the ring; missing sequence numbers are skipped until the packet
    /// fits.
    far: Option<Held<P>>,
    markers: VecDeque<(Marker, Message, Instant)>,
    marked: Option<(u32, Instant)>,
    late_in_a_row: u32,
    window: Window,
    late: Option<Held<P>>,
    urgent: Option<Message>,
    /// Message that suggests a loss of state at the sender, with its arrival time.
    odd: Option<(Message, Instant)>,
    discards: Discards,
}

impl<P> ChannelOrder<P> {
    /// Creates a reorder buffer that waits for a reset or a marker to learn the epoch.
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

    /// Creates a reorder buffer with `epoch` as the present epoch.
    pub fn synchronised(options: OrderOptions, epoch: Epoch) -> Result<Self, OptionsError> {
        Ok(Self { epoch: Some(epoch), ..Self::new(options)? })
    }

    /// Frees memory if no packet is held; meant for long pauses.
    pub fn rest(&mut self) {
        if self.held() == 0 && self.late.is_none() {
            self.ring = Vec::new();
            self.window.set_length(0);
        }
    }

    /// Returns the discard counters.
    pub const fn discards(&self) -> &Discards {
        &self.discards
    }

    /// Returns the number of held packets.
    pub fn held(&self) -> usize {
        self.held + usize::from(self.far.is_some())
    }

    /// Returns the present waiting time for missing packets.
    pub const fn window(&self) -> Duration {
        self.window.span()
    }

    /// Handles a packet or copy. Call it only after `poll` has returned `None`.
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

    /// Handles a message. Call it only after `poll` has returned `None`.
    pub fn handle_message(&mut self, now: Instant, message: Message) -> Result<(), Discard> {
        let taken = self.take_message(now, message);
        self.discards.count(taken)
    }

    /// Returns the next packet or message in channel order.
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

    /// Returns when the next packet or message is released if nothing else arrives.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let odd = self.odd.map(|(_, since)| since.after(ODD_WAIT));
        let held = self.found_oldest().map(|at| at.after(self.window()));
        [held, odd].into_iter().flatten().min()
    }

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

    fn place_far(&mut self) {
        let length = self.ring.len();
        // The number of the far packet is never skipped, and therefore never behind `next`.
        let ahead = |far: &Held<P>| ahead(far.tag.channel_sequence, self.next).unsigned_abs();
        let fits = |far: &mut Held<P>| (ahead(far) as usize) < length;
        if let Some(far) = self.far.take_if(fits) {
            let slot = far.tag.channel_sequence as usize & (length - 1);
            self.held += usize::from(self.ring[slot].replace(far).is_none());
        }
    }

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

    fn hold(&mut self, now: Instant) {
        self.oldest = self.found_oldest().or(Some(now));
    }

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
