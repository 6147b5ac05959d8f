//! The protocol between two ends in virtual time, a file for each thing that it promises.

mod order;
mod pair;
mod resets;
mod waiting;
