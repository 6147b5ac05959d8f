//! Where a channel into a switch ends: the input port with a buffer for each lane.
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

/// A packet in a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Buffered {
    pub(crate) packet: JourneyId,
    pub(crate) wire_bytes: u64,
    pub(crate) blocks: u64,
    /// `a`: when its first byte is here.
    pub(crate) came: Time,
    /// The channel by which it goes on.
    pub(crate) output: ChannelId,
    /// The lanes that it may take there.
    pub(crate) lanes: LaneSet,
    /// Its dateline class there.
    pub(crate) dateline_class: DatelineClass,
    /// The level at which it competes.
    pub(crate) level: usize,
    pub(crate) is_ready: bool,
    pub(crate) has_started: bool,
    /// How often it was overtaken.
    pub(crate) overtaken: u32,
}

impl Buffered {
    /// Whether it is ready and has not started.
    pub(crate) fn waits(&self) -> bool {
        self.is_ready && !self.has_started
    }
}

/// An input port of a switch.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// By lane: what is in the buffer, the oldest first.
    pub(crate) lanes: Vec<Vec<Buffered>>,
    /// How many of its packets have started on an output and not left.
    pub(crate) reading: usize,
    /// `h` of the last packet.
    pub(crate) last_head: Option<Time>,
    /// By lane: blocks that came free since time zero.
    pub(crate) freed_blocks: Vec<u64>,
    /// By lane: when its sender was told last what came free, whether it heard that or not.
    pub(crate) told: Vec<Option<Time>>,
    /// Bytes times picoseconds of all that has left.
    occupancy_byte_ps: u128,
}

impl Input {
    pub(crate) fn new(lanes: u8) -> Self {
        Self {
            lanes: vec![Vec::new(); lanes.into()],
            reading: 0,
            last_head: None,
            freed_blocks: vec![0; lanes.into()],
            told: vec![None; lanes.into()],
            occupancy_byte_ps: 0,
        }
    }

    /// What is in the buffer of a lane, the oldest first.
    pub(crate) fn lane(&self, lane: u8) -> &[Buffered] {
        &self.lanes[usize::from(lane)]
    }

    /// A packet in the buffer of a lane.
    pub(crate) fn buffered_mut(&mut self, lane: u8, packet: JourneyId) -> &mut Buffered {
        let buffer = &mut self.lanes[usize::from(lane)];
        buffer.iter_mut().find(|buffered| buffered.packet == packet).expect("it is here")
    }

    /// The tail of a packet has left `now`.
    pub(crate) fn leave(&mut self, lane: u8, packet: JourneyId, now: Time) {
        let buffer = &mut self.lanes[usize::from(lane)];
        let place = buffer.iter().position(|buffered| buffered.packet == packet);
        let left = buffer.remove(place.expect("it was here"));
        self.reading -= 1;
        self.freed_blocks[usize::from(lane)] += left.blocks;
        self.occupancy_byte_ps += filled(&left, now);
    }

    /// Bytes whose first has arrived and that have not left, in the buffer of a lane.
    pub(crate) fn waiting_bytes(&self, lane: u8, now: Time) -> u64 {
        let arrived = self.lane(lane).iter().filter(|buffered| buffered.came <= now);
        arrived.map(|buffered| buffered.wire_bytes).sum()
    }

    /// Bytes times picoseconds from time zero up to `end`, which is not past.
    pub(crate) fn occupancy_byte_ps(&self, end: Time) -> u128 {
        let there: u128 = self.lanes.iter().flatten().map(|buffered| filled(buffered, end)).sum();
        self.occupancy_byte_ps + there
    }
}

/// Bytes times picoseconds for which a packet has filled its buffer up to `end`.
fn filled(buffered: &Buffered, end: Time) -> u128 {
    let ps = end.max(buffered.came).since(buffered.came).as_ps();
    u128::from(buffered.wire_bytes) * u128::from(ps)
}
