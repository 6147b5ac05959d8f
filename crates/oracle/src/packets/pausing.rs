//! Pausing lanes: a receiver asks for a pause when a buffer fills, and takes it back when that has
//! emptied.
//!
//! ```text
//!   x: the fill rises above `pause` ── t'(frame) + d' + answer ──► x + D: nothing starts on the lane
//!   y: it falls to `resume`         ── the same ─────────────────► y + D: it goes on
//! ```
//!
//! Source: IEEE 802.1Qbb, as `docs/concepts/timing-packets.md` has it.
//!
//! Invariant: no buffer overflows, whenever a receiver looks.

use crate::packets::event::Event;
use crate::packets::simulation::Simulation;
use gingham_kernel::Time;
use gingham_model::{BLOCK_BYTES, PausesPlan};
use gingham_topology::{ChannelId, Fabric};

/// What both ends of a channel know of its pauses.
#[derive(Clone, Debug)]
pub(crate) struct Pausing {
    pub(crate) lanes: Vec<LanePause>,
    /// Pauses that were heard.
    pub(crate) pauses: u64,
    /// Since when any lane is paused, if one is.
    since: Option<Time>,
    /// Picoseconds for which one was, before.
    past_ps: u64,
}

/// The pauses of a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LanePause {
    /// Whether the last that the receiver asked for is a pause.
    pub(crate) is_asked: bool,
    /// Whether the last that the sender heard is one.
    pub(crate) is_paused: bool,
    /// What was asked for and not heard yet.
    under_way: u32,
    /// Whether a host has asked for space in vain since it heard last that it may go on.
    is_awaited: bool,
}

impl Pausing {
    pub(crate) fn new(lanes: u8) -> Self {
        let lanes = vec![LanePause::default(); lanes.into()];
        Self { lanes, pauses: 0, since: None, past_ps: 0 }
    }

    /// Picoseconds up to `end`, which is not past, for which a lane was paused.
    pub(crate) fn paused_ps(&self, end: Time) -> u64 {
        self.past_ps + self.since.map_or(0, |since| end.since(since).as_ps())
    }

    /// The sender hears of a lane `now`. Whether it awaited that.
    fn hear(&mut self, lane: u8, is_pause: bool, now: Time) -> bool {
        let of = &mut self.lanes[usize::from(lane)];
        of.under_way -= 1;
        of.is_paused = is_pause;
        let was_awaited = !is_pause && std::mem::take(&mut of.is_awaited);
        self.pauses += u64::from(is_pause);
        let is_any = self.lanes.iter().any(|lane| lane.is_paused);
        self.past_ps = self.paused_ps(now);
        self.since = is_any.then_some(now);
        was_awaited
    }
}

impl LanePause {
    /// Whether nothing starts until the buffer at the end empties.
    pub(crate) const fn is_held(self) -> bool {
        self.is_asked && self.under_way == 0
    }
}

impl Simulation {
    fn pausing_mut(&mut self, channel: ChannelId) -> &mut Pausing {
        self.outputs[channel.index()].pausing.as_mut().expect("a buffer whose receiver pauses")
    }

    fn pauses(&self) -> &PausesPlan {
        self.packets.pauses.as_ref().expect("receivers pause")
    }

    /// A packet starts now: where lanes are paused, the receiver looks when its first byte has come.
    pub(crate) fn look_when_come(&mut self, channel: ChannelId, lane: u8) {
        if self.packets.pauses.is_some() {
            let first = self.first_byte_takes(channel);
            self.timeline.cause(self.timeline.now + first, Event::Look { channel, lane });
        }
    }

    /// From the start of a packet until its first byte has come whole.
    fn first_byte_takes(&self, channel: ChannelId) -> gingham_kernel::Span {
        let of = self.plan.channel(channel);
        of.delay + of.bytes.of(1)
    }

    /// A host finds no space on a lane.
    pub(crate) fn await_space(&mut self, channel: ChannelId, lane: u8) {
        match &mut self.outputs[channel.index()].pausing {
            Some(pausing) => pausing.lanes[usize::from(lane)].is_awaited = true,
            None => self.credits_mut(channel, lane).is_awaited = true,
        }
    }

    // Phase 4: look, and heard.

    pub(crate) fn look(&mut self, channel: ChannelId, lane: u8) {
        self.assert_no_overflow(channel, lane);
        let fill = self.fill_bytes(channel, lane);
        let pauses = self.pauses();
        let [pause, resume] =
            [&pauses.pause_bytes, &pauses.resume_bytes].map(|marks| marks[usize::from(lane)]);
        let back = self.plan.channel(Fabric::reverse(channel));
        let heard = self.timeline.now + pauses.heard_after(back);
        let of = &mut self.pausing_mut(channel).lanes[usize::from(lane)];
        let is_pause = if of.is_asked { fill > resume } else { fill > pause };
        if is_pause != of.is_asked {
            of.is_asked = is_pause;
            of.under_way += 1;
            self.timeline.cause(heard, Event::Heard { channel, lane, is_pause });
        }
    }

    pub(crate) fn heard(&mut self, channel: ChannelId, lane: u8, is_pause: bool) {
        let now = self.timeline.now;
        let was_awaited = self.pausing_mut(channel).hear(lane, is_pause, now);
        let is_of_host = self.hosts[channel.index()].is_some();
        if was_awaited || !is_of_host {
            self.timeline.cause(now, Event::Start { channel });
        }
    }

    /// Bytes of the packets whose first byte has come whole, and whose tails have not left.
    fn fill_bytes(&self, channel: ChannelId, lane: u8) -> u64 {
        let first = self.plan.channel(channel).bytes.of(1);
        let buffer = self.input(channel).lane(lane).iter();
        let come = buffer.filter(|buffered| buffered.came + first <= self.timeline.now);
        come.map(|buffered| buffered.wire_bytes).sum()
    }

    /// Checks that what fills a buffer fits into it.
    pub(crate) fn assert_no_overflow(&self, channel: ChannelId, lane: u8) {
        let holds = u64::from(self.packets.buffer_blocks[usize::from(lane)]);
        let fill = self.fill_bytes(channel, lane);
        assert!(fill <= holds * u64::from(BLOCK_BYTES), "a buffer overflowed: {fill} bytes");
    }
}
