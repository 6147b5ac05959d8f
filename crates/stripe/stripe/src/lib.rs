//! The striping protocol: one first-in-first-out pipe out of several channels.
//!
//! ```text
//!              /== channel 0 ==> buffer 0 ==\
//!   Sender ===>=== channel 1 ==> buffer 1 ===>=== Receiver: the same scheduler determines
//!              \== channel 2 ==> buffer 2 ==/     the buffer of the next packet
//!
//!   packets go unchanged; an occasional marker carries the number of a channel's next packet
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 4 and 5: logical reception, markers,
//! resets.
//!
//! | channels | mode | guarantee, as long as the skew is below the wait and within the buffers |
//! |---|---|---|
//! | in order, no loss | any | exact order, every packet delivered (theorem 4.1) |
//! | in order, loss | quasi-FIFO | exact order again one marker per channel after the last loss (theorem 5.1); no duplicates |
//! | in order, loss, duplication | [`Guarantee`] | exact order at all times, no duplicates; lost packets are missing |
//! | in order, loss | [`Guarantee`] with [`RepairRequests`] | as above, and a lost packet is delivered if a copy arrives in time |
//! | reordering, duplication, loss, as UDP | [`Guarantee`] behind a [`ChannelOrder`] each | as on channels with loss, if no packet is delayed longer than its wait |
//! | reordering or duplication | quasi-FIFO | no order, and duplicates of the channel are delivered |
//! | any | [`SenderOptions::credits`] | no loss for lack of memory on a channel that stays |
//! | any | any | no delay beyond the waits; both ends start anew if one requests it, restarts, or detects that the other is out of step |
//!
//! Each row is a test in `tests/guarantees`. In guaranteed order, a receiver that restarts accepts
//! no epoch under way: some of its packets may have been delivered before. A sender that restarts
//! begins a later epoch, for example from a clock. Quasi-FIFO adds no byte to a data packet,
//! guaranteed order adds the twelve of a [`Tag`]. Channels distinguish packets from [`Message`]s,
//! for example by an Ethernet type, a port, or a [`Header`].
//!
//! Times ([`Instant`]) count from an origin that the caller chooses. `handle_*` methods take input,
//! `poll_*` methods return output, and `now` never decreases. After each `handle_*`, and at
//! `poll_timeout`, poll until nothing is returned.
//!
//! Invariants: no I/O, no clock, no randomness; no allocation after set-up; any input ends as
//! state, error or counted [`Discard`].

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

/// Largest number of packets that an option may ask for; for options per channel, it applies to
/// each.
pub const PACKETS_MAX: usize = 1 << 20;

type ChannelSet = u64;

fn first_channels(count: usize) -> ChannelSet {
    if count == gingham_fairq::CHANNELS_MAX { ChannelSet::MAX } else { (1 << count) - 1 }
}

fn channels_where(count: usize, holds: impl Fn(usize) -> bool) -> ChannelSet {
    (0..count).filter(|channel| holds(*channel)).fold(0, |set, channel| set | 1 << channel)
}

/// Iterates over the channels of a set, in ascending order.
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
