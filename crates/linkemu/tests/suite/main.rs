//! The model of a link, packet by packet.

mod always;
mod common;
mod independence;
mod refusals;
mod shares;
mod stories;
