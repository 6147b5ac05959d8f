//! Schedulers of lanes: by which rule a port chooses, as a scenario names it, by name alone or with
//! parameters.
//!
//! ```text
//!   crossbar_input = "round-robin"
//!   link_output = { weighted-round-robin = { weights = [1, 2, 4], by = "packet" } }
//!   adapter_port = { infiniband = { high = [{ lane = 0, weight = 4 }], low = [{ lane = 1, weight = 1 }] } }
//! ```
//!
//! What is given by lane is a list with a value for each, lane 0 first. A scheduler is a file that
//! says what it takes, what can be wrong with that, and which arbiter of `fairq` it means; and a
//! line of `schedulers!` below.

mod deficit_round_robin;
mod first_come_first_served;
mod infiniband;
mod priority_weighted_round_robin;
mod round_robin;
mod strict_priority;
mod surplus_round_robin;
mod virtual_clock;
mod weighted_round_robin;

pub use deficit_round_robin::DeficitRoundRobin;
pub use first_come_first_served::FirstComeFirstServed;
pub use infiniband::{InfiniBand, TableSlot, has_slots};
pub use priority_weighted_round_robin::PriorityWeightedRoundRobin;
pub use round_robin::RoundRobin;
pub use strict_priority::StrictPriority;
pub use surplus_round_robin::SurplusRoundRobin;
pub use virtual_clock::{LaneRate, VirtualClock};
pub use weighted_round_robin::WeightedRoundRobin;

use crate::bare_names::accept_bare_names;
use gingham_fairq::{Arbiter, Ready, SchedulerError};
use gingham_kernel::Bytes;
use gingham_topology::routing::{LANES_MAX, LaneSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

/// Places of an arbiter, the most lanes of a channel.
pub(super) const PLACES: usize = LANES_MAX as usize;

/// Every lane that there can be.
const ALL_LANES: LaneSet = LaneSet::first_n(LANES_MAX);

/// The highest level of a scheduler that has levels.
const LEVEL_MAX: u8 = 15;

/// Bytes of a weight of one where turns are in bytes: the unit of InfiniBand's tables
/// (InfiniBand Architecture Specification, Volume 1, section 7.6.9).
pub const WEIGHT_BYTES: u32 = 64;

/// What an arbiter chooses at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// The lane of the next flit: packets of different lanes go through each other.
    #[default]
    Flit,
    /// The lane of the next packet, which goes from head to tail. All lanes must have virtual
    /// cut-through.
    Packet,
}

/// What an arbiter looks at beside which lanes can send; each holds those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LooksAt {
    /// Nothing.
    Lanes,
    /// The length of what stands first on each lane.
    Lengths,
    /// The instant at which that came.
    Arrivals,
}

/// What is to be known of a scheduler beside its arbiter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What its arbiter looks at.
    pub looks_at: LooksAt,
    /// Unit of choice.
    pub by: Granularity,
    /// The lanes that are ever served, and perhaps some that are not there.
    pub served: LaneSet,
}

/// What is wrong with the parameters of a scheduler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The parameter, as a dotted path; empty for all of them together.
    pub key: String,
    /// Why.
    pub message: String,
}

impl From<SchedulerError> for Fault {
    fn from(error: SchedulerError) -> Self {
        Self { key: String::new(), message: error.to_string() }
    }
}

/// A scheduler with its parameters.
pub(super) trait LaneScheduler: Sized {
    /// What chooses.
    type Arbiter;

    fn facts(&self) -> Facts;

    /// The same where it chooses by the packet.
    fn by_packet(self) -> Self;

    /// A fresh arbiter over lanes `0..lanes`, with flits of so many bytes; else what is wrong with
    /// the parameters.
    fn build(&self, lanes: u8, flit_bytes: u32) -> Result<Self::Arbiter, Fault>;

    /// Whether its lanes have weights, which can change while it chooses.
    const HAS_WEIGHTS: bool = false;

    /// A lane has another weight, from the end of the arbiter's round on. Only where lanes have
    /// weights.
    fn weigh(
        _arbiter: &mut Self::Arbiter,
        _lane: usize,
        _weight: NonZeroU16,
    ) -> Result<(), SchedulerError> {
        unreachable!("whoever orders a weight asks first whether there are any")
    }
}

/// Makes [`Scheduler`] and [`Built`] of the types of the schedulers.
macro_rules! schedulers {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// How a port chooses among its lanes.
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schemars(transform = accept_bare_names)]
        pub enum Scheduler {
            $($(#[$about])* $name($name),)*
        }

        impl Scheduler {
            /// What is to be known of it beside its arbiter.
            pub fn facts(&self) -> Facts {
                match self {
                    $(Self::$name(of) => of.facts(),)*
                }
            }

            /// The same where it chooses by the packet.
            #[must_use]
            pub fn by_packet(self) -> Self {
                match self {
                    $(Self::$name(of) => Self::$name(of.by_packet()),)*
                }
            }

            /// Whether the weights of its lanes can change while a run goes on.
            pub const fn can_change(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$name as LaneScheduler>::HAS_WEIGHTS,)*
                }
            }

            /// A fresh arbiter over lanes `0..lanes`.
            pub(super) fn build(&self, lanes: u8, flit_bytes: u32) -> Result<Built, Fault> {
                match self {
                    $(Self::$name(of) => of.build(lanes, flit_bytes).map(Built::$name),)*
                }
            }
        }

        /// An arbiter. Big, and behind a box.
        #[derive(Clone, Debug)]
        pub(super) enum Built {
            $($name(<$name as LaneScheduler>::Arbiter),)*
        }

        impl Built {
            pub(super) fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
                match self {
                    $(Self::$name(arbiter) => arbiter.serve(ready),)*
                }
            }

            pub(super) fn weigh(&mut self, lane: u8, weight: NonZeroU16) {
                let lane = usize::from(lane);
                let weighed = match self {
                    $(Self::$name(arbiter) => $name::weigh(arbiter, lane, weight),)*
                };
                weighed.expect("the lane is one of the arbiter's");
            }

            pub(super) fn peek(&self, ready: &Ready<'_>) -> Option<usize> {
                match self {
                    $(Self::$name(arbiter) => arbiter.peek(ready),)*
                }
            }
        }
    };
}

schedulers! {
    /// Round robin, from the lane after the last one served.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    RoundRobin,
    /// Weighted round robin: so many flits, or packets, a turn.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    #[schemars(extend("x-example" = "{ weighted-round-robin = { weights = [1, 3] } }"))]
    WeightedRoundRobin,
    /// Surplus round robin: so many bytes a turn. What the last flit or packet takes beyond them is
    /// deducted from the next turn.
    #[schemars(extend("x-source" = "Adiseshu et al. 1996, section 3"))]
    #[schemars(extend("x-example" = r#"{ surplus-round-robin = { quanta = ["64 B", "192 B"] } }"#))]
    SurplusRoundRobin,
    /// Deficit round robin: so many bytes a turn. What does not suffice for the next flit or packet
    /// is saved for the next turn.
    #[schemars(extend("x-source" = "Shreedhar and Varghese 1995"))]
    #[schemars(extend("x-example" = r#"{ deficit-round-robin = { quanta = ["64 B", "192 B"] } }"#))]
    DeficitRoundRobin,
    /// VirtualClock: as if each lane had a channel of its own rate. What that channel would have
    /// carried first goes first.
    #[schemars(extend("x-source" = "Zhang 1990; Yum et al. 2002, section 3.1"))]
    #[schemars(extend("x-example" = r#"{ virtual-clock = { rates = ["50 MB/s", "best-effort"] } }"#))]
    VirtualClock,
    /// First come, first served, whatever the lane.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    FirstComeFirstServed,
    /// The highest level that can send, with round robin among its lanes. Lower levels may starve.
    #[schemars(extend("x-source" = "textbook", "x-example" = "{ strict-priority = { levels = [0, 1] } }"))]
    StrictPriority,
    /// The highest level that can send, with weighted round robin among its lanes. With
    /// `yield_after`, a lower level has a turn after so many.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.3"))]
    #[schemars(extend("x-example" = "{ priority-weighted-round-robin = { levels = [1, 0], weights = [1, 3], yield_after = 16 } }"))]
    PriorityWeightedRoundRobin,
    /// InfiniBand's tables of high and low priority, with the limit of high priority and lane 15
    /// above all; always by the packet. Without parameters, the default tables of OpenSM.
    #[serde(rename = "infiniband")]
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, section 7.6.9"))]
    #[schemars(extend("x-example" = r#"network.lanes.count = 2
network.lanes.forwarding = "virtual-cut-through"
network.lanes.link_output = { infiniband = { high = [{ lane = 1, weight = 4 }], low = [{ lane = 0, weight = 1 }], high_limit = 1 } }
network.lanes.adapter_port = { infiniband = { high = [{ lane = 1, weight = 4 }], low = [{ lane = 0, weight = 1 }], high_limit = 1 } }"#))]
    InfiniBand,
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::RoundRobin(RoundRobin::default())
    }
}

impl Scheduler {
    /// What is wrong with it for so many lanes, with flits of so many bytes.
    pub fn check(&self, lanes: u8, flit_bytes: u32) -> Result<(), Fault> {
        self.build(lanes, flit_bytes).map(|_| ())
    }

    /// Whether its parameters are of VLs, whose lanes share what their VL has.
    pub const fn chooses_among_vls(&self) -> bool {
        matches!(self, Self::InfiniBand(_))
    }

    /// The lanes among the first `count` that are ever served; VLs if it chooses among these.
    pub fn served(&self, count: u8) -> LaneSet {
        self.facts().served & LaneSet::first_n(count)
    }
}

/// What is given by lane is given once for each.
fn one_a_lane<T>(key: &str, values: &[T], lanes: u8) -> Result<(), Fault> {
    let (values, lanes) = (values.len(), usize::from(lanes));
    if values == lanes {
        return Ok(());
    }
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let message = format!(
        "{values} value{} for {lanes} lane{}: give one for each lane, lane 0 first (network.lanes.count says how \
         many there are)",
        plural(values),
        plural(lanes)
    );
    Err(Fault { key: key.to_owned(), message })
}

/// The shares with the least for 0, and the least that is not 0: a lane of no share is never
/// eligible, and its turns are passed over whatever they would give.
fn shares_of(shares: &[u32]) -> Result<(Vec<u32>, u32), Fault> {
    let least = shares.iter().copied().filter(|share| *share > 0).min();
    let least = least.ok_or(SchedulerError::NoWeight)?;
    Ok((shares.iter().map(|share| if *share == 0 { least } else { *share }).collect(), least))
}

/// The level of each lane.
fn levels_of(levels: &[u8], lanes: u8) -> Result<Vec<usize>, Fault> {
    one_a_lane("levels", levels, lanes)?;
    if let Some(lane) = levels.iter().position(|level| *level > LEVEL_MAX) {
        let message = format!("levels are 0 to {LEVEL_MAX}, not {}", levels[lane]);
        return Err(Fault { key: format!("levels.{lane}"), message });
    }
    Ok(levels.iter().map(|level| usize::from(*level)).collect())
}

/// The same of turns in bytes, each a flit or more, or nothing.
fn quanta_of(quanta: &[Bytes], lanes: u8, flit_bytes: u32) -> Result<(Vec<u32>, u32), Fault> {
    one_a_lane("quanta", quanta, lanes)?;
    let share = |(lane, quantum): (usize, &Bytes)| {
        let bytes = u32::try_from(quantum.0).ok();
        bytes.filter(|bytes| *bytes == 0 || *bytes >= flit_bytes).ok_or_else(|| {
            let message = format!(
                "a turn is at least a flit, {flit_bytes} B, and less than 4 GiB, or `0 B` for a lane that is never \
                 served, not {quantum}"
            );
            Fault { key: format!("quanta.{lane}"), message }
        })
    };
    shares_of(&quanta.iter().enumerate().map(share).collect::<Result<Vec<_>, _>>()?)
}

/// The lanes of which each turn has something.
fn with_weight(weights: &[u32]) -> LaneSet {
    (0..LANES_MAX).zip(weights).filter(|(_, weight)| **weight > 0).map(|(lane, _)| lane).collect()
}

/// The same of turns in bytes.
fn with_quantum(quanta: &[Bytes]) -> LaneSet {
    (0..LANES_MAX).zip(quanta).filter(|(_, quantum)| quantum.0 > 0).map(|(lane, _)| lane).collect()
}
