//! When lanes take the next packet, where that is not as soon as the tail before it has crossed.
//!
//! ```text
//!   after-tail     released in this tick ─► given from the next one on
//!   tail-credit    given when nothing is in the output lane and all its credits are there
//!   atomic         given before, but its head is sent when all credits are there
//! ```

use super::{Links, TO_HOST};
use crate::bits::Bits;
use crate::lanes::layout::{LANES, SHIFT, bit_of, lanes_of, number_of};

/// Lanes that were released in this tick.
#[derive(Clone, Debug)]
pub(super) struct Released {
    /// By port of a switch.
    lanes: Vec<u16>,
    /// Those that have any.
    ports: Vec<usize>,
}

impl Released {
    pub(super) fn new(ports: usize) -> Self {
        Self { lanes: vec![0; ports], ports: Vec::new() }
    }

    pub(super) fn insert(&mut self, lane: usize) {
        let lanes = &mut self.lanes[lane >> SHIFT];
        if *lanes == 0 {
            self.ports.push(lane >> SHIFT);
        }
        *lanes |= bit_of(lane);
    }
}

/// Output lanes in the middle of a packet, where lanes hold flits of one packet only.
#[derive(Clone, Debug)]
pub(super) struct Atomic {
    /// By port of a switch: lanes of which the next flit is no head.
    begun: Vec<u16>,
    depths: [u32; LANES],
}

impl Atomic {
    pub(super) fn new(ports: usize, depths: &[u32; LANES]) -> Self {
        Self { begun: vec![0; ports], depths: *depths }
    }

    /// A flit has left an output lane, the last of its packet or not.
    pub(super) fn sent(&mut self, lane: usize, is_tail: bool) {
        let begun = &mut self.begun[lane >> SHIFT];
        *begun = *begun & !bit_of(lane) | if is_tail { 0 } else { bit_of(lane) };
    }
}

impl Links {
    /// Whether a lane of a switch that nobody holds can be given, but for the credits of whole
    /// packets.
    #[inline]
    pub(crate) fn is_released(&self, port: usize, lane: usize) -> bool {
        self.released.as_ref().is_none_or(|released| released.lanes[port] >> lane & 1 == 0)
    }

    /// The tick is over: what was released in it can be given in the next.
    pub(crate) fn end_release(&mut self, allocating: &mut Bits) {
        let Some(released) = &mut self.released else { return };
        for port in released.ports.drain(..) {
            released.lanes[port] = 0;
            allocating.insert(port);
        }
    }

    /// Whether nothing is in an output lane, or on its way to the buffer at the other end, or
    /// there: nobody can tell where that takes in all that comes.
    pub(crate) fn is_at_rest(&self, lane: usize, depth: u32) -> bool {
        let output = &self.lanes[lane];
        self.ports[lane >> SHIFT].is(TO_HOST)
            || output.fill == 0 && u32::from(output.credit) == depth
    }

    /// Whether the next flit of an output lane is a head that is not sent yet, because flits of
    /// another packet may be in the buffer at the other end.
    pub(crate) fn awaits_rest(&self, lane: usize) -> bool {
        let (port, output) = (lane >> SHIFT, &self.lanes[lane]);
        !self.ports[port].is(TO_HOST)
            && self.atomic.as_ref().is_some_and(|atomic| {
                atomic.begun[port] & bit_of(lane) == 0
                    && u32::from(output.credit) != atomic.depths[number_of(lane)]
            })
    }

    /// Of some lanes of a port that have a flit and a credit, those that may be sent.
    pub(crate) fn without_awaiting(&self, port: usize, lanes: u16) -> u16 {
        if self.atomic.is_none() {
            return lanes;
        }
        let awaits = |lane: &usize| self.awaits_rest(port << SHIFT | lane);
        lanes & !lanes_of(lanes).filter(awaits).fold(0, |lanes, lane| lanes | 1 << lane)
    }
}
