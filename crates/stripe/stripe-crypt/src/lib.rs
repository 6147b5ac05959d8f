//! Handshake between the two ends of a stripe, and datagram encryption.
//!
//! ```text
//!   [`Peer`]  initiation ──►            ◄── cookie       sender receives at its address
//!             initiation, proof ──►     ◄── response     Noise IK: identities and fresh keys
//!             confirm ──►                                initiator is present, not a recording
//!             data, messages ◄──► each sealed with ChaCha20-Poly1305, each accepted once
//! ```
//!
//! The crate has no sockets and no clock. Random bytes come from the operating system, because keys
//! must not be reproducible.
//!
//! A **session** connects two processes, each with a random name. A handshake between the same
//! processes renews the keys; any other handshake starts a new session.
//!
//! Invariants: every input changes the state, causes a reply or is counted as a [`Discard`];
//! unauthenticated input changes nothing; no state grows with the number of source addresses.

mod budget;
mod cookie;
mod discard;
mod keys;
mod noise;
mod numbers;
mod pair;
mod peer;
mod primitives;
mod replay;
mod responder;
#[cfg(feature = "told-randomness")]
mod seeded;
mod times;
mod wire;

pub use budget::Sender;
pub use discard::{Discard, Discards};
pub use keys::{BadKey, KEY_BYTES, NoRandomness, PresharedKey, PrivateKey, PublicKey};
pub use peer::{Counts, Peer, PeerPlan};
pub use responder::{Initiation, Read, Responder};
#[cfg(feature = "told-randomness")]
pub use seeded::seed_randomness;
pub use times::Times;
pub use wire::{discard_of, is_handshake, is_initiation};
