//! Path sets, and lengths of paths.

use gingham_topology::routing::{KeptPath, Onward};

/// One of the path sets of a plan, with a path for every pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum PathSet {
    /// The only path set, or the first of two.
    #[default]
    Primary,
    /// The second set.
    Alternative,
}

impl PathSet {
    /// Returns the index in `Plan::path_sets`.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Length of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathLength {
    /// Switches, counted at each visit; 0 if one cable joins source and destination.
    pub switches: usize,
    /// In-transit hosts.
    pub in_transit_hosts: usize,
}

impl From<Onward<'_>> for PathLength {
    fn from(onward: Onward<'_>) -> Self {
        let in_transit_hosts = usize::from(onward.in_transit_hosts);
        Self { switches: onward.switches(), in_transit_hosts }
    }
}

impl From<KeptPath> for PathLength {
    fn from(path: KeptPath) -> Self {
        Self { switches: path.switches(), in_transit_hosts: path.in_transit_hosts() }
    }
}
