//! Arbiters of lanes: which lane of a port sends next, at the crossbar, on the link and at the adapter.
//!
//! ```text
//!   lanes that can send   0 1 . 3      as bits 0b1011 ┐
//!   what stands first     length, instant it came ────┴► LaneArbiter ─► lane
//! ```
//!
//! The schedulers are those of `fairq` over up to 16 lanes. **By the flit** an arbiter is asked for every flit;
//! **by the packet** it is asked for heads alone, and whoever asks keeps to the lane until the tail has gone.
//!
//! Source: Yum et al. 2002, section 3.1 (stages 4 and 5, weighted round robin); InfiniBand Architecture
//! Specification, Volume 1, section 7.6.9, for its tables, by the packet.
//!
//! A lane whose weight or quantum is 0 is never served, as InfiniBand skips a slot of weight 0: a plan lets no class
//! use it. Round robin over bits is here and not `fairq`'s, for every flit of every hop asks for it twice; a test holds
//! the two together.
//!
//! Invariants: somebody is served whenever a lane of [`ArbiterPlan::served`] is eligible, and nothing changes when
//! nobody is; no allocation once built.

use gingham_fairq::{
    Arbiter, DeficitRoundRobin, FirstComeFirstServed, GeneralisedRoundRobin, Head, PassingOver,
    Ready, SchedulerError, Slot, StrictPriority, SurplusRoundRobin, TwoLevelTables, VirtualClock,
    WeightedRoundRobin,
};
use gingham_topology::routing::{LaneSet, MANAGEMENT_LANE};
use gingham_topology::subnet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// The most lanes of a channel.
const LANES_MAX: usize = 16;

/// What an arbiter chooses at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// The lane of the next flit: packets of different lanes go through each other.
    #[default]
    Flit,
    /// The lane of the next packet, which goes from head to tail. All lanes must have virtual cut-through.
    Packet,
}

/// How a port chooses among its lanes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ArbiterPlan {
    /// By what rule.
    pub scheduler: SchedulerPlan,
    /// How much at a time.
    pub granularity: Granularity,
}

/// The rule by which lanes are chosen; what is given a lane is by its number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum SchedulerPlan {
    /// In turn.
    #[default]
    RoundRobin,
    /// In turn, so many flits or packets each; 0 skips a lane.
    WeightedRoundRobin {
        /// Flits or packets a turn.
        weights: Vec<u32>,
    },
    /// In turn, so many bytes each, of which the last may take more than are left; 0 skips a lane.
    SurplusRoundRobin {
        /// Bytes a turn.
        quanta_bytes: Vec<u32>,
    },
    /// In turn, so many bytes each, of which nothing may take more than are left; 0 skips a lane.
    DeficitRoundRobin {
        /// Bytes a turn.
        quanta_bytes: Vec<u32>,
    },
    /// As if each lane had a channel of its own.
    VirtualClock {
        /// Bytes per second; a lane without goes when no other can.
        rates_bytes_per_second: Vec<Option<NonZeroU64>>,
    },
    /// What came first.
    FirstComeFirstServed,
    /// The highest level, in turn among its lanes.
    StrictPriority {
        /// 0, the lowest, to 15.
        levels: Vec<u8>,
    },
    /// InfiniBand's tables of high and low priority, and lane 15 above them.
    InfiniBand(subnet::ArbitrationTables),
}

/// Why an arbiter cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArbiterError {
    /// Not one value for each lane.
    #[error("{count} values for {lanes} lanes; give one for each lane")]
    Count {
        /// The values given.
        count: usize,
        /// The lanes of a channel.
        lanes: u8,
    },
    /// The scheduler refuses its parameters.
    #[error(transparent)]
    Scheduler(#[from] SchedulerError),
}

impl ArbiterPlan {
    /// The lanes among the first `count` that are ever served.
    pub fn served(&self, count: u8) -> LaneSet {
        let is_served = |lane: &u8| match &self.scheduler {
            SchedulerPlan::WeightedRoundRobin { weights: shares }
            | SchedulerPlan::SurplusRoundRobin { quanta_bytes: shares }
            | SchedulerPlan::DeficitRoundRobin { quanta_bytes: shares } => {
                shares.get(usize::from(*lane)).is_some_and(|share| *share > 0)
            }
            SchedulerPlan::InfiniBand(tables) => {
                let mut slots = tables.high.iter().chain(&tables.low);
                *lane == MANAGEMENT_LANE || slots.any(|slot| slot.lane == *lane && slot.weight > 0)
            }
            _ => true,
        };
        (0..count).filter(is_served).collect()
    }
}

/// The arbiter of one place of one port.
///
/// ```
/// use gingham_model::{ArbiterPlan, LaneArbiter, SchedulerPlan};
///
/// let weights = vec![1, 2];
/// let scheduler = SchedulerPlan::WeightedRoundRobin { weights };
/// let mut arbiter = LaneArbiter::new(&ArbiterPlan { scheduler, ..ArbiterPlan::default() }, 2);
/// let order = [0; 6].map(|_| arbiter.serve(0b11, &[]));
/// assert_eq!(order, [0, 1, 1, 0, 1, 1].map(Some));
/// ```
#[derive(Clone, Debug)]
pub struct LaneArbiter(State);

#[derive(Clone, Debug)]
enum State {
    /// Lanes after the last that was served, as bits.
    RoundRobin {
        after: u32,
    },
    Other(Box<Other>),
}

#[derive(Clone, Debug)]
struct Other {
    /// Lanes that may be asked for.
    served: u16,
    scheduler: Scheduler,
}

/// Big, and behind a box.
#[derive(Clone, Debug)]
enum Scheduler {
    Weighted(WeightedRoundRobin<LANES_MAX>),
    Surplus(PassingOver<SurplusRoundRobin<LANES_MAX>>),
    Deficit(DeficitRoundRobin<LANES_MAX>),
    VirtualClock(Box<VirtualClock<LANES_MAX>>),
    FirstCome(FirstComeFirstServed),
    Strict(StrictPriority<LANES_MAX>),
    Tables(TwoLevelTables),
}

impl LaneArbiter {
    /// A fresh arbiter over lanes `0..lanes`. Panics on a plan that [`ArbiterPlan::check`] refuses.
    pub fn new(plan: &ArbiterPlan, lanes: u8) -> Self {
        let built = Scheduler::new(&plan.scheduler, lanes);
        let scheduler = built.expect("the plan of an arbiter was checked");
        Self(match scheduler {
            None => State::RoundRobin { after: u32::MAX },
            Some(scheduler) => {
                State::Other(Box::new(Other { served: plan.served(lanes).bits(), scheduler }))
            }
        })
    }

    /// Chooses among the eligible lanes, given as bits, and takes what stands first there as sent.
    ///
    /// `heads` is by lane, and may be empty unless [`Self::looks_at_heads`].
    // Twice a flit and hop.
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

    #[inline(never)]
    fn serve_other(&mut self, eligible: u16, heads: &[Head]) -> Option<u8> {
        let State::Other(other) = &mut self.0 else { unreachable!("round robin is served above") };
        let eligible = [u64::from(eligible & other.served)];
        let ready =
            if heads.is_empty() { Ready::alike(&eligible) } else { Ready::new(&eligible, heads) };
        let lane = other.scheduler.serve(&ready)?;
        Some(u8::try_from(lane).expect("below 16"))
    }

    /// Whether lengths or instants of arrival matter.
    pub const fn looks_at_heads(&self) -> bool {
        match &self.0 {
            State::RoundRobin { .. } => false,
            State::Other(other) => {
                !matches!(other.scheduler, Scheduler::Weighted(_) | Scheduler::Strict(_))
            }
        }
    }

    /// Whether instants of arrival matter.
    pub const fn looks_at_arrivals(&self) -> bool {
        match &self.0 {
            State::RoundRobin { .. } => false,
            State::Other(other) => {
                matches!(other.scheduler, Scheduler::VirtualClock(_) | Scheduler::FirstCome(_))
            }
        }
    }
}

impl ArbiterPlan {
    /// Whether an arbiter over lanes `0..lanes` can be built by this plan.
    pub fn check(&self, lanes: u8) -> Result<(), ArbiterError> {
        Scheduler::new(&self.scheduler, lanes).map(|_| ())
    }
}

impl Scheduler {
    /// None for round robin.
    fn new(plan: &SchedulerPlan, lanes: u8) -> Result<Option<Self>, ArbiterError> {
        let shares = |shares: &[u32]| shares_of(shares, lanes);
        Ok(Some(match plan {
            SchedulerPlan::RoundRobin => return Ok(None),
            SchedulerPlan::WeightedRoundRobin { weights } => {
                let (weights, _) = shares(weights)?;
                Self::Weighted(WeightedRoundRobin::new(GeneralisedRoundRobin::new(&weights)?))
            }
            SchedulerPlan::SurplusRoundRobin { quanta_bytes } => {
                let (quanta, least) = shares(quanta_bytes)?;
                Self::Surplus(PassingOver::new(SurplusRoundRobin::new(least, &quanta)?))
            }
            SchedulerPlan::DeficitRoundRobin { quanta_bytes } => {
                let (quanta, least) = shares(quanta_bytes)?;
                Self::Deficit(DeficitRoundRobin::new(least, &quanta)?)
            }
            SchedulerPlan::VirtualClock { rates_bytes_per_second } => {
                check_count(rates_bytes_per_second.len(), lanes)?;
                Self::VirtualClock(Box::new(VirtualClock::new(rates_bytes_per_second)?))
            }
            SchedulerPlan::FirstComeFirstServed => Self::FirstCome(FirstComeFirstServed),
            SchedulerPlan::StrictPriority { levels } => {
                check_count(levels.len(), lanes)?;
                let levels: Vec<_> = levels.iter().map(|level| usize::from(*level)).collect();
                Self::Strict(StrictPriority::new(&levels)?)
            }
            SchedulerPlan::InfiniBand(subnet::ArbitrationTables { high_limit, high, low }) => {
                let slots = |slots: &[subnet::ArbitrationSlot]| {
                    let slot = |slot: &subnet::ArbitrationSlot| Slot {
                        queue: slot.lane,
                        weight: slot.weight,
                    };
                    slots.iter().map(slot).collect::<Vec<_>>()
                };
                let lanes = usize::from(lanes);
                let tables = TwoLevelTables::new(lanes, &slots(high), &slots(low), *high_limit);
                Self::Tables(tables?)
            }
        }))
    }

    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
        match self {
            Self::Weighted(arbiter) => arbiter.serve(ready),
            Self::Surplus(arbiter) => arbiter.serve(ready),
            Self::Deficit(arbiter) => arbiter.serve(ready),
            Self::VirtualClock(arbiter) => arbiter.serve(ready),
            Self::FirstCome(arbiter) => arbiter.serve(ready),
            Self::Strict(arbiter) => arbiter.serve(ready),
            Self::Tables(arbiter) => arbiter.serve(ready),
        }
    }
}

/// The shares with 1 for 0, and the least that is not 0: a lane of no share is never eligible, and its turns
/// are passed over whatever they would give.
fn shares_of(shares: &[u32], lanes: u8) -> Result<(Vec<u32>, u32), ArbiterError> {
    check_count(shares.len(), lanes)?;
    let least = shares.iter().copied().filter(|share| *share > 0).min();
    let least = least.ok_or(ArbiterError::Scheduler(SchedulerError::NoWeight))?;
    Ok((shares.iter().map(|share| if *share == 0 { least } else { *share }).collect(), least))
}

/// What is given by lane is given for each.
fn check_count(count: usize, lanes: u8) -> Result<(), ArbiterError> {
    let is_right = count == usize::from(lanes);
    if is_right { Ok(()) } else { Err(ArbiterError::Count { count, lanes }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_fairq::RoundRobin;
    use gingham_topology::subnet::ArbitrationTables;
    use proptest::prelude::*;

    fn arbiter(scheduler: SchedulerPlan, lanes: u8) -> LaneArbiter {
        LaneArbiter::new(&ArbiterPlan { scheduler, ..ArbiterPlan::default() }, lanes)
    }

    proptest! {
        #[test]
        fn round_robin_over_bits_is_that_of_the_schedulers(sets in prop::collection::vec(0_u16.., 0..200)) {
            let (mut ours, mut theirs) = (arbiter(SchedulerPlan::RoundRobin, 16), RoundRobin::new(16));
            for set in sets {
                let expected = theirs.serve(&Ready::alike(&[u64::from(set)]));
                prop_assert_eq!(ours.serve(set, &[]).map(usize::from), expected);
            }
        }
    }

    #[test]
    fn lanes_in_turn_and_past_the_last() {
        let mut arbiter = arbiter(SchedulerPlan::RoundRobin, 16);
        let order = [0x8003, 0x8003, 0x8003, 0x8003, 0, 0x0001, 0x8001]
            .map(|eligible| arbiter.serve(eligible, &[]));
        assert_eq!(order, [Some(0), Some(1), Some(15), Some(0), None, Some(0), Some(15)]);
    }

    #[test]
    fn a_lane_of_no_share_is_never_served() {
        let shares = vec![0, 2, 1];
        let plans = [
            SchedulerPlan::WeightedRoundRobin { weights: shares.clone() },
            SchedulerPlan::SurplusRoundRobin { quanta_bytes: shares.clone() },
            SchedulerPlan::DeficitRoundRobin { quanta_bytes: shares },
        ];
        let heads = [Head { length_bytes: 1, arrival_ps: 0 }; 3];
        for scheduler in plans {
            let plan = ArbiterPlan { scheduler, ..ArbiterPlan::default() };
            assert_eq!(plan.served(3), LaneSet::from_bits(0b110));
            let mut arbiter = LaneArbiter::new(&plan, 3);
            assert_eq!(arbiter.serve(0b001, &heads), None, "{plan:?}");
            let order = [0b111; 6].map(|eligible| arbiter.serve(eligible, &heads));
            assert_eq!(order, [1, 1, 2, 1, 1, 2].map(Some), "{plan:?}");
        }
    }

    #[test]
    fn the_tables_serve_what_has_a_weight_and_lane_15() {
        let slot = |lane, weight| subnet::ArbitrationSlot { lane, weight };
        let (high, low) = (vec![slot(0, 1), slot(1, 0)], vec![slot(2, 1)]);
        let tables = SchedulerPlan::InfiniBand(ArbitrationTables { high_limit: 0, high, low });
        let plan = ArbiterPlan { scheduler: tables, granularity: Granularity::Packet };
        assert_eq!(plan.served(16), LaneSet::from_bits(0x8005));
        assert_eq!(plan.served(3), LaneSet::from_bits(0b101));
        let mut arbiter = LaneArbiter::new(&plan, 16);
        let order = [0x8007, 0x7, 0x7, 0x7, 0x2].map(|eligible| arbiter.serve(eligible, &[]));
        assert_eq!(order, [Some(15), Some(0), Some(2), Some(0), None]);
    }

    /// Lane 1 came first; lane 0 has the higher level and the higher rate.
    #[test]
    fn arrivals_levels_and_rates_decide() {
        let heads = [70, 10].map(|arrival_ps| Head { length_bytes: 10, arrival_ps });
        let rates_bytes_per_second = vec![NonZeroU64::new(1_000_000_000_000), None];
        let first = [
            SchedulerPlan::FirstComeFirstServed,
            SchedulerPlan::StrictPriority { levels: vec![1, 0] },
            SchedulerPlan::VirtualClock { rates_bytes_per_second },
        ]
        .map(|scheduler| arbiter(scheduler, 2).serve(0b11, &heads));
        assert_eq!(first, [1, 0, 0].map(Some));
    }

    #[test]
    fn what_an_arbiter_looks_at() {
        let looks = |scheduler| {
            let arbiter = arbiter(scheduler, 1);
            (arbiter.looks_at_heads(), arbiter.looks_at_arrivals())
        };
        let shares = || vec![1];
        assert_eq!(looks(SchedulerPlan::RoundRobin), (false, false));
        assert_eq!(looks(SchedulerPlan::WeightedRoundRobin { weights: shares() }), (false, false));
        let surplus = SchedulerPlan::SurplusRoundRobin { quanta_bytes: shares() };
        assert_eq!(looks(surplus), (true, false));
        let deficit = SchedulerPlan::DeficitRoundRobin { quanta_bytes: shares() };
        assert_eq!(looks(deficit), (true, false));
        let rates_bytes_per_second = vec![None];
        assert_eq!(looks(SchedulerPlan::VirtualClock { rates_bytes_per_second }), (true, true));
        assert_eq!(looks(SchedulerPlan::FirstComeFirstServed), (true, true));
        assert_eq!(looks(SchedulerPlan::StrictPriority { levels: vec![0] }), (false, false));
        let slots = vec![subnet::ArbitrationSlot { lane: 0, weight: 1 }];
        let tables = ArbitrationTables { high_limit: 0, high: slots, low: Vec::new() };
        assert_eq!(looks(SchedulerPlan::InfiniBand(tables)), (true, false));
    }

    #[test]
    fn plans_that_no_arbiter_is_built_by() {
        let check = |scheduler| {
            ArbiterPlan { scheduler, ..ArbiterPlan::default() }.check(2).unwrap_err().to_string()
        };
        let no_weight = "all weights are zero, so that no lane would ever send; give one a weight";
        assert_eq!(check(SchedulerPlan::WeightedRoundRobin { weights: vec![0, 0] }), no_weight);
        let three = "3 values for 2 lanes; give one for each lane";
        assert_eq!(check(SchedulerPlan::DeficitRoundRobin { quanta_bytes: vec![1; 3] }), three);
        assert_eq!(check(SchedulerPlan::StrictPriority { levels: vec![1; 3] }), three);
    }
}
