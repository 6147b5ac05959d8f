//! Switches: which packet an idle output starts, and on which lane.
//!
//! ```text
//!   order        candidates, one a lane        space known?        arbiter of the link output
//!   p4 p7 p5 ──► lane 0: p4, lane 2: p5  ──►   lane 2        ──►   p5 on lane 2
//! ```
//!
//! Where the oldest goes first, inputs are read by any number of outputs, and only packets for the
//! same output overtake each other, the first of a list is its candidate and nothing is ever
//! overtaken. All other rules are those of `reading`.

use crate::packets::event::Event;
use crate::packets::network::Network;
use crate::packets::packet::PacketId;
use crate::packets::reading::Rules;
use crate::packets::starting::blocks_of;
use crate::packets::waiting::age;
use gingham_fairq::Head;
use gingham_model::{Arbitration, Plan};
use gingham_topology::ChannelId;
use gingham_topology::routing::LANES_MAX;
use std::sync::Arc;

/// Lanes of a channel at the most.
pub(crate) const LANES: usize = LANES_MAX as usize;

/// By lane: which packet it would start.
pub(crate) type Candidates = [Option<PacketId>; LANES];

/// What switches decide by.
#[derive(Clone, Debug)]
pub(crate) struct Switches {
    pub(crate) rules: Rules,
    /// Whether what waits for an output goes in one line: on one lane, and the oldest first.
    is_in_line: bool,
}

impl Switches {
    pub(crate) fn new(network: &Network) -> Self {
        let plan = &network.plan;
        let rules = Rules::new(plan, &network.packets_plan);
        let is_in_line =
            rules.are_plain && plan.lanes.count == 1 && network.output_buffers.is_none();
        Self { rules, is_in_line }
    }

    /// A packet may go on.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn on_ready(&mut self, id: PacketId, network: &mut Network) {
        let output = network.packets.get(id).output;
        if self.goes_at_once(id, output, network) {
            self.start(id, output, 0, network);
        } else {
            self.wait(id, output, network);
        }
    }

    /// A packet that may go on waits for its output.
    #[inline(never)]
    fn wait(&mut self, id: PacketId, output: ChannelId, network: &mut Network) {
        network.waiting.insert(&network.plan, &mut network.packets, id);
        network.links.wait(output);
        self.rules.on_ready(id, network);
        if self.is_in_line || network.output_buffers.is_none() {
            network.try_at_end(output);
        } else {
            // It may cross, whatever is on the channel.
            network.clock.start(output);
        }
    }

    /// Whether a packet that is ready starts now, whatever else may happen: most do, and need not
    /// be put into a list.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    fn goes_at_once(&self, id: PacketId, output: ChannelId, network: &mut Network) -> bool {
        self.is_in_line
            && network.links.is_free(output, network.clock.now())
            && network.clock.is_over()
            && network.has_space(output, 0, id)
    }

    /// The tail of a packet has left on a channel of a switch.
    pub(crate) fn on_left(&mut self, output: ChannelId, network: &mut Network) {
        network.clock.start(output);
        if self.rules.couple_outputs {
            network.try_all(output);
        }
    }

    /// An idle output starts a packet, if it can.
    #[inline(never)]
    pub(crate) fn try_start(&mut self, output: ChannelId, network: &mut Network) {
        let chosen = if self.is_in_line {
            let first = network.waiting.first(output);
            let chosen = first.filter(|id| network.has_space(output, 0, *id)).map(|id| (0, id));
            network.set_credit_wait(output, first.is_some() && chosen.is_none());
            chosen
        } else if network.output_buffers.is_some() {
            return self.cross_and_start(output, network);
        } else {
            let candidates = self.candidates(output, network);
            network.choose(output, &candidates)
        };
        let Some((lane, id)) = chosen else { return };
        self.rules.before_start(id, output, lane, network);
        network.waiting.remove(&mut network.packets, id);
        network.links.wait_no_more(output);
        self.start(id, output, lane, network);
    }

    /// A packet that stands in no list starts on a lane of an output.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    fn start(&mut self, id: PacketId, output: ChannelId, lane: u8, network: &mut Network) {
        if network.wanted.switched.are_stays() {
            network.tell_forwarded(id, output);
        }
        let (stay, end_ps) = network.start(id, output, lane);
        network.leave_buffer(stay, end_ps);
        network.links.begin(output, stay.wire_bytes, end_ps, Some(stay.input));
        self.rules.on_start(stay.input, end_ps);
        if self.rules.couple_outputs {
            network.await_end(output);
            network.try_all(output);
        } else if network.links.is_any_waiting(output) {
            network.await_end(output);
        }
    }

    /// By lane of an output: what goes next.
    #[inline]
    pub(crate) fn candidates(&self, output: ChannelId, network: &Network) -> Candidates {
        if self.rules.are_plain {
            oldest(output, network)
        } else {
            self.rules.candidates(output, network)
        }
    }
}

impl Network {
    /// Which lane an output serves, of those with a candidate for which there is space.
    fn choose(&mut self, output: ChannelId, candidates: &Candidates) -> Option<(u8, PacketId)> {
        let mut heads = [Head::default(); LANES];
        let mut eligible = 0_u16;
        for lane in 0..self.plan.lanes.count {
            let Some(id) = candidates[usize::from(lane)] else { continue };
            if self.has_space(output, lane, id) {
                let packet = self.packets.get(id);
                let (length_bytes, arrival_ps) = (packet.wire_bytes, packet.came_ps);
                heads[usize::from(lane)] = Head { length_bytes, arrival_ps };
                eligible |= 1 << lane;
            }
        }
        self.set_credit_wait(output, eligible == 0 && candidates.iter().any(Option::is_some));
        let lane = self.serve(output, eligible, &heads)?;
        Some((lane, candidates[usize::from(lane)].expect("only candidates are eligible")))
    }

    /// Records whether an idle channel has a packet ready but no credits for it.
    #[inline]
    pub(crate) fn set_credit_wait(&mut self, channel: ChannelId, waits: bool) {
        self.links.set_credit_wait(channel, waits, self.clock.now());
    }

    /// What reads the same inputs as an output may start something, too.
    fn try_all(&mut self, output: ChannelId) {
        let plan = Arc::clone(&self.plan);
        for other in plan.fabric.channels_from(plan.fabric.source(output).node) {
            if self.links.is_any_waiting(other) && self.is_idle(other) {
                self.clock.start(other);
            }
        }
    }

    /// A channel has something to start as soon as it is idle.
    #[inline]
    pub(crate) fn try_at_end(&mut self, channel: ChannelId) {
        if self.is_idle(channel) {
            self.clock.start(channel);
        } else {
            self.await_end(channel);
        }
    }

    /// The end of the packet on a channel is waited for.
    #[inline]
    pub(crate) fn await_end(&mut self, channel: ChannelId) {
        if self.links.await_end(channel) {
            let end_ps = self.links.busy_until_ps(channel);
            self.clock.schedule(end_ps, Event::Left { channel });
        }
    }

    /// Whether there is space, as far as is known, for a packet on a lane of a channel.
    #[inline]
    pub(crate) fn has_space(&mut self, channel: ChannelId, lane: u8, id: PacketId) -> bool {
        let blocks = blocks_of(self.packets.get(id).wire_bytes);
        self.has_blocks(channel, lane, blocks)
    }

    /// Whether so many blocks are free, as far as is known, on a lane of a channel.
    #[inline]
    pub(crate) fn has_blocks(&mut self, channel: ChannelId, lane: u8, blocks: u32) -> bool {
        !self.links.is_into_switch(channel)
            || match &mut self.pauses {
                None => self.credits.has(channel, lane, blocks, &mut self.clock),
                Some(pauses) => pauses.may_start(channel, lane),
            }
    }
}

/// By lane the oldest packet that may take it.
#[inline]
fn oldest(output: ChannelId, network: &Network) -> Candidates {
    let mut candidates = [None; LANES];
    for list in network.waiting.lists(output) {
        let Some(id) = list.first() else { continue };
        for lane in list.lanes.lanes() {
            let of = &mut candidates[usize::from(lane)];
            let is_older = |other: PacketId| is_older(&network.plan, network, id, other);
            if of.is_none_or(is_older) {
                *of = Some(id);
            }
        }
    }
    candidates
}

fn is_older(plan: &Plan, network: &Network, one: PacketId, other: PacketId) -> bool {
    age(plan, network.packets.get(one)) < age(plan, network.packets.get(other))
}

/// Whether the oldest goes first, whatever its port or priority.
pub(crate) fn is_by_age(arbitration: Arbitration) -> bool {
    match arbitration {
        Arbitration::OldestFirst => true,
        Arbitration::RoundRobin | Arbitration::StrictPriority => false,
    }
}
