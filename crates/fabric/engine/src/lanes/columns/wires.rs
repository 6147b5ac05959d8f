//! Cables that lead side by side from a column to another: what they carry is moved as words.
//!
//! ```text
//!   column 1, +x    . 1 1 0 1 . . .        the switches at the other end are one bit further:
//!                    \ \ \ \              one rotation moves all flits of a lane, and one
//!   column 0, -x    1 1 0 1 . . . .        the other way round their credits
//! ```
//!
//! Cables are a wire if there are enough of them that end in one column as many bits further, and
//! take as long; all others are carried one by one.

use super::column::Column;
use crate::bits::members;

/// Fewer cables than these are not worth a rotation in every tick.
const CABLES_MIN: u32 = 12;

/// Cables from one column to another, as many bits further.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    /// The ports at which they begin.
    ports: u64,
    /// Bits to the port at the other end, round the word.
    rotation: u32,
    /// From the present slot of a ring to the first lane there.
    pub(crate) flit_offset: u32,
    pub(crate) credit_offset: u32,
}

impl Wire {
    /// What ports send, as it is at the other end.
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
    /// Finds the wires among the cables of the ports that exist.
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
