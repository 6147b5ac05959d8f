//! Paths of a plan, and their lengths.

use crate::{Decision, Plan, Switching};
use gingham_topology::routing::{DatelineClass, KeptPath, LaneSet, Onward, Routes, VcClass};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};

/// Number of a path of an endpoint pair: 0 and 1 are direct paths, higher numbers are paths via an
/// intermediate switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct PathId(u16);

impl PathId {
    /// The only direct path, or the first of two.
    pub const PRIMARY: Self = Self(0);
    /// The second direct path.
    pub const ALTERNATIVE: Self = Self(1);
    /// Maximum number of intermediate switches.
    pub const VIAS_MAX: usize = u16::MAX as usize - 1;

    /// Returns the path via an intermediate switch, given by its index in
    /// [`crate::RoutingScheme::vias`], below [`Self::VIAS_MAX`].
    pub fn over(via: usize) -> Self {
        Self(u16::try_from(via + 2).expect("a scheme has at most VIAS_MAX intermediate switches"))
    }

    pub(super) fn direct(count: usize) -> impl Iterator<Item = Self> {
        (0..=u16::MAX).take(count).map(Self)
    }

    /// Returns the index of the path's routes in [`crate::RoutingScheme::paths`]; 0 for paths via a
    /// switch.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 == 1) as usize
    }

    /// Returns the index of the path's intermediate switch in [`crate::RoutingScheme::vias`].
    #[inline]
    pub const fn via(self) -> Option<usize> {
        match self.0.checked_sub(2) {
            Some(via) => Some(via as usize),
            None => None,
        }
    }
}

/// Length of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathLength {
    /// Number of switches, counting each visit; 0 if one cable joins source and destination.
    pub switches: usize,
    /// Number of in-transit hosts.
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
    pub(crate) fn assert_routing(&self) {
        self.routing.assert_consistent();
        assert!(
            !matches!(self.routing.decision, Decision::ByLoad { .. })
                || !matches!(self.switching, Switching::Wormhole(_)),
            "outputs have loads over virtual lanes and with whole packets"
        );
        let is_at_switch = |end: &EndpointId| {
            self.is_switch(self.fabric.target(self.fabric.endpoint_channel(*end)).node)
        };
        assert!(self.routing.vias.iter().all(is_at_switch), "a leg ends at a switch");
    }

    /// Returns the channels of a path, leg by leg; `None` if the path does not exist. Endpoints
    /// joined by one cable have no other path.
    pub fn legs(
        &self,
        path: PathId,
        source: EndpointId,
        destination: EndpointId,
    ) -> Option<Vec<Vec<ChannelId>>> {
        let has_switch =
            self.is_switch(self.ends(self.fabric.endpoint_channel(source)).target.node);
        let via = path.via().filter(|_| has_switch).map(|via| self.routing.vias[via]);
        let Some(via) = via else {
            let channels = self.direct_path(path, source, destination)?;
            let ends_at_host =
                |channel: &ChannelId| !self.is_switch(self.fabric.target(*channel).node);
            return Some(channels.split_inclusive(ends_at_host).map(<[_]>::to_vec).collect());
        };
        // Both routes contain the cable of the intermediate endpoint, which packets do not
        // traverse.
        let mut to_switch = self.direct_path(path, source, via)?;
        to_switch.pop();
        let onward = self.direct_path(path, via, destination)?.split_off(1);
        Some(vec![to_switch, onward])
    }

    /// Returns the channels of a path; `None` if the path does not exist. The path from an endpoint
    /// to itself leads to the first switch and back.
    pub fn path(
        &self,
        path: PathId,
        source: EndpointId,
        destination: EndpointId,
    ) -> Option<Vec<ChannelId>> {
        self.legs(path, source, destination).map(|legs| legs.concat())
    }

    fn direct_path(
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

    /// Returns the lanes of a VC class on each channel of a path after the source's cable, up to
    /// the first in-transit host; `None` if the path does not exist.
    pub fn lanes_along(
        &self,
        path: PathId,
        (source, destination): (EndpointId, EndpointId),
        vc_class: VcClass,
    ) -> Option<Vec<(ChannelId, LaneSet)>> {
        let legs = self.legs(path, source, destination)?;
        let allowed = &self.lanes.allowed;
        let (mut incoming, mut found) = (self.fabric.endpoint_channel(source), Vec::new());
        for (leg, channels) in (0..=u8::MAX).zip(&legs) {
            let mut dateline_class = DatelineClass::default();
            let vc_class = allowed.on_leg(vc_class, leg);
            let via = path.via().filter(|_| usize::from(leg) + 1 < legs.len());
            let to = via.map_or(destination, |via| self.routing.vias[via]);
            for outgoing in channels.iter().copied().skip(usize::from(leg == 0)) {
                if !self.is_switch(self.fabric.source(outgoing).node) {
                    return Some(found);
                }
                let lanes;
                (lanes, dateline_class) =
                    allowed.onward(&self.fabric, vc_class, dateline_class, incoming, outgoing, to);
                found.push((outgoing, lanes));
                incoming = outgoing;
            }
        }
        Some(found)
    }

    /// Returns the length of a path whose first node after the source's cable is `first`; zero if
    /// the path does not exist.
    pub fn length_from(&self, path: PathId, first: NodeId, destination: EndpointId) -> PathLength {
        if !self.is_switch(first) {
            return PathLength::default();
        }
        if let Some(via) = path.via().map(|via| self.routing.vias[via]) {
            let switch = self.fabric.target(self.fabric.endpoint_channel(via)).node;
            let before = self.length_from(PathId::PRIMARY, first, via);
            let after = self.length_from(PathId::PRIMARY, switch, destination);
            if before.switches == 0 || after.switches == 0 {
                return PathLength::default();
            }
            // Both lengths contain the intermediate switch.
            return PathLength { switches: before.switches + after.switches - 1, ..before };
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

    /// Returns the length of the path that consists of the source's cable and the channels
    /// `onward`.
    pub fn length_of(&self, onward: &[ChannelId]) -> PathLength {
        let from_switch = |channel: &&ChannelId| self.is_switch(self.fabric.source(**channel).node);
        let switches = onward.iter().filter(from_switch).count();
        PathLength { switches, in_transit_hosts: onward.len() - switches }
    }
}
