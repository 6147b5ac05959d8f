//! Inputs: their values, and what is said of mistakes.

mod messages;
mod overrides;
mod properties;
mod sweeps;
mod values;
