//! Intervals and warm-up on real runs: how often they are right, over a hundred seeds, none left
//! out. `docs/concepts/measurement.md` shows what is found.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

mod adaptive;
mod coverage;
mod runs;
mod single_server;
mod torus;
