//! The handshake of a stripe's ends, and what is done to datagrams with the keys that it makes.
//!
//! ```text
//!   [`Peer`]  initiation ──►            ◄── cookie       who hears what goes to his address
//!             initiation, proof ──►     ◄── response     Noise IK: who both are, fresh keys
//!             confirm ──►                                who is there now, and not in a record
//!             data, messages ◄──► each sealed with ChaCha20-Poly1305, each taken once
//! ```
//!
//! Nothing here has a socket or a clock: `handle` takes, `poll_*` gives, `now` is an argument. Only
//! randomness is the machine's, since keys that can be played again are none.
//!
//! | what | where | source |
//! |---|---|---|
//! | the pattern, and what it is made of | `noise`, `primitives` | Noise, revision 34, by `snow` |
//! | cookies, and whose an initiation is | `cookie`, `budget`, `responder` | Donenfeld, WireGuard (2017), section 5.3 |
//! | both sides of a handshake, pairs of keys | `peer` | the same, sections 5.4 and 6 |
//! | nonces and windows | `pair`, `numbers`, `replay` | RFC 9001, section 5.3; RFC 6479 |
//!
//! A **session** is of two processes, each of which has named itself by chance: a handshake that names
//! other ones begins another session, one that names the same makes new keys for it. Clocks are
//! never compared to tell a recorded handshake from a new one: a new one answers a cookie of this process
//! with a MAC that takes a private key, and a cookie is over once a later handshake was answered. Who only
//! plays it again does not have the keys that it makes either, without which nothing changes.
//!
//! Invariants: whatever comes from outside ends as state, as a reply or as a counted [`Discard`]; what
//! is not authentic changes nothing; no state grows with the addresses that datagrams come from.

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
mod times;
#[cfg(feature = "told-randomness")]
mod told;
mod wire;

pub use budget::Sender;
pub use discard::{Discard, Discards};
pub use keys::{BadKey, KEY_BYTES, NoRandomness, PresharedKey, PrivateKey, PublicKey};
pub use peer::{Counts, Peer, PeerPlan};
pub use responder::{Initiation, Read, Responder};
pub use times::Times;
#[cfg(feature = "told-randomness")]
pub use told::tell_randomness;
pub use wire::{discard_of, is_handshake, is_initiation};
