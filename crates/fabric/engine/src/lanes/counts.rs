//! Channel counts: flits carried, credit waits, and occupancy of lane buffers.
//!
//! A flit that arrives at tick a and leaves at tick d adds d - a cycles to the occupancy of its
//! channel; a flit still in the buffer adds the time since a. The sum over all flits is the sum of
//! all d minus the sum of all a.

use crate::lanes::context::Context;
use crate::lanes::layout::SHIFT;
use crate::lanes::links::{SLOW, TO_HOST};
use crate::lanes::network::Network;
use crate::lanes::view::View;
use gingham_net::measure::ChannelCount;
use gingham_topology::ChannelId;

#[derive(Debug)]
pub(crate) struct Counts<'a, V> {
    view: &'a V,
    network: &'a Network,
    context: &'a Context,
    arrivals: Vec<u64>,
}

impl<'a, V: View> Counts<'a, V> {
    pub(crate) fn new(view: &'a V, network: &'a Network, context: &'a Context) -> Self {
        let arrivals = view.arrivals(context.clock.ticks_done());
        Self { view, network, context, arrivals }
    }

    /// Returns whether the counts cannot change until the port sends again: the port has all its
    /// credits, is idle at `end`, and does not wait for credits.
    pub(crate) fn is_at_rest(&self, port: usize, end: u64) -> bool {
        let sender = self.network.links.port(port);
        let depths = &self.context.lanes.depths_flits[..self.context.plan.lanes.count.into()];
        let has_credits = |(lane, depth): (usize, &u32)| {
            u32::from(self.view.credit(self.network, port << SHIFT | lane)) == *depth
        };
        !self.view.waits(self.network, port)
            && (!sender.is(SLOW) || self.network.links.free_ps(port) <= end)
            && (sender.is(TO_HOST) || depths.iter().enumerate().all(has_credits))
    }

    /// Returns a channel's counts: the flits that started before `begin_end`, and occupancy and
    /// waits up to `end`.
    pub(crate) fn of(&self, channel: ChannelId, (begin_end, end): (u64, u64)) -> ChannelCount {
        let (network, context) = (self.network, self.context);
        let port = context.layout.port(channel);
        let sender = network.links.port(port);
        let mut data_flits = self.view.flits(network, port);
        if sender.is(SLOW) && data_flits > 0 {
            let began = network.links.free_ps(port) - context.plan.channel(channel).flit.as_ps();
            data_flits -= u64::from(began >= begin_end);
        }
        let peer = sender.peer as usize;
        let cycles = if peer < context.layout.first_host {
            Some(self.view.occupancy(network, peer, &self.arrivals))
        } else {
            // Port 0 of a switch accepts every flit, like a host without backpressure.
            (!sender.is(TO_HOST)).then(|| network.in_transit.host(peer).occupancy)
        };
        let occupancy_flit_ps = cycles.map_or(0, |cycles| {
            let lanes = 0..usize::from(context.plan.lanes.count);
            let present = lanes.map(|lane| self.view.present(network, peer << SHIFT | lane));
            let present: i128 = present.map(i128::from).sum();
            let cycles = i128::from(cycles.cast_signed());
            let area = cycles * i128::from(context.clock.cycle_ps()) + present * i128::from(end);
            u128::try_from(area).expect("a flit leaves after it came")
        });
        let stopped_ps = self.view.waited_ps(network, port, end);
        ChannelCount { data_flits, stopped_ps, occupancy_flit_ps, ..ChannelCount::default() }
    }
}
