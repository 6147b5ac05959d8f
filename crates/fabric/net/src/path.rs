//! Paths: of which set they are, and what a packet comes through on one.

use gingham_topology::routing::{KeptPath, Onward};

/// One of the path sets of a plan: a path for every pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum PathSet {
    /// The only one, or the first of two.
    #[default]
    Primary,
    /// The alternative.
    Alternative,
}

impl PathSet {
    /// Its place in `Plan::path_sets`.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// What a packet comes through on its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathLength {
    /// Switches; one that it comes back to counts again. None where one cable joins source and
    /// destination.
    pub switches: usize,
    /// Hosts that take it in and send it on.
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
