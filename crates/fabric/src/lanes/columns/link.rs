//! Stages 1 and 5: credits count, and every channel takes a flit of one of its lanes.

use super::table::Table;
use crate::bits::members;
use crate::lanes::context::Context;
use crate::lanes::layout::SHIFT;
use crate::lanes::links::Links;
use crate::lanes::network::Network;

impl<const L: usize> Table<L> {
    /// Credits that are due count at hosts.
    pub(crate) fn receive_host_credits(&mut self, links: &mut Links, tick: u64) {
        let slot = self.credits.slot(tick);
        let columns = self.columns.len();
        for word in 0..self.host_words {
            let due = self.credits.take::<L>(slot, columns + word);
            for (lane, due) in due.into_iter().enumerate() {
                for bit in members(due) {
                    links.return_credit((self.first_host + word * 64 + bit) << SHIFT | lane);
                }
            }
        }
    }

    /// Credits that are due count, and all channels of switches that can send do.
    pub(crate) fn traverse_links(
        &mut self,
        network: &mut Network,
        context: &mut Context,
        tick: u64,
    ) {
        let slot = self.credits.slot(tick);
        let mut sent = 0;
        for number in 0..self.columns.len() {
            let due = self.credits.take::<L>(slot, number);
            sent += self.traverse_column(number, &due, tick);
        }
        context.clock.count(sent.into());
        self.free(network);
        self.eject(network, context);
    }

    /// Channels of a column, to which so many credits come: how many take a flit.
    #[inline]
    fn traverse_column(&mut self, number: usize, due: &[u64; L], tick: u64) -> u32 {
        let column = &mut self.columns[number];
        let (mut can, mut any) = ([0; L], 0);
        for lane in 0..L {
            can[lane] = column.filled[lane] & (column.credited[lane] | due[lane] | column.to_host);
            any |= can[lane];
        }
        if any == 0 {
            column.sent = [0; L];
            if *due != [0; L] {
                column.credit.step(due, &[0; L]);
                column.credited = column.credit.any();
            }
            return 0;
        }
        let can = super::turn::round_robin(&can, &mut column.link_after);
        column.sent = can;
        column.active |= any;
        let (mut paid, mut freed) = ([0; L], 0);
        for lane in 0..L {
            paid[lane] = can[lane] & !column.to_host;
            freed |= can[lane] & column.full[lane];
        }
        column.credit.step(due, &paid);
        column.credited = column.credit.any();
        let (slot, cables) = (self.arrivals.slot(tick), &mut column.cables);
        for lane in 0..L {
            let mut left = paid[lane];
            while left != 0 {
                let bit = left.trailing_zeros() as usize & 63;
                left &= left - 1;
                cables.flits[bit] += 1;
                let there = tick + u64::from(cables.latency[bit]);
                cables.arrivals[bit] = cables.arrivals[bit].wrapping_add(there);
                let offset = cables.flit_offset[bit] as usize + lane;
                self.arrivals.put(slot, offset, cables.peer_bit[bit]);
            }
        }
        if any & column.to_host != 0 {
            self.send_to_hosts(number, &can);
        }
        if freed != 0 {
            self.freed.push(number);
        }
        any.count_ones()
    }

    /// Channels into hosts take a flit: only the first and the last of a packet is looked at.
    #[inline]
    fn send_to_hosts(&mut self, number: usize, can: &[u64; L]) {
        let column = &mut self.columns[number];
        for lane in 0..L {
            let mut left = can[lane] & column.to_host;
            while left != 0 {
                let bit = left.trailing_zeros() as usize & 63;
                left &= left - 1;
                column.cables.flits[bit] += 1;
                let passing = &mut column.packets.passing[lane][bit];
                if *passing > 1 {
                    *passing -= 1;
                } else {
                    self.ejected.push((super::places::Place { column: number, bit }, lane));
                }
            }
        }
    }

    /// First and last flits of packets begin on their way to hosts.
    fn eject(&mut self, network: &mut Network, context: &mut Context) {
        let mut ejected = std::mem::take(&mut self.ejected);
        let is_each_looked_at = network.in_transit.exists();
        for (place, lane) in ejected.drain(..) {
            let port = self.places.port(place.column, place.bit);
            let passing = &mut self.columns[place.column].packets.passing[lane][place.bit];
            let to = network.links.port(port).peer_lane(lane);
            if *passing == 1 {
                network.buffers.skip_to_last(to);
            }
            let ends = network.buffers.eject(to);
            let left = network.buffers.lane(to).left;
            *passing = if ends.is_tail || is_each_looked_at { 0 } else { left };
            network.land(port, to, ends, context.clock.now(), context);
        }
        self.ejected = ejected;
    }

    /// Output lanes that were full have room.
    fn free(&mut self, network: &Network) {
        let mut freed = std::mem::take(&mut self.freed);
        for number in freed.drain(..) {
            for lane in 0..L {
                let column = &mut self.columns[number];
                let roomy = column.full[lane] & column.sent[lane];
                column.full[lane] &= !roomy;
                for bit in members(roomy) {
                    let holder = Self::holder(&self.places, network, number, lane, bit);
                    let Some((input, from)) = holder else { continue };
                    let input = &mut self.columns[input];
                    input.blocked[from] &= !(1 << bit);
                    input.able[from] |= input.there[from] & input.holds[from] & 1 << bit;
                }
            }
        }
        self.freed = freed;
    }
}
