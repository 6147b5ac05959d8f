//! The network: what is between the adapters of hosts, and what is told to it as it arrives.

use crate::lanes::adaptive::AdaptiveHeads;
use crate::lanes::buffers::Buffers;
use crate::lanes::columns::Columns;
use crate::lanes::in_transit::InTransit;
use crate::lanes::lane_matching::LaneMatching;
use crate::lanes::layout::{Layout, SHIFT};
use crate::lanes::links::Links;
use crate::lanes::matching::Matching;
use crate::lanes::requests::Requests;
use crate::lanes::switches::Switches;
use gingham_model::{Endpoints, PipelinePlan, Plan, SteppedBy};
use gingham_topology::routing::LaneSet;

/// What moves flits between hosts.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// Where channels begin.
    pub(crate) links: Links,
    /// Where they end.
    pub(crate) buffers: Buffers,
    /// What is between.
    pub(crate) switches: Switches,
    /// Virtual-channel allocation: which heads request what.
    pub(crate) requests: Requests,
    /// The same by iSLIP, if that is the VC allocator.
    pub(crate) lane_matching: Option<Box<LaneMatching>>,
    /// Heads that choose among outputs, if any do.
    pub(crate) adaptive: Option<Box<AdaptiveHeads>>,
    /// The lanes of every channel.
    pub(crate) all_lanes: u16,
    /// Whether an output lane that nobody holds can be given to any head.
    pub(crate) gives_at_once: bool,
    /// Switch allocation.
    pub(crate) matching: Matching,
    /// What is between hosts, where switches are stepped 64 at a time.
    pub(crate) columns: Option<Box<Columns>>,
    /// Lanes of hosts of which a flit begins in this tick, where columns are to hear of it.
    pub(crate) launched: Vec<usize>,
    /// Packets that hosts send on.
    pub(crate) in_transit: InTransit,
    /// Whether an arbiter of links or crossbars looks at flits in their order.
    pub(crate) is_tracked: bool,
}

impl Network {
    pub(crate) fn new(
        plan: &Plan,
        lanes: &PipelinePlan,
        layout: &Layout,
        endpoints: &Endpoints,
        stepped_by: SteppedBy,
    ) -> Self {
        let ticks_ahead = ticks_ahead(plan, lanes);
        let mut links = Links::new(plan, lanes, layout, ticks_ahead);
        let switches = Switches::new(plan, lanes, layout, &links);
        let columns = (stepped_by == SteppedBy::Columns)
            .then(|| Box::new(Columns::new(plan, lanes, layout, (&links, &switches), ticks_ahead)));
        if columns.is_some() {
            links.forget_released();
        }
        let requests = Requests::new(plan, lanes, switches.ports());
        Self {
            lane_matching: LaneMatching::new(lanes, &requests, links.lane_count()),
            columns,
            launched: Vec::new(),
            all_lanes: LaneSet::first_n(plan.lanes.count).bits(),
            gives_at_once: lanes.gives_at_once(),
            adaptive: AdaptiveHeads::new(plan, lanes, layout.first_host << SHIFT),
            buffers: Buffers::new(links.lane_count()),
            requests,
            matching: Matching::new(switches.ports(), layout),
            in_transit: InTransit::new(plan, layout, endpoints, ticks_ahead),
            is_tracked: links.are_tracked() || switches.are_tracked(),
            links,
            switches,
        }
    }

    /// A flit that has its credit is on its way on the common channel of a host to a switch.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every flit")]
    #[inline(always)]
    pub(crate) fn carry(&mut self, port: usize, lane: usize, tick: u64) {
        if self.columns.is_some() {
            self.launched.push(port << SHIFT | lane);
        } else {
            let link = self.links.port(port);
            let (there, to) = (tick + u64::from(link.latency), link.peer_lane(lane));
            self.links.arrivals.push(there, to);
        }
    }

    /// Credits that are due count.
    pub(crate) fn receive_credits(&mut self, tick: u64) {
        if self.columns.is_some() {
            return self.receive_credits_by_columns(tick);
        }
        self.links.receive_credits(tick, &mut self.switches);
    }

    /// Flits that are due are in the buffers of switches: how many.
    pub(crate) fn receive_flits(&mut self, tick: u64) -> u64 {
        if self.columns.is_some() {
            self.receive_flits_by_columns(tick);
            return 0;
        }
        let due = self.links.arrivals.take(tick);
        self.switches.receive(&due, &mut self.buffers, tick);
        let count = due.len() as u64;
        self.links.arrivals.give_back(tick, due);
        count
    }

    /// The first tick from `tick` on at which something can happen, if nothing can at once.
    pub(crate) fn idle_until(&self, tick: u64) -> Option<u64> {
        let Switches { crossing, allocating, heads, .. } = &self.switches;
        if ![&self.links.ready, crossing, allocating].iter().all(|ports| ports.is_empty()) {
            return None;
        }
        if self.adaptive.as_ref().is_some_and(|heads| !heads.is_empty()) {
            return None;
        }
        let by_columns = self.columns.as_ref().and_then(|columns| columns.next_due(tick));
        let due = [
            self.links.next_due(tick),
            heads.next_due(tick),
            self.in_transit.next_due(tick),
            by_columns,
        ];
        Some(due.into_iter().flatten().min().unwrap_or(u64::MAX))
    }
}

/// The farthest tick at which anything that a tick brings about can be due.
pub(crate) fn ticks_ahead(plan: &Plan, lanes: &PipelinePlan) -> u64 {
    let cycle = lanes.cycle.as_ps();
    let ahead = plan.channels.iter().map(|channel| {
        // A slow channel may begin a flit up to a cycle after the tick.
        2 + (channel.flit.as_ps() + channel.delay.as_ps()).div_ceil(cycle)
    });
    let flits = ahead.max().unwrap_or(1) + u64::from(lanes.pipeline_cycles);
    let credits = plan.channels.iter().map(|channel| lanes.credit_cycles(channel)).max();
    flits.max(credits.unwrap_or(1))
}
