//! Transmission.

use std::mem::take;

use gingham_stripe::{Instant, Kind, Message, SendError, Tag};

use super::{End, Source};
use crate::channel::{Channel, Sent};
use crate::clock::now;
use crate::link::Payload;
use crate::striping::Said;

/// Maximum packets dropped per turn because they are too long; a 1 Gbit/s link sends this number in
/// 10 ms.
const TOO_LONG_A_TURN: usize = 1_000;

const ECN: u8 = 0b11;

impl End {
    /// Sends all messages, retransmissions and packets that are due.
    pub fn transmit(&mut self, source: &mut impl Source) {
        self.transmit_at(now(), source);
    }

    /// Sends like [`Self::transmit`], at a given time.
    pub fn transmit_at(&mut self, now: Instant, source: &mut impl Source) {
        self.transmit_some(now, source, u64::MAX);
        self.rest();
    }

    pub(crate) fn transmit_some(
        &mut self,
        now: Instant,
        source: &mut impl Source,
        bytes_max: u64,
    ) -> bool {
        self.striping.advance(now);
        self.advance_links();
        self.drain();
        if !self.shake_hands() {
            return false;
        }
        let before = self.striping.sender().sending().bytes;
        self.send_messages();
        loop {
            self.send_copies();
            let went = self.send_run(source);
            if !self.send_messages() && !went {
                return false;
            }
            if self.striping.sender().sending().bytes - before >= bytes_max {
                return true;
            }
        }
    }

    fn send_messages(&mut self) -> bool {
        let mut spoke = false;
        while let Some(Said { channel, message, bytes_min }) = self.striping.next_message() {
            spoke = true;
            match message.kind {
                Kind::Report(_) => {
                    self.striping.report_along(channel);
                    self.messages.leave_open(channel, message);
                }
                // A probe is sent alone: if it is too long, no other message is lost with it.
                _ if bytes_min > 0 => {
                    self.send_bundle(channel, 0);
                    self.messages.push(channel, message);
                    self.send_bundle(channel, bytes_min);
                }
                _ => self.queue_message(channel, message),
            }
        }
        while let Some((channel, report)) = self.next_report() {
            self.queue_message(channel, report);
        }
        if spoke {
            (0..self.channels.len()).for_each(|channel| self.send_bundle(channel, 0));
        }
        spoke
    }

    fn next_report(&mut self) -> Option<(usize, Message)> {
        let Self { messages, striping, .. } = self;
        messages.next_report(|one, other| striping.are_alike(one, other))
    }

    fn queue_message(&mut self, channel: usize, message: Message) {
        let length = self.messages.on(channel).0.len() + message.to_bytes().len();
        let datagram_bytes = self.encapsulation.messages_bytes(length, 0);
        if datagram_bytes > self.striping.bundle_bytes_max(channel) {
            self.send_bundle(channel, 0);
        }
        self.messages.push(channel, message);
    }

    fn send_bundle(&mut self, channel: usize, bytes_min: usize) {
        let (messages, epoch) = self.messages.on(channel);
        if messages.is_empty() {
            return;
        }
        let length = self.encapsulation.messages_bytes(messages.len(), bytes_min);
        self.run.begin(channel, length);
        self.run.class = self.class;
        self.run.payload = Payload::Messages;
        let buffer = &mut self.run.bytes;
        self.encapsulation.write_messages((channel, epoch), messages, length, buffer);
        self.messages.clear(channel);
        self.flush();
    }

    fn send_copies(&mut self) {
        self.report_blocked();
        while let Some((repair, class, bytes)) = self.striping.next_copy() {
            let datagram_bytes = self.encapsulation.data_bytes(&repair.tag, bytes.len());
            self.run.begin(repair.channel, datagram_bytes);
            // A retransmission must not be ECN-capable (RFC 3168, section 6.1.5).
            self.run.class = class & !ECN;
            let buffer = &mut self.run.bytes;
            self.encapsulation.write_tag(&repair.tag, buffer);
            buffer.extend_from_slice(bytes);
            self.encapsulation.seal(0, buffer);
            self.flush();
            self.report_blocked();
        }
    }

    fn send_run(&mut self, source: &mut impl Source) -> bool {
        // A channel is requested only if a packet is ready, because the request ends an idle
        // period.
        let Some(length) = source.next_bytes() else { return false };
        let prefix_bytes = self.encapsulation.prefix_bytes();
        let charged_bytes = length.saturating_sub(prefix_bytes);
        let Some(run) = self.striping.next_run(charged_bytes, source.next_class()) else {
            return self.drop_too_long(source);
        };
        let (mut went, mut left) = (false, run.bytes);
        while left > 0
            && let Some(length) = source.next_bytes()
        {
            let charged_bytes = length.saturating_sub(prefix_bytes);
            if went && charged_bytes > run.longest_bytes as usize {
                break;
            }
            match self.striping.send(charged_bytes, source.next_class()) {
                Ok((channel, tag)) => self.write(channel, tag, length, source),
                Err(SendError::BadLength { .. }) => self.drop_next(source),
                Err(_) => break,
            }
            left = left.saturating_sub(charged_bytes as u64);
            went = true;
        }
        self.flush();
        went
    }

    fn drop_too_long(&mut self, source: &mut impl Source) -> bool {
        let prefix_bytes = self.encapsulation.prefix_bytes();
        for dropped in 0..TOO_LONG_A_TURN {
            let Some(length) = source.next_bytes() else { return false };
            if !self.striping.is_too_long(length.saturating_sub(prefix_bytes)) {
                return dropped > 0;
            }
            self.drop_next(source);
        }
        false
    }

    fn drop_next(&mut self, source: &mut impl Source) {
        self.too_long += 1;
        let bytes = &mut self.run.bytes;
        let length = bytes.len();
        source.take(bytes);
        bytes.truncate(length);
    }

    fn write(&mut self, channel: usize, tag: Tag, length: usize, source: &mut impl Source) {
        let datagram_bytes = self.encapsulation.data_bytes(&tag, length);
        let segments_max = self.channels[channel].as_ref().map_or(1, |one| one.link.segments_max());
        let class = source.next_traffic_class().unwrap_or(self.class);
        if !self.run.takes((channel, class), datagram_bytes, segments_max) {
            self.flush();
        }
        self.run.begin(channel, datagram_bytes);
        self.run.class = class;
        let buffer = &mut self.run.bytes;
        let from = buffer.len();
        self.encapsulation.write_tag(&tag, buffer);
        let packet_from = buffer.len();
        source.take(buffer);
        debug_assert_eq!(
            buffer.len(),
            packet_from + length,
            "a source writes a packet of the announced length"
        );
        self.striping.keep(tag, class, &buffer[packet_from..]);
        self.encapsulation.seal(from, buffer);
    }

    fn flush(&mut self) {
        if self.run.datagrams > 0 {
            let (id, now) = (self.run.channel, self.striping.now());
            match &mut self.channels[id] {
                Some(channel) => {
                    let is_probe =
                        self.run.payload == Payload::Messages && !self.striping.is_in(id);
                    if is_probe && channel.remind(now, (&self.run.bytes, self.run.class)) {
                        self.striping.lose(id);
                    }
                    let sent = channel.send(now, &mut self.run);
                    self.handle_sent(id, sent);
                }
                None => self.run.clear(),
            }
        }
    }

    fn handle_sent(&mut self, id: usize, mut sent: Sent) {
        let now = self.striping.now();
        while let (Sent::TooLong { datagram_bytes }, Some(channel)) = (sent, &mut self.channels[id])
        {
            self.striping.refuse(id, datagram_bytes.saturating_sub(self.check_bytes));
            sent = channel.drain(now);
        }
        if sent == Sent::Gone {
            self.striping.lose(id);
        }
    }

    /// Resumes sending on newly opened links. A session starts with all channels in use; channels
    /// without a link are taken out of use here.
    fn advance_links(&mut self) {
        let (now, is_new) = (self.striping.now(), take(&mut self.sessions.is_new));
        for (id, channel) in self.channels.iter_mut().enumerate() {
            if channel.as_mut().is_some_and(|channel| channel.advance(now)) {
                self.striping.ask(id);
            }
            if is_new && channel.as_ref().is_some_and(|channel| !channel.link.is_open()) {
                self.striping.lose(id);
            }
        }
    }

    fn report_blocked(&mut self) {
        let is_blocked = |one: &Option<Channel>| one.as_ref().is_some_and(Channel::is_blocked);
        let blocked = self.channels.iter().enumerate().filter(|(_, one)| is_blocked(one));
        self.striping.set_blocked(blocked.fold(0, |set, (id, _)| set | 1 << id));
    }

    fn drain(&mut self) {
        let now = self.striping.now();
        for id in 0..self.channels.len() {
            let full = self.channels[id].as_mut().filter(|channel| channel.is_full());
            if let Some(sent) = full.map(|channel| channel.drain(now)) {
                self.handle_sent(id, sent);
            }
        }
    }
}
