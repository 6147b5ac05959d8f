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
pub use engine::Progress;

use crate::compile::Compiled;
use crate::record::Record;

/// A run under way.
#[derive(Debug)]
pub struct Run {
    compiled: Compiled,
    engine: Engine,
}

impl Run {
    /// A run at its start.
    pub fn new(compiled: Compiled) -> Self {
        Self { engine: Engine::new(&compiled.plan), compiled }
    }

    /// Simulates at most `events_max` events; the size of a call never changes a result.
    pub fn advance(&mut self, events_max: u64) -> Progress {
        let done = self.engine.advance(events_max);
        self.engine.progress(done)
    }

    /// What was measured so far.
    pub fn record(&self) -> Record {
        Record::new(&self.compiled, &self.engine, true)
    }

    /// The same without its tables.
    pub fn summary(&self) -> Record {
        Record::new(&self.compiled, &self.engine, false)
    }

    /// What the scenario was compiled to.
    pub const fn compiled(&self) -> &Compiled {
        &self.compiled
    }
}
