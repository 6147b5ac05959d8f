//! Configuration of a running InfiniBand subnet, in the text formats of InfiniBand tools.
//!
//! ```text
//!   dump_lfts, opensm-lfts.dump, opensm.fdbs ──► TableDump ──┐
//!   ibnetdiscover ──► Fabric ──► Lids ───────────────────────┴─► Forwarding ─► Routes (one per
//!                                 │                                              LID offset)
//!   opensm-sl2vl.dump, smpquery, opensm.conf ──► LaneMap ────┬─► Lanes ─► proof by lane
//!   CSV, saquery ──► ServiceLevels ──────────────────────────┘
//! ```
//!
//! Source: InfiniBand Architecture Specification, Volume 1, sections 7.6 (lanes and service levels)
//! and 14.2.5 (tables).
//!
//! Invariants: readers never panic; findings have a deterministic order.

pub mod arbitration;
pub mod conf;
mod fdbs;
mod forwarding;
mod lane_dump;
mod lane_join;
mod level_dump;
mod lids;
mod line;
mod table_dump;
mod tables;
mod write;

pub use arbitration::{ArbitrationSlot, ArbitrationTables, PortArbitration};
pub use conf::{PortKind, QosConf};
pub use forwarding::{ForwardingTables, join};
pub use lane_dump::{LaneDump, LaneEntry, LaneTable, TableOwner};
pub use lane_join::join_lanes;
pub use level_dump::{HEADING as LEVEL_HEADING, LevelDump, LevelRow, join_levels};
pub use lids::{LID_MAX, LidOwner, Lids};
pub use tables::{ForwardingEntry, SwitchTable, TableDump};
pub use write::write as write_tables;
