//! What goes: messages, copies, and packets in runs.

use gingham_stripe::{SendError, Tag};

use super::{End, Source};
use crate::clock::now;
use crate::framing::{DATA_HEADER_BYTES, Frame, write_header};
use crate::socket::ChannelSocket;

impl End {
    /// Sends what is to be said and, as far as windows and paces let them go, copies and packets.
    pub fn transmit(&mut self, source: &mut impl Source) {
        self.striping.advance(now());
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
            let bytes = said.message.to_bytes();
            let frame = if said.is_to_receiver {
                Frame::ToReceiver(&bytes)
            } else {
                Frame::ToSender(&bytes)
            };
            let length = frame_bytes(bytes.len(), said.bytes_min);
            self.run.begin(said.channel, length);
            frame.write(&mut self.run.bytes);
            self.run.bytes.resize(length, 0);
            self.flush();
            spoke = true;
        }
        spoke
    }

    fn send_copies(&mut self) {
        while let Some((repair, bytes)) = self.striping.next_copy() {
            let header_bytes = 1 + repair.tag.to_bytes().len();
            self.run.begin(repair.channel, header_bytes + bytes.len());
            Frame::Data(repair.tag, bytes).write(&mut self.run.bytes);
            self.flush();
        }
    }

    /// Sends packets as long as they go on one channel; whether any went.
    fn send_run(&mut self, source: &mut impl Source) -> bool {
        let (mut went, Some(run)) = (false, self.striping.next_run()) else { return false };
        let mut left = run.bytes;
        while left > 0
            && let Some(length) = source.next_bytes()
        {
            match self.striping.send(length) {
                Ok((channel, tag)) => self.write(channel, tag, length, source),
                Err(SendError::BadLength { .. }) => {
                    self.too_long += 1;
                    source.take(&mut Vec::new());
                }
                Err(_) => break,
            }
            left = left.saturating_sub(length as u64);
            went = true;
        }
        self.flush();
        went
    }

    fn write(&mut self, channel: usize, tag: Tag, length: usize, source: &mut impl Source) {
        let datagram_bytes = DATA_HEADER_BYTES + length;
        let socket = self.channels[channel].socket.as_ref();
        let segments_max = socket.map_or(1, ChannelSocket::segments_max);
        if !self.run.takes(channel, datagram_bytes, segments_max) {
            self.flush();
        }
        self.run.begin(channel, datagram_bytes);
        let buffer = &mut self.run.bytes;
        write_header(tag, buffer);
        let from = buffer.len();
        source.take(buffer);
        debug_assert_eq!(buffer.len(), from + length, "a source writes what it says");
        self.striping.keep(tag, &buffer[from..]);
    }

    /// The run goes.
    fn flush(&mut self) {
        let run = &mut self.run;
        if run.datagrams > 0 {
            let channel = run.channel;
            let now = self.striping.now();
            if self.channels[channel].send(now, &run.bytes, run.segment_bytes) {
                self.striping.lose(channel);
            }
            run.clear();
        }
    }
}

/// How long a message is on the wire that is padded to so many bytes: as long as a packet that is
/// so long with its tag, so that it gets through where that does.
fn frame_bytes(message_bytes: usize, bytes_min: usize) -> usize {
    1 + message_bytes.max(bytes_min)
}

#[cfg(test)]
mod tests {
    use gingham_stripe::TAG_BYTES;

    use super::*;

    /// A probe that were a byte shorter would bring a channel back on which no packet gets through.
    #[test]
    fn a_probe_is_as_long_as_what_was_lost() {
        let packet_bytes = 1_400;
        assert_eq!(frame_bytes(60, TAG_BYTES + packet_bytes), DATA_HEADER_BYTES + packet_bytes);
        assert_eq!(frame_bytes(60, 0), 61);
    }
}
