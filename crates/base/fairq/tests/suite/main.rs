//! Schedulers through their public face.

mod arbitration;
mod markers;
mod refusals;
mod striping;
mod two_level;
