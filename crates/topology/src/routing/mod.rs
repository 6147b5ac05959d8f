//! Routing algorithms and the deadlock proof.
