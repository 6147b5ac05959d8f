//! A run in simulated time.
//!
//! ```text
//!   sources ──► queue ──► sending end ══ forward channels ══► receiving end ──► reader
//!                              ▲                                   │
//!                              └──────── reverse channels ─────────┘  receiver's messages
//! ```
//!
//! Invariants: no clock access, files or threads; identical plans give bit-identical results,
//! regardless of the steps per call.

mod engine;
mod entry;
mod event;
mod link;
mod memory;
mod receiving;
mod resequencer;
mod scheduler;
mod sending;
mod wire;

pub(crate) use engine::Engine;
pub use engine::{NoProgress, Progress};

use crate::compile::Compiled;
use crate::record::Record;

/// Simulation of a compiled scenario.
#[derive(Debug)]
pub struct Run {
    compiled: Compiled,
    engine: Engine,
    alone: Option<Engine>,
}

impl Run {
    /// Creates a run.
    pub fn new(compiled: Compiled) -> Self {
        let alone = compiled.alone.as_ref().map(|alone| Engine::new(&alone.plan));
        Self { engine: Engine::new(&compiled.plan), alone, compiled }
    }

    /// Simulates at most `steps_max` steps; the limit does not affect the results. Fails if
    /// simulated time stops advancing.
    pub fn advance(&mut self, steps_max: u64) -> Result<Progress, NoProgress> {
        let Some(alone) = &mut self.alone else {
            let done = self.engine.advance(steps_max)?;
            return Ok(self.engine.progress(done));
        };
        if self.engine.is_done() {
            alone.advance(steps_max)?;
        } else {
            self.engine.advance(steps_max)?;
        }
        let done = self.engine.is_done() && alone.is_done();
        let of_both = [&self.engine, alone].map(|one| one.progress(one.is_done()).fraction);
        let fraction = f64::midpoint(of_both[0], of_both[1]);
        Ok(Progress { fraction, ..self.engine.progress(done) })
    }

    /// Returns the results so far.
    pub fn record(&self) -> Record {
        Record::new(&self.compiled, &self.engine, self.alone(), true)
    }

    /// Returns the results so far, without tables.
    pub fn summary(&self) -> Record {
        Record::new(&self.compiled, &self.engine, self.alone(), false)
    }

    fn alone(&self) -> Option<&Engine> {
        self.alone.as_ref().filter(|alone| alone.is_done())
    }

    /// Returns the compiled scenario.
    pub const fn compiled(&self) -> &Compiled {
        &self.compiled
    }
}
