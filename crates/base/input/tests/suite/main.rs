//! Inputs: their values, and the messages for mistakes.

mod messages;
mod overrides;
mod properties;
mod sweeps;
mod values;
