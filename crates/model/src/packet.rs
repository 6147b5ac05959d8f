//! Packets: the unit that moves through the fabric.
//!
//! A message travels as one packet or as several, its segments; what a packet is part of is its
//! [`Assembly`](crate::Reassembly), through which all packets of a message are found again.

use crate::{AssemblyId, ClassId, PathSet};
use gingham_topology::EndpointId;
use gingham_topology::routing::VcClass;

/// Who goes first, at a host and where switches look at it: a higher level goes before a lower one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Priority(u8);

impl Priority {
    /// How many levels there are.
    pub const LEVELS: u8 = 8;

    /// The level with this number, from 0, the lowest, on; `None` beyond the highest.
    pub const fn new(level: u8) -> Option<Self> {
        if level < Self::LEVELS { Some(Self(level)) } else { None }
    }

    /// Its number.
    pub const fn level(self) -> usize {
        self.0 as usize
    }
}

/// A packet on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The message that it is part of, as it comes together at its destination.
    pub assembly: AssemblyId,
    /// Traffic class.
    pub class: ClassId,
    /// Where it begins.
    pub source: EndpointId,
    /// Where it ends.
    pub destination: EndpointId,
    /// Payload in bytes, at least 1.
    pub payload_bytes: u32,
    /// Its level.
    pub priority: Priority,
    /// Which of the paths of its pair it takes.
    pub path_set: PathSet,
    /// What decides on its lanes.
    pub vc_class: VcClass,
    /// Whether no packet of its message was sent before.
    pub is_first: bool,
}
