//! Windows, acknowledgements, responses to marks, and rate limits of a class's flows.
//!
//! Keys of responses: [`gingham_net::Response`]. State machines: `gingham_net::window` and
//! `gingham_net::response`.

mod checks;
pub(crate) mod keys;
mod plan;

pub(crate) use checks::of_plan;
pub(crate) use plan::{rate_limit, window};
