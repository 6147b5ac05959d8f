//! Striping protocol: combines several channels into one first-in-first-out pipe.
//!
//! ```text
//!              /== channel 0 ==> buffer 0 ==\
//!   Sender ===>=== channel 1 ==> buffer 1 ===>=== Receiver: the same scheduler determines
//!              \== channel 2 ==> buffer 2 ==/     the buffer of the next packet
//!
//!   packets are sent unchanged; occasional markers carry the number of a channel's next packet
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 4 and 5: logical reception, markers,
//! resets.
//!
//! | channels | mode | guarantee while the skew is below the receiver's wait and fits the buffers |
//! |---|---|---|
//! | in order, no loss | any | exact order, every packet delivered (theorem 4.1) |
//! | in order, loss | quasi-FIFO | exact order returns one marker per channel after the last loss (theorem 5.1); no duplicates |
//! | in order, loss, duplication | [`Guarantee`] | exact order at all times, no duplicates; lost packets are missing |
//! | in order, loss | [`Guarantee`] with [`RepairRequests`] | as above, and a lost packet is delivered if a copy arrives in time |
//! | reordering, duplication, loss, as UDP | [`Guarantee`] after a [`ChannelOrder`] per channel | as on channels with loss, unless a packet is delayed longer than the [`ChannelOrder`] waits |
//! | reordering or duplication | quasi-FIFO | no order, and duplicates are delivered |
//! | any | [`SenderOptions::credits`] | no packet is lost for lack of memory, except on a channel that is removed |
//! | any | any | bounded delay; both ends reset if an end requests it, restarts, or detects that the ends disagree |
//!
//! `tests/guarantees` has a test for each row. In guaranteed order, a restarted receiver accepts
//! only an epoch that starts after the restart, because packets of a running epoch may already have
//! been delivered. A restarted sender starts with a later epoch number, for example from a clock.
//! Quasi-FIFO adds no bytes to a data packet; guaranteed order adds a twelve-byte [`Tag`]. Channels
//! distinguish packets from [`Message`]s, for example by an Ethernet type, a port, or a [`Header`].
//!
//! `handle_*` methods take input, `poll_*` methods return output, and `now` never decreases. After
//! each `handle_*` call, and at the time from `poll_timeout`, the caller polls until nothing is
//! returned.
//!
//! Invariants: no I/O, no clock, no randomness; no allocation after set-up. Any input changes the
//! state, returns an error, or is counted as a [`Discard`].

#[cfg(test)]
extern crate self as gingham_stripe;

mod charge;
#[cfg(test)]
mod corruption;
mod discard;
mod error;
mod header;
mod message;
mod numbered;
mod order;
mod receiver;
mod rounds;
mod sender;
mod tag;
mod time;
mod wire;

pub use charge::Charge;
pub use discard::{Discard, Discards};
pub use error::{ChannelError, OptionsError, QuantaError, SendError, SizeError};
pub use gingham_congestion::{RateCap, Thousandths};
pub use header::{Content, HEADER_BYTES, Header, MessageNumbers};
pub use message::{Departure, Epoch, Kind, Marker, Message, Nack, Report};
pub use numbered::{Numbered, PacketRounds};
pub use order::{ChannelOrder, OrderOptions, Ordered};
pub use receiver::{Guarantee, Receiver, ReceiverOptions, Reception, RepairRequests, ReportPlan};
pub use rounds::Rounds;
pub use sender::{
    BbrPlan, Class, ControlPlan, Controlled, Flight, MarkerPlan, Order, Repair, RepairPlan,
    Reported, RetransmissionBuffer, Sender, SenderOptions, Sending, Sent, SharePlan, Size,
    SizePlan, SizeState, Transmit, Wait,
};
pub use tag::{RepairOf, TAG_BYTES, TAG_BYTES_MAX, Tag, TagBytes};
pub use time::Instant;
pub use wire::{MESSAGE_BYTES_MAX, MessageBytes, Messages, WireError};

/// Maximum packet count in an option; for a per-channel option, the maximum for each channel.
pub const PACKETS_MAX: usize = 1 << 20;

type ChannelSet = u64;

fn first_channels(count: usize) -> ChannelSet {
    if count == gingham_fairq::CHANNELS_MAX { ChannelSet::MAX } else { (1 << count) - 1 }
}

fn channels_where(count: usize, holds: impl Fn(usize) -> bool) -> ChannelSet {
    (0..count).filter(|channel| holds(*channel)).fold(0, |set, channel| set | 1 << channel)
}

fn channels_of(mut set: ChannelSet) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || take_lowest(&mut set))
}

fn take_lowest(set: &mut ChannelSet) -> Option<usize> {
    let lowest = set.trailing_zeros();
    (*set != 0).then(|| {
        *set &= *set - 1;
        lowest as usize
    })
}
