//! In-transit hosts: adapters that send packets on.
//!
//! State machine: `gingham_net::in_transit`.

pub(crate) mod columns;
pub(crate) mod keys;
mod plan;
mod room;

pub(crate) use plan::{ejection, note_fall_backs, note_unused, plan};
pub(crate) use room::check as check_room;
