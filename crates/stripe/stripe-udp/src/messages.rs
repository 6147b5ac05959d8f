//! Bundles of outgoing messages: messages of one channel, and reports of channels with similar
//! delay.
//!
//! A report names its channel, and any channel may carry it; a marker must stay in its position
//! among its channel's packets. Reports rotate among similar channels, so that a dead channel
//! delays them only briefly.
//!
//! Invariant: messages for a channel are sent in order, except reports.

use gingham_stripe::{Epoch, Message};

/// Maximum length of a bundle in bytes, which every path must support (RFC 9000, section 14).
pub(crate) const BUNDLE_BYTES_MAX: usize = 1_200;

#[derive(Clone, Debug, Default)]
struct Bundle {
    bytes: Vec<u8>,
    epoch: Epoch,
}

#[derive(Debug)]
pub(crate) struct Messages {
    bundles: Vec<Bundle>,
    reports: Vec<(usize, Message)>,
    together: (u64, usize),
    turn: usize,
    is_used: bool,
}

impl Messages {
    pub(crate) fn new(channels: usize) -> Self {
        let bundles = vec![Bundle::default(); channels];
        Self { bundles, reports: Vec::new(), together: (0, 0), turn: 0, is_used: false }
    }

    pub(crate) fn on(&self, channel: usize) -> (&[u8], Epoch) {
        let Bundle { bytes, epoch } = &self.bundles[channel];
        (bytes, *epoch)
    }

    pub(crate) fn push(&mut self, channel: usize, message: Message) {
        let bundle = &mut self.bundles[channel];
        if bundle.bytes.is_empty() {
            bundle.epoch = message.epoch;
        }
        bundle.bytes.extend_from_slice(&message.to_bytes());
    }

    pub(crate) fn leave_open(&mut self, channel: usize, report: Message) {
        self.reports.push((channel, report));
    }

    pub(crate) fn next_report(
        &mut self,
        are_alike: impl Fn(usize, usize) -> bool,
    ) -> Option<(usize, Message)> {
        let Some(&(first, _)) = self.reports.first() else {
            self.turn = self.turn.wrapping_add(usize::from(std::mem::take(&mut self.is_used)));
            return None;
        };
        let is_together = |(channel, _): &(usize, Message)| self.together.0 & bit(*channel) != 0;
        let next = self.reports.iter().position(is_together).unwrap_or_else(|| {
            let others = self.reports.iter().map(|(channel, _)| *channel);
            let alike = others.filter(|other| *other == first || are_alike(first, *other));
            let channels = alike.fold(0, |channels, channel| channels | bit(channel));
            self.together = (channels, nth(channels, self.turn));
            0
        });
        self.is_used = true;
        let (channel, report) = self.reports.remove(next);
        self.together.0 &= !bit(channel);
        Some((self.together.1, report))
    }

    pub(crate) fn clear(&mut self, channel: usize) {
        self.bundles[channel].bytes.clear();
    }
}

const fn bit(channel: usize) -> u64 {
    1 << channel
}

fn nth(mut set: u64, turn: usize) -> usize {
    for _ in 0..turn % set.count_ones() as usize {
        set &= set - 1;
    }
    set.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use gingham_stripe::{Kind, Report};

    use super::*;

    fn report(channel: u8) -> Message {
        let (epoch, kind) = (Epoch::new(channel.into()), Kind::Report(Report::default()));
        Message { epoch, channel, channels: 4, kind }
    }

    #[test]
    fn reports_of_similar_channels_are_sent_on_one_in_turn() {
        let mut messages = Messages::new(4);
        for way in [0, 1, 3, 0] {
            (0..4).for_each(|channel| messages.leave_open(channel.into(), report(channel)));
            let mut went: Vec<_> = std::iter::from_fn(|| {
                let (way, message) = messages.next_report(|one, other| one != 2 && other != 2)?;
                Some((message.channel, way))
            })
            .collect();
            assert_eq!(messages.next_report(|_, _| true), None, "asked again, it is the same turn");
            went.sort_unstable();
            assert_eq!(went, [(0, way), (1, way), (2, 2), (3, way)]);
        }
        messages.leave_open(1, report(1));
        assert_eq!(messages.next_report(|_, _| true), Some((1, report(1))), "alone on its own");
    }

    #[test]
    fn messages_of_a_channel_are_sent_once_and_in_order() {
        let mut messages = Messages::new(4);
        messages.push(2, report(1));
        messages.push(2, report(0));
        let expected = [&*report(1).to_bytes(), &*report(0).to_bytes()].concat();
        assert_eq!(messages.on(2), (&*expected, Epoch::new(1)));
        messages.clear(2);
        messages.push(2, report(3));
        assert_eq!(messages.on(2), (&*report(3).to_bytes(), Epoch::new(3)));
    }
}
