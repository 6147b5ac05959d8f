//! All switches of a run, in columns.

use super::column::Column;
use super::count::Count;
use super::group::Group;
use super::places::{Place, Places};
use super::ring::Ring;
use crate::lanes::layout::{Layout, SHIFT, number_of};
use crate::lanes::links::{LinkPort, Links, TO_HOST};
use crate::lanes::network::Network;
use crate::lanes::switches::Switches;
use gingham_model::PipelinePlan;

/// Switches whose ports have at most so many lanes.
#[derive(Clone, Debug)]
pub(crate) struct Table<const L: usize> {
    pub(crate) columns: Vec<Column<L>>,
    pub(crate) groups: Vec<Group<L>>,
    pub(crate) places: Places,
    /// By column and lane, and then by word of host ports and lane: flits on their way between
    /// switches, and credits on their way to output lanes.
    pub(crate) arrivals: Ring,
    pub(crate) credits: Ring,
    /// What an output lane holds.
    pub(crate) output_depths: Count<L>,
    /// The first host port, and how many words of them there are.
    pub(crate) first_host: usize,
    pub(crate) host_words: usize,
    /// Columns in which a lane that was full has room again; of this tick.
    pub(crate) freed: Vec<usize>,
    /// Output lanes whose packet begins or ends at a host, of this tick: place and lane.
    pub(crate) ejected: Vec<(Place, usize)>,
}

impl<const L: usize> Table<L> {
    pub(crate) fn new(
        lanes: &PipelinePlan,
        layout: &Layout,
        (links, switches): (&Links, &Switches),
        ticks_ahead: u64,
    ) -> Self {
        let places = Places::new(layout, switches.ports());
        let columns = places.columns();
        let host_words = (layout.channels().len() - layout.first_host) / 64;
        let depth = |lane: usize| {
            u16::try_from(lanes.output_depths_flits[lane]).expect("lanes are not that deep")
        };
        let mut table = Self {
            columns: vec![Column::new(); columns],
            groups: places.spans.iter().map(|span| Group::new(span.radix)).collect(),
            arrivals: Ring::new(columns * L, ticks_ahead),
            credits: Ring::new((columns + host_words) * L, ticks_ahead),
            output_depths: Count::of_lanes(depth),
            first_host: layout.first_host,
            host_words,
            freed: Vec::new(),
            ejected: Vec::new(),
            places,
        };
        let ports: Vec<_> = table.places.iter().collect();
        for (port, place) in ports {
            table.attach(place, links.port(port));
        }
        table.fill_credits(lanes);
        table
    }

    /// A port of a switch has this cable.
    fn attach(&mut self, place: Place, link: &LinkPort) {
        let bit = place.bit;
        let peer = link.peer as usize;
        let at_switch = self.places.of_port(peer);
        let cables = &mut self.columns[place.column].cables;
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

    /// All lanes have the credits that they begin with.
    fn fill_credits(&mut self, lanes: &PipelinePlan) {
        for number in 0..self.columns.len() {
            let exists = (0..64).filter(|bit| self.places.port_at(number, *bit).is_some());
            let exists = exists.fold(0_u64, |ports, bit| ports | 1 << bit);
            let column = &mut self.columns[number];
            for _ in 0..lanes.depths_flits.iter().max().copied().unwrap_or(0) {
                let credit = &column.credit;
                let is_short: [u64; L] = std::array::from_fn(|lane| {
                    let depth = lanes.depths_flits[lane];
                    let short = |bit: &usize| u32::from(credit.get(lane, *bit)) < depth;
                    (0..64).filter(short).fold(0, |ports, bit| ports | 1 << bit)
                });
                let more = std::array::from_fn(|lane| is_short[lane] & exists & !column.to_host);
                column.credit.step(&more, &[0; L]);
            }
            column.credited = column.credit.any();
        }
    }

    /// An input lane, by its number in all of them, holds an output lane from now on, by its number
    /// in the switch, for a packet of so many flits.
    #[inline]
    pub(crate) fn connect(&mut self, from: usize, out: u16, flits: u32) {
        let Place { column, bit } =
            self.places.of_port(from >> SHIFT).expect("switches have columns");
        let (lane, number, to) = (number_of(from) % L, usize::from(out) >> SHIFT, usize::from(out));
        let group = self.places.group_of(column);
        let first = self.places.spans[group].first;
        self.groups[group].inputs[column - first].towards[lane][number] |= 1 << bit;
        let is_full = self.columns[first + number].full[number_of(to) % L] >> bit & 1;
        let column = &mut self.columns[column];
        column.packets.left[lane][bit] = flits;
        column.packets.out[lane][bit] = out;
        column.holds[lane] |= 1 << bit;
        column.heads[lane] &= !(1 << bit);
        column.blocked[lane] |= is_full << bit;
    }

    /// The input lane that holds an output lane, if one does: its column and its number there.
    pub(crate) fn holder(
        places: &Places,
        network: &Network,
        number: usize,
        lane: usize,
        bit: usize,
    ) -> Option<(usize, usize)> {
        let port = places.port_at(number, bit)?;
        if network.links.port(port).held >> lane & 1 == 0 {
            return None;
        }
        let holder = usize::from(network.links.lane(port << SHIFT | lane).holder);
        let first = places.spans[places.group_of(number)].first;
        Some((first + (holder >> SHIFT), number_of(holder) % L))
    }

    /// The first tick from `tick` on at which something can happen.
    pub(crate) fn next_due(&self, tick: u64) -> Option<u64> {
        if !self.columns.iter().all(Column::is_idle) {
            return Some(tick);
        }
        [&self.arrivals, &self.credits].iter().filter_map(|ring| ring.next_due(tick)).min()
    }
}
