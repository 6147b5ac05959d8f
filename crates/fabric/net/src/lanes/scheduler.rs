//! Lane schedulers, as named in scenarios, with or without parameters.
//!
//! ```text
//!   crossbar_input = "round-robin"
//!   link_output = { weighted-round-robin = { weights = [1, 2, 4], by = "packet" } }
//!   adapter_port = { infiniband = { high = [{ lane = 0, weight = 4 }], low = [{ lane = 1, weight = 1 }] } }
//! ```
//!
//! Per-lane values are lists that start with lane 0.

mod deficit_round_robin;
mod first_come_first_served;
mod infiniband;
mod priority_weighted_round_robin;
mod round_robin;
mod strict_priority;
mod surplus_round_robin;
mod virtual_clock;
mod weighted_round_robin;

pub use infiniband::{TableSlot, has_slots};
pub use virtual_clock::LaneRate;

use crate::bare_names::accept_bare_names;
use gingham_fairq::{Arbiter, Ready, SchedulerError};
use gingham_kernel::Bytes;
use gingham_topology::routing::{LANES_MAX, LaneSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

pub(super) const PLACES: usize = LANES_MAX as usize;

const ALL_LANES: LaneSet = LaneSet::first_n(LANES_MAX);

const LEVEL_MAX: u8 = 15;

/// Bytes per unit of weight for arbiters with turns in bytes, as in InfiniBand's tables.
pub const WEIGHT_BYTES: u32 = 64;

/// Unit of an arbiter's lane choices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// One choice per flit: flits of packets on different lanes interleave.
    #[default]
    Flit,
    /// One choice per packet, which is sent from head to tail without interleaving. All lanes must
    /// use virtual cut-through.
    Packet,
}

/// Information that an arbiter uses besides the eligible lanes. Each variant includes the previous
/// ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DependsOn {
    /// No further information.
    Lanes,
    /// Length of each lane's first packet or flit.
    Lengths,
    /// Arrival time of each lane's first packet or flit.
    Arrivals,
}

/// Properties of a scheduler apart from its arbiter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Name in scenarios.
    pub name: &'static str,
    /// Information that the arbiter uses.
    pub depends_on: DependsOn,
    /// Unit of the arbiter's lane choices.
    pub by: Granularity,
    /// Lanes that can be served, possibly including lanes that do not exist.
    pub served: LaneSet,
}

/// Invalid parameter of a scheduler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Dotted path of the parameter; empty if the fault concerns several parameters together.
    pub key: String,
    /// Reason for the fault.
    pub message: String,
}

impl From<SchedulerError> for Fault {
    fn from(error: SchedulerError) -> Self {
        Self { key: String::new(), message: error.to_string() }
    }
}

pub(super) trait LaneScheduler: Sized {
    type Arbiter;

    fn facts(&self) -> Facts;

    fn by_packet(self) -> Self;

    fn build(&self, lanes: u8, flit_bytes: u32) -> Result<Self::Arbiter, Fault>;

    const HAS_WEIGHTS: bool = false;

    /// Changes the weight of a lane at the end of the arbiter's round, if `HAS_WEIGHTS` is true.
    fn weigh(
        _arbiter: &mut Self::Arbiter,
        _lane: usize,
        _weight: NonZeroU16,
    ) -> Result<(), SchedulerError> {
        unreachable!("weights are ordered only if there are any")
    }
}

macro_rules! schedulers {
    ($($(#[$about:meta])* $module:ident::$name:ident,)*) => {
        $(pub use $module::$name;)*

        /// Scheduler of a port's lanes.
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schemars(transform = accept_bare_names)]
        pub enum Scheduler {
            $($(#[$about])* $name($name),)*
        }

        impl Scheduler {
            /// Returns the properties of the scheduler apart from its arbiter.
            pub fn facts(&self) -> Facts {
                match self {
                    $(Self::$name(of) => of.facts(),)*
                }
            }

            /// Returns the scheduler with choices per packet instead of per flit.
            #[must_use]
            pub fn by_packet(self) -> Self {
                match self {
                    $(Self::$name(of) => Self::$name(of.by_packet()),)*
                }
            }

            /// Returns whether weights can change during a run.
            pub const fn can_change(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$name as LaneScheduler>::HAS_WEIGHTS,)*
                }
            }

            pub(super) fn build(&self, lanes: u8, flit_bytes: u32) -> Result<Built, Fault> {
                match self {
                    $(Self::$name(of) => of.build(lanes, flit_bytes).map(Built::$name),)*
                }
            }
        }

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
    /// Round robin, starting after the last served lane.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    round_robin::RoundRobin,
    /// Weighted round robin: a number of flits or packets per turn.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    #[schemars(extend("x-example" = "{ weighted-round-robin = { weights = [1, 3] } }"))]
    weighted_round_robin::WeightedRoundRobin,
    /// Surplus round robin: a number of bytes per turn. The last flit or packet may exceed this
    /// number; the excess is deducted from the next turn.
    #[schemars(extend("x-source" = "Adiseshu et al. 1996, section 3"))]
    #[schemars(extend("x-example" = r#"{ surplus-round-robin = { quanta = ["64 B", "192 B"] } }"#))]
    surplus_round_robin::SurplusRoundRobin,
    /// Deficit round robin: a number of bytes per turn. A remainder too small for the next flit or
    /// packet is saved for the next turn.
    #[schemars(extend("x-source" = "Shreedhar and Varghese 1995"))]
    #[schemars(extend("x-example" = r#"{ deficit-round-robin = { quanta = ["64 B", "192 B"] } }"#))]
    deficit_round_robin::DeficitRoundRobin,
    /// VirtualClock: serves flits or packets in order of their finish times on imaginary separate
    /// channels, each with the rate of a lane.
    #[schemars(extend("x-source" = "Zhang 1990; Yum et al. 2002, section 3.1"))]
    #[schemars(extend("x-example" = r#"{ virtual-clock = { rates = ["50 MB/s", "best-effort"] } }"#))]
    virtual_clock::VirtualClock,
    /// First come, first served across all lanes.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    first_come_first_served::FirstComeFirstServed,
    /// Strict priority: the highest level that can send, with round robin among its lanes. Lower
    /// levels may starve.
    #[schemars(extend("x-source" = "textbook", "x-example" = "{ strict-priority = { levels = [0, 1] } }"))]
    strict_priority::StrictPriority,
    /// The highest level that can send, with weighted round robin among its lanes. `yield_after`
    /// bounds the wait of lower levels.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.3"))]
    #[schemars(extend("x-example" = "{ priority-weighted-round-robin = { levels = [1, 0], weights = [1, 3], yield_after = 16 } }"))]
    priority_weighted_round_robin::PriorityWeightedRoundRobin,
    /// InfiniBand's high-priority and low-priority tables, with a limit for high priority and lane
    /// 15 above both tables; always per packet. Without parameters, OpenSM's default tables apply.
    #[serde(rename = "infiniband")]
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, section 7.6.9"))]
    #[schemars(extend("x-example" = r#"network.lanes.count = 2
network.lanes.forwarding = "virtual-cut-through"
network.lanes.link_output = { infiniband = { high = [{ lane = 1, weight = 4 }], low = [{ lane = 0, weight = 1 }], high_limit = 1 } }
network.lanes.adapter_port = { infiniband = { high = [{ lane = 1, weight = 4 }], low = [{ lane = 0, weight = 1 }], high_limit = 1 } }"#))]
    infiniband::InfiniBand,
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::RoundRobin(RoundRobin::default())
    }
}

impl Scheduler {
    /// Checks the parameters for `lanes` lanes and flits of `flit_bytes` bytes.
    pub fn check(&self, lanes: u8, flit_bytes: u32) -> Result<(), Fault> {
        self.build(lanes, flit_bytes).map(|_| ())
    }

    /// Returns whether the parameters apply to VLs; the lanes of a VL then share its weight.
    pub const fn chooses_among_vls(&self) -> bool {
        matches!(self, Self::InfiniBand(_))
    }

    /// Returns the lanes that can be served, among the first `count`; VLs if the scheduler chooses
    /// among VLs.
    pub fn served(&self, count: u8) -> LaneSet {
        self.facts().served & LaneSet::first_n(count)
    }
}

fn one_a_lane<T>(key: &str, values: &[T], lanes: u8) -> Result<(), Fault> {
    let (values, lanes) = (values.len(), usize::from(lanes));
    if values == lanes {
        return Ok(());
    }
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let message = format!(
        "{values} value{} for {lanes} lane{}: give one for each lane, lane 0 first (network.lanes.count is the \
         number of lanes)",
        plural(values),
        plural(lanes)
    );
    Err(Fault { key: key.to_owned(), message })
}

/// Replaces zero shares, which have no effect, with the smallest positive share. Also returns that
/// share.
fn shares_of(shares: &[u32]) -> Result<(Vec<u32>, u32), Fault> {
    let least = shares.iter().copied().filter(|share| *share > 0).min();
    let least = least.ok_or(SchedulerError::NoWeight)?;
    Ok((shares.iter().map(|share| if *share == 0 { least } else { *share }).collect(), least))
}

fn levels_of(levels: &[u8], lanes: u8) -> Result<Vec<usize>, Fault> {
    one_a_lane("levels", levels, lanes)?;
    if let Some(lane) = levels.iter().position(|level| *level > LEVEL_MAX) {
        let message = format!("levels are 0 to {LEVEL_MAX}, not {}", levels[lane]);
        return Err(Fault { key: format!("levels.{lane}"), message });
    }
    Ok(levels.iter().map(|level| usize::from(*level)).collect())
}

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

fn with_weight(weights: &[u32]) -> LaneSet {
    (0..LANES_MAX).zip(weights).filter(|(_, weight)| **weight > 0).map(|(lane, _)| lane).collect()
}

fn with_quantum(quanta: &[Bytes]) -> LaneSet {
    (0..LANES_MAX).zip(quanta).filter(|(_, quantum)| quantum.0 > 0).map(|(lane, _)| lane).collect()
}
