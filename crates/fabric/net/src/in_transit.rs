//! In-transit hosts: what an adapter does with a packet that is to go on.
//!
//! ```text
//!                     mark recognised    programmed
//!   ── first flit ──┬──── T_d ─────────────── T_r ──► ready ─► out again, while the rest still arrives
//!                   └ pool: space for all of it, until its tail has left │ no space: spill, or stop
//! ```
//!
//! A path may visit hosts. Each takes the packet in and sends it on, so that nothing that the
//! packet holds before the host waits for what is behind it (Flich et al. 2001, section III). What
//! is in the way at the host waits in a pool, the **in-transit buffer**. The rules of timing are in
//! `docs/concepts/timing.md`.
//!
//! Here stands what such hosts are like, in a scenario and in a plan; [`InTransitHost`] is the
//! machine that every simulation asks.

mod host;

pub use host::{EjectionHead, InTransitHost, TakenIn};

use gingham_kernel::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What all in-transit hosts of a run have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InTransitPlan {
    /// From the arrival of the first flit until the packet is known to be in transit: `T_d`.
    pub detection: Span,
    /// From then until the adapter is ready to send it on: `T_r`.
    pub programming: Span,
    /// What the pool of an adapter holds.
    pub pool_bytes: u64,
    /// What becomes of a packet for which the pool has no room.
    pub when_full: WhenFull,
}

/// What becomes of a packet for which the pool has no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFull {
    /// It is taken into the memory of the host, and from there again once all of it is there.
    Spill {
        /// What that costs whatever the length.
        delay: Span,
        /// Time of a byte on the bus, which each crosses twice.
        byte: Span,
    },
    /// It waits in the input of the adapter, which stops its sender.
    Stop,
}

/// What becomes of a packet for which the in-transit buffer has no room, as a scenario names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenPoolFull {
    /// It is taken into the memory of the host, and sent on from there once all of it has come.
    #[default]
    Spill,
    /// It waits in the input of the adapter, which stops its sender. Hosts are then links of cycles
    /// in which packets wait for each other for ever, and routes are proven with them.
    Stop,
}

/// Figures of in-transit hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct InTransitParameters {
    /// From the arrival of the first flit until the packet is known to be in transit: `T_d`.
    pub detection: Span,
    /// From then until the adapter is ready to send it on: `T_r`.
    pub programming: Span,
    /// What the in-transit buffer of an adapter holds.
    pub pool: Bytes,
    /// What becomes of a packet for which it has no room.
    pub when_full: WhenPoolFull,
    /// What a packet that spills loses whatever its length.
    pub spill_delay: Span,
    /// Rate of the bus to the host's memory, which a packet that spills crosses twice.
    pub spill_rate: Rate,
}

impl Default for InTransitParameters {
    /// Flich et al. 2001, section IV-A: 275 ns, 200 ns, 512 KB. What spilling costs is ours: 5 us,
    /// and a bus of 132 MB/s (PCI, 32 bits at 33 MHz).
    fn default() -> Self {
        Self {
            detection: Span::from_ns(275),
            programming: Span::from_ns(200),
            pool: Bytes(512 << 10),
            when_full: WhenPoolFull::Spill,
            spill_delay: Span::from_ns(5_000),
            spill_rate: Rate::from_bytes_per_second(132_000_000),
        }
    }
}

impl InTransitParameters {
    /// The same in integers.
    pub fn plan(&self) -> InTransitPlan {
        InTransitPlan {
            detection: self.detection,
            programming: self.programming,
            pool_bytes: self.pool.0,
            when_full: match self.when_full {
                WhenPoolFull::Stop => WhenFull::Stop,
                WhenPoolFull::Spill => WhenFull::Spill {
                    delay: self.spill_delay,
                    byte: self.spill_rate.flit_time(1).span,
                },
            },
        }
    }
}

impl Default for InTransitPlan {
    fn default() -> Self {
        InTransitParameters::default().plan()
    }
}
