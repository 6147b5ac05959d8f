//! What the switches of whole packets count, and the triggers that look at it.
//!
//! ```text
//!   queued     cnt1 of its output + 1
//!   settled    the buffer is full ───────────────────────────► input trigger
//!              cnt1 of its output is above the threshold ────► output trigger
//!   trigger    cnt2 := cnt1 of the outputs concerned, or what waits for them is flagged
//!   forwarded  marked if it is flagged, or cnt2 > 0: cnt2 - 1
//!   left       cnt1 - 1
//! ```
//!
//! A full buffer concerns itself (naive), or every output for which something waits in it. A packet
//! that is leaving fills its buffer until its tail has left, and cannot be marked any more.
//!
//! Source: Santos, Turner and Janakiraman 2002, section IV; that it is looked after all starts of the
//! instant at which a head was read is ours, and so is what counts as full.
//!
//! Invariant: a trigger marks as many packets as `cnt1` was, unless another one comes before.

use super::average::Average;
use super::{Concerns, Mark, Scan, Trigger, Triggers};
use crate::{PacketsPlan, Plan, Stay, Switching};
use gingham_kernel::{Span, Time};
use gingham_topology::{ChannelId, Fabric, NodeId};

/// A packet in a buffer.
#[derive(Clone, Copy, Debug)]
struct Standing {
    came: Time,
    output: ChannelId,
    blocks: u64,
    /// When its tail has left, once it has started.
    left: Option<Time>,
    flag: Option<Trigger>,
}

/// The buffer of an input and lane.
#[derive(Clone, Debug)]
struct Buffer {
    /// What was read and has not left, as far as was looked.
    standing: Vec<Standing>,
    /// Blocks, averaged.
    average: Average,
}

/// An output.
#[derive(Clone, Copy, Debug)]
struct Output {
    /// Packets whose heads were read and that have not started.
    waiting: u32,
    /// The tail of the last that started has left then.
    busy_until: Time,
    /// `cnt2`: so many of the next are marked.
    to_mark: u32,
    /// Who said so last.
    trigger: Trigger,
    /// What starts before this instant is spared.
    spared_until: Time,
    /// `cnt1`, and the share of time for which it was busy, averaged.
    average: Average,
    busy: Average,
}

/// All switches.
#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    triggers: Triggers,
    lane_count: usize,
    /// By channel and lane.
    buffers: Vec<Buffer>,
    /// By channel.
    outputs: Vec<Output>,
    /// By lane, in blocks.
    holds: Vec<u64>,
    /// By channel: the node to which it leads.
    targets: Vec<NodeId>,
    /// By node: the channels that lead to it, which a direct scan goes through.
    inputs: Vec<Vec<ChannelId>>,
}

impl Buffer {
    /// What has left by an instant is here no more.
    fn go_to(&mut self, now: Time, over: Option<Span>) {
        if let Some(over) = over {
            self.settle(now, over);
        }
        self.standing.retain(|standing| standing.left.is_none_or(|left| left > now));
    }

    /// Tells the average what stood here up to an instant.
    fn settle(&mut self, now: Time, over: Span) {
        let Self { standing, average } = self;
        let mut ends: Vec<Time> = standing.iter().filter_map(|of| of.left).collect();
        ends.retain(|end| (average.until()..now).contains(end));
        ends.push(now);
        ends.sort_unstable();
        for end in ends {
            let there = |of: &&Standing| of.left.is_none_or(|left| left >= end);
            let blocks = standing.iter().filter(there).map(|of| of.blocks).sum();
            average.tell(as_f64(blocks), end, over);
        }
    }

    fn blocks(&self) -> u64 {
        self.standing.iter().map(|standing| standing.blocks).sum()
    }
}

impl Output {
    const IDLE: Self = Self {
        waiting: 0,
        busy_until: Time::ZERO,
        to_mark: 0,
        trigger: Trigger::Input,
        spared_until: Time::ZERO,
        average: Average::ZERO,
        busy: Average::ZERO,
    };

    /// `cnt1`: packets that wait for it.
    fn count(&self, triggers: &Triggers, now: Time) -> u32 {
        self.waiting + u32::from(triggers.counts_leaving && self.busy_until > now)
    }

    /// Tells the averages what was up to an instant.
    fn settle(&mut self, triggers: &Triggers, now: Time) {
        let Some(over) = triggers.average else { return };
        // The tail of the last one may have left in between.
        for end in [self.busy_until.min(now), now] {
            let is_busy = end <= self.busy_until;
            let count = self.waiting + u32::from(triggers.counts_leaving && is_busy);
            self.average.tell(count.into(), end, over);
            self.busy.tell(if is_busy { 1.0 } else { 0.0 }, end, over);
        }
    }

    /// Whether too many wait for it, or it is too busy.
    fn is_concerned(&self, triggers: &Triggers, now: Time) -> bool {
        let is_above = |threshold: u32| match triggers.average {
            Some(_) => self.average.value() > threshold.into(),
            None => self.count(triggers, now) > threshold,
        };
        triggers.threshold.is_some_and(is_above)
            || triggers.utilisation.is_some_and(|share| self.busy.value() > share)
    }
}

impl Congestion {
    pub(super) fn new(plan: &Plan, triggers: Triggers) -> Self {
        let Switching::Packets(packets) = &plan.switching else {
            unreachable!("only switches of whole packets tell what waits for outputs")
        };
        let lane_count = usize::from(plan.lanes.count);
        let channels = plan.channels.len();
        let into = |node| plan.fabric.channels_from(node).map(Fabric::reverse).collect();
        let target = |channel| plan.ends(channel).target.node;
        let buffer = Buffer { standing: Vec::new(), average: Average::ZERO };
        Self {
            triggers,
            lane_count,
            buffers: vec![buffer; channels * lane_count],
            outputs: vec![Output::IDLE; channels],
            holds: packets.buffer_blocks.iter().copied().map(u64::from).collect(),
            targets: ChannelId::first(channels).map(target).collect(),
            inputs: plan.fabric.node_ids().map(into).collect(),
        }
    }

    fn buffer_mut(&mut self, input: ChannelId, lane: u8) -> &mut Buffer {
        &mut self.buffers[input.index() * self.lane_count + usize::from(lane)]
    }

    /// Whether a buffer is full: it has no space for one more like the last that came, or is filled as
    /// much as is said.
    fn is_full(&mut self, stay: &Stay) -> bool {
        let holds = self.holds[usize::from(stay.lane)];
        let (fill, average) = (self.triggers.fill_blocks(), self.triggers.average);
        let buffer = self.buffer_mut(stay.input, stay.lane);
        match (fill, average) {
            (Some(fill), Some(_)) => buffer.average.value() >= as_f64(fill),
            (Some(fill), None) => buffer.blocks() >= fill,
            (None, _) => buffer.blocks() + PacketsPlan::blocks(stay.wire_bytes) > holds,
        }
    }

    fn on_full(&mut self, stay: &Stay, concerns: Concerns, now: Time) {
        let standing = &mut self.buffer_mut(stay.input, stay.lane).standing;
        let waiting = standing.iter_mut().filter(|standing| standing.left.is_none());
        if concerns == Concerns::Buffer {
            return waiting.for_each(|standing| standing.flag = Some(Trigger::Input));
        }
        let mut outputs: Vec<_> = waiting.map(|standing| standing.output).collect();
        outputs.sort_unstable();
        outputs.dedup();
        for output in outputs {
            self.trigger(stay.input, output, Trigger::Input, now);
        }
    }

    /// Marks what waits for an output of the switch to which a channel leads.
    fn trigger(&mut self, input: ChannelId, output: ChannelId, trigger: Trigger, now: Time) {
        if self.triggers.scan == Scan::Counters {
            let of = &mut self.outputs[output.index()];
            (of.to_mark, of.trigger) = (of.count(&self.triggers, now), trigger);
            return;
        }
        for beside in &self.inputs[self.targets[input.index()].index()] {
            let first = beside.index() * self.lane_count;
            let buffers = self.buffers[first..first + self.lane_count].iter_mut();
            for standing in buffers.flat_map(|buffer| &mut buffer.standing) {
                if standing.output == output && standing.left.is_none() {
                    standing.flag = Some(trigger);
                }
            }
        }
    }
}

impl Mark for Congestion {
    fn queued(&mut self, stay: &Stay, now: Time) {
        let Stay { input, lane, came, wire_bytes, output, .. } = *stay;
        let blocks = PacketsPlan::blocks(wire_bytes);
        let standing = Standing { came, output, blocks, left: None, flag: None };
        let triggers = self.triggers;
        let buffer = self.buffer_mut(input, lane);
        if let Some(over) = triggers.average {
            buffer.settle(now, over);
        }
        buffer.standing.push(standing);
        let of = &mut self.outputs[output.index()];
        of.settle(&triggers, now);
        of.waiting += 1;
    }

    fn settled(&mut self, stay: &Stay, has_space: bool, now: Time) {
        let triggers = self.triggers;
        self.buffer_mut(stay.input, stay.lane).go_to(now, triggers.average);
        let of = &mut self.outputs[stay.output.index()];
        of.settle(&triggers, now);
        if let Some(span) = triggers.spare_blocked
            && !has_space
        {
            of.spared_until = now + span;
        }
        if let Some(concerns) = triggers.full
            && self.is_full(stay)
        {
            self.on_full(stay, concerns, now);
        }
        if self.outputs[stay.output.index()].is_concerned(&triggers, now) {
            self.trigger(stay.input, stay.output, Trigger::Output, now);
        }
    }

    fn forwarded(&mut self, stay: &Stay, left: Time, now: Time) -> Option<Trigger> {
        let triggers = self.triggers;
        let buffer = self.buffer_mut(stay.input, stay.lane);
        let standing = buffer.standing.iter_mut().find(|standing| standing.came == stay.came);
        let standing = standing.expect("what starts was read");
        standing.left = Some(left);
        let flag = standing.flag;
        let of = &mut self.outputs[stay.output.index()];
        of.settle(&triggers, now);
        of.waiting -= 1;
        of.busy_until = left;
        let counted = (of.to_mark > 0).then_some(of.trigger);
        of.to_mark = of.to_mark.saturating_sub(1);
        counted.or(flag).filter(|_| now >= of.spared_until)
    }
}

#[expect(clippy::cast_precision_loss, reason = "blocks of a buffer")]
fn as_f64(blocks: u64) -> f64 {
    blocks as f64
}
