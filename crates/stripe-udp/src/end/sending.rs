//! What goes: messages, copies, and packets in runs.

use gingham_stripe::{SendError, Tag};

use super::{End, Source};
use crate::clock::now;
use crate::link::Payload;
use crate::striping::Said;

impl End {
    /// Sends what is to be said and, as far as windows and paces let them go, copies and packets.
    pub fn transmit(&mut self, source: &mut impl Source) {
        self.striping.advance(now());
        self.drain();
        self.send_messages();
        loop {
            self.send_copies();
            let went = self.send_run(source);
            if !self.send_messages() && !went {
                return;
            }
        }
    }

    /// Whether anything was to be said.
    fn send_messages(&mut self) -> bool {
        let mut spoke = false;
        while let Some(said) = self.striping.next_message() {
            let Said { channel, message, is_to_receiver, bytes_min } = said;
            let length = self.encapsulation.message_bytes(message.to_bytes().len(), bytes_min);
            self.run.begin(channel, length);
            self.run.payload = Payload::Message;
            let buffer = &mut self.run.bytes;
            self.encapsulation.write_message(&message, is_to_receiver, length, buffer);
            self.flush();
            spoke = true;
        }
        spoke
    }

    fn send_copies(&mut self) {
        while let Some((repair, bytes)) = self.striping.next_copy() {
            let datagram_bytes = self.encapsulation.data_bytes(&repair.tag, bytes.len());
            self.run.begin(repair.channel, datagram_bytes);
            let buffer = &mut self.run.bytes;
            self.encapsulation.write_tag(&repair.tag, buffer);
            buffer.extend_from_slice(bytes);
            self.encapsulation.seal(0, buffer);
            self.flush();
        }
    }

    /// Sends packets as long as they go on one channel; whether any went.
    fn send_run(&mut self, source: &mut impl Source) -> bool {
        // To ask where packets may go is to have one: it ends a rest.
        if source.next_bytes().is_none() {
            return false;
        }
        let (mut went, Some(run)) = (false, self.striping.next_run()) else { return false };
        // A link that is full is waited for: the next packet is its own.
        if self.channels[run.channel].is_full() {
            return false;
        }
        let prefix_bytes = self.encapsulation.prefix_bytes();
        let mut left = run.bytes;
        while left > 0
            && let Some(length) = source.next_bytes()
        {
            let charged_bytes = length.saturating_sub(prefix_bytes);
            match self.striping.send(charged_bytes) {
                Ok((channel, tag)) => self.write(channel, tag, length, source),
                Err(SendError::BadLength { .. } | SendError::TooLong { .. }) => {
                    self.too_long += 1;
                    source.take(&mut Vec::new());
                }
                Err(_) => break,
            }
            left = left.saturating_sub(charged_bytes as u64);
            went = true;
        }
        self.flush();
        went
    }

    fn write(&mut self, channel: usize, tag: Tag, length: usize, source: &mut impl Source) {
        let datagram_bytes = self.encapsulation.data_bytes(&tag, length);
        let segments_max = self.channels[channel].link.segments_max();
        if !self.run.takes(channel, datagram_bytes, segments_max) {
            self.flush();
        }
        self.run.begin(channel, datagram_bytes);
        let buffer = &mut self.run.bytes;
        let from = buffer.len();
        self.encapsulation.write_tag(&tag, buffer);
        let packet_from = buffer.len();
        source.take(buffer);
        debug_assert_eq!(buffer.len(), packet_from + length, "a source writes what it says");
        self.striping.keep(tag, &buffer[packet_from..]);
        self.encapsulation.seal(from, buffer);
    }

    /// The run goes.
    fn flush(&mut self) {
        if self.run.datagrams > 0 {
            let (channel, now) = (self.run.channel, self.striping.now());
            if self.channels[channel].send(now, &mut self.run) {
                self.striping.lose(channel);
            }
        }
    }

    /// What full links have not taken goes, as far as they do now.
    fn drain(&mut self) {
        let now = self.striping.now();
        for (number, channel) in self.channels.iter_mut().enumerate() {
            if channel.is_full() && channel.drain(now) {
                self.striping.lose(number);
            }
        }
    }
}
