//! What is seen from the next tick on: flits that are due are in the lane buffers of switches.

use super::table::Table;
use crate::bits::members;
use crate::lanes::layout::{SHIFT, number_of};
use crate::lanes::network::Network;

impl<const L: usize> Table<L> {
    /// Flits that are due are there, and what has crossed is not; heads that stand first are
    /// routed.
    pub(crate) fn receive_flits(&mut self, network: &mut Network, tick: u64) {
        self.receive_from_hosts(network, tick);
        let slot = self.arrivals.slot(tick);
        for number in 0..self.columns.len() {
            let due = self.arrivals.take::<L>(slot, number);
            let column = &mut self.columns[number];
            if due != column.crossed {
                column.present.step(&due, &column.crossed);
                column.there = column.present.any();
            }
            column.crossed = [0; L];
            let (mut heads, mut any) = ([0; L], 0);
            for lane in 0..L {
                let there = column.there[lane];
                heads[lane] = there & !column.holds[lane] & !column.heads[lane];
                column.heads[lane] |= heads[lane];
                column.able[lane] = there & column.holds[lane] & !column.blocked[lane];
                any |= heads[lane];
            }
            if any != 0 {
                self.read_heads(network, number, &heads, tick);
            }
        }
    }

    /// What hosts sent is put to what else is due.
    fn receive_from_hosts(&mut self, network: &mut Network, tick: u64) {
        let due = network.links.arrivals.take(tick);
        let mut arrivals = self.arrivals.at(tick);
        for lane in &due {
            let (port, lane) = (*lane as usize >> SHIFT, number_of(*lane as usize));
            let place = self.places.of_port(port).expect("hosts are joined to switches");
            arrivals.put(place.column * L + lane, 1 << place.bit);
            let occupancy = &mut network.switches.port_mut(port).occupancy;
            *occupancy = occupancy.wrapping_sub(tick);
        }
        network.links.arrivals.give_back(tick, due);
    }

    #[inline(never)]
    fn read_heads(&self, network: &mut Network, number: usize, heads: &[u64; L], tick: u64) {
        for lane in 0..L {
            for bit in members(heads[lane]) {
                let lane = self.places.port(number, bit) << SHIFT | lane;
                network.switches.read_head(lane, tick);
            }
        }
    }
}
