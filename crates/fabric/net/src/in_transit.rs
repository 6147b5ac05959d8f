//! In-transit hosts: adapters that re-inject packets destined for other hosts.
//!
//! ```text
//!                     mark recognised    programmed
//!   ── first flit ──┬──── T_d ─────────────── T_r ──► ready ─► re-injected while the rest still arrives
//!                   └ pool: space for the whole packet until its tail has left │ no space: spill, or stop
//! ```
//!
//! Each in-transit host on a path ejects the packet and re-injects it, so that no resource held
//! before the host waits for a resource after it (Flich et al. 2001, section III). Packets that
//! cannot leave immediately wait in a pool, the **in-transit buffer**. Timing rules:
//! `docs/concepts/timing.md`.

mod host;

pub use host::{EjectionHead, InTransitHost, TakenIn};

use gingham_kernel::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of in-transit hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InTransitPlan {
    /// `T_d`: time from the arrival of the first flit until the packet is recognised as in transit.
    pub detection: Span,
    /// `T_r`: additional time until re-injection can start.
    pub programming: Span,
    /// Capacity of each adapter's pool in bytes.
    pub pool_bytes: u64,
    /// Handling of packets that do not fit into the pool.
    pub when_full: WhenFull,
}

/// Handling of packets that do not fit into the pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhenFull {
    /// The packet is copied to host memory, and re-injected after it has arrived completely.
    Spill {
        /// Fixed delay of the copy.
        delay: Span,
        /// Transfer time per byte on the bus, which each byte crosses twice.
        byte: Span,
    },
    /// The packet waits in the adapter's input, which stops the sender.
    Stop,
}

/// Handling of a packet that does not fit into the in-transit buffer, as named in scenarios.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenPoolFull {
    /// The packet is copied to host memory, and re-injected after it has arrived completely.
    #[default]
    Spill,
    /// The packet waits in the adapter's input, which stops the sender. Packets can then wait in a
    /// cycle through hosts forever, so the deadlock proof includes the hosts.
    Stop,
}

/// In-transit host parameters of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct InTransitParameters {
    /// Time from the arrival of the first flit until the packet is recognized as in transit: `T_d`.
    pub detection: Span,
    /// Additional time until the adapter is ready to re-inject the packet: `T_r`.
    pub programming: Span,
    /// Capacity of each adapter's in-transit buffer.
    pub pool: Bytes,
    /// Handling of a packet that does not fit into the in-transit buffer.
    pub when_full: WhenPoolFull,
    /// Fixed delay of a spilled packet, independent of its length.
    pub spill_delay: Span,
    /// Rate of the bus to host memory, which a spilled packet crosses twice.
    pub spill_rate: Rate,
}

impl Default for InTransitParameters {
    /// Returns the values of Flich et al. 2001, section IV-A: detection 275 ns, programming 200 ns,
    /// pool 512 KB. The spilling cost is ours: 5 us, and PCI at 132 MB/s (32 bits at 33 MHz).
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
    /// Converts the parameters to a plan in integers.
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
