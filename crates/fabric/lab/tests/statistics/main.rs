//! Coverage of intervals and warm-up detection, over a hundred seeds; results in
//! `docs/concepts/measurement.md`.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

mod adaptive;
mod coverage;
mod runs;
mod single_server;
mod torus;
