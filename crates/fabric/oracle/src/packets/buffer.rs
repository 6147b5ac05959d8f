//! Receiving end of a channel into a switch: an input port with a buffer for each lane.
//!
//! ```text
//!   s            a             h ... r              u                       e
//!   takes space  first byte    head  ready: waits   starts on the output    tail has left: space is free
//!   └──────────────────────── a packet in the buffer ──────────────────────┘
//!                └──────────────── its bytes fill the buffer ──────────────┘
//! ```

use crate::packets::journey::JourneyId;
use gingham_kernel::Time;
use gingham_topology::ChannelId;
use gingham_topology::routing::{DatelineClass, LaneSet};

#[derive(Clone, Debug)]
pub(crate) struct Buffered {
    pub(crate) packet: JourneyId,
    pub(crate) wire_bytes: u64,
    pub(crate) blocks: u64,
    /// `a`: arrival time of the first byte.
    pub(crate) came: Time,
    pub(crate) output: ChannelId,
    pub(crate) lanes: LaneSet,
    pub(crate) dateline_class: DatelineClass,
    pub(crate) level: usize,
    pub(crate) is_ready: bool,
    pub(crate) has_started: bool,
    pub(crate) overtaken: u32,
}

impl Buffered {
    pub(crate) fn waits(&self) -> bool {
        self.is_ready && !self.has_started
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) lanes: Vec<Vec<Buffered>>,
    pub(crate) reading: usize,
    /// `h` of the last packet: the time when its head was read.
    pub(crate) last_head: Option<Time>,
    pub(crate) freed_blocks: Vec<u64>,
    pub(crate) credit_updates: Vec<Option<Time>>,
    /// Sum of wire bytes times length of stay, over all packets that have left, in byte-ps.
    occupancy_byte_ps: u128,
}

impl Input {
    pub(crate) fn new(lanes: u8) -> Self {
        Self {
            lanes: vec![Vec::new(); lanes.into()],
            reading: 0,
            last_head: None,
            freed_blocks: vec![0; lanes.into()],
            credit_updates: vec![None; lanes.into()],
            occupancy_byte_ps: 0,
        }
    }

    pub(crate) fn lane(&self, lane: u8) -> &[Buffered] {
        &self.lanes[usize::from(lane)]
    }

    pub(crate) fn buffered_mut(&mut self, lane: u8, packet: JourneyId) -> &mut Buffered {
        let buffer = &mut self.lanes[usize::from(lane)];
        buffer.iter_mut().find(|buffered| buffered.packet == packet).expect("it is here")
    }

    pub(crate) fn leave(&mut self, lane: u8, packet: JourneyId, now: Time) {
        let buffer = &mut self.lanes[usize::from(lane)];
        let place = buffer.iter().position(|buffered| buffered.packet == packet);
        let left = buffer.remove(place.expect("it was here"));
        self.reading -= 1;
        self.freed_blocks[usize::from(lane)] += left.blocks;
        self.occupancy_byte_ps += filled(&left, now);
    }

    /// Returns the total wire bytes of the packets whose first byte has arrived and whose tail has
    /// not left.
    pub(crate) fn waiting_bytes(&self, lane: u8, now: Time) -> u64 {
        let arrived = self.lane(lane).iter().filter(|buffered| buffered.came <= now);
        arrived.map(|buffered| buffered.wire_bytes).sum()
    }

    /// Returns the integral of the fill level from time zero to `end`, in byte-ps. `end` must not
    /// be in the past.
    pub(crate) fn occupancy_byte_ps(&self, end: Time) -> u128 {
        let there: u128 = self.lanes.iter().flatten().map(|buffered| filled(buffered, end)).sum();
        self.occupancy_byte_ps + there
    }
}

fn filled(buffered: &Buffered, end: Time) -> u128 {
    let ps = end.max(buffered.came).since(buffered.came).as_ps();
    u128::from(buffered.wire_bytes) * u128::from(ps)
}
