//! Parallel cables from one column to another. Whole words of their flits and credits move at once.
//!
//! ```text
//!   column 1, +x    . 1 1 0 1 . . .        the peer of each switch is one bit further:
//!                    \ \ \ \              one rotation moves all flits of a lane, and the
//!   column 0, -x    1 1 0 1 . . . .        opposite rotation their credits
//! ```
//!
//! Cables form a wire if enough of them lead to one column at the same distance in bits and with
//! the same delay. All other cables are handled one by one.

use super::column::Column;
use crate::bits::members;

/// Minimum number of cables in a wire, below which a rotation in every tick costs too much.
const CABLES_MIN: u32 = 12;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    ports: u64,
    /// Distance from the bit of a port to the bit of its peer, modulo 64.
    rotation: u32,
    pub(crate) flit_offset: u32,
    pub(crate) credit_offset: u32,
}

impl Wire {
    #[inline(always)]
    pub(crate) fn carry<const L: usize>(&self, sent: &[u64; L]) -> [u64; L] {
        let mut carried = [0; L];
        for lane in 0..L {
            carried[lane] = (sent[lane] & self.ports).rotate_left(self.rotation);
        }
        carried
    }
}

impl<const L: usize> Column<L> {
    pub(crate) fn find_wires(&mut self, exists: u64) {
        let mut found: Vec<Wire> = Vec::new();
        for bit in members(exists) {
            let cables = &self.cables;
            let to = cables.peer_bit[bit].trailing_zeros();
            let one = Wire {
                ports: 1 << bit,
                rotation: (64 + to - u32::try_from(bit).expect("a word has 64 bits")) % 64,
                flit_offset: cables.flit_offset[bit],
                credit_offset: cables.credit_offset[bit],
            };
            match found.iter_mut().find(|wire| wire.leads_as(&one)) {
                Some(wire) => wire.ports |= one.ports,
                None => found.push(one),
            }
        }
        found.retain(|wire| wire.ports.count_ones() >= CABLES_MIN);
        self.loose = found.iter().fold(u64::MAX, |loose, wire| loose & !wire.ports);
        self.wires = found;
    }
}

impl Wire {
    fn leads_as(&self, other: &Self) -> bool {
        let key = |wire: &Self| (wire.rotation, wire.flit_offset, wire.credit_offset);
        key(self) == key(other)
    }
}
