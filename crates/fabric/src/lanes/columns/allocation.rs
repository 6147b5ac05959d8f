//! Stages 2 and 3: heads whose routing is over make their requests, and outputs grant them lanes, as
//! [`crate::lanes::allocation`] has it. Heads are few, and each is looked at by itself.

use super::column::Column;
use super::group::{Group, Head};
use super::places::Span;
use super::requests::Grant;
use super::rules::Rules;
use super::table::Table;
use crate::lanes::allocation::Wanted;
use crate::lanes::context::Context;
use crate::lanes::network::Network;
use crate::lanes::queues::Coming;
use gingham_model::Reallocation;

impl<const L: usize> Table<L> {
    /// Heads whose routing is over make their requests.
    pub(crate) fn route(&mut self, network: &mut Network, context: &mut Context, tick: u64) {
        let slot = self.routing.slot(tick);
        let mut routed = 0;
        for group in 0..self.groups.len() {
            let Span { first, radix } = self.places.spans[group];
            for input in 0..radix {
                if self.routing.is_empty::<L>(slot, first + input) {
                    continue;
                }
                let heads = self.routing.take::<L>(slot, first + input);
                for lane in 0..L {
                    let mut left = heads[lane];
                    routed += u64::from(left.count_ones());
                    while left != 0 {
                        let bit = left.trailing_zeros() as usize;
                        left &= left - 1;
                        self.request(group, (input, lane, bit), network, context);
                    }
                }
            }
        }
        context.clock.count(routed);
    }

    /// The head of an input lane requests the output on its way.
    #[inline]
    fn request(
        &mut self,
        group: usize,
        (input, lane, bit): (usize, usize, usize),
        network: &Network,
        context: &mut Context,
    ) {
        let first = self.places.spans[group].first;
        let from = self.columns[first + input].cables.here[bit & 63] as usize | lane;
        let (output, lanes, level) = if let Some(paths) = &mut self.paths {
            let Context { plan, lanes: lane_plan, layout, worms, .. } = context;
            let worm = worms.get_mut(network.buffers.worm(from));
            if worm.position == 0 {
                worm.hops = paths.find(worm, plan, (&*layout, &self.places));
            }
            let (output, onward) = paths.hop(worm);
            worm.position += 1;
            worm.dateline_class = onward.dateline_class;
            let level = lane_plan.arbitration.level(worm.packet.priority);
            (output, onward.lanes.bits(), level)
        } else {
            let Wanted { output, lanes, level } = network.wanted(from, context);
            (self.places.number_in_group(output), lanes, level)
        };
        let level = u16::try_from(level).expect("levels are few");
        let asker = input * L + lane;
        let flits = network.buffers.first(from).flits;
        self.groups[group].heads[asker][bit & 63] = Head { may: lanes, level, flits };
        self.columns[first + output].requests.insert(asker, bit);
    }

    /// Outputs for which something changed grant what they can.
    pub(crate) fn allocate_lanes(&mut self, network: &mut Network) {
        for group in 0..self.groups.len() {
            let Span { first, radix } = self.places.spans[group];
            let columns = &mut self.columns[first..first + radix];
            for output in 0..radix {
                let requests = &mut columns[output].requests;
                let switches = std::mem::take(&mut requests.changed) & requests.requested;
                if switches != 0 {
                    let group = &mut self.groups[group];
                    group.grant_lanes(columns, output, switches, network, &self.rules);
                }
            }
        }
        if self.rules.reallocation == Reallocation::AfterTail {
            for column in &mut self.columns {
                let released = std::mem::replace(&mut column.released, [0; L]);
                column.requests.changed = released.iter().fold(0, |any, lane| any | lane);
            }
        }
    }
}

impl<const L: usize> Group<L> {
    /// An output of some switches grants what lanes it can: input lanes hold them from now on.
    #[inline(never)]
    fn grant_lanes(
        &mut self,
        columns: &mut [Column<L>],
        output: usize,
        mut switches: u64,
        network: &mut Network,
        rules: &Rules,
    ) {
        while switches != 0 {
            let bit = switches.trailing_zeros() as usize;
            let column = &mut columns[output];
            let grant = if rules.gives_at_once {
                column.requests.grant(bit, &self.heads, |_| u16::MAX)
            } else {
                let most = rules.most_flits(column, bit);
                column.requests.grant(bit, &self.heads, |head| {
                    let can = |lane: usize| u16::from(most[lane] >= head.flits) << lane;
                    (0..L).fold(0, |lanes, lane| lanes | can(lane))
                })
            };
            // A switch is left once it grants nothing more.
            if grant.is_none() || column.requests.requested >> bit & 1 == 0 {
                switches &= switches - 1;
            }
            let Some(Grant { asker, lane }) = grant else { continue };
            let is_full = column.full[lane] >> bit & 1;
            let to = column.cables.here[bit & 63] as usize | lane;
            let there = column.cables.there[bit & 63] as usize | lane;
            let (input, from) = (asker / L, asker % L);
            let column = &mut columns[input];
            let at = column.cables.here[bit & 63] as usize | from;
            let Coming { worm, flits } = network.buffers.first(at);
            column.connect(from, bit, output * L + lane, flits, is_full);
            self.inputs[input].towards[from][output] |= 1 << bit;
            network.buffers.expect_worm(there, worm, flits);
            if network.links.are_watched() {
                network.hold_lane(at, to);
            }
        }
    }
}
