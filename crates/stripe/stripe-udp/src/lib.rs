//! The striping protocol over UDP, TCP or Ethernet sockets, one link per channel, in batches with
//! kernel timestamps.
//!
//! ```text
//!               striping (sender and receiver of the protocol)
//!   packets ──► sender ───► run ──► link 0 ══ UDP, TCP or Ethernet ══►
//!               receiver        ──► link 1 ══ UDP, TCP or Ethernet ══►
//!   packets ◄── in order ◄─ inbox ◄── links, in order of the kernel's timestamps
//! ```
//!
//! An [`End`] belongs to one thread.
//!
//! Invariants: the protocol's time never decreases; buffers are bounded; once they exist, no memory
//! is allocated per packet.

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
pub use ends::{Ends, Sources, UnauthenticatedCounts};
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
