//! The striping protocol over UDP sockets: one a channel, in batches, by the kernel's clock.
//!
//! ```text
//!               striping (both ends of the protocol)
//!   packets ──► sender ───► run ──► socket 0 ══ UDP ══►
//!               receiver        ──► socket 1 ══ UDP ══►
//!   packets ◄── in order ◄─ inbox ◄── sockets, in the order of the kernel's stamps
//! ```
//!
//! An [`End`] takes what has come, gives out packets in order, sends what is to go, and waits. It
//! is one thread's. What stands in a datagram says `framing`, how it is ciphered `protection`; the
//! protocol is `gingham_stripe`.
//!
//! What comes late because nobody was there to read is not taken for late: the kernel stamps each
//! datagram, and both ends of the protocol are told that time. What went late is made good as far as
//! the pacer's burst goes.
//!
//! Invariants: the time that the protocol is told never goes back; a channel whose socket is gone
//! goes out and the pipe goes on; no allocation a packet once buffers are there.

#![cfg(target_os = "linux")]

mod channel;
mod clock;
mod counts;
mod end;
mod error;
mod framing;
mod inbox;
mod protection;
mod replay;
mod run;
mod socket;
mod striping;
mod wait;

pub use clock::now;
pub use counts::ChannelCounts;
pub use end::{End, EndPlan, Source};
pub use error::OpenError;
pub use framing::OVERHEAD_BYTES_MAX;
pub use protection::{ProtectionPlan, Role, Secret};
pub use socket::{BufferPlan, ChannelPlan};
pub use striping::{Packet, StripingPlan};
pub use wait::{LATE, Wakeups};
