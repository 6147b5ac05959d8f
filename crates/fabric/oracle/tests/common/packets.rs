//! Plans of whole packets.

use super::{FLIT, add_class, quiet_plan};
use gingham_kernel::{ByteTime, Span, Time};
use gingham_net::traffic::{Draft, MessagePlan, Scheduled, SourcePlan};
use gingham_net::{
    AckPlan, Acknowledged, Among, Arbitration, OvertakingPlan, PacketsPlan, PausesPlan, Plan,
    Priority, Read, Response, Switching, WindowPlan,
};
use gingham_topology::{ChannelId, EndpointId, Fabric};
use std::sync::Arc;

/// Time from the arrival of a first byte to the reading of the head, unless stated otherwise.
pub(crate) const FORWARDING: u64 = 100;

/// Plan without traffic: a byte takes 10 ps, and buffers are deep.
pub(crate) fn packets_plan(fabric: Fabric, lanes: u8) -> Plan {
    let mut plan = quiet_plan(fabric);
    for channel in &mut plan.channels {
        channel.slack = None;
    }
    plan.lanes = gingham_net::LanePlan::free(lanes);
    plan.switching = Switching::Packets(Arc::new(PacketsPlan {
        overhead_bytes: 0,
        forwarding_delay: Span::from_ps(FORWARDING),
        head_interval: Span::ZERO,
        buffer_blocks: [1_000; 16],
        output_blocks: None,
        read: Read::Any,
        overtaking: OvertakingPlan { at_most: u32::MAX, among: Among::SameOutput },
        credit_delay: Span::ZERO,
        credit_loss: None,
        pauses: None,
        arbitration: Arbitration::OldestFirst,
    }));
    plan
}

pub(crate) fn packets(plan: &mut Plan, change: impl FnOnce(&mut PacketsPlan)) {
    let Switching::Packets(packets) = &mut plan.switching else { panic!("whole packets") };
    change(Arc::make_mut(packets));
}

pub(crate) fn overtaking(plan: &mut Plan, at_most: u32, among: Among) {
    packets(plan, |packets| packets.overtaking = OvertakingPlan { at_most, among });
}

/// Sets both marks of pauses; requests arrive after the cable, 10 bytes and 15 ps.
pub(crate) fn pausing(plan: &mut Plan, [pause, resume]: [u64; 2]) {
    let pauses = PausesPlan {
        pause_bytes: [pause; 16],
        resume_bytes: [resume; 16],
        frame_bytes: 10,
        response_time: Span::from_ps(15),
    };
    packets(plan, |packets| packets.pauses = Some(pauses));
}

pub(crate) fn cable_byte(plan: &mut Plan, channel: ChannelId, ps: u64) {
    cable_many(plan, channel, ps << 16);
}

/// Sets the time of 64 KiB on a cable.
pub(crate) fn cable_many(plan: &mut Plan, channel: ChannelId, ps: u64) {
    for side in [channel, Fabric::reverse(channel)] {
        plan.channels[side.index()].bytes = ByteTime::from_64_kib(Span::from_ps(ps));
        plan.channels[side.index()].flit = Span::from_ps(ps.div_ceil(1 << 16));
    }
}

/// Adds a class; each message is given by its time, its destination host and its bytes.
pub(crate) fn sends(plan: &mut Plan, from: usize, level: u8, messages: &[(u64, usize, u32)]) {
    let message = |&(ps, to, payload_bytes): &(u64, usize, u32)| Scheduled {
        created: Time::from_ps(ps),
        draft: Draft { destination: EndpointId::new(to), payload_bytes },
    };
    let messages = MessagePlan::Scheduled(messages.iter().map(message).collect());
    let source = SourcePlan { endpoint: EndpointId::new(from), messages };
    add_class(plan, format!("h{from}, level {level}, {}", plan.classes.len()), source);
    plan.classes.last_mut().unwrap().priority = Priority::new(level).unwrap();
}

pub(crate) fn window(packets: u32, ack_bytes: u32) -> WindowPlan {
    let priority = Priority::default();
    let ack = AckPlan { payload_bytes: ack_bytes, priority, vc_class: None };
    WindowPlan { packets, acknowledged: Acknowledged::All, ack, response: Response::default() }
}

/// Time of a byte on every cable.
pub(crate) const BYTE: u64 = FLIT;
