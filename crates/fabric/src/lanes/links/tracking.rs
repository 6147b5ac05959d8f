//! What is kept of packets in output lanes where the arbiters of links are not the default.

use super::Links;
use crate::lanes::layout::SHIFT;

impl Links {
    /// A packet of so many flits will come to an output lane.
    pub(crate) fn track_packet(&mut self, lane: usize, flits: u32) {
        if let Some(packets) = self.packets.get_mut(lane) {
            packets.push_back(flits);
        }
    }

    /// A flit comes to an output lane at a tick.
    pub(crate) fn track_arrival(&mut self, lane: usize, tick: u64) {
        self.arbiters.track_arrival(lane, tick);
    }

    /// A flit leaves an output lane.
    pub(crate) fn track_departure(&mut self, port: usize, lane: usize) {
        let place = port << SHIFT | lane;
        self.arbiters.track_departure(place);
        let Some(packets) = self.packets.get_mut(place) else { return };
        let left = packets.front_mut().expect("a flit is of a packet");
        *left -= 1;
        if *left == 0 {
            packets.pop_front();
            self.ports[port].open = u16::MAX;
        }
    }
}
