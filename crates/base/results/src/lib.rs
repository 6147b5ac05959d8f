//! Means with confidence intervals, and tables whose columns have units and meanings.
//!
//! Invariant: no files, clock or random numbers; equal inputs give bit-identical results.

mod correction;
mod estimate;
mod student;
mod table;
mod trend;

pub use estimate::{Estimate, Ratio, batch_means, real};
pub use student::{student_t, student_t_beyond};
pub use table::{Builder, Column, ColumnData, Table, schema_of};
pub use trend::trend;
