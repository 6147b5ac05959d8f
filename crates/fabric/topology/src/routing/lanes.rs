//! Sets of virtual lanes, and the rule ([`Lanes`]) that selects the lanes of a packet at each hop.

mod choosing;
mod datelines;
mod escape;
pub(super) mod map;
pub(super) mod route_set;
mod rule;
mod service_levels;
pub(super) mod set;

pub use choosing::EscapeError;
pub use datelines::{DatelineRule, Datelines};
pub use escape::EscapeLanes;
pub use map::{LEVELS, LaneMap, LaneRow, MANAGEMENT_LANE};
pub use route_set::{Buffer, BufferId, Ejection, RouteSet};
pub use rule::{LaneRule, Lanes};
pub use service_levels::ServiceLevels;
pub use set::{DatelineClass, LANES_MAX, LaneSet, VcClass};
