//! Tests of the model of a link, packet by packet.

mod always;
mod common;
mod competing;
mod independence;
mod policing;
mod refusals;
mod shares;
mod stories;
mod waiting;
