//! Route metrics: path lengths, balance, bandwidth bounds and lane use.

mod all_to_all;
mod bisection;
mod choice;
mod distribution;
mod lane_use;
mod sharing;
mod statistics;

pub use all_to_all::{AllToAll, AssumedSpeed};
pub use bisection::{Bisection, SampleMean};
pub use choice::Choice;
pub use distribution::Distribution;
pub use lane_use::{LaneDrop, LaneUse};
pub use sharing::Sharing;
pub use statistics::{Detour, Statistics};
