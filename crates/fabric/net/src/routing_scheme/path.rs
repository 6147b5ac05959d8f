//! Paths of a plan, and their lengths.

use crate::Plan;
use gingham_topology::routing::{KeptPath, Onward, Routes};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};

/// Number of a path among those of a pair of endpoints, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PathId(u8);

impl PathId {
    /// The only path, or the first of two.
    pub const PRIMARY: Self = Self(0);
    /// The second path.
    pub const ALTERNATIVE: Self = Self(1);

    /// Iterates over the first `count` numbers.
    pub(super) fn first(count: usize) -> impl Iterator<Item = Self> {
        (0..=u8::MAX).take(count).map(Self)
    }

    /// Returns the index in [`crate::RoutingScheme::paths`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
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

impl Plan {
    /// Returns the channels of a path between two endpoints; `None` if there is none. The path from
    /// an endpoint to itself leads to the switch and back.
    pub fn path(
        &self,
        path: PathId,
        source: EndpointId,
        destination: EndpointId,
    ) -> Option<Vec<ChannelId>> {
        let first = self.fabric.endpoint_channel(source);
        if source == destination {
            let has_switch = self.is_switch(self.ends(first).target.node);
            return has_switch.then(|| vec![first, Fabric::reverse(first)]);
        }
        let path = self.routing.routes(path).path(&self.fabric, source, destination)?;
        Some(path.channels().to_vec())
    }

    /// Returns the maximum number of switches between two endpoints over all paths; 0 if one cable
    /// joins them.
    pub fn switches(&self, source: EndpointId, destination: EndpointId) -> usize {
        let first = self.fabric.target(self.fabric.endpoint_channel(source)).node;
        let switches = |path| self.length_from(path, first, destination).switches;
        self.routing.path_ids().map(switches).max().unwrap_or(0)
    }

    /// Returns the length of a path, where `first` is the node at the end of the source's cable.
    pub fn length_from(&self, path: PathId, first: NodeId, destination: EndpointId) -> PathLength {
        if !self.is_switch(first) {
            return PathLength::default();
        }
        match self.routing.routes(path) {
            Routes::Source(routes) => {
                routes.kept(first, destination).map_or(PathLength::default(), PathLength::from)
            }
            Routes::Table(tables) => {
                let switches = tables.switches_to(&self.fabric, first, destination);
                PathLength { switches: switches.unwrap_or(0), in_transit_hosts: 0 }
            }
        }
    }

    /// Returns the length of a path over these channels, the first of them starting at the first
    /// switch.
    pub fn length_of(&self, onward: &[ChannelId]) -> PathLength {
        let from_switch = |channel: &&ChannelId| self.is_switch(self.fabric.source(**channel).node);
        let switches = onward.iter().filter(from_switch).count();
        PathLength { switches, in_transit_hosts: onward.len() - switches }
    }
}
