//! One run in virtual time.
//!
//! ```text
//!   sources ──► queue ──► sending end ══ channels forth ══► receiving end ──► reader
//!                              ▲                                   │
//!                              └────────── channels back ──────────┘  what the ends tell each other
//! ```
//!
//! Invariants: no clock, no file, no thread; the same plan gives the same bits, however the run is
//! cut into calls.

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

/// A run under way.
#[derive(Debug)]
pub struct Run {
    compiled: Compiled,
    engine: Engine,
    /// The reference run over one channel, which starts after the main run.
    alone: Option<Engine>,
}

impl Run {
    /// A run at its start.
    pub fn new(compiled: Compiled) -> Self {
        let alone = compiled.alone.as_ref().map(|alone| Engine::new(&alone.plan));
        Self { engine: Engine::new(&compiled.plan), alone, compiled }
    }

    /// Simulates at most `steps_max` steps: events, and packets offered to the sender. `steps_max`
    /// never changes a result. Fails if simulated time stands still.
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

    /// What was measured so far.
    pub fn record(&self) -> Record {
        Record::new(&self.compiled, &self.engine, self.alone(), true)
    }

    /// The same without its tables.
    pub fn summary(&self) -> Record {
        Record::new(&self.compiled, &self.engine, self.alone(), false)
    }

    /// The reference run over one channel, if it is complete.
    fn alone(&self) -> Option<&Engine> {
        self.alone.as_ref().filter(|alone| alone.is_done())
    }

    /// What the scenario was compiled to.
    pub const fn compiled(&self) -> &Compiled {
        &self.compiled
    }
}
