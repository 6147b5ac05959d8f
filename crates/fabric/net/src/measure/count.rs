//! Message and channel counts.

use crate::Message;
use std::ops::{Add, AddAssign};

/// Number and payload of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Number of messages.
    pub messages: u64,
    /// Payload bytes of all messages.
    pub bytes: u64,
}

impl Count {
    pub(super) fn add(&mut self, message: &Message) {
        self.messages += 1;
        self.bytes += u64::from(message.payload_bytes);
    }
}

impl Add for Count {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { messages: self.messages + other.messages, bytes: self.bytes + other.bytes }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Counts of one channel, since time zero unless stated otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelCount {
    /// Data flits whose transmission has started.
    pub data_flits: u64,
    /// Control flits whose transmission has started.
    pub control_flits: u64,
    /// STOP signals, or lane pauses, that have reached the sender.
    pub stops: u64,
    /// Stopped time of the sender in ps: from STOP to GO, while any lane is paused, or while a
    /// packet is ready but lacks credits.
    pub stopped_ps: u64,
    /// Time integral of the number of flits in the receiver's input buffer. A flit counts from its
    /// arrival until its transmission on the next channel starts, or until it is stripped. Zero
    /// without a buffer.
    pub occupancy_flit_ps: u128,
}

impl Add for ChannelCount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            data_flits: self.data_flits + other.data_flits,
            control_flits: self.control_flits + other.control_flits,
            stops: self.stops + other.stops,
            stopped_ps: self.stopped_ps + other.stopped_ps,
            occupancy_flit_ps: self.occupancy_flit_ps + other.occupancy_flit_ps,
        }
    }
}

impl ChannelCount {
    /// Returns the counts accumulated since `earlier`, a previous state of these counts.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            data_flits: self.data_flits - earlier.data_flits,
            control_flits: self.control_flits - earlier.control_flits,
            stops: self.stops - earlier.stops,
            stopped_ps: self.stopped_ps - earlier.stopped_ps,
            occupancy_flit_ps: self.occupancy_flit_ps - earlier.occupancy_flit_ps,
        }
    }
}
