//! Flow control of whole packets: credits, whose updates may be lost, or pauses.
//!
//! State machines: `gingham_net::pauses` and `gingham_net::credit_loss`.

mod checks;
pub(crate) mod keys;
mod plan;

pub(crate) use checks::of_keys;
pub(crate) use plan::{credit_loss, pauses, settle};
