//! Coverage of intervals and warm-up detection on real runs, over a hundred consecutive seeds. The
//! results are in `docs/concepts/measurement.md`.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

mod adaptive;
mod coverage;
mod runs;
mod single_server;
mod torus;
