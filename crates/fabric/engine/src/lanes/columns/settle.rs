//! The state of columns as links, buffers and switches would have it, for whoever looks at all of
//! the network between ticks: sections, searches for deadlock, congestion trees, checks.

use super::group::Head;
use super::places::Place;
use super::table::Table;
use crate::bits::members;
use crate::lanes::context::Context;
use crate::lanes::layout::{SHIFT, number_of};
use crate::lanes::network::Network;
use crate::lanes::queues::Coming;
use gingham_net::Reallocation;

impl<const L: usize> Table<L> {
    /// Writes what is counted of ports that have something under way; sums begin anew.
    pub(crate) fn settle_counts(&mut self, network: &mut Network, context: &Context) {
        for number in 0..self.columns.len() {
            for bit in members(std::mem::take(&mut self.columns[number].active)) {
                network.links.active.insert(self.places.port(number, bit));
            }
        }
        let coming = self.coming(context.clock.ticks_done());
        let lanes = usize::from(context.plan.lanes.count);
        for word in 0..network.links.active.words.len() {
            for bit in members(network.links.active.words[word]) {
                let port = word * 64 + bit;
                let peer = network.links.port(port).peer as usize;
                let coming = coming.get(peer).copied().unwrap_or(0);
                if let Some(place) = self.places.of_port(port) {
                    self.settle_sender(network, (port, peer), place, coming, lanes);
                } else if peer < self.first_host {
                    let cable = &mut self.hosts[port - self.first_host];
                    let flits = network.links.port(port).flits;
                    let new = flits - std::mem::replace(&mut cable.known_flits, flits);
                    let sent = new.wrapping_mul(cable.latency.into());
                    let sent = std::mem::take(&mut cable.starts).wrapping_add(sent);
                    let came = std::mem::replace(&mut cable.coming, coming).wrapping_add(sent);
                    network.switches.add_occupancy(peer, coming.wrapping_sub(came));
                }
                if let Some(place) = self.places.of_port(peer) {
                    self.settle_receiver(network, peer, place, lanes);
                }
            }
        }
    }

    /// Writes what is counted where a channel begins.
    fn settle_sender(
        &mut self,
        network: &mut Network,
        (port, peer): (usize, usize),
        Place { column, bit }: Place,
        coming: u64,
        lanes: usize,
    ) {
        let column = &mut self.columns[column];
        let sums = &mut column.cables;
        let flits = std::mem::take(&mut sums.flits[bit]);
        network.links.add_flits(port, flits);
        network.links.write_wait(port, sums.waited[bit], column.waits >> bit & 1 == 1);
        if peer < self.first_host {
            let sent = flits.wrapping_mul(sums.latency[bit].into());
            let sent = std::mem::take(&mut sums.starts[bit]).wrapping_add(sent);
            let came = std::mem::replace(&mut sums.coming[bit], coming).wrapping_add(sent);
            network.switches.add_occupancy(peer, coming.wrapping_sub(came));
        }
        for lane in (0..L).take(lanes) {
            let (fill, credit) = (column.fill.get(lane, bit), column.credit.get(lane, bit));
            network.links.write_lane(port << SHIFT | lane, fill, credit);
        }
    }

    /// Writes what is counted where a channel ends.
    fn settle_receiver(
        &mut self,
        network: &mut Network,
        port: usize,
        Place { column, bit }: Place,
        lanes: usize,
    ) {
        let column = &mut self.columns[column];
        let left = std::mem::take(&mut column.cables.departures[bit]);
        network.switches.add_occupancy(port, left);
        for lane in (0..L).take(lanes) {
            network.buffers.write_present(port << SHIFT | lane, column.present.get(lane, bit));
        }
    }

    /// Writes which lanes have no room, and what is behind them; and which ports are requested.
    pub(crate) fn settle_blocked(&mut self, network: &mut Network) {
        for number in 0..self.columns.len() {
            let requests = &mut self.columns[number].requests;
            let requested = requests.requested;
            let known = std::mem::replace(&mut requests.known_requested, requested);
            for bit in members(known | requested) {
                self.settle_requests(network, Place { column: number, bit });
            }
            for lane in 0..L {
                let column = &mut self.columns[number];
                let blocked = column.blocked[lane];
                let known = std::mem::replace(&mut column.known_blocked[lane], blocked);
                for bit in members(known & !blocked) {
                    let from = self.places.port(number, bit) << SHIFT | lane;
                    network.switches.write_lane(from, false, false);
                }
                for bit in members(blocked) {
                    self.settle_blocked_lane(network, Place { column: number, bit }, lane);
                }
            }
        }
    }

    /// Writes who requests a port, and who holds its lanes.
    fn settle_requests(&self, network: &mut Network, Place { column: number, bit }: Place) {
        let port = self.places.port(number, bit);
        let column = &self.columns[number];
        let group = self.places.group_of(number);
        let first = self.places.spans[group].first;
        let at = |input: usize, lane: usize| self.places.port(input, bit) << SHIFT | lane;
        network.requests.clear(port);
        for asker in column.requests.askers(bit) {
            let lane = at(first + asker / L, asker % L);
            let Head { may, level, onward } = *self.groups[group].heads.get(asker, bit);
            let input = Self::number_in_switch(network, lane).into();
            network.requests.insert(port, input, lane, may, level.into());
            network.buffers.write_left(lane, onward.flits);
        }
        let base = network.switches.port(port).base as usize;
        let held = (0..L).filter_map(|lane| {
            let (input, from) = self.holder(number, lane, bit)?;
            let number = at(input, from) - base;
            Some((lane, u16::try_from(number).expect("lanes of a switch have 16 bits")))
        });
        network.links.write_holders(port, held);
    }

    fn settle_blocked_lane(&self, network: &mut Network, place: Place, lane: usize) {
        let from = self.places.port(place.column, place.bit) << SHIFT | lane;
        network.switches.write_lane(from, false, true);
        let to = self.output_of(place, lane);
        network.buffers.hold(from, Self::number_in_switch(network, to));
        let behind = network.links.opposite(to);
        if let Some(place) = self.places.of_port(behind >> SHIFT) {
            let present = &self.columns[place.column].present;
            network.buffers.write_present(behind, present.get(number_of(behind), place.bit));
        }
    }

    /// Writes the state of all lanes.
    pub(crate) fn settle_lanes(&self, network: &mut Network, context: &Context) {
        for (port, place) in self.places.iter() {
            self.settle_requests(network, place);
            for lane in 0..usize::from(context.plan.lanes.count) {
                self.settle_lane(network, port, place, lane);
            }
        }
    }

    /// By port: ticks from `tick` on at which flits come to it, all added.
    fn coming(&self, tick: u64) -> Vec<u64> {
        let mut coming = vec![0_u64; self.first_host];
        for (tick, word, bits) in self.arrivals.iter(tick) {
            for bit in members(bits) {
                let sum = &mut coming[self.places.port(word / L, bit)];
                *sum = sum.wrapping_add(tick);
            }
        }
        coming
    }

    /// Writes to the worms whose heads are being routed, or are to come, how far they have come.
    pub(crate) fn settle_worms(&self, network: &Network, context: &mut Context) {
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

    fn settle_lane(&self, network: &mut Network, port: usize, place: Place, number: usize) {
        let Place { column, bit } = place;
        let holder = self.holder(column, number, bit);
        let left = |(input, lane): (usize, usize)| self.columns[input].packets.left[lane][bit];
        let (column, lane) = (&self.columns[column], port << SHIFT | number);
        let is = |words: &[u64; L]| words[number] >> bit & 1 == 1;
        let (fill, credit) = (column.fill.get(number, bit), column.credit.get(number, bit));
        network.links.write_lane(lane, fill, credit);
        network.links.write_promised(lane, u32::from(fill) + holder.map_or(0, left));
        let packets = &column.packets;
        let held = is(&column.holds).then(|| {
            let out = Self::number_in_switch(network, self.output_of(place, number));
            (packets.left[number][bit], out)
        });
        network.buffers.write_lane(lane, column.present.get(number, bit), held);
        let can_send = is(&column.holds) && is(&column.there);
        network.switches.write_lane(lane, can_send, is(&column.blocked));
    }

    /// Writes what is on its way from `tick` on.
    pub(crate) fn settle_rings(&self, network: &mut Network, tick: u64) {
        for (tick, word, bits) in self.arrivals.iter(tick) {
            for bit in members(bits) {
                network.links.arrivals.push(tick, self.lane_at(word, bit));
            }
        }
        for (tick, word, bits) in self.credits.iter(tick) {
            for bit in members(bits) {
                network.links.send_credit(self.lane_at(word, bit), tick);
            }
        }
    }

    /// The output lane that an input lane holds, by its number in all of them.
    fn output_of(&self, Place { column, bit }: Place, lane: usize) -> usize {
        let out = usize::from(self.columns[column].packets.out[lane][bit]);
        let first = self.places.spans[self.places.group_of(column)].first;
        self.places.port(first + out / L, bit) << SHIFT | (out % L)
    }

    /// The number of a lane in its switch.
    fn number_in_switch(network: &Network, lane: usize) -> u16 {
        let base = network.switches.port(lane >> SHIFT).base as usize;
        u16::try_from(lane - base).expect("lanes of a switch have 16 bits")
    }

    /// The lane of a bit of a word of a ring.
    fn lane_at(&self, word: usize, bit: usize) -> usize {
        let (column, lane) = (word / L, word % L);
        let port = match column.checked_sub(self.columns.len()) {
            Some(hosts) => self.first_host + hosts * 64 + bit,
            None => self.places.port(column, bit),
        };
        port << SHIFT | lane
    }

    /// Heads that are being routed, or have a request, by column.
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

    /// Checks that its sets say what is so; for tests. Slow.
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
            assert!(is_late || column.requests.changed == 0, "what changed was looked at");
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
