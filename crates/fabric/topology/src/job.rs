//! Jobs placed on a cluster: flows of collectives, and a search for node orders that share fewer
//! cables.
//!
//! ```text
//!  node order  n1 n2 n3 n4 ──► pattern: pairs of positions, by phase ──► flows, one per rail
//!                                                                           │ routes
//!  bound: max-min fair rates, bus bandwidth   ◄── channel loads ◄─────── channels
//!  search: another order with lower loads     ◄──┘
//! ```
//!
//! All results follow from the routes, without a simulation; `docs/concepts/jobs.md` describes
//! further effects.

mod bound;
mod exact;
mod links;
mod load;
mod max_min;
mod paths;
mod pattern;
mod placement;
mod search;

pub use bound::{Bound, PhaseBound, bound, capacities, standing, used_channels};
pub use links::{SharedLink, shared_links};
pub use max_min::max_min_rates;
pub use paths::{Forwarding, PathError, Paths, Step};
pub use pattern::{Edge, Pattern, Phase};
pub use placement::{Placement, PlacementError};
pub use search::{EXACT_NODES_MAX, Effort, Improved, improve};
