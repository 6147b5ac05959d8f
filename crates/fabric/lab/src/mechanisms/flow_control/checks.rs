//! Checks of flow control.

use crate::check::{Check, refuse, when, within};
use crate::compile::cables::DELAY_MAX;
use crate::compile::lanes::{Laned, wrong_list};
use crate::compile::written::{first_written, whose};
use crate::scenario::{CreditLoss, FlowControl, PacketsParameters, Pfc};
use gingham_kernel::{Bytes, Span};
use gingham_net::{BLOCK_BYTES, Plan};
use gingham_topology::ChannelId;
use std::ops::RangeInclusive;

const PERIODS: RangeInclusive<Span> = Span::from_ns(1)..=DELAY_MAX;
const FRAMES: RangeInclusive<Bytes> = Bytes(64)..=Bytes(16 << 10);

pub(crate) fn of_keys<'a>() -> [Check<&'a PacketsParameters>; 6] {
    [
        refuse("credit_loss", |it| {
            when!(
                it.credit_loss.is_some() && it.flow_control != FlowControl::Credits,
                "there are no credits with flow_control = \"pfc\"{}: leave it out, or say \
                 network.packets.flow_control = \"credits\"",
                whose(it.source, "network.packets.flow_control")
            )
        }),
        refuse("credit_loss.percent", |it| {
            within!(it.credit_loss?.percent, 0.0..=100.0, "updates out of a hundred, from 0 to 100")
        }),
        refuse("credit_loss.period", |it| {
            let period = it.credit_loss?.period?;
            within!(period, PERIODS, "a period takes from {} to {DELAY_MAX}", PERIODS.start())
        }),
        refuse("credit_loss.stop", |it| {
            let CreditLoss { start, stop, .. } = it.credit_loss?;
            when!(
                stop? <= start,
                "updates are lost from `start` on and no more from `stop` on, which must be later"
            )
        }),
        refuse("credit_delay", |it| {
            let is_written = it.source.scenario.network.packets.credit_delay.is_some();
            when!(
                is_written && it.flow_control.pfc().is_some(),
                "only updates of credits are delayed, and with flow_control = \"pfc\"{} there are none: leave it out, or say \
                 network.packets.flow_control = \"credits\"; see network.packets.flow_control.pfc.response_time",
                whose(it.source, "network.packets.flow_control")
            )
        }),
        refuse("flow_control.pfc.frame", |it| {
            let (smallest, largest) = FRAMES.into_inner();
            within!(
                it.flow_control.pfc()?.frame,
                FRAMES,
                "a pause frame has from {smallest} to {largest}"
            )
        }),
    ]
}

pub(super) fn of_lists<'a>() -> [Check<Laned<'a, Pfc>>; 2] {
    [
        refuse("flow_control.pfc.pause", |it| wrong_list(it, it.switch.pause.as_ref()?)),
        refuse("flow_control.pfc.resume", |it| wrong_list(it, it.switch.resume.as_ref()?)),
    ]
}

/// Buffer levels that start and end a pause of a lane, and the values that determine them, in
/// bytes.
pub(super) struct LaneMarks<'a> {
    pub(super) plan: &'a Plan,
    pub(super) lane: u8,
    pub(super) holds: u64,
    /// Longest packet on the wire, in bytes; 0 for an unused lane.
    pub(super) longest: u64,
    /// Largest headroom of any channel, in bytes, and this channel; `None` for an unused lane.
    pub(super) headroom: Option<(u64, ChannelId)>,
    pub(super) response_time: Span,
    pub(super) pause: Option<u64>,
    pub(super) resume: Option<u64>,
}

pub(super) fn of_marks<'a>() -> [Check<LaneMarks<'a>>; 4] {
    [
        refuse("flow_control.pfc.pause", |it| {
            when!(
                it.lacks_headroom() && it.headroom.is_none(),
                "lane {} holds {}, and a pause at {} would never come",
                it.lane,
                Bytes(it.holds),
                Bytes(it.pause_at())
            )
        }),
        refuse("flow_control.pfc.pause", |it| {
            let pause = it.pause?;
            let (headroom, _) = it.headroom.filter(|(headroom, _)| *headroom <= it.holds)?;
            when!(
                it.lacks_headroom(),
                "{}; above {} the buffer of {} has no such headroom: pause at {} or less, or let network.packets.buffer be \
                 at least {}",
                it.why()?,
                Bytes(pause),
                Bytes(it.holds),
                Bytes(it.holds - headroom),
                it.enough()
            )
        }),
        refuse("buffer", |it| {
            let sentence = when!(
                it.lacks_headroom(),
                "{}; a buffer of {}{} has no such headroom: let network.packets.buffer be at least {}",
                it.why()?,
                Bytes(it.holds),
                whose(it.source, "network.packets.buffer"),
                it.enough()
            );
            let keys = ["network.packets.buffer", "network.cable_length", "network.link_rate"];
            Some(sentence?.at(first_written(it.source, &keys)))
        }),
        refuse("flow_control.pfc.resume", |it| {
            let [pause, resume] = [it.pause_at(), it.resume_at()].map(Bytes);
            when!(
                resume > pause,
                "lane {} goes on at {resume} or less, and a fill above {pause} pauses it: resume no higher than at the mark of the pause",
                it.lane
            )
        }),
    ]
}

impl LaneMarks<'_> {
    fn headroom_bytes(&self) -> u64 {
        self.headroom.map_or(0, |(headroom, _)| headroom)
    }

    /// Returns the buffer level that must be exceeded to start a pause: by default the highest
    /// level that leaves enough headroom.
    pub(super) fn pause_at(&self) -> u64 {
        self.pause.unwrap_or_else(|| self.holds.saturating_sub(self.headroom_bytes()))
    }

    /// Returns the buffer level that ends a pause: by default one packet below the level that
    /// starts it.
    pub(super) fn resume_at(&self) -> u64 {
        self.resume.unwrap_or_else(|| self.pause_at().saturating_sub(self.longest))
    }

    fn lacks_headroom(&self) -> bool {
        self.pause_at().saturating_add(self.headroom_bytes()) > self.holds
    }

    fn enough(&self) -> Bytes {
        let block = u64::from(BLOCK_BYTES);
        Bytes((self.pause.unwrap_or(0) + self.headroom_bytes()).div_ceil(block) * block)
    }

    fn why(&self) -> Option<String> {
        let (headroom, channel) = self.headroom?;
        Some(format!(
            "up to {} may still come on lane {} of {} after a pause is asked for: the cable there and back, the pause frame, \
             the response time of {}, and a packet of {} under way",
            Bytes(headroom),
            self.lane,
            self.plan.fabric.channel_name(channel),
            self.response_time,
            Bytes(self.longest)
        ))
    }
}
