//! Stage 4 of columns: switch allocation, and traversal from input lanes to the output lanes that
//! they hold.

use super::column::Column;
use super::group::{RADIX_MAX, Row};
use super::places::Span;
use super::table::Table;
use crate::bits::members;
use crate::lanes::network::Network;
use gingham_net::{Crossbar, Reallocation};
use pulp::{Simd, WithSimd};

pub(super) struct Crossing<'a, const L: usize> {
    pub(super) table: &'a mut Table<L>,
    pub(super) network: &'a mut Network,
    pub(super) tick: u64,
}

impl<const L: usize> WithSimd for Crossing<'_, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.table.traverse_groups(self.network, self.tick);
    }
}

impl<const L: usize> Table<L> {
    #[inline(always)]
    fn traverse_groups(&mut self, network: &mut Network, tick: u64) {
        for number in 0..self.groups.len() {
            let Span { first, radix } = self.places.spans[number];
            let columns = &mut self.columns[first..first + radix];
            match self.rules.crossbar {
                Crossbar::Multiplexed => {
                    self.groups[number].allocate(columns, self.rules.allocator);
                }
                Crossbar::Full => {
                    for column in columns {
                        column.crossed = column.able;
                    }
                }
            }
            for input in 0..radix {
                let tails = self.traverse_inputs(number, first, input, tick);
                if tails != [0; L] {
                    self.release(network, number, first, input, &tails);
                }
            }
            if self.is_deep {
                self.fill_outputs::<true>(number);
            } else {
                self.fill_outputs::<false>(number);
            }
            if self.rules.pays_at_crossing {
                let columns = &mut self.columns[first..first + radix];
                let short = short_at_crossbar(columns);
                for (column, short) in columns.iter_mut().zip(short) {
                    column.short_at_crossbar = short;
                }
            }
        }
    }

    /// Moves flits from one input port of every switch to their output lanes. Returns, for each
    /// lane, the switches where a tail crossed.
    #[inline(always)]
    fn traverse_inputs(&mut self, group: usize, first: usize, input: usize, tick: u64) -> [u64; L] {
        let column = &mut self.columns[first + input];
        let put = self.groups[group].put.as_flattened_mut();
        let mut credits = self.credits.at(tick);
        let cables = &mut column.cables;
        let mut tails = [0; L];
        for wire in &column.wires {
            credits.put_lanes(wire.credit_offset as usize, wire.carry(&column.crossed));
        }
        for lane in 0..L {
            let mut left = column.crossed[lane] & column.loose;
            while left != 0 {
                let bit = left.trailing_zeros() as usize & 63;
                left &= left - 1;
                credits.put(cables.credit_offset[bit] as usize + lane, cables.peer_bit[bit]);
            }
        }
        for lane in 0..L {
            let mut left = column.crossed[lane];
            while left != 0 {
                let bit = left.trailing_zeros() as usize & 63;
                left &= left - 1;
                cables.departures[bit] = cables.departures[bit].wrapping_add(tick);
                let out = usize::from(column.packets.out[lane][bit]);
                put[out & (RADIX_MAX * L - 1)] |= 1 << bit;
                let flits = &mut column.packets.left[lane][bit];
                *flits -= 1;
                tails[lane] |= u64::from(*flits == 0) << bit;
            }
        }
        tails
    }

    #[inline(always)]
    fn release(
        &mut self,
        network: &mut Network,
        group: usize,
        first: usize,
        input: usize,
        tails: &[u64; L],
    ) {
        let is_late = self.rules.reallocation == Reallocation::AfterTail;
        let late = if is_late { u64::MAX } else { 0 };
        let is_watched = network.links.are_watched();
        let radix = self.groups[group].inputs.len();
        let columns = &mut self.columns[first..first + radix];
        for lane in 0..L {
            if tails[lane] == 0 {
                continue;
            }
            let column = &mut columns[input];
            column.holds[lane] &= !tails[lane];
            column.blocked[lane] &= !tails[lane];
            for bit in members(tails[lane]) {
                let column = &mut columns[input];
                network.buffers.drop_worm(column.lane_here(lane, bit));
                let out = usize::from(column.packets.out[lane][bit & 63]);
                let (output, to) = (out / L, out % L);
                column.towards[lane][output % RADIX_MAX] &= !(1 << bit);
                let column = &mut columns[output];
                column.requests.release(to, bit);
                column.released[to] |= late & 1 << bit;
                if is_watched {
                    network.links.release(column.lane_here(to, bit));
                }
            }
        }
    }

    #[inline(always)]
    fn fill_outputs<const DEEP: bool>(&mut self, group: usize) {
        let Span { first, radix } = self.places.spans[group];
        for output in 0..radix {
            self.fill_output::<DEEP>(group, first, output);
        }
    }

    #[inline(always)]
    fn fill_output<const DEEP: bool>(&mut self, group: usize, first: usize, output: usize) {
        let put = std::mem::replace(&mut self.groups[group].put[output], [0; L]);
        let column = &mut self.columns[first + output];
        if put != column.sent {
            column.fill.step::<DEEP>(&put, &column.sent);
            column.filled = column.fill.any::<DEEP>();
        }
        if put == [0; L] {
            return;
        }
        let mut full = column.fill.equal::<DEEP>(&self.output_depths);
        if self.rules.pays_at_crossing {
            for lane in 0..L {
                full[lane] |= column.unpaid(lane);
            }
        }
        if full != column.full {
            self.fill_up(first + output, &full);
        }
    }

    #[inline(never)]
    fn fill_up(&mut self, number: usize, full: &[u64; L]) {
        for lane in 0..L {
            let filled = full[lane] & !self.columns[number].full[lane];
            self.columns[number].full[lane] = full[lane];
            for bit in members(filled) {
                if let Some((input, from)) = self.holder(number, lane, bit) {
                    self.columns[input].blocked[from] |= 1 << bit;
                }
            }
        }
    }
}

/// Returns, for each output, the switches where only missing credits prevent the waiting flits from
/// crossing.
#[inline(always)]
pub(super) fn short_at_crossbar<const L: usize>(columns: &[Column<L>]) -> Row {
    let (mut paid, mut unpaid) = ([0; RADIX_MAX], [0; RADIX_MAX]);
    for column in columns {
        for lane in 0..L {
            let ready = column.there[lane] & column.holds[lane];
            let (free, blocked) = (ready & !column.blocked[lane], ready & column.blocked[lane]);
            for output in 0..RADIX_MAX {
                paid[output] |= free & column.towards[lane][output];
                unpaid[output] |= blocked & column.towards[lane][output];
            }
        }
    }
    for (output, column) in columns.iter().enumerate() {
        let filled = column.filled.iter().fold(0, |any, lane| any | lane);
        unpaid[output] &= !paid[output] & !filled;
    }
    unpaid
}
