//! Tests of schedulers through their public interface.

mod arbitration;
mod markers;
mod refusals;
mod striping;
mod two_level;
