//! Flow control of whole packets: credits, with updates that get lost, or pauses.
//!
//! State machines: `gingham_net::pauses` and `gingham_net::credit_loss`.

pub(crate) mod keys;
mod losses;
mod pauses;

pub(crate) use pauses::settle;
