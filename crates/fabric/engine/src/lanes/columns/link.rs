//! Stages 1 and 5 of columns: credits are received, and every channel takes a flit from one of its
//! output lanes.

use super::column::Column;
use super::paths::Paths;
use super::places::Place;
use super::ring::Slot;
use super::table::Table;
use super::turn::round_robin;
use crate::bits::members;
use crate::lanes::context::Context;
use crate::lanes::layout::SHIFT;
use crate::lanes::links::Links;
use crate::lanes::network::Network;
use crate::lanes::queues::Coming;
use pulp::{Simd, WithSimd};

impl<const L: usize> Table<L> {
    pub(crate) fn receive_host_credits(&mut self, links: &mut Links, tick: u64) {
        self.arch.dispatch(HostCredits { table: self, links, tick });
    }

    #[inline(always)]
    fn count_host_credits(&mut self, links: &mut Links, tick: u64) {
        let slot = self.credits.slot(tick);
        let columns = self.columns.len();
        for word in 0..self.host_words {
            let due = self.credits.take::<L>(slot, columns + word);
            for lane in 0..L {
                let first = (self.first_host + word * 64) << SHIFT | lane;
                for bit in members(due[lane]) {
                    links.receive_credit(first + (bit << SHIFT));
                }
            }
        }
    }

    pub(crate) fn traverse_links(
        &mut self,
        network: &mut Network,
        context: &mut Context,
        tick: u64,
    ) {
        let sent = self.arch.dispatch(Stage { table: self, tick });
        context.clock.count(sent.into());
        self.free();
        self.eject(network, context);
    }

    #[inline(always)]
    fn traverse_columns<const DEEP: bool>(&mut self, tick: u64) -> u32 {
        let slot = self.credits.slot(tick);
        let Self { columns, credits, arrivals, freed, ejected, rules, .. } = self;
        let mut arrivals = arrivals.at(tick);
        let mut sent = 0;
        for (number, column) in columns.iter_mut().enumerate() {
            let due = credits.take(slot, number);
            let any = column.traverse::<DEEP>(&due, &mut arrivals, tick);
            if rules.counts_credits {
                column.requests.changed |= due.iter().fold(0, |any, lane| any | lane);
            }
            sent += any.count_ones();
            if any & column.to_host != 0 {
                column.send_to_hosts(number, ejected);
            }
            if column.roomy(rules) != [0; L] {
                freed.push(number);
            }
        }
        sent
    }

    fn eject(&mut self, network: &mut Network, context: &mut Context) {
        let mut ejected = std::mem::take(&mut self.ejected);
        let is_each_looked_at = network.in_transit.exists();
        for (place, lane) in ejected.drain(..) {
            let port = self.places.port(place.column, place.bit);
            let column = &mut self.columns[place.column];
            let to = column.lane_there(lane, place.bit);
            let passing = &mut column.packets.passing[lane][place.bit];
            if *passing == 1 {
                network.buffers.skip_to_last(to);
            }
            let ends = network.buffers.eject(to);
            let left = network.buffers.lane(to).left;
            *passing = if ends.is_tail || is_each_looked_at { 0 } else { left };
            if ends.is_head && self.paths.is_some() {
                let Coming { worm, hop, .. } = network.buffers.first(to);
                let worm = context.worms.get_mut(worm);
                worm.route.hops = Paths::passed(worm, hop);
            }
            network.land(port, to, ends, context.clock.now(), context);
        }
        self.ejected = ejected;
    }

    fn free(&mut self) {
        let mut freed = std::mem::take(&mut self.freed);
        for number in freed.drain(..) {
            let roomy = self.columns[number].roomy(&self.rules);
            for lane in 0..L {
                self.columns[number].full[lane] &= !roomy[lane];
                for bit in members(roomy[lane]) {
                    let Some((input, from)) = self.holder(number, lane, bit) else { continue };
                    let input = &mut self.columns[input];
                    input.blocked[from] &= !(1 << bit);
                    input.able[from] |= input.there[from] & input.holds[from] & 1 << bit;
                }
            }
        }
        self.freed = freed;
    }
}

struct HostCredits<'a, const L: usize> {
    table: &'a mut Table<L>,
    links: &'a mut Links,
    tick: u64,
}

impl<const L: usize> WithSimd for HostCredits<'_, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.table.count_host_credits(self.links, self.tick);
    }
}

struct Stage<'a, const L: usize> {
    table: &'a mut Table<L>,
    tick: u64,
}

impl<const L: usize> WithSimd for Stage<'_, L> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u32 {
        if self.table.is_deep {
            self.table.traverse_columns::<true>(self.tick)
        } else {
            self.table.traverse_columns::<false>(self.tick)
        }
    }
}

impl<const L: usize> Column<L> {
    /// Sends a flit on each channel that can send, and receives the arriving credits `due`. Returns
    /// the channels that sent a flit.
    #[inline(always)]
    fn traverse<const DEEP: bool>(
        &mut self,
        due: &[u64; L],
        arrivals: &mut Slot<'_>,
        tick: u64,
    ) -> u64 {
        let (mut can, mut any) = ([0; L], 0);
        for lane in 0..L {
            can[lane] = self.filled[lane] & (self.credited[lane] | due[lane] | self.to_host);
            any |= can[lane];
        }
        if any != 0 {
            can = round_robin(&can, &mut self.link_after);
            self.active |= any;
        }
        let waits = self.unsent() & !any;
        if waits != self.waits {
            self.note_waits(waits, tick);
        }
        self.sent = can;
        let mut paid = [0; L];
        for lane in 0..L {
            paid[lane] = can[lane] & !self.to_host;
        }
        if *due != paid {
            self.credit.step::<DEEP>(due, &paid);
            self.credited = self.credit.any::<DEEP>();
        }
        let cables = &mut self.cables;
        for wire in &self.wires {
            arrivals.put_lanes(wire.flit_offset as usize, wire.carry(&paid));
        }
        for lane in 0..L {
            for bit in members(paid[lane] & !self.loose) {
                cables.count_flit(bit & 63, tick);
            }
            for bit in members(paid[lane] & self.loose) {
                let bit = bit & 63;
                arrivals.put(cables.flit_offset[bit] as usize + lane, cables.peer_bit[bit]);
                cables.count_flit(bit, tick);
            }
        }
        any
    }

    #[inline(always)]
    fn note_waits(&mut self, waits: u64, tick: u64) {
        let waited = &mut self.cables.waited;
        for bit in members(waits & !self.waits) {
            waited[bit & 63] = waited[bit & 63].wrapping_sub(tick);
        }
        for bit in members(self.waits & !waits) {
            waited[bit & 63] = waited[bit & 63].wrapping_add(tick);
        }
        self.waits = waits;
    }

    #[inline(always)]
    fn send_to_hosts(&mut self, number: usize, ejected: &mut Vec<(Place, usize)>) {
        for lane in 0..L {
            let mut left = self.sent[lane] & self.to_host;
            while left != 0 {
                let bit = left.trailing_zeros() as usize & 63;
                left &= left - 1;
                self.cables.flits[bit] += 1;
                let passing = &mut self.packets.passing[lane][bit];
                if *passing > 1 {
                    *passing -= 1;
                } else {
                    ejected.push((Place { column: number, bit }, lane));
                }
            }
        }
    }
}
