//! Random channel adapters: send buffers, credits, DMA, retried posts, drawn lanes.

use gingham_kernel::{Purpose, Span, Stream};
use gingham_net::{
    AdapterPlan, Credits, DmaPlan, Excess, LaneChoice, Plan, PostPlan, REFILL_BYTES, Refused,
    Switching,
};
use gingham_topology::routing::{LaneSet, VcClass};

/// Adds random adapters, unless a cable between two hosts has no delay: packets would arrive before
/// they have left.
pub(crate) fn with_adapters(plan: &Plan, seed: u64) -> Plan {
    let mut plan = plan.clone();
    let is_direct = |endpoint| {
        let cable = plan.fabric.endpoint_channel(endpoint);
        let leads_to_host = !plan.is_switch(plan.ends(cable).target.node);
        leads_to_host && plan.channel(cable).delay == Span::ZERO
    };
    if plan.fabric.endpoint_ids().any(is_direct) {
        return plan;
    }
    let mut draw = Stream::new(seed, "adapters", Purpose::Shuffle);
    let endpoint = plan.fabric.endpoint_ids().next().unwrap();
    let byte_ps = plan.channel(plan.fabric.endpoint_channel(endpoint)).bytes.of(1).as_ps();
    let dma = (draw.below(2) == 0).then(|| DmaPlan {
        setup: Span::from_ps(draw.below(3) * 777 * byte_ps),
        refill: Span::from_ps(byte_ps * REFILL_BYTES * [1, 3][below(&mut draw, 2)] / 2),
    });
    plan.adapters = Some(AdapterPlan { send_buffer: 1 + small(&mut draw, 5), dma, throttle: None });
    let endpoints = plan.fabric.endpoints().len();
    // Lanes with cut-through may be too shallow for packets of other classes.
    let cut_through = match &plan.switching {
        Switching::VirtualLanes(pipeline) => pipeline.cut_through,
        Switching::Wormhole(_) | Switching::Packets(_) => LaneSet::EMPTY,
    };
    let has_room = |of: &VcClass| {
        (plan.lanes.allowed.anywhere(&plan.fabric, Some(*of)) & cut_through).is_empty()
    };
    let vc_classes = plan.classes.iter().filter_map(|class| class.vc_class);
    let vc_classes: Vec<VcClass> = vc_classes.filter(has_room).collect();
    for class in &mut plan.classes {
        let mut by_endpoint = |most| (0..endpoints).map(|_| 1 + small(&mut draw, most)).collect();
        let all = [by_endpoint(3), by_endpoint(2)];
        let [of_class, of_flow] = all;
        // Demoted excess belongs to no flow of its own class, so that credits per flow are refused.
        let demotes =
            class.policing.as_ref().is_some_and(|of| matches!(of.excess, Excess::Demote(_)));
        let credits = match draw.below(5) {
            0 => Credits::Exempt,
            1 => Credits::OfClass(of_class),
            2 if !demotes => Credits::OfFlow(of_flow),
            _ => Credits::OfBuffer,
        };
        let period = |draw: &mut Stream| Span::from_ps(byte_ps * (1 + draw.below(900)));
        let refused = match draw.below(3) {
            0 => Refused::Wait,
            1 => Refused::Retry((0..endpoints).map(|_| period(&mut draw)).collect()),
            _ => Refused::Retry(vec![period(&mut draw); endpoints].into()),
        };
        let lane = match draw.below(4) {
            _ if vc_classes.is_empty() => LaneChoice::Any,
            0 if !class.is_controlled() => LaneChoice::AtRandom(vc_classes.clone().into()),
            1 => LaneChoice::OfFlow(vc_classes.clone().into()),
            _ => LaneChoice::Any,
        };
        class.post = PostPlan { credits, refused, lane };
    }
    plan
}

fn small(draw: &mut Stream, below: u64) -> u32 {
    u32::try_from(draw.below(below)).unwrap()
}

fn below(draw: &mut Stream, count: u64) -> usize {
    usize::try_from(draw.below(count)).unwrap()
}
