//! Stages 2 and 3 of columns: routed heads make requests, and outputs grant lanes, as in
//! [`crate::lanes::allocation`]. There are few heads, so they are handled one by one.

use super::column::Column;
use super::group::{Group, Head};
use super::places::Span;
use super::requests::Grant;
use super::rules::{Rules, fitting};
use super::table::Table;
use crate::bits::members;
use crate::lanes::allocation::Wanted;
use crate::lanes::context::Context;
use crate::lanes::network::Network;
use crate::lanes::queues::Coming;
use gingham_net::Reallocation;
use pulp::{Simd, WithSimd};

pub(super) struct Routing<'a, const L: usize> {
    pub(super) table: &'a mut Table<L>,
    pub(super) network: &'a Network,
    pub(super) context: &'a mut Context,
    pub(super) tick: u64,
}

impl<const L: usize> WithSimd for Routing<'_, L> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u64 {
        let Self { table, network, context, tick } = self;
        let Table { columns, groups, places, routing, paths, has_levels, .. } = table;
        let slot = routing.slot(tick);
        let mut routed = 0;
        for (group, &Span { first, radix }) in groups.iter_mut().zip(&places.spans) {
            let columns = &mut columns[first..first + radix];
            for input in 0..radix {
                if routing.is_empty::<L>(slot, first + input) {
                    continue;
                }
                let heads = routing.take::<L>(slot, first + input);
                for lane in 0..L {
                    routed += u64::from(heads[lane].count_ones());
                    let asker = input * L + lane;
                    for bit in members(heads[lane]) {
                        let from = columns[input].lane_here(lane, bit);
                        let (output, head) = if let Some(paths) = paths {
                            paths.head(from, *has_levels, network, context, places)
                        } else {
                            let Wanted { output, lanes, level } = network.wanted(from, context);
                            let onward = network.buffers.first(from);
                            (places.number_in_group(output), Head::new(lanes, level, onward))
                        };
                        group.heads.set(asker, bit, head);
                        columns[output].requests.insert(asker, bit);
                    }
                }
            }
        }
        routed
    }
}

pub(super) struct Granting<'a, const L: usize> {
    pub(super) table: &'a mut Table<L>,
    pub(super) network: &'a mut Network,
}

impl<const L: usize> WithSimd for Granting<'_, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { table, network } = &self;
        if table.rules.gives_at_once && !table.has_levels && !network.links.are_watched() {
            self.grant::<true>();
        } else {
            self.grant::<false>();
        }
    }
}

impl<const L: usize> Granting<'_, L> {
    /// Grants lanes to heads. With `PLAIN`, any free lane can be granted to any head, heads have no
    /// priority levels, and lane holders are not watched.
    #[inline(always)]
    fn grant<const PLAIN: bool>(self) {
        let Self { table, network } = self;
        let Table { columns, groups, places, rules, .. } = table;
        for (group, &Span { first, radix }) in groups.iter_mut().zip(&places.spans) {
            let columns = &mut columns[first..first + radix];
            for output in 0..radix {
                let requests = &mut columns[output].requests;
                let switches = std::mem::take(&mut requests.changed) & requests.requested;
                for bit in members(switches) {
                    if rules.matches_lanes() {
                        group.match_lanes::<PLAIN>(columns, (output, bit), network, rules);
                    } else {
                        while group.grant_lane::<PLAIN>(columns, (output, bit), network, rules) {}
                    }
                    if !PLAIN && rules.counts_credits {
                        group.note_short(&mut columns[output], bit, rules);
                    }
                }
            }
        }
        if rules.reallocation == Reallocation::AfterTail {
            for column in columns {
                let released = std::mem::replace(&mut column.released, [0; L]);
                column.requests.changed |= released.iter().fold(0, |any, lane| any | lane);
            }
        }
    }
}

impl<const L: usize> Group<L> {
    fn note_short(&self, column: &mut Column<L>, bit: usize, rules: &Rules) {
        let late = |lane: usize| u16::from(column.released[lane] >> bit & 1 == 1) << lane;
        let late = (0..L).fold(0, |lanes, lane| lanes | late(lane));
        let free = column.requests.free[bit & 63];
        // Other VC allocators than iSLIP leave no head that can be granted a lane.
        let most = if rules.matches_lanes() { rules.most_flits(column, bit) } else { [0; L] };
        let is_short = |head: &Head| {
            let lanes = head.may & free;
            lanes & !late != 0 && lanes & fitting(&most, head.onward.flits) == 0
        };
        let is_short =
            column.requests.askers(bit).any(|asker| is_short(self.heads.get(asker, bit)));
        column.short = column.short & !(1 << bit) | u64::from(is_short) << bit;
    }

    #[inline(always)]
    fn grant_lane<const PLAIN: bool>(
        &mut self,
        columns: &mut [Column<L>],
        (output, bit): (usize, usize),
        network: &mut Network,
        rules: &Rules,
    ) -> bool {
        let column = &mut columns[output];
        let grant = if PLAIN || rules.gives_at_once {
            column.requests.grant::<PLAIN>(bit, &self.heads, |_| u16::MAX)
        } else {
            let most = rules.most_flits(column, bit);
            let fits = |head: &Head| fitting(&most, head.onward.flits);
            column.requests.grant::<PLAIN>(bit, &self.heads, fits)
        };
        let Some(Grant { asker, lane, onward }) = grant else { return false };
        let is_requested = column.requests.requested >> bit & 1 == 1;
        connect::<PLAIN, L>(columns, (output, lane, bit), asker, onward, network);
        is_requested
    }
}

/// Connects the input lane of a head to the output lane that it was granted.
#[inline(always)]
pub(super) fn connect<const PLAIN: bool, const L: usize>(
    columns: &mut [Column<L>],
    (output, lane, bit): (usize, usize, usize),
    asker: usize,
    onward: Coming,
    network: &mut Network,
) {
    let column = &columns[output];
    network.buffers.queue_worm(column.lane_there(lane, bit), onward);
    let (is_full, to) = (column.full[lane] >> bit & 1 == 1, column.lane_here(lane, bit));
    let (input, from) = (asker / L, asker % L);
    let column = &mut columns[input];
    column.connect(from, bit, (output, lane), onward.flits, is_full);
    if !PLAIN && network.links.are_watched() {
        network.hold_lane(column.lane_here(from, bit), to);
    }
}
