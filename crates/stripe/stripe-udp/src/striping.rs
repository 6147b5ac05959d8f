//! The protocol's sender and receiver at this end.

mod plan;

use std::time::Duration;

use gingham_fairq::Causal;
use gingham_stripe::{
    ChannelError, Class, Discard, Epoch, Instant, Kind, Message, Numbered, Ordered, RateCap,
    Receiver, Reception, Repair, RepairPlan, RetransmissionBuffer, SendError, Sender,
    SenderOptions, TAG_BYTES, Tag, Transmit, Wait, WireError,
};

use crate::error::OpenError;
use crate::framing::Frame;
use crate::messages::BUNDLE_BYTES_MAX;
use crate::ordering::Ordering;
use crate::pool::{Buffer, Pool};
use crate::scheduler::Scheduler;
pub use plan::StripingPlan;

/// Maximum bytes kept for retransmission: half a second at 1 Gbit/s, longer than any round-trip
/// time after which a retransmission is useful.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// Time without traffic before memory is released, longer than any round-trip time.
const REST: Duration = Duration::from_secs(1);

/// Maximum delay difference of similar channels with delays below 8 ms; equal to the minimum report
/// interval.
const ALIKE: Duration = Duration::from_millis(1);

/// Received packet.
#[derive(Debug)]
pub struct Packet {
    /// Packet contents.
    pub bytes: Buffer,
    /// Kernel timestamp of arrival, on the monotonic clock.
    pub received_at: Instant,
    /// Outer ECN field (RFC 3168), 0 without UDP. Decapsulation combines it with the inner ECN
    /// field (RFC 6040).
    pub ecn: u8,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// Length of the headers below the striping protocol, in bytes.
    pub(crate) header_bytes: u32,
    pub(crate) prefix_bytes: usize,
}

/// Preference for a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preference {
    /// Priority; channels with lower values are used first
    /// ([`Sender::set_priority`](gingham_stripe::Sender::set_priority)).
    pub priority: u8,
    /// Maximum rate in bytes per second, including IP and UDP headers, excluding messages.
    pub bytes_per_second_max: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) channel: usize,
    pub(crate) message: Message,
    pub(crate) bytes_min: usize,
}

const FIRST: Epoch = Epoch::new(1);

#[derive(Debug)]
pub(crate) struct Striping {
    sender: Sender<Scheduler>,
    receiver: Receiver<Scheduler, Packet>,
    ordering: Ordering,
    kept: Option<RetransmissionBuffer<(u8, Buffer)>>,
    pool: Pool,
    used_at: Option<Instant>,
    longest_bytes: u32,
    has_tags: bool,
    overhead_bytes: u32,
    now: Instant,
}

impl Striping {
    /// Creates sender and receiver. They start with a reset to an epoch, or synchronised in the
    /// first epoch if a handshake started the session.
    pub(crate) fn new(
        plan: &StripingPlan,
        (scheduler, present): (Scheduler, u64),
        before: Before,
        reset_to: Option<Epoch>,
        now: Instant,
    ) -> Result<Self, OpenError> {
        let channels = scheduler.channels();
        let longest_bytes = before.prefix_bytes + plan.longest_bytes as usize;
        let kept = |repair: RepairPlan| {
            RetransmissionBuffer::new(kept_packets(repair.packets * channels, longest_bytes))
        };
        let (sizes, present) = (plan.sizes(before.header_bytes), Some(present));
        let options = SenderOptions { sizes, present, ..plan.sender };
        let theirs = scheduler.clone();
        let (sender, receiver) = match reset_to {
            Some(epoch) => (
                Sender::new(scheduler, options, epoch, now)?,
                Receiver::new(theirs, plan.receiver)?,
            ),
            None => (
                Sender::synchronised(scheduler, options, FIRST, now)?,
                Receiver::synchronised(theirs, plan.receiver, FIRST)?,
            ),
        };
        Ok(Self {
            sender,
            receiver,
            ordering: Ordering::new(plan.order()?, channels),
            kept: plan.sender.repair.map(kept),
            pool: Pool::new(longest_bytes),
            used_at: None,
            longest_bytes: plan.longest_bytes,
            has_tags: plan.has_tags(),
            overhead_bytes: before.header_bytes
                + if plan.has_tags() { bytes(TAG_BYTES) } else { 0 },
            now,
        })
    }

    pub(crate) const fn now(&self) -> Instant {
        self.now
    }

    pub(crate) fn advance(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }

    pub(crate) fn take(&mut self, at: Instant, channel: usize, (frame, ecn): (Frame<'_>, u8)) {
        let (now, epoch) = (self.advance(at), self.receiver.epoch());
        if let Frame::Data(..) | Frame::Packet { .. } = frame {
            self.used_at = Some(now);
        }
        let _: Result<(), Discard> = match frame {
            Frame::Data(tag, packet) => {
                let length_bytes = bytes(packet.len());
                let packet = Packet { bytes: self.pool.copy(packet), received_at: at, ecn };
                let frame = (tag, length_bytes, packet);
                if let Some(packet) = self.ordering.take_packet(now, epoch, frame) {
                    self.receiver.handle_tagged(now, tag, length_bytes, packet)
                } else {
                    self.pass_on(usize::from(tag.channel));
                    Ok(())
                }
            }
            Frame::Packet { length_bytes, packet } => {
                let packet = Packet { bytes: self.pool.copy(packet), received_at: at, ecn };
                self.receiver.handle_packet(now, channel, bytes(length_bytes), packet)
            }
            Frame::Messages(_, messages) => {
                messages.for_each(|message| self.process_message(now, channel, message));
                Ok(())
            }
        };
    }

    fn process_message(&mut self, now: Instant, port: usize, message: Result<Message, WireError>) {
        let _: Result<(), Discard> = match message {
            Ok(message) if matches!(message.kind, Kind::Report(_)) => {
                self.sender.handle_message(now, message.channel.into(), message)
            }
            Ok(message) if !message.kind.is_from_sender() => {
                self.sender.handle_message(now, port, message)
            }
            Ok(message) => {
                if self.ordering.take_message(now, self.receiver.epoch(), port, message) {
                    self.pass_on(message.channel.into());
                    Ok(())
                } else {
                    self.receiver.handle_message(now, port, message)
                }
            }
            Err(error) => self.receiver.handle_malformed(error),
        };
    }

    fn pass_on(&mut self, channel: usize) {
        while let Some((port, next)) = self.ordering.next(self.now, channel) {
            let _: Result<(), Discard> = match next {
                Ordered::Packet(tag, length_bytes, packet) => {
                    self.receiver.handle_tagged(self.now, tag, length_bytes, packet)
                }
                Ordered::Message(message) => self.receiver.handle_message(self.now, port, message),
            };
        }
    }

    /// Ends a batch of arrivals; passes on frames whose wait for missing frames has expired.
    pub(crate) fn settle(&mut self, now: Instant) {
        let now = self.advance(now);
        if self.ordering.poll_timeout().is_some_and(|at| at <= now) {
            (0..self.ordering.channels()).for_each(|channel| self.pass_on(channel));
        }
    }

    pub(crate) fn next_packet(&mut self) -> Option<Packet> {
        self.receiver.poll_packet(self.now)
    }

    pub(crate) fn next_message(&mut self) -> Option<Said> {
        if let Some((channel, message)) = self.receiver.poll_message(self.now) {
            return Some(Said { channel, message, bytes_min: 0 });
        }
        let (channel, message) = self.sender.poll_message(self.now)?;
        let bytes_min = self.sender.padded_bytes(channel);
        Some(Said { channel, message, bytes_min })
    }

    /// Returns whether datagrams sent now on both channels would arrive at almost the same time:
    /// within 1 ms of each other, or within an eighth of the shorter delay. An eighth is the weight
    /// of a new sample in a smoothed round-trip time (RFC 6298, section 2).
    pub(crate) fn are_alike(&self, one: usize, other: usize) -> bool {
        let arrivals = [one, other].map(|channel| self.sender.arrives_after(channel));
        let [Some(one), Some(other)] = arrivals else { return false };
        one.abs_diff(other) <= (one.min(other) / 8).max(ALIKE)
    }

    /// Hastens the reports of channels similar to `channel`, so that all are sent together.
    pub(crate) fn report_along(&mut self, channel: usize) {
        for other in 0..self.ordering.channels() {
            if other != channel && self.are_alike(channel, other) {
                self.receiver.hasten_report(self.now, other);
            }
        }
    }

    pub(crate) fn bundle_bytes_max(&self, channel: usize) -> usize {
        let bytes_max = self.sender.size(channel).frame_bytes.min(self.longest_bytes);
        usize::try_from(bytes_max).unwrap_or(usize::MAX).min(BUNDLE_BYTES_MAX)
    }

    pub(crate) fn next_copy(&mut self) -> Option<(Repair, u8, &[u8])> {
        let kept = self.kept.as_ref()?;
        loop {
            let repair = self.sender.poll_repair(self.now)?;
            if let Some((class, bytes)) = kept.get(repair.tag.sequence) {
                return Some((repair, *class, bytes));
            }
        }
    }

    pub(crate) fn next_run(&mut self, length: usize, class: Class) -> Option<Transmit> {
        self.sender.poll_transmit_of(self.now, bytes(length), class)
    }

    pub(crate) fn is_too_long(&self, length: usize) -> bool {
        let length = bytes(length);
        let sender = &self.sender;
        sender.is_open() && !sender.fits_somewhere(length) && !sender.may_fit(length)
    }

    pub(crate) fn refuse(&mut self, channel: usize, frame_bytes: usize) {
        let _ = self.sender.handle_refused(self.now, channel, bytes(frame_bytes));
    }

    pub(crate) fn send(&mut self, length: usize, class: Class) -> Result<(usize, Tag), SendError> {
        let length_bytes = bytes(length);
        if self.has_tags {
            return self.sender.handle_tagged_as(self.now, length_bytes, class);
        }
        let channel = self.sender.handle_packet(self.now, length_bytes)?;
        Ok((channel, Tag::default()))
    }

    pub(crate) fn rest(&mut self) -> bool {
        let rests = |at: Instant| at.after(REST) <= self.now && self.sender.is_at_rest();
        if self.used_at.take_if(|at| rests(*at)).is_none() {
            return false;
        }
        self.kept.iter_mut().for_each(RetransmissionBuffer::clear);
        self.pool.shrink();
        self.ordering.rest();
        true
    }

    pub(crate) fn keep(&mut self, tag: Tag, class: u8, bytes: &[u8]) {
        self.used_at = Some(self.now);
        if let Some(kept) = &mut self.kept {
            kept.keep(tag.sequence, (class, self.pool.copy(bytes)));
        }
    }

    pub(crate) fn poll_timeout(&self) -> Instant {
        let others = [self.receiver.poll_timeout(), self.ordering.poll_timeout()];
        others.into_iter().flatten().fold(self.sender.poll_timeout(), Instant::min)
    }

    pub(crate) fn prefer(&mut self, channel: usize, preference: Preference) {
        let overhead_bytes = u64::from(self.overhead_bytes);
        let cap = |bytes_per_second| RateCap { bytes_per_second, overhead_bytes };
        self.sender.set_priority(channel, preference.priority);
        self.sender.cap_rate(channel, preference.bytes_per_second_max.map(cap));
    }

    pub(crate) fn add_channel(&mut self, id: usize) -> Result<(), ChannelError> {
        self.sender.add_channel(self.now, id)
    }

    pub(crate) fn remove_channel(&mut self, id: usize) -> Result<(), ChannelError> {
        self.sender.remove_channel(self.now, id)
    }

    pub(crate) fn move_channel(&mut self, id: usize) -> Result<(), ChannelError> {
        self.sender.move_channel(self.now, id)
    }

    pub(crate) fn set_passes_all(&mut self, channel: usize, passes_all: bool) {
        self.sender.set_passes_all(channel, passes_all);
    }

    pub(crate) fn set_blocked(&mut self, channels: u64) {
        self.sender.set_blocked(channels);
    }

    pub(crate) fn ask(&mut self, channel: usize) {
        self.sender.ask_channel(channel);
    }

    pub(crate) fn lose(&mut self, channel: usize) -> bool {
        self.sender.lose_channel(self.now, channel)
    }

    pub(crate) fn wait_of(&self, channel: usize) -> Option<Wait> {
        self.sender.wait_of(self.now, channel)
    }

    pub(crate) const fn sender(&self) -> &Sender<Scheduler> {
        &self.sender
    }

    pub(crate) fn reception(&self) -> &Reception {
        self.receiver.reception()
    }

    pub(crate) fn is_in(&self, channel: usize) -> bool {
        self.sender.scheduler().standing(channel).is_in()
    }

    pub(crate) fn bundle_bytes(&self) -> u32 {
        self.sender.bundle_bytes().min(self.longest_bytes)
    }

    pub(crate) fn window(&self, channel: usize) -> Duration {
        self.ordering.window(channel)
    }
}

fn kept_packets(packets: usize, longest_bytes: usize) -> usize {
    let fit = (KEPT_BYTES_MAX / longest_bytes.max(1)).max(1);
    packets.min(1 << fit.ilog2())
}

fn bytes(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::SchedulerPlan;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanoseconds(milliseconds * 1_000_000)
    }

    fn talk(now: Instant, one: &mut Striping, other: &mut Striping) {
        one.advance(now);
        while let Some(next) = one.next_message() {
            let bytes = next.message.to_bytes();
            let frame = Frame::messages(None, &bytes).expect("a message");
            other.take(now, next.channel, (frame, 0));
        }
    }

    fn swapped(plan: &StripingPlan) -> Vec<u8> {
        let before = Before { header_bytes: 28, prefix_bytes: 0 };
        let end = || {
            let scheduler = SchedulerPlan::default().scheduler(plan.longest_bytes, 1);
            let channels = (scheduler.expect("a channel"), 1);
            Striping::new(plan, channels, before, Some(Epoch::new(1)), at(0)).expect("options")
        };
        let (mut left, mut right, mut came) = (end(), end(), Vec::new());
        for pair in 0..20 {
            let now = at(10 + 10 * u64::from(pair));
            for _ in 0..4 {
                talk(now, &mut left, &mut right);
                talk(now, &mut right, &mut left);
            }
            let mut send =
                || left.send(100, Class::Spread).expect("it is open, and nothing is in flight").1;
            let tags = [send(), send()];
            for (later, half) in [(0, 1), (1, 0)] {
                let packet = [2 * pair + half; 100];
                let now = at(10 + 10 * u64::from(pair) + later);
                right.take(now, 0, (Frame::Data(tags[usize::from(half)], &packet), 0));
            }
            right.settle(at(19 + 10 * u64::from(pair)));
            came.extend(std::iter::from_fn(|| right.next_packet()).map(|packet| packet.bytes[0]));
        }
        came
    }

    #[test]
    fn reordering_delay_is_learnt_from_the_first_late_datagram() {
        let plan = StripingPlan::free(1_000);
        assert!(swapped(&plan).into_iter().eq(1..40));
        assert!(
            swapped(&StripingPlan { restore: None, ..plan }).into_iter().eq((1..40).step_by(2))
        );
        assert!(swapped(&plan.repaired()).into_iter().eq(0..40));
    }

    /// The buffer holds 4,096 packets of 1,500 bytes per channel: 49 MB for 8 channels. For 64
    /// channels, it would take 393 MB.
    #[test]
    fn retransmission_buffer_is_bounded() {
        assert_eq!(kept_packets(4_096 * 8, 1_500), 4_096 * 8);
        assert_eq!(kept_packets(4_096 * 64, 1_500), 4_096 * 8);
        assert_eq!(kept_packets(4_096, 9_000), 4_096);
        assert_eq!(kept_packets(4_096 * 2, 9_000), 4_096);
    }
}
