//! Statistics that a run collects.
//!
//! Packet counts cover the whole run, so that their sums match.

mod delays;
mod meter;
mod order;
mod recovery;
mod series;
mod trace;

pub(crate) use delays::Delays;
pub(crate) use meter::{ByteSections, Loss, Meter};
pub(crate) use order::Order;
pub(crate) use recovery::Recovery;
pub(crate) use series::{LinkStep, PipeStep, Series};
pub(crate) use trace::{EventKind, EventRow, Fate, PacketRow, Trace};
