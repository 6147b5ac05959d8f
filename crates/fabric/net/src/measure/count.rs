//! Counts of messages, and of flits and stops of a channel.

use crate::Message;
use std::ops::{Add, AddAssign};

/// Messages and their payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Messages.
    pub messages: u64,
    /// Payload bytes.
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

/// Counts of one channel since time zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelCount {
    /// Data flits that have started.
    pub data_flits: u64,
    /// Control flits that have started.
    pub control_flits: u64,
    /// STOPs, or pauses of lanes, that have reached the sender.
    pub stops: u64,
    /// Time for which flow control stopped the sender, in picoseconds: from STOP to GO, with any
    /// lane paused, or with a packet ready but without credits.
    pub stopped_ps: u64,
    /// Integral over time of the number of flits in the input buffer at the channel's end. A flit
    /// counts from its arrival until it starts on the next channel or is stripped. Zero at hosts
    /// that accept everything.
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
    /// Counts since `earlier`, an earlier state of the counts.
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
