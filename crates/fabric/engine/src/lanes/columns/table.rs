//! All switches of a run, in columns.

use super::allocation::{Granting, Routing};
use super::arrival::Arrivals;
use super::column::Column;
use super::count::Count;
use super::group::Group;
use super::paths::Paths;
use super::places::{Place, Places, Span};
use super::ring::{Ring, Slot};
use super::rules::Rules;
use super::traversal::{Crossing, short_at_crossbar};
use crate::lanes::context::Context;
use crate::lanes::layout::{Layout, SHIFT, number_of};
use crate::lanes::links::{LinkPort, Links, TO_HOST};
use crate::lanes::network::Network;
use crate::lanes::stepper::Stepper;
use crate::lanes::switches::Switches;
use gingham_net::{PipelinePlan, Plan};
use pulp::Arch;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostCable {
    bit: u64,
    offset: u32,
    pub(crate) latency: u32,
    pub(crate) starts: u64,
}

#[derive(Debug)]
pub(crate) struct Table<const L: usize> {
    pub(crate) columns: Vec<Column<L>>,
    pub(crate) groups: Vec<Group<L>>,
    pub(crate) places: Places,
    pub(crate) arch: Arch,
    /// Flits on the wire, with one word per column and lane in each slot. `credits` also has words
    /// for host ports, one word per 64 ports and lane.
    pub(crate) arrivals: Ring,
    pub(crate) credits: Ring,
    pub(crate) routing: Ring,
    routing_cycles: u64,
    pub(crate) paths: Option<Paths>,
    pub(crate) rules: Rules,
    pub(crate) has_levels: bool,
    pub(crate) is_deep: bool,
    pub(crate) output_depths: Count<L>,
    pub(crate) hosts: Vec<HostCable>,
    /// Index of the first host port; `host_words` is the number of words of host ports.
    pub(crate) first_host: usize,
    pub(crate) host_words: usize,
    pub(crate) freed: Vec<usize>,
    /// Output lanes that send the first or last flit of a packet to a host in this tick.
    pub(crate) ejected: Vec<(Place, usize)>,
}

impl<const L: usize> Table<L> {
    pub(crate) fn new(
        plan: &Plan,
        lanes: &PipelinePlan,
        layout: &Layout,
        (links, switches): (&Links, &Switches),
        ticks_ahead: u64,
    ) -> Self {
        let places = Places::new(&plan.fabric, layout, switches.ports());
        let columns = places.columns();
        let host_words = (layout.channels().len() - layout.first_host) / 64;
        let output_depths = lanes.output_depths_flits.map(|depth| depth.max(1));
        let has_levels = lanes.arbitration.level(plan.highest_priority()) > 0;
        let rules = Rules::new(lanes, plan.lanes.count);
        let column =
            Column::new(has_levels, &lanes.depths_flits, &output_depths, rules.matches_lanes());
        let mut table = Self {
            is_deep: column.fill.is_deep() || column.credit.is_deep(),
            columns: vec![column; columns],
            groups: places.spans.iter().map(|span| Group::new(span.radix)).collect(),
            arrivals: Ring::new(columns * L, ticks_ahead),
            credits: Ring::new((columns + host_words) * L, ticks_ahead),
            routing: Ring::new(columns * L, u64::from(lanes.routing_cycles) + 1),
            routing_cycles: lanes.routing_cycles.into(),
            paths: Paths::new(plan),
            has_levels,
            arch: Arch::new(),
            rules,
            output_depths: Count::of_lanes(&output_depths, u64::MAX),
            hosts: vec![HostCable::default(); host_words * 64],
            first_host: layout.first_host,
            host_words,
            freed: Vec::new(),
            ejected: Vec::new(),
            places,
        };
        let ports: Vec<_> = table.places.iter().collect();
        for (port, place) in ports {
            table.attach(port, place, links.port(port));
        }
        for host in 0..host_words * 64 {
            let link = links.port(layout.first_host + host);
            if let Some(place) = table.places.of_port(link.peer as usize) {
                table.hosts[host] = HostCable {
                    bit: 1 << place.bit,
                    offset: table.arrivals.offset(link.latency, place.column * L),
                    latency: link.latency,
                    ..HostCable::default()
                };
            }
        }
        for number in 0..columns {
            let exists = (0..64).filter(|bit| table.places.port_at(number, *bit).is_some());
            let exists = exists.fold(0_u64, |ports, bit| ports | 1 << bit);
            let column = &mut table.columns[number];
            column.find_wires(exists);
            column.credit = Count::of_lanes(&lanes.depths_flits, exists & !column.to_host);
            column.credited = column.credit.any::<true>();
        }
        table
    }

    fn attach(&mut self, port: usize, place: Place, link: &LinkPort) {
        let bit = place.bit;
        let peer = link.peer as usize;
        let at_switch = self.places.of_port(peer);
        let cables = &mut self.columns[place.column].cables;
        cables.here[bit] = lane_of(port);
        cables.there[bit] = lane_of(peer);
        cables.latency[bit] = link.latency;
        if let Some(peer) = at_switch {
            cables.peer_bit[bit] = 1 << peer.bit;
            cables.flit_offset[bit] = self.arrivals.offset(link.latency, peer.column * L);
            cables.credit_offset[bit] = self.credits.offset(link.credit_latency, peer.column * L);
        } else {
            let host = peer - self.first_host;
            let word = self.places.columns() + host / 64;
            cables.peer_bit[bit] = 1 << (host % 64);
            cables.credit_offset[bit] = self.credits.offset(link.credit_latency, word * L);
        }
        if link.is(TO_HOST) {
            self.columns[place.column].to_host |= 1 << bit;
        }
    }

    #[inline(always)]
    pub(crate) fn routed_at(&mut self, tick: u64) -> Slot<'_> {
        self.routing.at(tick + 1 + self.routing_cycles)
    }

    pub(crate) fn launch(&mut self, launched: &mut Vec<usize>, tick: u64) {
        let mut arrivals = self.arrivals.at(tick);
        for lane in launched.drain(..) {
            let (port, lane) = (lane >> SHIFT, number_of(lane));
            let cable = &mut self.hosts[port - self.first_host];
            debug_assert_ne!(cable.bit, 0, "the host is joined to a switch");
            cable.starts = cable.starts.wrapping_add(tick);
            arrivals.put(cable.offset as usize + lane, cable.bit);
        }
    }

    #[inline]
    pub(crate) fn holder(&self, number: usize, lane: usize, bit: usize) -> Option<(usize, usize)> {
        let (input, from) = self.columns[number].requests.holder(lane, bit)?;
        Some((self.places.spans[self.places.group_of(number)].first + input, from))
    }

    /// Returns whether `short_at_crossbar` is up to date, disregarding flits that arrived after the
    /// last update. Always true unless flits take their credits at the crossbar.
    fn is_short_known(&self) -> bool {
        let is_known = |&Span { first, radix }: &Span| {
            let columns = &self.columns[first..first + radix];
            let short = short_at_crossbar(columns);
            columns.iter().zip(short).all(|(column, short)| column.short_at_crossbar == short)
        };
        !self.rules.pays_at_crossing || self.places.spans.iter().all(is_known)
    }

    pub(crate) fn next_due(&self, tick: u64) -> Option<u64> {
        if !self.columns.iter().all(Column::is_idle) || !self.is_short_known() {
            return Some(tick);
        }
        [&self.arrivals, &self.credits, &self.routing]
            .iter()
            .filter_map(|ring| ring.next_due(tick))
            .min()
    }
}

impl<const L: usize> Stepper for Table<L> {
    fn receive_credits(&mut self, network: &mut Network, tick: u64) {
        self.receive_host_credits(&mut network.links, tick);
    }

    fn traverse_links(&mut self, network: &mut Network, context: &mut Context, tick: u64) {
        self.traverse_links(network, context, tick);
    }

    fn launch(&mut self, network: &mut Network, tick: u64) {
        self.launch(&mut network.launched, tick);
    }

    fn traverse_switches(&mut self, network: &mut Network, _: &Context, tick: u64) {
        self.arch.dispatch(Crossing { table: self, network, tick });
    }

    fn route(&mut self, network: &mut Network, context: &mut Context, tick: u64) {
        let routed = self.arch.dispatch(Routing { table: self, network, context, tick });
        context.clock.count(routed);
    }

    fn allocate_lanes(&mut self, network: &mut Network, _: &Context) {
        self.arch.dispatch(Granting { table: self, network });
    }

    /// Returns 0 because flits are counted as events when they leave.
    fn receive_flits(&mut self, _: &mut Network, tick: u64) -> u64 {
        self.arch.dispatch(Arrivals { table: self, tick });
        0
    }

    fn next_due(&self, tick: u64) -> Option<u64> {
        self.next_due(tick)
    }

    fn has_hops(&self) -> bool {
        self.paths.is_some()
    }

    fn collect_active(&mut self, network: &mut Network) {
        self.collect_active(network);
    }

    fn locate_worms(&self, network: &Network, context: &mut Context) {
        self.locate_worms(network, context);
    }

    fn assert_invariants(&self, network: &Network, context: &Context) {
        network.assert_sets(context, context.layout.first_host);
        self.assert_invariants();
    }
}

fn lane_of(port: usize) -> u32 {
    u32::try_from(port << SHIFT).expect("lanes have 32 bits")
}
