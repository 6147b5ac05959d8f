//! VC allocation by iSLIP between the free lanes of an output and the heads that request the
//! output, as in [`crate::lanes::lane_matching`].
//!
//! Outputs with requests are handled one by one, because there are few heads.

use super::allocation::connect;
use super::column::Column;
use super::group::{Group, Head};
use super::requests::Requests;
use super::rules::{Rules, fitting};
use crate::lanes::layout::LANES;
use crate::lanes::network::Network;
use gingham_net::Priority;

const LEVELS: usize = Priority::LEVELS as usize;

/// Round-robin pointers of one port of each switch.
#[derive(Clone, Debug)]
pub(crate) struct LaneMatching<const L: usize> {
    /// For each level and output lane, the requester after the last one that accepted a grant.
    heads: [[[u16; 64]; L]; LEVELS],
    /// For each input lane, the lane after the last accepted one: its output times [`LANES`], plus
    /// its number there.
    lanes: [[u16; 64]; L],
}

/// Lanes granted to a requester.
#[derive(Clone, Copy, Debug)]
struct Grants {
    asker: usize,
    lanes: u16,
}

impl<const L: usize> LaneMatching<L> {
    pub(crate) fn new() -> Self {
        Self { heads: [[[0; 64]; L]; LEVELS], lanes: [[0; 64]; L] }
    }
}

impl<const L: usize> Group<L> {
    /// Matches heads with the free lanes of an output. After a grant in the last iteration, the
    /// output is visited again in the next tick.
    pub(super) fn match_lanes<const PLAIN: bool>(
        &self,
        columns: &mut [Column<L>],
        (output, bit): (usize, usize),
        network: &mut Network,
        rules: &Rules,
    ) {
        for iteration in 0..rules.matching_iterations {
            let (grants, count) = self.grant_all::<PLAIN>(&columns[output], bit, rules);
            for Grants { asker, lanes } in &grants[..count] {
                let lane = accept(columns, (*asker, output, bit), *lanes);
                if iteration == 0 {
                    let level = self.heads.get(*asker, bit).level;
                    move_pointers(columns, (*asker, output, bit), lane, level.into());
                }
                let onward = self.heads.get(*asker, bit).onward;
                columns[output].requests.take(*asker, lane, bit);
                connect::<PLAIN, L>(columns, (output, lane, bit), *asker, onward, network);
            }
            if count == 0 {
                return;
            }
        }
        columns[output].requests.changed |= 1 << bit;
    }

    /// Returns the grants of all free lanes, and the number of requesters with grants.
    fn grant_all<const PLAIN: bool>(
        &self,
        column: &Column<L>,
        bit: usize,
        rules: &Rules,
    ) -> ([Grants; L], usize) {
        let (mut grants, mut count) = ([Grants { asker: 0, lanes: 0 }; L], 0);
        let Column { requests, matching: Some(matching), .. } = column else {
            return (grants, 0);
        };
        let free = requests.free[bit & 63];
        let gives_at_once = PLAIN || rules.gives_at_once;
        let most = if gives_at_once { [u32::MAX; L] } else { rules.most_flits(column, bit) };
        let lanes_for = |head: &Head| head.may & free & fitting(&most, head.onward.flits);
        let lanes_of = |asker| (asker, lanes_for(self.heads.get(asker, bit)));
        let mut candidates = requests.askers(bit).map(lanes_of).filter(|(_, lanes)| *lanes != 0);
        let Some((asker, lanes)) = candidates.next() else { return (grants, 0) };
        let Some((_, others)) = candidates.next() else {
            // All lanes grant the only head that can take them.
            grants[0] = Grants { asker, lanes };
            return (grants, 1);
        };
        let wanted = candidates.fold(lanes | others, |wanted, (_, lanes)| wanted | lanes);
        for lane in (0..L).filter(|lane| wanted >> lane & 1 == 1) {
            let pointer = |level: u16| matching.heads[usize::from(level) % LEVELS][lane][bit & 63];
            let can_take = |head: &Head| lanes_for(head) & 1 << lane;
            let winner = requests.winner::<PLAIN>(bit, &self.heads, pointer, can_take);
            let Some((asker, lanes, _)) = winner else { continue };
            if let Some(of) = grants[..count].iter_mut().find(|of| of.asker == asker) {
                of.lanes |= lanes;
            } else {
                grants[count] = Grants { asker, lanes };
                count += 1;
            }
        }
        (grants, count)
    }
}

/// Returns the lane that a requester accepts: the first granted lane from its pointer on.
fn accept<const L: usize>(
    columns: &[Column<L>],
    (asker, output, bit): (usize, usize, usize),
    lanes: u16,
) -> usize {
    let matching = columns[asker / L].matching.as_ref().expect("lanes are matched by iSLIP");
    let pointer = usize::from(matching.lanes[asker % L][bit & 63]).saturating_sub(output * LANES);
    let onward = if pointer < LANES { lanes & u16::MAX << pointer } else { 0 };
    let lane = if onward == 0 { lanes } else { onward }.trailing_zeros() as usize;
    lane % L
}

fn move_pointers<const L: usize>(
    columns: &mut [Column<L>],
    (asker, output, bit): (usize, usize, usize),
    lane: usize,
    level: usize,
) {
    let lane_after = output * LANES + lane + 1;
    if let Some(of_output) = &mut columns[output].matching {
        of_output.heads[level % LEVELS][lane][bit & 63] = Requests::<L>::after(asker);
    }
    if let Some(of_input) = &mut columns[asker / L].matching {
        of_input.lanes[asker % L][bit & 63] =
            u16::try_from(lane_after).expect("lanes of a switch are few");
    }
}
