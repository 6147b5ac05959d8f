//! Counts: what every channel carried, and how full lane buffers were.
//!
//! A flit that is there from tick a to tick d, in which it leaves, adds d - a cycles to the
//! occupancy of its channel; one that is still there the time since a. The sum of the d less that
//! of the a is kept as flits come and go.

use crate::lanes::context::Context;
use crate::lanes::layout::SHIFT;
use crate::lanes::links::{SLOW, TO_HOST};
use crate::lanes::network::Network;
use gingham_net::measure::ChannelCount;
use gingham_topology::ChannelId;

/// Whether nothing that counts goes on at a port at the end of a section: it has all credits, so
/// that nothing is on its channel or in the buffer behind, no flit of it begins later, and it does not
/// wait for credits.
pub(crate) fn is_at_rest(port: usize, network: &Network, context: &Context, end: u64) -> bool {
    let sender = network.links.port(port);
    let depths = &context.lanes.depths_flits[..context.plan.lanes.count.into()];
    let has_credits = |(lane, depth): (usize, &u32)| {
        u32::from(network.links.lane(port << SHIFT | lane).credit) == *depth
    };
    !sender.waits()
        && (!sender.is(SLOW) || network.links.free_ps(port) <= end)
        && (sender.is(TO_HOST) || depths.iter().enumerate().all(has_credits))
}

/// Counts of a channel: of what began before `begin_end`, with what lasts counted up to `end`.
pub(crate) fn count_channel(
    channel: ChannelId,
    network: &Network,
    context: &Context,
    (begin_end, end): (u64, u64),
) -> ChannelCount {
    let port = context.layout.port(channel);
    let sender = network.links.port(port);
    let mut data_flits = sender.flits;
    if sender.is(SLOW) && data_flits > 0 {
        let began = network.links.free_ps(port) - context.plan.channel(channel).flit.as_ps();
        data_flits -= u64::from(began >= begin_end);
    }
    let peer = sender.peer as usize;
    let cycles = if peer < context.layout.first_host {
        Some(network.switches.port(peer).occupancy)
    } else {
        // An end of a switch takes in all that comes, whatever hosts do.
        (!sender.is(TO_HOST)).then(|| network.in_transit.host(peer).occupancy)
    };
    let occupancy_flit_ps = cycles.map_or(0, |cycles| {
        let lanes = network.buffers.lanes()[peer << SHIFT..].iter();
        let lanes = lanes.take(context.plan.lanes.count.into());
        let present: i128 = lanes.map(|lane| i128::from(lane.present)).sum();
        let cycles = i128::from(cycles.cast_signed());
        let area = cycles * i128::from(context.clock.cycle_ps()) + present * i128::from(end);
        u128::try_from(area).expect("a flit leaves after it came")
    });
    let stopped_ps = network.links.waited_ps(port, end);
    ChannelCount { data_flits, stopped_ps, occupancy_flit_ps, ..ChannelCount::default() }
}
