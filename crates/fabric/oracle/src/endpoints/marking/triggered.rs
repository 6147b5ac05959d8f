//! Marks triggered by full buffers and waiting packets (Santos, Turner and Janakiraman 2002,
//! section IV).

use gingham_kernel::{Span, Time};
use gingham_net::{
    BLOCK_BYTES, Concerns, LaneBlocks, PacketsPlan, Plan, Scan, Stay, Switching, Triggers,
};
use gingham_topology::{ChannelId, NodeId};
use std::collections::BTreeMap;

/// Weighted averages with the times of their last updates.
type Averages<K> = BTreeMap<K, (f64, Time)>;

#[derive(Clone, Copy, Debug)]
struct Read {
    stay: Stay,
    switch: NodeId,
    /// Departure time of the tail, once the packet has started.
    left: Option<Time>,
    is_flagged: bool,
}

impl Read {
    fn buffer(&self) -> (ChannelId, u8) {
        (self.stay.input, self.stay.lane)
    }

    fn waits_for(&self, output: ChannelId) -> bool {
        self.stay.output == output && self.left.is_none()
    }

    fn blocks(&self) -> u64 {
        PacketsPlan::blocks(self.stay.wire_bytes)
    }
}

#[derive(Clone, Debug)]
pub(in crate::endpoints) struct Triggered {
    triggers: Triggers,
    buffer_blocks: LaneBlocks,
    switches: Vec<NodeId>,
    reads: Vec<Read>,
    /// `cnt2` of each output: the number of packets still to be marked.
    to_mark: BTreeMap<ChannelId, usize>,
    /// Last time when a packet for each output was read but found no space.
    blocked: BTreeMap<ChannelId, Time>,
    fills: Averages<(ChannelId, u8)>,
    counts: Averages<ChannelId>,
    shares: Averages<ChannelId>,
}

impl Triggered {
    pub(super) fn new(plan: &Plan, triggers: Triggers) -> Self {
        let Switching::Packets(packets) = &plan.switching else { panic!("whole packets") };
        let channels = ChannelId::first(plan.channels.len());
        Self {
            triggers,
            buffer_blocks: packets.buffer_blocks,
            switches: channels.map(|channel| plan.ends(channel).target.node).collect(),
            reads: Vec::new(),
            to_mark: BTreeMap::new(),
            blocked: BTreeMap::new(),
            fills: BTreeMap::new(),
            counts: BTreeMap::new(),
            shares: BTreeMap::new(),
        }
    }

    pub(super) fn queued(&mut self, stay: &Stay, now: Time) {
        self.average_buffer((stay.input, stay.lane), now);
        self.average_output(stay.output, now);
        let switch = self.switches[stay.input.index()];
        self.reads.push(Read { stay: *stay, switch, left: None, is_flagged: false });
    }

    pub(super) fn settled(&mut self, stay: &Stay, has_space: bool, now: Time) {
        let buffer = (stay.input, stay.lane);
        self.average_buffer(buffer, now);
        self.average_output(stay.output, now);
        if !has_space {
            self.blocked.insert(stay.output, now);
        }
        if let Some(concerns) = self.triggers.full
            && self.is_full(stay, now)
        {
            let waiting = |of: &&Read| of.buffer() == buffer && of.left.is_none();
            let mut outputs: Vec<_> =
                self.reads.iter().filter(waiting).map(|of| of.stay.output).collect();
            outputs.sort_unstable();
            outputs.dedup();
            match concerns {
                Concerns::Buffer => self.flag(|of| of.buffer() == buffer),
                Concerns::Outputs => {
                    for output in outputs {
                        self.trigger(stay, output, now);
                    }
                }
            }
        }
        if self.is_concerned(stay.output, now) {
            self.trigger(stay, stay.output, now);
        }
    }

    pub(super) fn forwarded(&mut self, stay: &Stay, left: Time, now: Time) -> bool {
        self.average_output(stay.output, now);
        let is_it = |of: &&mut Read| {
            let other = of.stay;
            (other.input, other.lane, other.came) == (stay.input, stay.lane, stay.came)
        };
        let read = self.reads.iter_mut().find(is_it).expect("what starts was read");
        read.left = Some(left);
        let is_flagged = read.is_flagged;
        let to_mark = self.to_mark.entry(stay.output).or_default();
        let is_counted = *to_mark > 0;
        *to_mark = to_mark.saturating_sub(1);
        let is_spared = self.triggers.spare_blocked.is_some_and(|span| {
            self.blocked.get(&stay.output).is_some_and(|blocked| now < *blocked + span)
        });
        (is_counted || is_flagged) && !is_spared
    }

    /// Returns `cnt1` of an output: the number of packets that wait for it.
    fn waiting(&self, output: ChannelId, now: Time) -> usize {
        let waiting = self.reads.iter().filter(|of| of.waits_for(output)).count();
        let is_leaving =
            |of: &Read| of.stay.output == output && of.left.is_some_and(|left| left > now);
        let leaves = self.triggers.counts_leaving && self.reads.iter().any(is_leaving);
        waiting + usize::from(leaves)
    }

    fn is_full(&self, stay: &Stay, now: Time) -> bool {
        let stays = |of: &&Read| {
            of.buffer() == (stay.input, stay.lane) && of.left.is_none_or(|left| left > now)
        };
        let blocks: u64 = self.reads.iter().filter(stays).map(Read::blocks).sum();
        let fill = self.triggers.fill.map(|fill| fill.0.div_ceil(BLOCK_BYTES.into()));
        match (fill, self.triggers.average) {
            (Some(fill), Some(_)) => {
                self.fills.get(&(stay.input, stay.lane)).is_some_and(|(a, _)| *a >= as_f64(fill))
            }
            (Some(fill), None) => blocks >= fill,
            (None, _) => {
                let holds = u64::from(self.buffer_blocks[usize::from(stay.lane)]);
                blocks + PacketsPlan::blocks(stay.wire_bytes) > holds
            }
        }
    }

    /// Returns whether an output has more waiting packets, or a higher average utilisation, than
    /// its threshold.
    fn is_concerned(&self, output: ChannelId, now: Time) -> bool {
        let Triggers { threshold, utilisation, average, .. } = self.triggers;
        if average.is_none() {
            return threshold.is_some_and(|most| self.waiting(output, now) > most as usize);
        }
        let of = |averages: &Averages<ChannelId>| averages.get(&output).map_or(0.0, |(a, _)| *a);
        threshold.is_some_and(|most| of(&self.counts) > f64::from(most))
            || utilisation.is_some_and(|most| of(&self.shares) > most)
    }

    fn trigger(&mut self, stay: &Stay, output: ChannelId, now: Time) {
        match self.triggers.scan {
            Scan::Counters => {
                let count = self.waiting(output, now);
                self.to_mark.insert(output, count);
            }
            Scan::Direct => {
                let switch = self.switches[stay.input.index()];
                self.flag(|of| of.switch == switch && of.waits_for(output));
            }
        }
    }

    fn flag(&mut self, concerns: impl Fn(&Read) -> bool) {
        let waiting = self.reads.iter_mut().filter(|of| of.left.is_none());
        waiting.filter(|of| concerns(of)).for_each(|of| of.is_flagged = true);
    }

    // Averages, updated at each event of a buffer or output, after catching up with earlier
    // departures.

    fn average_buffer(&mut self, buffer: (ChannelId, u8), now: Time) {
        let Some(over) = self.triggers.average else { return };
        let of_buffer: Vec<Read> =
            self.reads.iter().copied().filter(|of| of.buffer() == buffer).collect();
        let average = self.fills.entry(buffer).or_insert((0.0, Time::ZERO));
        let departures = of_buffer.iter().filter_map(|of| of.left).filter(|left| *left < now);
        let mut ends: Vec<Time> = departures.chain([now]).collect();
        ends.sort_unstable();
        for end in ends {
            let there = |of: &&Read| of.left.is_none_or(|left| left >= end);
            let blocks: u64 = of_buffer.iter().filter(there).map(Read::blocks).sum();
            observe(average, as_f64(blocks), end, over);
        }
    }

    fn average_output(&mut self, output: ChannelId, now: Time) {
        let Some(over) = self.triggers.average else { return };
        let of_output = || self.reads.iter().filter(|of| of.stay.output == output);
        let waiting = of_output().filter(|of| of.left.is_none()).count() as u64;
        let busy_until = of_output().filter_map(|of| of.left).max().unwrap_or(Time::ZERO);
        for end in [busy_until.min(now), now] {
            let is_busy = end <= busy_until;
            let count = waiting + u64::from(is_busy && self.triggers.counts_leaving);
            let counts = self.counts.entry(output).or_insert((0.0, Time::ZERO));
            observe(counts, as_f64(count), end, over);
            let shares = self.shares.entry(output).or_insert((0.0, Time::ZERO));
            observe(shares, as_f64(u64::from(is_busy)), end, over);
        }
    }
}

/// Updates an average `a` with a quantity `q` that was constant for the time `s` up to `now`: `q +
/// (a - q) exp(-s / average)`.
#[expect(clippy::cast_precision_loss, reason = "times of a run, as a ratio")]
fn observe((a, until): &mut (f64, Time), q: f64, now: Time, over: Span) {
    if now > *until {
        let ratio = now.since(*until).as_ps() as f64 / over.as_ps() as f64;
        *a = q + (*a - q) * libm::exp(-ratio);
        *until = now;
    }
}

#[expect(clippy::cast_precision_loss, reason = "packets or blocks of a switch")]
fn as_f64(count: u64) -> f64 {
    count as f64
}
