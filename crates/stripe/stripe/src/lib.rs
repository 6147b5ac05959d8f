//! The striping protocol: one first-in-first-out pipe out of several channels.
//!
//! ```text
//!              /== channel 0 ==> buffer 0 ==\
//!   Sender ===>=== channel 1 ==> buffer 1 ===>=== Receiver: the same scheduler says
//!              \== channel 2 ==> buffer 2 ==/     which buffer comes next
//!
//!   packets go as they are; now and then a marker says what the next packet of a channel is
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 4 and 5: logical reception, markers,
//! resets.
//!
//! | channels | the ends | what holds, as long as the skew is below the wait and within the buffers |
//! |---|---|---|
//! | in order, nothing lost | any | order exact, everything comes (theorem 4.1) |
//! | in order, losing | quasi-FIFO | order exact again a marker a channel after the last loss (theorem 5.1); nothing twice |
//! | in order, losing, duplicating | [`Guarantee`] | order at all times, nothing twice; what is lost is missing |
//! | in order, losing | [`Guarantee`] with [`RepairRequests`] | the same, and what is lost comes if a copy comes in time |
//! | reordering, duplicating, losing, as UDP | [`Guarantee`] behind a [`ChannelOrder`] each | as on channels that lose, if nothing is held back longer than its wait |
//! | reordering or duplicating | quasi-FIFO | no order, and twice what a channel duplicates |
//! | any | [`SenderOptions::credits`] | nothing is lost for want of room on a channel that stays |
//! | any | any | nothing waits longer than the waits; both ends start anew where one was told to, restarted, or found the other out of step |
//!
//! In `tests/guarantees` each row is a test. In guaranteed order, a receiver that restarts
//! accepts no epoch that was under way, because it may have delivered a part of it. This holds as long
//! as the skew is below the wait. A sender that restarts begins in a later epoch, for instance one from a
//! clock. In quasi-FIFO no byte is added to a packet of data, in guaranteed order the twelve of a
//! [`Tag`]: channels tell packets from [`Message`]s by other means, an Ethernet type or a port, or by a
//! [`Header`] before both.
//!
//! Time is nanoseconds from whatever origin the caller likes ([`Instant`]); nothing here reads a
//! clock, sends or receives. `handle_*` takes, `poll_*` gives, `now` is an argument and never goes
//! back. After each `handle_*`, and at `poll_timeout`, poll until there is nothing.
//!
//! Invariants: no I/O, no clock, no randomness; no allocation after set-up; whatever comes from
//! outside ends as state, as a typed error or as a counted [`Discard`], never as a panic.

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

/// The most packets for which any option can ask to have room: a million, of each channel where it
/// is of channels.
pub const PACKETS_MAX: usize = 1 << 20;

/// A set of channels as a word, a bit each.
type ChannelSet = u64;

/// The first so many channels.
fn first_channels(count: usize) -> ChannelSet {
    if count == gingham_fairq::CHANNELS_MAX { ChannelSet::MAX } else { (1 << count) - 1 }
}

/// The channels below `count` for which a predicate holds.
fn channels_where(count: usize, holds: impl Fn(usize) -> bool) -> ChannelSet {
    (0..count).filter(|channel| holds(*channel)).fold(0, |set, channel| set | 1 << channel)
}

/// The channels of a set, in ascending order.
fn channels_of(mut set: ChannelSet) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || take_lowest(&mut set))
}

/// Takes the lowest channel out of a set.
fn take_lowest(set: &mut ChannelSet) -> Option<usize> {
    let lowest = set.trailing_zeros();
    (*set != 0).then(|| {
        *set &= *set - 1;
        lowest as usize
    })
}
