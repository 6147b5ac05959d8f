//! When lanes take the next packet, where that is not as soon as the tail before it has crossed.
//!
//! ```text
//!   after-tail     released in this tick ─► given from the next one on
//!   tail-credit    given when nothing is in the output lane and all its credits are there
//! ```

use super::{Links, TO_HOST};
use crate::bits::Bits;
use crate::lanes::layout::{SHIFT, bit_of};

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
}
