//! Access to columns as ports and lanes, and checks of column invariants.

use super::places::Place;
use super::table::Table;
use crate::bits::members;
use crate::lanes::context::Context;
use crate::lanes::layout::{SHIFT, number_of};
use crate::lanes::network::Network;
use crate::lanes::queues::Coming;
use crate::lanes::view::View;
use gingham_net::Reallocation;

impl<const L: usize> View for Table<L> {
    fn flits(&self, network: &Network, port: usize) -> u64 {
        match self.places.of_port(port) {
            Some(Place { column, bit }) => self.columns[column].cables.flits[bit],
            None => network.links.port(port).flits,
        }
    }

    fn waits(&self, network: &Network, port: usize) -> bool {
        match self.places.of_port(port) {
            Some(Place { column, bit }) => self.columns[column].waits >> bit & 1 == 1,
            None => network.links.port(port).waits(),
        }
    }

    fn waited_ps(&self, network: &Network, port: usize, end_ps: u64) -> u64 {
        let Some(Place { column, bit }) = self.places.of_port(port) else {
            return network.links.waited_ps(port, end_ps);
        };
        let column = &self.columns[column];
        let past_ps = network.links.ticks_ps(column.cables.waited[bit]);
        past_ps.wrapping_add(if column.waits >> bit & 1 == 1 { end_ps } else { 0 })
    }

    fn arrivals(&self, tick: u64) -> Vec<u64> {
        let mut arrivals = vec![0_u64; self.first_host];
        for (tick, word, bits) in self.arrivals.iter(tick) {
            for bit in members(bits) {
                let sum = &mut arrivals[self.places.port(word / L, bit)];
                *sum = sum.wrapping_add(tick);
            }
        }
        arrivals
    }

    /// Computes the occupancy. Arrivals are the sent flits minus the flits in flight.
    fn occupancy(&self, network: &Network, port: usize, arrivals: &[u64]) -> u64 {
        let Place { column, bit } = self.places.of_port(port).expect("a switch port has a place");
        let departures = self.columns[column].cables.departures[bit];
        let sender = network.links.port(port).peer as usize;
        let (starts, latency) = if let Some(Place { column, bit }) = self.places.of_port(sender) {
            let cables = &self.columns[column].cables;
            (cables.starts[bit], cables.latency[bit])
        } else {
            let cable = &self.hosts[sender - self.first_host];
            (cable.starts, cable.latency)
        };
        let delays = self.flits(network, sender).wrapping_mul(latency.into());
        let arrived = starts.wrapping_add(delays).wrapping_sub(arrivals[port]);
        departures.wrapping_sub(arrived)
    }

    fn credit(&self, network: &Network, lane: usize) -> u16 {
        match self.places.of_port(lane >> SHIFT) {
            Some(Place { column, bit }) => self.columns[column].credit.get(number_of(lane), bit),
            None => network.links.lane(lane).credit,
        }
    }

    fn unpromised(&self, network: &Network, lane: usize) -> u16 {
        let Some(Place { column, bit }) = self.places.of_port(lane >> SHIFT) else {
            return network.links.lane(lane).unpromised;
        };
        let number = number_of(lane);
        let holder = self.holder(column, number, bit);
        let left = |(input, from): (usize, usize)| self.columns[input].packets.left[from][bit];
        let column = &self.columns[column];
        let promised = u32::from(column.fill.get(number, bit)) + holder.map_or(0, left);
        let promised = u16::try_from(promised).unwrap_or(u16::MAX);
        column.credit.get(number, bit).saturating_sub(promised)
    }

    fn fill(&self, network: &Network, lane: usize) -> u16 {
        match self.places.of_port(lane >> SHIFT) {
            Some(Place { column, bit }) => self.columns[column].fill.get(number_of(lane), bit),
            None => network.links.lane(lane).fill,
        }
    }

    fn holder_of(&self, _: &Network, lane: usize) -> Option<usize> {
        let Place { column, bit } = self.places.of_port(lane >> SHIFT)?;
        let (input, from) = self.holder(column, number_of(lane), bit)?;
        Some(self.places.port(input, bit) << SHIFT | from)
    }

    fn present(&self, network: &Network, lane: usize) -> u16 {
        match self.places.of_port(lane >> SHIFT) {
            Some(Place { column, bit }) => self.columns[column].present.get(number_of(lane), bit),
            None => network.buffers.lane(lane).present,
        }
    }

    fn left(&self, network: &Network, lane: usize) -> u32 {
        let Some(Place { column, bit }) = self.places.of_port(lane >> SHIFT) else {
            return network.buffers.lane(lane).left;
        };
        let (column, number) = (&self.columns[column], number_of(lane));
        if column.holds[number] >> bit & 1 == 1 {
            return column.packets.left[number][bit];
        }
        network.buffers.first_if_any(lane).map_or(0, |first| first.flits)
    }

    fn held_by(&self, _: &Network, lane: usize) -> Option<usize> {
        let Place { column: number, bit } = self.places.of_port(lane >> SHIFT)?;
        let (column, lane) = (&self.columns[number], number_of(lane));
        if column.holds[lane] >> bit & 1 == 0 {
            return None;
        }
        Some(self.lane_in_group(number, column.packets.out[lane][bit].into(), bit))
    }

    fn blocked(&self, _: &Network, port: usize) -> u16 {
        let place = self.places.of_port(port);
        let Place { column, bit } = place.expect("a switch port has a place");
        let blocked = self.columns[column].blocked.iter().enumerate();
        blocked.fold(0, |lanes, (lane, word)| lanes | u16::from(word >> bit & 1 == 1) << lane)
    }

    fn requests(&self, _: &Network, port: usize) -> Vec<(usize, u16)> {
        let place = self.places.of_port(port);
        let Place { column, bit } = place.expect("a switch port has a place");
        let requests = &self.columns[column].requests;
        if requests.requested >> bit & 1 == 0 {
            return Vec::new();
        }
        let heads = &self.groups[self.places.group_of(column)].heads;
        let request = |asker| (self.lane_in_group(column, asker, bit), heads.get(asker, bit).may);
        requests.askers(bit).map(request).collect()
    }

    fn returning_credits(&self, network: &Network, tick: u64) -> Vec<usize> {
        let at_switches = self
            .credits
            .iter(tick)
            .flat_map(|(_, word, bits)| members(bits).map(move |bit| self.lane_at(word, bit)));
        network.links.returning_credits().chain(at_switches).collect()
    }

    fn arriving_flits(&self, network: &Network, tick: u64) -> Vec<usize> {
        let at_switches = self
            .arrivals
            .iter(tick)
            .flat_map(|(_, word, bits)| members(bits).map(move |bit| self.lane_at(word, bit)));
        network.links.arriving_flits().chain(at_switches).collect()
    }
}

impl<const L: usize> Table<L> {
    pub(crate) fn collect_active(&mut self, network: &mut Network) {
        for number in 0..self.columns.len() {
            for bit in members(std::mem::take(&mut self.columns[number].active)) {
                network.links.active.insert(self.places.port(number, bit));
            }
        }
    }

    pub(crate) fn locate_worms(&self, network: &Network, context: &mut Context) {
        let Some(paths) = &self.paths else { return };
        for (port, Place { column, bit }) in self.places.iter() {
            for lane in 0..L {
                let first = network.buffers.first_if_any(port << SHIFT | lane);
                let is_held = self.columns[column].holds[lane] >> bit & 1 == 1;
                if let Some(Coming { worm, hop, .. }) = first.filter(|of| !is_held && of.hop > 0) {
                    paths.settle(context.worms.get_mut(worm), hop);
                }
            }
        }
    }

    /// Returns the lane with `number` in its group (column times `L`, plus lane). `column` is any
    /// column of the group.
    fn lane_in_group(&self, column: usize, number: usize, bit: usize) -> usize {
        let first = self.places.spans[self.places.group_of(column)].first;
        self.places.port(first + number / L, bit) << SHIFT | (number % L)
    }

    fn lane_at(&self, word: usize, bit: usize) -> usize {
        let (column, lane) = (word / L, word % L);
        let port = match column.checked_sub(self.columns.len()) {
            Some(hosts) => self.first_host + hosts * 64 + bit,
            None => self.places.port(column, bit),
        };
        port << SHIFT | lane
    }

    fn known_heads(&self) -> Vec<[u64; L]> {
        let mut heads = vec![[0; L]; self.columns.len()];
        for (_, word, bits) in self.routing.iter(0) {
            heads[word / L][word % L] |= bits;
        }
        for (number, column) in self.columns.iter().enumerate() {
            let first = self.places.spans[self.places.group_of(number)].first;
            for (bit, asker) in
                (0..64).flat_map(|bit| column.requests.askers(bit).map(move |asker| (bit, asker)))
            {
                heads[first + asker / L][asker % L] |= 1 << bit;
            }
        }
        heads
    }

    pub(crate) fn assert_invariants(&self) {
        let known_heads = self.known_heads();
        for (number, column) in self.columns.iter().enumerate() {
            assert_eq!(known_heads[number], column.heads, "a head is routed, or has a request");
            assert_eq!(column.filled, column.fill.any::<true>(), "`filled` says what is so");
            assert_eq!(column.credited, column.credit.any::<true>(), "`credited` says what is so");
            assert_eq!(column.there, column.present.any::<true>(), "`there` says what is so");
            assert_eq!(column.released, [0; L], "what was released can be given");
            column.requests.assert_invariants();
            let is_late = self.rules.reallocation == Reallocation::AfterTail;
            let is_again = is_late || self.rules.matches_lanes();
            assert!(is_again || column.requests.changed == 0, "what changed was looked at");
            let mut full = column.fill.equal::<true>(&self.output_depths);
            if self.rules.pays_at_crossing {
                full = std::array::from_fn(|lane| full[lane] | column.unpaid(lane));
            }
            for (bit, lane) in (0..64).flat_map(|bit| (0..L).map(move |lane| (bit, lane))) {
                let is_held = self.holder(number, lane, bit).is_some();
                let [known, so] = [column.full, full].map(|full| full[lane] >> bit & 1);
                assert!(!is_held || known == so, "`full` says what is so");
            }
            let group = self.places.group_of(number);
            for lane in 0..L {
                let able = column.there[lane] & column.holds[lane] & !column.blocked[lane];
                assert_eq!(column.able[lane], able, "`able` says what is so");
                assert_eq!(column.holds[lane] & column.heads[lane], 0, "a head holds nothing");
                let towards = column.towards[lane].iter().fold(0, |any, word| any | word);
                assert_eq!(towards, column.holds[lane], "what is held is of one output");
                for bit in members(column.holds[lane]) {
                    let out = usize::from(column.packets.out[lane][bit]);
                    let first = self.places.spans[group].first;
                    let holder = self.holder(first + out / L, out % L, bit);
                    assert_eq!(holder, Some((number, lane)), "what is held is known as held");
                    assert_eq!(column.towards[lane][out / L] >> bit & 1, 1, "and of its own");
                }
            }
        }
    }
}
