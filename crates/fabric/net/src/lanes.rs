//! Virtual lanes: configuration of switches and adapters.
//!
//! ```text
//!   lane buffers     crossbar      output lanes
//!   lane 0 ▐▐▐▌ ──┐              ┌─► ▐▌   ──┐
//!   lane 1 ▐▌   ──┴─►  ┌─────┐ ──┴─► ▐▐▐▌ ──┴─► link, while there are credits
//!   stage 1            │ 4   │       5
//!          head: 2, 3  └─────┘
//! ```
//!
//! Source: Yum et al. 2002, section 3. Timing of all steps: `docs/concepts/timing.md`.

mod allocator;
mod arbiter;
mod place;
mod plan;
mod reallocation;
pub mod scheduler;

pub use allocator::{Allocator, Islip, VcAllocator};
pub use arbiter::LaneArbiter;
pub use place::{ArbiterPlace, Weighing};
pub use plan::{Crossbar, Injection, LanePlan, PipelinePlan};
pub use reallocation::Reallocation;
pub use scheduler::{Granularity, Scheduler};
