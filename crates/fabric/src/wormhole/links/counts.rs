//! Counts: what every channel carried up to an instant, from the runs of its flits.
//!
//! STOPs and control flits are counted as they come; flits are what a schedule says. Occupancy is
//! fill times time:
//!
//! ```text
//!   fill       ┌──┐  ┌─────┐                 a flit that arrives at a and leaves at d adds d - a, one that
//!          ────┘  └──┘     └───► time        is still there at t adds t - a
//! ```
//!
//! The area up to `t` is therefore the sum of the departures, less the sum of the arrivals, plus
//! `t` for every flit that is in the buffer. Both sums come run by run, whatever the length of a
//! run; what is forgotten of a schedule is kept as one number. A worm costs one sum at a switch,
//! and the rest is computed when somebody asks.
//!
//! Invariant: counts are cumulative since time zero and exact at any instant before which nothing
//! is to happen.

use super::Links;
use super::input::{Head, Input};
use super::sender::Sender;
use gingham_model::measure::ChannelCount;
use gingham_topology::ChannelId;

impl Links {
    /// Counts by channel since time zero, this instant included, with a stop that lasts still
    /// counted up to now.
    pub(crate) fn channel_counts(&self, now: u64) -> Vec<ChannelCount> {
        let count = |channel| self.count(channel, Some(now), now);
        ChannelId::first(self.senders.len()).map(count).collect()
    }

    /// Remembers that the counts of `channel` change.
    #[inline]
    pub(super) fn touch(&mut self, channel: ChannelId) {
        self.touched.insert(channel.index());
    }

    /// Counts at the end of a section, at `time`, of the channels that something happened to since
    /// they were last at rest; nothing more is to happen before.
    pub(crate) fn section_counts(&mut self, time: u64) -> &[(ChannelId, ChannelCount)] {
        let mut touched = std::mem::take(&mut self.touched);
        let mut counts = std::mem::take(&mut self.section_counts);
        counts.clear();
        touched.retain(|channel| {
            let channel = ChannelId::new(channel);
            counts.push((channel, self.count(channel, time.checked_sub(1), time)));
            !self.is_at_rest(channel, time)
        });
        (self.touched, self.section_counts) = (touched, counts);
        &self.section_counts
    }

    /// Counts of a channel before `time`; nothing more is to happen before that.
    pub(crate) fn count_before(&self, channel: ChannelId, time: u64) -> ChannelCount {
        self.count(channel, time.checked_sub(1), time)
    }

    /// Whether nothing that counts at `channel` goes on at `time`: no worm holds it, no flit is on
    /// it or in the buffer at its end, and nobody stops it.
    fn is_at_rest(&self, channel: ChannelId, time: u64) -> bool {
        let sender = &self.senders[channel.index()];
        let is_empty = |input: &Input| input.taken == sender.schedule.end();
        sender.worm.is_none()
            && sender.stopped_since.is_none()
            && sender.is_silent_from(time)
            && self.inputs[channel.index()].as_ref().is_none_or(is_empty)
    }

    /// Counts of a channel: of what started at `last_start` or before, with what lasts counted up
    /// to `end`.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every channel")]
    #[inline(always)]
    fn count(&self, channel: ChannelId, last_start: Option<u64>, end: u64) -> ChannelCount {
        let sender = &self.senders[channel.index()];
        let (started, arrived) = if sender.is_silent_from(end) {
            (sender.schedule.end(), sender.schedule.end())
        } else {
            let started = last_start.map_or(0, |last| sender.schedule.started_by(last));
            (started, sender.arrived_by(end))
        };
        let stopped_ps = sender.stopped_since.map_or(0, |since| end - since);
        let occupancy = |input| self.occupancy_flit_ps(sender, input, arrived, end);
        let counted = self.counts[channel.index()];
        ChannelCount {
            data_flits: started,
            stopped_ps: counted.stopped_ps + stopped_ps,
            occupancy_flit_ps: self.inputs[channel.index()].as_ref().map_or(0, occupancy),
            ..counted
        }
    }

    /// Fill times time of a buffer from the start of the run to `time`, in flits times picoseconds,
    /// when so many flits have arrived from `sender`.
    fn occupancy_flit_ps(&self, sender: &Sender, input: &Input, arrived: u64, time: u64) -> u128 {
        let latency = i128::from(sender.latency);
        let arrivals = sender.schedule.sum_before(arrived) + i128::from(arrived) * latency;
        let (mut left, mut departures) = (input.taken, input.taken_sum);
        match (input.head, sender.feeds) {
            (Head::Connected, Some(output)) => {
                let output = &self.senders[output.index()];
                let sent = output.sent_by(time);
                left += sent;
                departures += output.schedule.sum_before(output.worm_first + sent);
            }
            (Head::Open, _) => {
                let before = sender.schedule.sum_before(left) + i128::from(left) * latency;
                departures += arrivals - before;
                left = arrived;
            }
            _ => {}
        }
        let present = i128::from(time) * i128::from(arrived - left);
        u128::try_from(departures - arrivals + present).expect("a flit leaves after it arrived")
    }
}
