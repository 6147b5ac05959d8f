//! In-transit hosts: what an adapter does with a packet that is to go on.
//!
//! ```text
//!                     mark recognised    programmed
//!   ── first flit ──┬──── T_d ─────────────── T_r ──► ready ─► out again, while the rest still arrives
//!                   └ pool: space for all of it, until its tail has left │ no space: spill, or stop
//! ```
//!
//! A path may visit hosts. Each takes the packet in and sends it on, so that nothing that the packet holds before
//! the host waits for what is behind it (Flich et al. 2001, section III). What is in the way at the host waits in a pool, the
//! **in-transit buffer**. The rules of timing are in `docs/concepts/timing.md`.
//!
//! Invariant: the pool never holds more than its size; what a packet takes of it is known when its first flit is there.

use gingham_kernel::Span;

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

impl Default for InTransitPlan {
    /// Flich et al. 2001, section IV-A: 275 ns, 200 ns, 512 KB. What spilling costs is ours: 5 us, and a bus of 132 MB/s
    /// (PCI, 32 bits at 33 MHz).
    fn default() -> Self {
        Self {
            detection: Span::from_ns(275),
            programming: Span::from_ns(200),
            pool_bytes: 512 << 10,
            when_full: WhenFull::Spill { delay: Span::from_ns(5_000), byte: Span::from_ps(7_576) },
        }
    }
}
