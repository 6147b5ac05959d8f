//! The striping protocol over sockets: over UDP or in frames of Ethernet, one link a channel, in
//! batches, by the kernel's clock.
//!
//! ```text
//!               striping (both ends of the protocol)
//!   packets ──► sender ───► run ──► link 0 ══ UDP, TCP or Ethernet ══►
//!               receiver        ──► link 1 ══ UDP, TCP or Ethernet ══►
//!   packets ◄── in order ◄─ inbox ◄── links, in the order of the kernel's stamps
//! ```
//!
//! An [`End`] takes what has come, gives out packets in order, sends what is to go, and waits. It
//! is one thread's. A `link` is what carries a channel, `encapsulation` how packets are wrapped: over
//! UDP `framing` says what stands in a datagram, which `gingham_stripe_crypt` seals; over Ethernet a
//! packet is `bare`. `messages` puts together what is to be said. The protocol is `gingham_stripe`.
//!
//! What comes late because nobody was there to read is not taken for late: the kernel stamps each
//! datagram, and both ends of the protocol are told that time. What went late is made good as far as
//! the pacer's burst goes.
//!
//! Invariants: the time that the protocol is told never goes back; a channel whose socket is gone
//! goes out and the pipe goes on; no allocation a packet once buffers are there, and a bound on
//! those that are.

#![cfg(target_os = "linux")]

mod acceptor;
mod bare;
mod channel;
mod clock;
mod counts;
mod encapsulation;
mod end;
mod ends;
mod error;
mod ethernet;
mod framing;
mod inbox;
mod link;
mod memory;
mod messages;
mod meter;
mod ordering;
mod outbox;
mod pool;
mod port;
mod run;
mod scheduler;
mod socket;
mod striping;
mod tcp;
mod wait;

pub use acceptor::{ACCEPTED_A_TURN, Acceptor, close_oldest};
pub use bare::ip_bytes;
pub use clock::now;
pub use counts::ChannelCounts;
pub use end::{ChannelWait, End, EndPlan, Source};
pub use ends::{Ends, Sources, StrangerCounts};
pub use error::{OpenError, SlotError};
pub use ethernet::{EtherTypeUse, EtherTypes, EthernetPlan, Interface, MacAddress};
pub use framing::OVERHEAD_BYTES_MAX;
pub use gingham_fairq::CHANNELS_MAX;
pub use link::LinkPlan;
pub use memory::{Datagram, MemoryPlan, MemoryPort};
pub use meter::Meter;
pub use pool::Buffer;
pub use scheduler::SchedulerPlan;
pub use socket::{BufferPlan, ChannelPlan, Opener, Opening};
pub use striping::{Packet, Preference, StripingPlan};
pub use tcp::{TcpEnd, TcpPlan};
pub use wait::{LATE, Ready, Wakeups};
