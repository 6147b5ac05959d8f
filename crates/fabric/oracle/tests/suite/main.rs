//! Wormhole switching, flit by flit.

mod audit;
#[path = "../common/mod.rs"]
mod common;
mod contention;
mod deadlock;
mod ending;
mod ends;
mod lone_worm;
mod policing;
mod random_runs;
mod segments;
mod stop_and_go;

use gingham_oracle::start;
