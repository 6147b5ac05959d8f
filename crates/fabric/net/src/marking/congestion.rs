//! Counters of whole-packet switches, and the triggers that use them.
//!
//! ```text
//!   queued     cnt1 of the packet's output + 1
//!   settled    the buffer is full ───────────────────────────► input trigger
//!              cnt1 of its output is above the threshold ────► output trigger
//!   trigger    cnt2 := cnt1 of the outputs concerned, or packets that wait for these outputs are flagged
//!   forwarded  marked if flagged or if cnt2 > 0; cnt2 - 1
//!   left       cnt1 - 1
//! ```
//!
//! A full buffer triggers marks for its own packets (naive), or for every output that one of its
//! packets waits for. A departing packet occupies its buffer until its tail has left, and can no
//! longer be marked.
//!
//! Source: Santos et al. 2002, section IV. Ours: the definition of a full buffer, and the
//! evaluation of triggers when heads are read, after all starts at that time.
//!
//! Invariant: a trigger marks `cnt1` packets, unless another trigger intervenes.

use super::average::Average;
use super::{Concerns, Mark, Policy, Scan, Trigger, Triggers};
use crate::{PacketsPlan, Plan, Stay, Switching};
use gingham_kernel::{Span, Time};
use gingham_topology::{ChannelId, Fabric, NodeId};

#[derive(Clone, Copy, Debug)]
struct Buffered {
    came: Time,
    output: ChannelId,
    blocks: u32,
    flag: Option<Trigger>,
    /// Departure time of the packet's tail; `Time::MAX` before the packet has started.
    left: Time,
}

impl Buffered {
    fn waits(&self) -> bool {
        self.left == Time::MAX
    }
}

#[derive(Clone, Copy, Debug)]
struct Output {
    /// `cnt1` without a departing packet: packets whose head has been read, but whose transmission
    /// has not started.
    waiting: u32,
    busy_until: Time,
    /// `cnt2`: number of packets still to be marked.
    to_mark: u32,
    trigger: Trigger,
    /// End of the period without marks on this output.
    spared_until: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    triggers: Triggers,
    lane_count: usize,
    /// Packets by input channel and lane, from the reading of the head until the tail has left.
    buffers: Vec<Vec<Buffered>>,
    outputs: Vec<Output>,
    averages: Option<Averages>,
    holds: Vec<u64>,
    targets: Vec<NodeId>,
    /// Incoming channels of each node.
    inputs: Vec<Vec<ChannelId>>,
}

#[derive(Clone, Debug)]
struct Averages {
    over: Span,
    fills: Vec<Average>,
    counts: Vec<Average>,
    shares: Vec<Average>,
}

impl Output {
    const IDLE: Self = Self {
        waiting: 0,
        busy_until: Time::ZERO,
        to_mark: 0,
        trigger: Trigger::Input,
        spared_until: Time::ZERO,
    };

    fn count(&self, counts_leaving: bool, now: Time) -> u32 {
        self.waiting + u32::from(counts_leaving && self.busy_until > now)
    }
}

impl Averages {
    fn new(over: Span, buffers: usize, channels: usize) -> Self {
        let [fills, counts, shares] =
            [buffers, channels, channels].map(|count| vec![Average::ZERO; count]);
        Self { over, fills, counts, shares }
    }

    #[inline(never)]
    fn observe_buffer(&mut self, place: usize, buffered: &[Buffered], now: Time) {
        let average = &mut self.fills[place];
        let mut ends: Vec<Time> = buffered.iter().map(|of| of.left).collect();
        ends.retain(|end| (average.until()..now).contains(end));
        ends.push(now);
        ends.sort_unstable();
        for end in ends {
            let there = |of: &&Buffered| of.left >= end;
            let blocks = buffered.iter().filter(there).map(|of| u64::from(of.blocks)).sum();
            average.observe(as_f64(blocks), end, self.over);
        }
    }

    #[inline(never)]
    fn observe_output(&mut self, place: usize, output: &Output, counts_leaving: bool, now: Time) {
        // The tail of the last packet may have left since the last update.
        for end in [output.busy_until.min(now), now] {
            let is_busy = end <= output.busy_until;
            let count = output.waiting + u32::from(counts_leaving && is_busy);
            self.counts[place].observe(count.into(), end, self.over);
            self.shares[place].observe(if is_busy { 1.0 } else { 0.0 }, end, self.over);
        }
    }
}

impl Congestion {
    pub(super) fn of(policy: &impl Policy, plan: &Plan) -> Self {
        let triggers = policy.triggers().expect("a policy that counts says what triggers it");
        let Switching::Packets(packets) = &plan.switching else {
            unreachable!("only switches of whole packets count the packets waiting for outputs")
        };
        let lane_count = usize::from(plan.lanes.count);
        let channels = plan.channels.len();
        let into = |node| plan.fabric.channels_from(node).map(Fabric::reverse).collect();
        let target = |channel| plan.ends(channel).target.node;
        let buffers = channels * lane_count;
        Self {
            triggers,
            lane_count,
            buffers: vec![Vec::new(); buffers],
            outputs: vec![Output::IDLE; channels],
            averages: triggers.average.map(|over| Averages::new(over, buffers, channels)),
            holds: packets.buffer_blocks.iter().copied().map(u64::from).collect(),
            targets: ChannelId::first(channels).map(target).collect(),
            inputs: plan.fabric.node_ids().map(into).collect(),
        }
    }

    #[inline]
    fn place(&self, stay: &Stay) -> usize {
        stay.input.index() * self.lane_count + usize::from(stay.lane)
    }

    #[inline]
    fn go_to(&mut self, place: usize, now: Time) -> u64 {
        let buffered = &mut self.buffers[place];
        if let Some(averages) = &mut self.averages {
            averages.observe_buffer(place, buffered, now);
        }
        let mut blocks = 0;
        buffered.retain(|of| {
            let stays = of.left > now;
            blocks += if stays { u64::from(of.blocks) } else { 0 };
            stays
        });
        blocks
    }

    /// Returns whether another packet of this length would not fit, or the configured fill level is
    /// reached.
    fn is_full(&self, place: usize, blocks: u64, stay: &Stay) -> bool {
        match (self.triggers.fill_blocks(), &self.averages) {
            (Some(fill), Some(averages)) => averages.fills[place].value() >= as_f64(fill),
            (Some(fill), None) => blocks >= fill,
            (None, _) => {
                blocks + PacketsPlan::blocks(stay.wire_bytes) > self.holds[usize::from(stay.lane)]
            }
        }
    }

    #[inline(never)]
    fn on_full(&mut self, stay: &Stay, concerns: Concerns, now: Time) {
        let place = self.place(stay);
        let waiting = self.buffers[place].iter_mut().filter(|buffered| buffered.waits());
        if concerns == Concerns::Buffer {
            return waiting.for_each(|buffered| buffered.flag = Some(Trigger::Input));
        }
        let mut outputs: Vec<_> = waiting.map(|buffered| buffered.output).collect();
        outputs.sort_unstable();
        outputs.dedup();
        for output in outputs {
            self.trigger(stay.input, output, Trigger::Input, now);
        }
    }

    fn is_concerned(&self, output: ChannelId, now: Time) -> bool {
        let Triggers { threshold, utilisation, counts_leaving, .. } = self.triggers;
        let place = output.index();
        match &self.averages {
            None => {
                let count = || self.outputs[place].count(counts_leaving, now);
                threshold.is_some_and(|threshold| count() > threshold)
            }
            Some(Averages { counts, shares, .. }) => {
                threshold.is_some_and(|threshold| counts[place].value() > threshold.into())
                    || utilisation.is_some_and(|share| shares[place].value() > share)
            }
        }
    }

    #[inline]
    fn observe_output(&mut self, output: ChannelId, now: Time) {
        if let Some(averages) = &mut self.averages {
            let (place, counts_leaving) = (output.index(), self.triggers.counts_leaving);
            averages.observe_output(place, &self.outputs[place], counts_leaving, now);
        }
    }

    /// Marks packets that wait for `output`, in the switch at the end of `input`.
    fn trigger(&mut self, input: ChannelId, output: ChannelId, trigger: Trigger, now: Time) {
        if self.triggers.scan == Scan::Counters {
            let of = &mut self.outputs[output.index()];
            (of.to_mark, of.trigger) = (of.count(self.triggers.counts_leaving, now), trigger);
            return;
        }
        for beside in &self.inputs[self.targets[input.index()].index()] {
            let first = beside.index() * self.lane_count;
            for buffered in self.buffers[first..first + self.lane_count].iter_mut().flatten() {
                if buffered.output == output && buffered.waits() {
                    buffered.flag = Some(trigger);
                }
            }
        }
    }
}

impl Mark for Congestion {
    fn queued(&mut self, stay: &Stay, now: Time) {
        let Stay { came, wire_bytes, output, .. } = *stay;
        let place = self.place(stay);
        if let Some(averages) = &mut self.averages {
            averages.observe_buffer(place, &self.buffers[place], now);
        }
        let blocks = PacketsPlan::blocks(wire_bytes);
        let blocks = u32::try_from(blocks).expect("a packet is below 4 GiB");
        let buffered = Buffered { came, output, blocks, flag: None, left: Time::MAX };
        self.buffers[place].push(buffered);
        self.observe_output(output, now);
        self.outputs[output.index()].waiting += 1;
    }

    fn settled(&mut self, stay: &Stay, has_space: bool, now: Time) {
        let place = self.place(stay);
        let blocks = self.go_to(place, now);
        self.observe_output(stay.output, now);
        if let Some(span) = self.triggers.spare_blocked
            && !has_space
        {
            self.outputs[stay.output.index()].spared_until = now + span;
        }
        if let Some(concerns) = self.triggers.full
            && self.is_full(place, blocks, stay)
        {
            self.on_full(stay, concerns, now);
        }
        if self.is_concerned(stay.output, now) {
            self.trigger(stay.input, stay.output, Trigger::Output, now);
        }
    }

    fn forwarded(&mut self, stay: &Stay, left: Time, now: Time) -> Option<Trigger> {
        let place = self.place(stay);
        let buffered = self.buffers[place].iter_mut().find(|buffered| buffered.came == stay.came);
        let buffered = buffered.expect("what starts was read");
        buffered.left = left;
        let flag = buffered.flag;
        self.observe_output(stay.output, now);
        let of = &mut self.outputs[stay.output.index()];
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
