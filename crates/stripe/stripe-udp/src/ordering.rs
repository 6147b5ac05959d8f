//! What comes on each channel, in the order in which it was sent: UDP keeps none.
//!
//! ```text
//!   socket ──► frames ──► order of the channel ──► receiver
//! ```
//!
//! On a channel that keeps order each frame goes through as it comes. See [`ChannelOrder`].

use std::time::Duration;

use gingham_stripe::{ChannelOrder, Discard, Epoch, Instant, Message, OrderOptions, Ordered, Tag};

use crate::striping::Packet;

/// The orders of all channels, where they are put in order.
#[derive(Debug)]
pub(crate) struct Ordering {
    options: Option<OrderOptions>,
    /// Room is taken where something comes.
    channels: Vec<Option<Box<Line>>>,
}

/// The order of a channel, and the socket on which its messages come.
#[derive(Debug)]
struct Line {
    order: ChannelOrder<Packet>,
    port: usize,
}

impl Ordering {
    pub(crate) fn new(options: Option<OrderOptions>, channels: usize) -> Self {
        Self { options, channels: (0..channels).map(|_| None).collect() }
    }

    /// The order of a channel, if there is to be one. It begins in the epoch in which the receiver
    /// is, if that is in one.
    fn line(&mut self, channel: usize, epoch: Option<Epoch>) -> Option<&mut Line> {
        let (options, line) = (self.options?, self.channels.get_mut(channel)?);
        if line.is_none() {
            let order = match epoch {
                Some(epoch) => ChannelOrder::synchronised(options, epoch),
                None => ChannelOrder::new(options),
            };
            *line = Some(Box::new(Line { order: order.ok()?, port: channel }));
        }
        line.as_deref_mut()
    }

    /// A packet has come; it is given back where its channel is not put in order.
    pub(crate) fn take_packet(
        &mut self,
        now: Instant,
        epoch: Option<Epoch>,
        (tag, length_bytes, packet): (Tag, u32, Packet),
    ) -> Option<Packet> {
        let Some(line) = self.line(usize::from(tag.channel), epoch) else { return Some(packet) };
        // What is not taken is counted there.
        let _: Result<(), Discard> = line.order.handle_packet(now, tag, length_bytes, packet);
        None
    }

    /// A message has come on a socket: whether its channel is put in order.
    pub(crate) fn take_message(
        &mut self,
        now: Instant,
        epoch: Option<Epoch>,
        port: usize,
        message: Message,
    ) -> bool {
        let Some(line) = self.line(usize::from(message.channel), epoch) else { return false };
        line.port = port;
        let _: Result<(), Discard> = line.order.handle_message(now, message);
        true
    }

    /// What is next on a channel, and the socket on which its messages come.
    pub(crate) fn next(
        &mut self,
        now: Instant,
        channel: usize,
    ) -> Option<(usize, Ordered<Packet>)> {
        let line = self.channels.get_mut(channel)?.as_mut()?;
        Some((line.port, line.order.poll(now)?))
    }

    /// Nothing has come for long.
    pub(crate) fn rest(&mut self) {
        self.channels.iter_mut().flatten().for_each(|line| line.order.rest());
    }

    /// How many channels there can be.
    pub(crate) const fn channels(&self) -> usize {
        self.channels.len()
    }

    /// When something is to be given out though nothing comes.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.channels.iter().flatten().filter_map(|line| line.order.poll_timeout()).min()
    }

    /// For how long what is missing on a channel is waited for.
    pub(crate) fn window(&self, channel: usize) -> Duration {
        let line = self.channels.get(channel).and_then(Option::as_ref);
        line.map_or(Duration::ZERO, |line| line.order.window())
    }
}
