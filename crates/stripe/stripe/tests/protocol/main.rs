//! The protocol between two ends in virtual time, one file per guarantee.

mod changes;
mod credits;
mod deaths;
mod forgotten;
mod guaranteed;
mod idle;
mod markers;
mod memory;
mod order;
mod pair;
mod reports;
mod resets;
mod sizes;
mod slots;
mod waiting;
