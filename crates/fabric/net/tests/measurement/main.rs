//! Measurement: hand-traced scenarios for a collector, and the coverage of its intervals.

#![allow(clippy::unwrap_used, reason = "a story that cannot be set up has failed")]

mod coverage;
mod feed;
mod flows;
mod following;
mod kept;
mod rules;
mod samples;
mod steady;
mod timeline;
mod trees;
