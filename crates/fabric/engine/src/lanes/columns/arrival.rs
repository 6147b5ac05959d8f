//! What is seen from the next tick on: flits that are due are in the lane buffers of switches.

use super::table::Table;
use pulp::{Simd, WithSimd};

/// What all columns receive.
struct Stage<'a, const L: usize> {
    table: &'a mut Table<L>,
    tick: u64,
}

impl<const L: usize> WithSimd for Stage<'_, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        if self.table.is_deep {
            self.table.receive_columns::<true>(self.tick);
        } else {
            self.table.receive_columns::<false>(self.tick);
        }
    }
}

impl<const L: usize> Table<L> {
    /// Flits that are due are there, and what has crossed is not; heads that stand first are
    /// routed.
    pub(crate) fn receive_flits(&mut self, tick: u64) {
        self.arch.dispatch(Stage { table: self, tick });
    }

    #[inline(always)]
    fn receive_columns<const DEEP: bool>(&mut self, tick: u64) {
        let slot = self.arrivals.slot(tick);
        for number in 0..self.columns.len() {
            let due = self.arrivals.take::<L>(slot, number);
            let column = &mut self.columns[number];
            if due != column.crossed {
                column.present.step::<DEEP>(&due, &column.crossed);
                column.there = column.present.any::<DEEP>();
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
                let mut routed = self.routed_at(tick);
                for lane in 0..L {
                    routed.put(number * L + lane, heads[lane]);
                }
            }
        }
    }
}
