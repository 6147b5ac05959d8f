//! Lane arbiters, which choose the next lane of a port at the crossbar, on the link or at the
//! adapter.
//!
//! A **per-flit** arbiter chooses a lane for every flit. A **per-packet** arbiter chooses only for
//! heads, and its caller keeps the lane until the tail has left.
//!
//! Source: Yum et al. 2002, section 3.1.
//!
//! InfiniBand's tables refer to VLs. The lanes of a VL share its weight, in round-robin order.
//!
//! Round robin is implemented here with bit masks, and not in `fairq`, because every flit uses it
//! twice per hop.
//!
//! Invariants: a lane is served if any lane of [`Scheduler::served`] is eligible; nothing is
//! allocated after construction.

use super::scheduler::{Built, PLACES};
use super::{LanePlan, Scheduler};
use gingham_fairq::{Head, Ready};
use gingham_topology::routing::LaneSet;
use std::num::NonZeroU16;

/// Arbiter for the lanes of one port.
///
/// ```
/// use gingham_net::scheduler::{Granularity, WeightedRoundRobin};
/// use gingham_net::{LaneArbiter, Scheduler};
///
/// let weighted = WeightedRoundRobin { weights: vec![1, 2], by: Granularity::Flit };
/// let mut arbiter = LaneArbiter::new(&Scheduler::WeightedRoundRobin(weighted), 2);
/// let order = [0; 6].map(|_| arbiter.serve(0b11, &[]));
/// assert_eq!(order, [0, 1, 1, 0, 1, 1].map(Some));
/// ```
#[derive(Clone, Debug)]
pub struct LaneArbiter(State);

#[derive(Clone, Debug)]
enum State {
    /// Round robin; `after` is a bit mask of the lanes above the last served lane.
    RoundRobin {
        after: u32,
    },
    Other(Box<Other>),
    Vls(Box<Vls>),
}

#[derive(Clone, Debug)]
struct Other {
    served: u16,
    arbiter: Built,
}

#[derive(Clone, Debug)]
struct Vls {
    arbiter: Built,
    turns: VlTurns,
}

#[derive(Clone, Debug)]
struct VlTurns {
    served: LaneSet,
    lanes_per_vl: u8,
    last: [Option<u8>; PLACES],
}

impl LaneArbiter {
    /// Creates an arbiter for lanes `0..lanes`. Panics if [`Scheduler::check`] fails.
    pub fn new(scheduler: &Scheduler, lanes: u8) -> Self {
        if matches!(scheduler, Scheduler::RoundRobin(_)) {
            return Self(State::RoundRobin { after: u32::MAX });
        }
        let arbiter = scheduler.build(lanes, 1).expect("the scheduler was checked");
        let served = scheduler.served(lanes).bits();
        Self(State::Other(Box::new(Other { served, arbiter })))
    }

    /// Creates an arbiter for the lanes or VLs of a plan. Panics if [`Scheduler::check`] fails.
    pub fn over(scheduler: &Scheduler, plan: &LanePlan) -> Self {
        let lanes_per_vl = plan.allowed.lanes_per_vl();
        if lanes_per_vl == 1 || !scheduler.chooses_among_vls() {
            return Self::new(scheduler, plan.count);
        }
        let arbiter = scheduler.build(plan.count, 1).expect("the scheduler was checked");
        let served = scheduler.served(plan.count);
        let turns = VlTurns { served, lanes_per_vl, last: [None; PLACES] };
        Self(State::Vls(Box::new(Vls { arbiter, turns })))
    }

    /// Chooses a lane in the bit mask `eligible`, and counts its head as sent. `heads`, indexed by
    /// lane, may be empty if [`Facts::depends_on`](super::scheduler::Facts::depends_on) is `Lanes`.
    // Called twice per flit and hop.
    #[inline]
    pub fn serve(&mut self, eligible: u16, heads: &[Head]) -> Option<u8> {
        let State::RoundRobin { after } = &mut self.0 else {
            return self.serve_other(eligible, heads);
        };
        if eligible == 0 {
            return None;
        }
        let onward = u32::from(eligible) & *after;
        let candidates = if onward == 0 { u32::from(eligible) } else { onward };
        let lane = candidates.trailing_zeros();
        *after = !1 << lane;
        #[expect(clippy::cast_possible_truncation, reason = "below 16")]
        Some(lane as u8)
    }

    /// Returns the choice of [`Self::serve`] without changing state.
    pub fn peek(&self, eligible: u16, heads: &[Head]) -> Option<u8> {
        match &self.0 {
            State::RoundRobin { .. } => self.clone().serve(eligible, heads),
            State::Other(other) => {
                ask(eligible & other.served, heads, |ready| other.arbiter.peek(ready))
            }
            State::Vls(vls) => vls.turns.ask(eligible, heads, |ready| vls.arbiter.peek(ready)),
        }
    }

    /// Changes the weight of a lane at the end of the arbiter's round. Has no effect on a lane that
    /// is never served. Panics if [`Scheduler::can_change`] is false.
    pub fn weigh(&mut self, lane: u8, weight: NonZeroU16) {
        let State::Other(other) = &mut self.0 else {
            unreachable!("lanes in turn and tables have no weights that change")
        };
        if other.served >> lane & 1 == 1 {
            other.arbiter.weigh(lane, weight);
        }
    }

    #[inline(never)]
    fn serve_other(&mut self, eligible: u16, heads: &[Head]) -> Option<u8> {
        match &mut self.0 {
            State::RoundRobin { .. } => unreachable!("round robin is served above"),
            State::Other(other) => {
                let Other { served, arbiter } = &mut **other;
                ask(eligible & *served, heads, |ready| arbiter.serve(ready))
            }
            State::Vls(vls) => {
                let Vls { arbiter, turns } = &mut **vls;
                let lane = turns.ask(eligible, heads, |ready| arbiter.serve(ready))?;
                turns.last[usize::from(lane / turns.lanes_per_vl)] = Some(lane);
                Some(lane)
            }
        }
    }
}

impl VlTurns {
    fn ask(
        &self,
        eligible: u16,
        heads: &[Head],
        arbiter: impl FnOnce(&Ready<'_>) -> Option<usize>,
    ) -> Option<u8> {
        let mut next = [0; PLACES];
        let mut heads_of_vls = [Head::default(); PLACES];
        let mut vls = LaneSet::EMPTY;
        for vl in self.served.lanes() {
            let own = LaneSet::of_vl(vl, self.lanes_per_vl) & LaneSet::from_bits(eligible);
            let Some(lane) = self.next_of(vl, own) else { continue };
            vls = vls | LaneSet::one(vl);
            next[usize::from(vl)] = lane;
            if let Some(head) = heads.get(usize::from(lane)) {
                heads_of_vls[usize::from(vl)] = *head;
            }
        }
        let heads = if heads.is_empty() { &[] } else { &heads_of_vls[..] };
        ask(vls.bits(), heads, arbiter).map(|vl| next[usize::from(vl)])
    }

    fn next_of(&self, vl: u8, lanes: LaneSet) -> Option<u8> {
        let last = self.last[usize::from(vl)];
        let behind = lanes.lanes().find(|lane| last.is_none_or(|last| *lane > last));
        behind.or_else(|| lanes.lowest())
    }
}

fn ask(
    eligible: u16,
    heads: &[Head],
    arbiter: impl FnOnce(&Ready<'_>) -> Option<usize>,
) -> Option<u8> {
    let eligible = [u64::from(eligible)];
    let ready =
        if heads.is_empty() { Ready::alike(&eligible) } else { Ready::new(&eligible, heads) };
    arbiter(&ready).map(|lane| u8::try_from(lane).expect("below 16"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::scheduler::{
        DeficitRoundRobin, DependsOn, FirstComeFirstServed, Granularity, InfiniBand, LaneRate,
        PriorityWeightedRoundRobin, StrictPriority, SurplusRoundRobin, TableSlot, VirtualClock,
        WeightedRoundRobin,
    };
    use gingham_fairq::{Arbiter, RoundRobin};
    use gingham_kernel::{Bytes, Rate};
    use gingham_topology::generate::{Generator, TwoHosts};
    use gingham_topology::routing::{LaneMap, LaneSet, Lanes, ServiceLevels};
    use proptest::prelude::*;
    use std::num::NonZeroU32;

    fn arbiter(scheduler: &Scheduler, lanes: u8) -> LaneArbiter {
        LaneArbiter::new(scheduler, lanes)
    }

    fn weighted(weights: Vec<u32>) -> Scheduler {
        Scheduler::WeightedRoundRobin(WeightedRoundRobin { weights, by: Granularity::Flit })
    }

    fn surplus(quanta: &[u64]) -> Scheduler {
        let quanta = quanta.iter().copied().map(Bytes).collect();
        Scheduler::SurplusRoundRobin(SurplusRoundRobin { quanta, by: Granularity::Flit })
    }

    fn deficit(quanta: &[u64]) -> Scheduler {
        let quanta = quanta.iter().copied().map(Bytes).collect();
        Scheduler::DeficitRoundRobin(DeficitRoundRobin { quanta, by: Granularity::Flit })
    }

    fn strict(levels: Vec<u8>) -> Scheduler {
        Scheduler::StrictPriority(StrictPriority { levels, by: Granularity::Flit })
    }

    fn levels(levels: Vec<u8>, weights: Vec<u32>, yield_after: u32) -> Scheduler {
        let (yield_after, by) = (NonZeroU32::new(yield_after), Granularity::Flit);
        let of = PriorityWeightedRoundRobin { levels, weights, yield_after, by };
        Scheduler::PriorityWeightedRoundRobin(of)
    }

    fn clock(rates: Vec<LaneRate>) -> Scheduler {
        Scheduler::VirtualClock(VirtualClock { rates, by: Granularity::Flit })
    }

    fn first_come() -> Scheduler {
        Scheduler::FirstComeFirstServed(FirstComeFirstServed::default())
    }

    fn tables(high: Vec<TableSlot>, low: Vec<TableSlot>) -> Scheduler {
        let (high, low) = (Some(high), Some(low));
        Scheduler::InfiniBand(InfiniBand { high, low, high_limit: Some(0), file: None })
    }

    proptest! {
        #[test]
        fn bitwise_round_robin_matches_the_scheduler(sets in prop::collection::vec(0_u16.., 0..200)) {
            let (mut ours, mut theirs) = (arbiter(&Scheduler::default(), 16), RoundRobin::new(16));
            for set in sets {
                let expected = theirs.serve(&Ready::alike(&[u64::from(set)]));
                prop_assert_eq!(ours.serve(set, &[]).map(usize::from), expected);
            }
        }
    }

    fn vls(count: u8, lanes_per_vl: u8) -> LanePlan {
        let fabric = Generator::TwoHosts(TwoHosts { switches: 1, rails: 1 }).generate(1).unwrap();
        let map = LaneMap::uniform(&fabric, [0; 16]);
        let lanes = Lanes::new(&fabric, map, ServiceLevels::zero(&fabric));
        LanePlan { allowed: lanes.with_lanes_per_vl(lanes_per_vl), ..LanePlan::free(count) }
    }

    proptest! {
        #[test]
        fn lanes_share_the_table_weight_of_their_vl(
            sets in prop::collection::vec(0_u16.., 0..200),
            lanes_per_vl in 1..5_u8,
        ) {
            let slot = |lane, weight| TableSlot { lane, weight };
            let plan = tables(vec![slot(1, 2)], vec![slot(0, 1), slot(2, 3), slot(3, 0)]);
            let mut by_lane = LaneArbiter::over(&plan, &vls(16, lanes_per_vl));
            let mut by_vl = arbiter(&plan, 16);
            let heads = [Head { length_bytes: 64, arrival_ps: 0 }; 16];
            for set in sets {
                // VL 15 takes precedence over both tables, so its lane is excluded.
                let set = LaneSet::from_bits(set & 0x7fff);
                let vls = (0..15).filter(|vl| !(LaneSet::of_vl(*vl, lanes_per_vl) & set).is_empty());
                let vls = vls.collect::<LaneSet>();
                let expected = by_vl.serve(vls.bits(), &heads);
                let look = by_lane.peek(set.bits(), &heads);
                let lane = by_lane.serve(set.bits(), &heads);
                prop_assert_eq!(look, lane);
                prop_assert!(lane.is_none_or(|lane| set.contains(lane)));
                prop_assert_eq!(lane.map(|lane| lane / lanes_per_vl), expected);
            }
        }
    }

    #[test]
    fn lanes_of_a_vl_alternate_within_its_weight() {
        let slot = |lane, weight| TableSlot { lane, weight };
        let plan = tables(Vec::new(), vec![slot(0, 1), slot(1, 3)]);
        let lanes = vls(4, 2);
        assert_eq!(lanes.served(&plan), LaneSet::first_n(4));
        let mut arbiter = LaneArbiter::over(&plan, &lanes);
        let heads = [Head { length_bytes: 64, arrival_ps: 0 }; 4];
        let order = [0b1111; 8].map(|eligible| arbiter.serve(eligible, &heads));
        assert_eq!(order, [0, 2, 3, 2, 1, 3, 2, 3].map(Some));
        let plan = tables(Vec::new(), vec![slot(0, 1)]);
        assert_eq!(lanes.served(&plan), LaneSet::first_n(2));
        assert_eq!(LaneArbiter::over(&plan, &lanes).serve(0b1100, &heads), None);
    }

    #[test]
    fn peek_changes_no_arbiter_state() {
        let schedulers = [Scheduler::default(), weighted(vec![1, 2]), strict(vec![0, 0])];
        for (plan, order) in schedulers.iter().zip([[0, 1, 0], [0, 1, 1], [0, 1, 0]]) {
            let mut arbiter = arbiter(plan, 2);
            for lane in order {
                let looks = [0b11, 0b11, 0b10].map(|eligible| arbiter.peek(eligible, &[]));
                assert_eq!(looks, [Some(lane), Some(lane), Some(1)], "{plan:?}");
                assert_eq!(arbiter.peek(0, &[]), None);
                assert_eq!(arbiter.serve(0b11, &[]), Some(lane), "{plan:?}");
            }
        }
    }

    #[test]
    fn round_robin_wraps_past_the_last_lane() {
        let mut arbiter = arbiter(&Scheduler::default(), 16);
        let order = [0x8003, 0x8003, 0x8003, 0x8003, 0, 0x0001, 0x8001]
            .map(|eligible| arbiter.serve(eligible, &[]));
        assert_eq!(order, [Some(0), Some(1), Some(15), Some(0), None, Some(0), Some(15)]);
    }

    #[test]
    fn lane_with_zero_weight_is_never_served() {
        let schedulers = [
            weighted(vec![0, 2, 1]),
            surplus(&[0, 2, 1]),
            deficit(&[0, 2, 1]),
            levels(vec![1, 0, 0], vec![0, 2, 1], 0),
        ];
        let heads = [Head { length_bytes: 1, arrival_ps: 0 }; 3];
        for plan in schedulers {
            assert_eq!(plan.served(3), LaneSet::from_bits(0b110));
            let mut arbiter = LaneArbiter::new(&plan, 3);
            assert_eq!(arbiter.serve(0b001, &heads), None, "{plan:?}");
            let order = [0b111; 6].map(|eligible| arbiter.serve(eligible, &heads));
            assert_eq!(order, [1, 1, 2, 1, 1, 2].map(Some), "{plan:?}");
        }
    }

    #[test]
    fn tables_serve_weighted_lanes_and_lane_15() {
        let slot = |lane, weight| TableSlot { lane, weight };
        let plan = tables(vec![slot(0, 1), slot(1, 0)], vec![slot(2, 1)]);
        assert_eq!(plan.served(16), LaneSet::from_bits(0x8005));
        assert_eq!(plan.served(3), LaneSet::from_bits(0b101));
        let mut arbiter = LaneArbiter::new(&plan, 16);
        let order = [0x8007, 0x7, 0x7, 0x7, 0x2].map(|eligible| arbiter.serve(eligible, &[]));
        assert_eq!(order, [Some(15), Some(0), Some(2), Some(0), None]);
    }

    /// Checks which lane is served first. Lane 1 has the earlier arrival; lane 0 has the higher
    /// level and rate.
    #[test]
    fn arrival_level_or_rate_selects_the_lane() {
        let heads = [70, 10].map(|arrival_ps| Head { length_bytes: 10, arrival_ps });
        let reserved = LaneRate::Reserved(Rate::from_bytes_per_second(1_000_000_000_000));
        let first = [first_come(), strict(vec![1, 0]), clock(vec![reserved, LaneRate::BestEffort])]
            .map(|scheduler| arbiter(&scheduler, 2).serve(0b11, &heads));
        assert_eq!(first, [1, 0, 0].map(Some));
    }

    /// Checks that two flits of lane 0 alternate with one flit of lane 1 (weight 1) or lane 2
    /// (weight 2).
    #[test]
    fn higher_level_yields_to_weighted_lower_lanes() {
        let mut arbiter = arbiter(&levels(vec![1, 0, 0], vec![1, 1, 2], 2), 3);
        let order = [0b111; 9].map(|eligible| arbiter.serve(eligible, &[]));
        assert_eq!(order, [0, 0, 1, 0, 0, 2, 0, 0, 2].map(Some));
    }

    #[test]
    fn weights_change_at_the_end_of_a_round() {
        let weight = |weight| NonZeroU16::new(weight).unwrap();
        let heads = [Head { length_bytes: 64, arrival_ps: 0 }; 3];
        for plan in
            [weighted(vec![1, 2, 0]), levels(vec![0; 3], vec![1, 2, 0], 0), surplus(&[64, 128, 0])]
        {
            assert!(plan.can_change());
            let mut arbiter = arbiter(&plan, 3);
            let serve = |arbiter: &mut LaneArbiter| arbiter.serve(0b111, &heads).unwrap();
            assert_eq!([0; 2].map(|_| serve(&mut arbiter)), [0, 1], "{plan:?}");
            arbiter.weigh(0, weight(2));
            arbiter.weigh(1, weight(1));
            arbiter.weigh(2, weight(9));
            // Under surplus round robin, lane 0 has already started its second round, with a
            // quantum of one flit.
            let expected = if matches!(plan, Scheduler::SurplusRoundRobin(_)) {
                [1, 0, 1, 0, 0, 1, 0, 0, 1]
            } else {
                [1, 0, 0, 1, 0, 0, 1, 0, 0]
            };
            assert_eq!([0; 9].map(|_| serve(&mut arbiter)), expected, "{plan:?}");
        }
        let rates = vec![LaneRate::BestEffort];
        let others =
            [Scheduler::default(), deficit(&[1]), clock(rates), first_come(), strict(vec![0])];
        assert!(others.iter().all(|plan| !plan.can_change()));
        assert!(!tables(Vec::new(), Vec::new()).can_change());
    }

    #[test]
    fn each_scheduler_declares_its_inputs() {
        let slot = TableSlot { lane: 0, weight: 1 };
        for (scheduler, expected) in [
            (Scheduler::default(), DependsOn::Lanes),
            (weighted(vec![1]), DependsOn::Lanes),
            (surplus(&[1]), DependsOn::Lengths),
            (deficit(&[1]), DependsOn::Lengths),
            (clock(vec![LaneRate::BestEffort]), DependsOn::Arrivals),
            (first_come(), DependsOn::Arrivals),
            (strict(vec![0]), DependsOn::Lanes),
            (levels(vec![0], vec![1], 0), DependsOn::Lanes),
            (tables(Vec::new(), vec![slot]), DependsOn::Lengths),
        ] {
            assert_eq!(scheduler.facts().depends_on, expected, "{scheduler:?}");
        }
    }

    #[test]
    fn invalid_scheduler_plans_are_refused() {
        let check = |scheduler: Scheduler| scheduler.check(2, 1).unwrap_err().message;
        let no_weight = "all weights are zero, so that no lane would ever send; give one a weight";
        assert_eq!(check(weighted(vec![0, 0])), no_weight);
        let three = "3 values for 2 lanes: give one for each lane, lane 0 first (network.lanes.count is the number of lanes)";
        assert_eq!(check(deficit(&[1; 3])), three);
        assert_eq!(check(strict(vec![1; 3])), three);
        assert_eq!(check(levels(vec![1; 3], vec![1; 2], 0)), three);
        assert_eq!(check(levels(vec![1; 2], vec![1; 3], 0)), three);
        assert_eq!(check(levels(vec![1; 2], vec![0; 2], 0)), no_weight);
        assert_eq!(check(levels(vec![1, 16], vec![1; 2], 0)), "levels are 0 to 15, not 16");
    }
}
