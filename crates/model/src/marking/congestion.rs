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

use super::{Mark, Trigger};
use crate::{BLOCK_BYTES, PacketsPlan, Plan, Stay, Switching};
use gingham_kernel::{Bytes, Time};
use gingham_topology::{ChannelId, Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which packets a trigger marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scan {
    /// The next that start on the output, as many as were counted: the first that leave.
    #[default]
    Counters,
    /// Those that were there, whenever they start.
    Direct,
}

/// Whole blocks that are no less than so many bytes.
pub(super) fn blocks_of(fill: Option<Bytes>) -> Option<u64> {
    fill.map(|fill| fill.0.div_ceil(BLOCK_BYTES.into()))
}

/// Whether a packet whose tail is leaving counts, unless given.
pub(super) const fn yes() -> bool {
    true
}

/// What a full buffer concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Concerns {
    /// Itself.
    Buffer,
    /// The outputs for which something waits in it.
    Outputs,
}

/// When what is marked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triggers {
    pub(super) full: Option<Concerns>,
    /// A buffer counts as full from so many blocks on, instead of where there is no space for one more
    /// packet.
    pub(super) fill_blocks: Option<u64>,
    /// More than so many for an output.
    pub(super) threshold: Option<u32>,
    pub(super) scan: Scan,
    /// Whether a packet whose tail is leaving counts as waiting for its output.
    pub(super) counts_leaving: bool,
}

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
}

/// All switches.
#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    triggers: Triggers,
    lane_count: usize,
    /// By channel and lane.
    buffers: Vec<Vec<Standing>>,
    /// By channel.
    outputs: Vec<Output>,
    /// By lane, in blocks.
    holds: Vec<u64>,
    /// By channel: the node to which it leads.
    targets: Vec<NodeId>,
    /// By node: the channels that lead to it, which a direct scan goes through.
    inputs: Vec<Vec<ChannelId>>,
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
        let output =
            Output { waiting: 0, busy_until: Time::ZERO, to_mark: 0, trigger: Trigger::Input };
        Self {
            triggers,
            lane_count,
            buffers: vec![Vec::new(); channels * lane_count],
            outputs: vec![output; channels],
            holds: packets.buffer_blocks.iter().copied().map(u64::from).collect(),
            targets: ChannelId::first(channels).map(target).collect(),
            inputs: plan.fabric.node_ids().map(into).collect(),
        }
    }

    fn buffer_mut(&mut self, input: ChannelId, lane: u8) -> &mut Vec<Standing> {
        &mut self.buffers[input.index() * self.lane_count + usize::from(lane)]
    }

    /// `cnt1`: packets that wait for an output.
    fn waiting_for(&self, output: ChannelId, now: Time) -> u32 {
        let of = &self.outputs[output.index()];
        of.waiting + u32::from(self.triggers.counts_leaving && of.busy_until > now)
    }

    /// Whether a buffer is full: it has no space for one more like the last that came, or is filled as
    /// much as is said.
    fn is_full(&mut self, stay: Stay) -> bool {
        let holds = self.holds[usize::from(stay.lane)];
        let buffer = self.buffer_mut(stay.input, stay.lane);
        let taken: u64 = buffer.iter().map(|standing| standing.blocks).sum();
        match self.triggers.fill_blocks {
            Some(fill) => taken >= fill,
            None => taken + PacketsPlan::blocks(stay.wire_bytes) > holds,
        }
    }

    fn on_full(&mut self, stay: Stay, concerns: Concerns, now: Time) {
        let buffer = self.buffer_mut(stay.input, stay.lane);
        let waiting = buffer.iter_mut().filter(|standing| standing.left.is_none());
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
            let to_mark = self.waiting_for(output, now);
            let of = &mut self.outputs[output.index()];
            (of.to_mark, of.trigger) = (to_mark, trigger);
            return;
        }
        for beside in &self.inputs[self.targets[input.index()].index()] {
            let first = beside.index() * self.lane_count;
            for standing in self.buffers[first..first + self.lane_count].iter_mut().flatten() {
                if standing.output == output && standing.left.is_none() {
                    standing.flag = Some(trigger);
                }
            }
        }
    }
}

impl Mark for Congestion {
    fn queued(&mut self, stay: Stay) {
        let Stay { input, lane, came, wire_bytes, output } = stay;
        let blocks = PacketsPlan::blocks(wire_bytes);
        let standing = Standing { came, output, blocks, left: None, flag: None };
        self.buffer_mut(input, lane).push(standing);
        self.outputs[output.index()].waiting += 1;
    }

    fn settled(&mut self, stay: Stay, now: Time) {
        let buffer = self.buffer_mut(stay.input, stay.lane);
        buffer.retain(|standing| standing.left.is_none_or(|left| left > now));
        if let Some(concerns) = self.triggers.full
            && self.is_full(stay)
        {
            self.on_full(stay, concerns, now);
        }
        if let Some(threshold) = self.triggers.threshold
            && self.waiting_for(stay.output, now) > threshold
        {
            self.trigger(stay.input, stay.output, Trigger::Output, now);
        }
    }

    fn forwarded(&mut self, stay: Stay, left: Time) -> Option<Trigger> {
        let buffer = self.buffer_mut(stay.input, stay.lane);
        let standing = buffer.iter_mut().find(|standing| standing.came == stay.came);
        let standing = standing.expect("what starts was read");
        standing.left = Some(left);
        let flag = standing.flag;
        let of = &mut self.outputs[stay.output.index()];
        of.waiting -= 1;
        of.busy_until = left;
        if of.to_mark > 0 {
            of.to_mark -= 1;
            return Some(of.trigger);
        }
        flag
    }
}
