//! Marks of pauses: those that are written, and those that follow from the headroom.
//!
//! ```text
//!   0 ......... resume ......... pause ........................ buffer
//!                                      └ headroom: what the worst cable and the longest packet of the lane may bring ┘
//! ```
//!
//! Source: the headroom of `docs/concepts/timing-packets.md`.

use crate::compile::lanes::value_by_lane;
use crate::compile::longest::longest_on;
use crate::compile::packets::section::Section;
use crate::compile::written::{first_written, whose};
use crate::error::LabError;
use crate::scenario::{FlowControl, Parameters, PerLane, Pfc, ScenarioSource, SwitchingParameters};
use gingham_kernel::{Bytes, Span};
use gingham_net::{BLOCK_BYTES, PacketsPlan, PausesPlan, Plan, Switching};
use gingham_topology::routing::{LANES_MAX, LaneSet};
use gingham_topology::{ChannelId, Fabric};
use std::sync::Arc;

const FRAME_MIN: Bytes = Bytes(64);
const FRAME_MAX: Bytes = Bytes(16 << 10);

impl Section<'_> {
    /// What is known of pauses before there are cables and packets: marks follow.
    pub(crate) fn pauses(
        &self,
        flow_control: &FlowControl,
    ) -> Result<Option<PausesPlan>, LabError> {
        let FlowControl::Pfc(pfc) = flow_control else { return Ok(None) };
        if self.source.scenario.network.packets.credit_delay.is_some() {
            let message = format!(
                "updates of credits take a delay, and with flow_control = \"pfc\"{} there are none: leave it out, or say \
                 network.packets.flow_control = \"credits\"; see network.packets.flow_control.pfc.answer",
                whose(self.source, "network.packets.flow_control")
            );
            return Err(self.refuse("credit_delay", message));
        }
        let frame = Some(pfc.frame).filter(|bytes| (FRAME_MIN..=FRAME_MAX).contains(bytes));
        let frame = frame.ok_or_else(|| {
            let message =
                format!("a pause frame has from {FRAME_MIN} to {FRAME_MAX}, not {}", pfc.frame);
            self.refuse("flow_control.pfc.frame", message)
        })?;
        Ok(Some(PausesPlan {
            pause_bytes: [0; LANES_MAX as usize],
            resume_bytes: [0; LANES_MAX as usize],
            frame_bytes: u32::try_from(frame.0).expect("checked"),
            answer: pfc.answer.unwrap_or(Span::ZERO),
        }))
    }
}

/// Gives the lanes of a plan their marks; refuses those that leave too little headroom.
pub(crate) fn settle(
    source: &ScenarioSource,
    parameters: &Parameters,
    plan: &mut Plan,
) -> Result<(), LabError> {
    let (Switching::Packets(packets), SwitchingParameters::Packets(of)) =
        (&plan.switching, &parameters.switching)
    else {
        return Ok(());
    };
    let (FlowControl::Pfc(pfc), Some(mut pauses)) = (&of.flow_control, packets.pauses.clone())
    else {
        return Ok(());
    };
    let of = Marks { of: Section { source }, plan, packets, pfc };
    let count = plan.lanes.count;
    let pause = of.written(pfc.pause.as_ref(), "pause")?;
    let resume = of.written(pfc.resume.as_ref(), "resume")?;
    for lane in 0..count {
        let place = usize::from(lane);
        let (pause, resume) = of.marks(lane, pause[place], resume[place], &pauses)?;
        (pauses.pause_bytes[place], pauses.resume_bytes[place]) = (pause, resume);
    }
    let mut packets = Arc::clone(packets);
    Arc::make_mut(&mut packets).pauses = Some(pauses);
    plan.switching = Switching::Packets(packets);
    Ok(())
}

/// What decides on marks.
struct Marks<'a> {
    of: Section<'a>,
    plan: &'a Plan,
    packets: &'a PacketsPlan,
    pfc: &'a Pfc,
}

impl Marks<'_> {
    /// By lane, what is written.
    fn written(
        &self,
        marks: Option<&PerLane<Bytes>>,
        name: &str,
    ) -> Result<Vec<Option<u64>>, LabError> {
        let count = self.plan.lanes.count;
        let Some(marks) = marks else { return Ok(vec![None; count.into()]) };
        let values = value_by_lane(self.of.source, marks, count);
        let values = values.map_err(|why| self.of.refuse(&key(name), why))?;
        Ok(values.into_iter().map(|bytes| Some(bytes.0)).collect())
    }

    /// The marks of a lane, given what is written of them.
    fn marks(
        &self,
        lane: u8,
        pause: Option<u64>,
        resume: Option<u64>,
        pauses: &PausesPlan,
    ) -> Result<(u64, u64), LabError> {
        let holds =
            u64::from(self.packets.buffer_blocks[usize::from(lane)]) * u64::from(BLOCK_BYTES);
        let longest = longest_on(self.plan, LaneSet::one(lane));
        // A lane on which nobody sends needs no headroom.
        let longest = longest.map_or(0, |payload| self.packets.wire_bytes(payload));
        let worst = self.worst(pauses, longest).filter(|_| longest > 0);
        let headroom = worst.map_or(0, |(headroom, _)| headroom);
        let pause_at = pause.unwrap_or_else(|| holds.saturating_sub(headroom));
        if pause_at.saturating_add(headroom) > holds {
            return Err(self.too_little(lane, [holds, headroom, longest], pause, worst));
        }
        let resume_at = resume.unwrap_or_else(|| pause_at.saturating_sub(longest));
        if resume_at > pause_at {
            let message = format!(
                "lane {lane} goes on at {} or less, and a fill above {} pauses it: resume no higher than at the mark of the pause",
                Bytes(resume_at),
                Bytes(pause_at)
            );
            return Err(self.of.refuse(&key("resume"), message));
        }
        Ok((pause_at, resume_at))
    }

    /// The most headroom that any channel needs for packets as long as this, and which needs it.
    fn worst(&self, pauses: &PausesPlan, longest: u64) -> Option<(u64, ChannelId)> {
        let plan = self.plan;
        let into_switch = |channel: &ChannelId| plan.is_switch(plan.ends(*channel).target.node);
        let needs = |channel: ChannelId| {
            let [way, back] =
                [channel, Fabric::reverse(channel)].map(|channel| plan.channel(channel));
            (pauses.headroom_bytes(way, back, [self.packets.wire_bytes(1), longest]), channel)
        };
        let channels = ChannelId::first(plan.channels.len()).filter(into_switch).map(needs);
        // Of equal ones the first.
        channels.reduce(|worst, other| if other.0 > worst.0 { other } else { worst })
    }

    fn too_little(
        &self,
        lane: u8,
        [holds, headroom, longest]: [u64; 3],
        pause: Option<u64>,
        worst: Option<(u64, ChannelId)>,
    ) -> LabError {
        let block = u64::from(BLOCK_BYTES);
        let buffer = |pause: u64| Bytes((pause + headroom).div_ceil(block) * block);
        let Some((_, channel)) = worst else {
            let mark = Bytes(pause.unwrap_or(0));
            let message = format!(
                "lane {lane} holds {}, and a pause at {mark} would never come",
                Bytes(holds)
            );
            return self.of.refuse(&key("pause"), message);
        };
        let why = format!(
            "up to {} may still come on lane {lane} of {} after a pause is asked for: the cable there and back, the pause frame, \
             the answer of {}, and a packet of {} under way",
            Bytes(headroom),
            self.plan.fabric.channel_name(channel),
            self.pfc.answer.unwrap_or(Span::ZERO),
            Bytes(longest)
        );
        match pause {
            Some(pause) if headroom <= holds => {
                let message = format!(
                    "{why}; above {} the buffer of {} has no such headroom: pause at {} or less, or let network.packets.buffer be \
                     at least {}",
                    Bytes(pause),
                    Bytes(holds),
                    Bytes(holds - headroom),
                    buffer(pause)
                );
                self.of.refuse(&key("pause"), message)
            }
            _ => {
                let message = format!(
                    "{why}; a buffer of {}{} has no such headroom: let network.packets.buffer be at least {}",
                    Bytes(holds),
                    whose(self.of.source, "network.packets.buffer"),
                    buffer(pause.unwrap_or(0))
                );
                let keys = ["network.packets.buffer", "network.cable_length", "network.link_rate"];
                self.of.source.refuse(first_written(self.of.source, &keys), message).into()
            }
        }
    }
}

fn key(name: &str) -> String {
    format!("flow_control.pfc.{name}")
}
