//! Arrivals at the lane buffers of switches. Other stages see the flits from the next tick on.

use super::table::Table;
use pulp::{Simd, WithSimd};

pub(super) struct Arrivals<'a, const L: usize> {
    pub(super) table: &'a mut Table<L>,
    pub(super) tick: u64,
}

impl<const L: usize> WithSimd for Arrivals<'_, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        if self.table.is_deep { self.receive::<true>() } else { self.receive::<false>() }
    }
}

impl<const L: usize> Arrivals<'_, L> {
    #[inline(always)]
    fn receive<const DEEP: bool>(self) {
        let Self { table, tick } = self;
        let slot = table.arrivals.slot(tick);
        for number in 0..table.columns.len() {
            let due = table.arrivals.take::<L>(slot, number);
            let column = &mut table.columns[number];
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
                let mut routed = table.routed_at(tick);
                for lane in 0..L {
                    routed.put(number * L + lane, heads[lane]);
                }
            }
        }
    }
}
