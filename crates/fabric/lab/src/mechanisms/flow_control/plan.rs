//! Plans of flow control.
//!
//! ```text
//!   0 ......... resume ......... pause ........................ buffer
//!                                      └ headroom for the worst cable and the longest packet of the lane ┘
//! ```
//!
//! Source: the headroom of `docs/concepts/timing-packets.md`.

use super::checks::{LaneMarks, of_lists, of_marks};
use crate::check::{Subject, check};
use crate::compile::gathered::Gathered;
use crate::compile::lanes::Laned;
use crate::compile::longest::longest_on;
use crate::error::LabError;
use crate::scenario::{
    PacketsParameters, Parameters, PerLane, ScenarioSource, SwitchingParameters,
};
use gingham_kernel::{Bytes, Span, Time};
use gingham_net::{BLOCK_BYTES, CreditLossPlan, PacketsPlan, PausesPlan, Plan, Switching};
use gingham_topology::routing::{LANES_MAX, LaneSet};
use gingham_topology::{ChannelId, Fabric};
use std::sync::Arc;

pub(crate) fn credit_loss(switch: &PacketsParameters) -> Option<CreditLossPlan> {
    let loss = switch.credit_loss?;
    let stop = loss.stop.map_or(Time::MAX, |stop| Time::ZERO + stop);
    let sent = Time::ZERO + loss.start..stop;
    Some(CreditLossPlan { probability: loss.percent / 100.0, sent, period: loss.period })
}

/// Returns the pause plan without thresholds, which depend on cables and packets.
pub(crate) fn pauses(switch: &PacketsParameters) -> Option<PausesPlan> {
    let pfc = switch.flow_control.pfc()?;
    Some(PausesPlan {
        pause_bytes: [0; LANES_MAX as usize],
        resume_bytes: [0; LANES_MAX as usize],
        frame_bytes: u32::try_from(pfc.frame.0).expect("a check refuses longer frames"),
        response_time: pfc.response_time.unwrap_or(Span::ZERO),
    })
}

pub(crate) fn settle(
    source: &ScenarioSource,
    parameters: &Parameters,
    plan: &mut Plan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    let (Switching::Packets(packets), SwitchingParameters::Packets(of)) =
        (&plan.switching, &parameters.switching)
    else {
        return Ok(());
    };
    let (Some(pfc), Some(mut pauses)) = (of.flow_control.pfc(), packets.pauses.clone()) else {
        return Ok(());
    };
    let count = plan.lanes.count;
    let lists = Subject::of_table(source, "network.packets", Laned { switch: pfc, count });
    check(&of_lists(), &lists, gathered)?;
    let pause = written(pfc.pause.as_ref(), count);
    let resume = written(pfc.resume.as_ref(), count);
    for lane in 0..count {
        let place = usize::from(lane);
        let longest = longest_on(plan, LaneSet::one(lane));
        let longest = longest.map_or(0, |payload| packets.wire_bytes(payload));
        let marks = LaneMarks {
            plan,
            lane,
            holds: u64::from(packets.buffer_blocks[place]) * u64::from(BLOCK_BYTES),
            longest,
            headroom: headroom(plan, packets, &pauses, longest).filter(|_| longest > 0),
            response_time: pauses.response_time,
            pause: pause[place],
            resume: resume[place],
        };
        let marks = Subject::of_table(source, "network.packets", marks);
        check(&of_marks(), &marks, gathered)?;
        (pauses.pause_bytes[place], pauses.resume_bytes[place]) =
            (marks.pause_at(), marks.resume_at());
    }
    let mut packets = Arc::clone(packets);
    Arc::make_mut(&mut packets).pauses = Some(pauses);
    plan.switching = Switching::Packets(packets);
    Ok(())
}

fn written(marks: Option<&PerLane<Bytes>>, count: u8) -> Vec<Option<u64>> {
    let by_lane = |marks: &PerLane<Bytes>| marks.by_lane(count.into()).expect("a check refuses it");
    let marks = marks.map(by_lane).into_iter().flatten().map(|bytes| Some(bytes.0));
    marks.chain(std::iter::repeat(None)).take(count.into()).collect()
}

/// Returns the largest headroom that any channel needs for packets of this payload, in bytes, and
/// the channel.
fn headroom(
    plan: &Plan,
    packets: &PacketsPlan,
    pauses: &PausesPlan,
    longest: u64,
) -> Option<(u64, ChannelId)> {
    let into_switch = |channel: &ChannelId| plan.is_switch(plan.ends(*channel).target.node);
    let needs = |channel: ChannelId| {
        let [forth, back] =
            [channel, Fabric::reverse(channel)].map(|channel| plan.channel(channel));
        (pauses.headroom_bytes(forth, back, [packets.wire_bytes(1), longest]), channel)
    };
    let channels = ChannelId::first(plan.channels.len()).filter(into_switch).map(needs);
    channels.reduce(|worst, other| if other.0 > worst.0 { other } else { worst })
}
