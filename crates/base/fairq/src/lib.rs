//! Fair queueing schedulers for switches and the striping protocol.
//!
//! | trait | choice depends on | scheduler |
//! |---|---|---|
//! | [`Causal`] | earlier packets only, as striping requires | [`RoundRobin`], [`GeneralisedRoundRobin`], [`SurplusRoundRobin`], [`Randomised`] |
//! | [`Arbiter`] | eligible queues, head lengths, arrivals | [`RoundRobin`], [`WeightedRoundRobin`], [`DeficitRoundRobin`], [`VirtualClock`], [`FirstComeFirstServed`], [`StrictPriority`], [`PriorityWeightedRoundRobin`], [`TwoLevelTables`] |
//!
//! [`PassingOver`] turns a causal scheduler with rounds into an arbiter.
//!
//! Invariants: `no_std`; no I/O, allocation, clock or random source.

#![no_std]

mod arbiter;
mod causal;
mod deficit;
mod error;
mod first_come;
mod generalised;
mod passing_over;
mod priority;
mod randomised;
mod ratio;
mod round_robin;
mod surplus;
mod two_level;
mod virtual_clock;

pub use arbiter::{Arbiter, Head, Ready};
pub use causal::{Causal, Rounds};
pub use deficit::DeficitRoundRobin;
pub use error::{SchedulerError, Table};
pub use first_come::FirstComeFirstServed;
pub use generalised::GeneralisedRoundRobin;
pub use passing_over::{PassingOver, WeightedRoundRobin};
pub use priority::{Priority, PriorityWeightedRoundRobin, StrictPriority};
pub use randomised::Randomised;
pub use round_robin::RoundRobin;
pub use surplus::{Change, Number, Round, Standing, SurplusRoundRobin};
pub use two_level::{Slot, TwoLevelTables};
pub use virtual_clock::VirtualClock;

/// Maximum number of channels or queues; their bit mask must fit a 64-bit word.
pub const CHANNELS_MAX: usize = 64;
