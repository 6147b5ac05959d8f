//! Reorder buffers of UDP channels.
//!
//! Frames in order pass without delay ([`ChannelOrder`]).

use std::time::Duration;

use gingham_stripe::{ChannelOrder, Discard, Epoch, Instant, Message, OrderOptions, Ordered, Tag};

use crate::striping::Packet;

#[derive(Debug)]
pub(crate) struct Ordering {
    options: Option<OrderOptions>,
    channels: Vec<Option<Box<Line>>>,
}

#[derive(Debug)]
struct Line {
    order: ChannelOrder<Packet>,
    port: usize,
}

impl Ordering {
    pub(crate) fn new(options: Option<OrderOptions>, channels: usize) -> Self {
        Self { options, channels: (0..channels).map(|_| None).collect() }
    }

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

    pub(crate) fn take_packet(
        &mut self,
        now: Instant,
        epoch: Option<Epoch>,
        (tag, length_bytes, packet): (Tag, u32, Packet),
    ) -> Option<Packet> {
        let Some(line) = self.line(usize::from(tag.channel), epoch) else { return Some(packet) };
        let _: Result<(), Discard> = line.order.handle_packet(now, tag, length_bytes, packet);
        None
    }

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

    pub(crate) fn next(
        &mut self,
        now: Instant,
        channel: usize,
    ) -> Option<(usize, Ordered<Packet>)> {
        let line = self.channels.get_mut(channel)?.as_mut()?;
        Some((line.port, line.order.poll(now)?))
    }

    pub(crate) fn rest(&mut self) {
        self.channels.iter_mut().flatten().for_each(|line| line.order.rest());
    }

    pub(crate) const fn channels(&self) -> usize {
        self.channels.len()
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.channels.iter().flatten().filter_map(|line| line.order.poll_timeout()).min()
    }

    pub(crate) fn window(&self, channel: usize) -> Duration {
        let line = self.channels.get(channel).and_then(Option::as_ref);
        line.map_or(Duration::ZERO, |line| line.order.window())
    }
}
