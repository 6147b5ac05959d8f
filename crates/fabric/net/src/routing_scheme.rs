//! Routing scheme: the paths of each pair of endpoints, and the decisions that select among them.
//!
//! ```text
//!   at the source   Decision ─► PathId of the packet        by pair, by length, at random, by contention
//!                                 │
//!   at each node    RouteState ◄──┘ ─► output and lanes      table: looked up; source route: read from the path
//!                      │
//!                      └ leg 0 ──► in-transit host or switch ──► leg 1 ──► destination     lanes of each leg
//!
//!   at each switch  SwitchChooser ─► one output of several   adaptive routing
//! ```
//!
//! A path is a list of legs. A leg leads to an in-transit host, to an intermediate switch or to the
//! destination, by tables or by a route that the packet carries. Dateline classes begin anew with
//! each leg, and the lanes of a VC class may be divided among the legs
//! ([`gingham_topology::routing::Lanes::with_legs`]). With adaptive routing the tables give a set of
//! outputs in place of one.
//!
//! Networks know neither rules nor legs. They pass the packet and its [`RouteState`] through
//! [`RouteState::output`], [`RouteState::enter`] and [`RouteState::reinject`].
//!
//! The deadlock proof covers every path that a decision may select, leg by leg and lane by lane
//! ([`gingham_topology::routing::prove`]).

mod contention;
mod decision;
mod path;
mod route_state;
mod source_chooser;
mod switch_chooser;

pub use contention::{Contention, ContentionPlan};
pub use decision::*;
pub use path::{PathId, PathLength};
pub use route_state::RouteState;
pub use source_chooser::SourceChooser;
pub use switch_chooser::{HeadPlace, OutputChoice, Reselect, Select, SwitchChooser};

use crate::Packet;
use gingham_topology::EndpointId;
use gingham_topology::routing::Routes;

/// Paths of a run, and the selection among them.
#[derive(Clone, PartialEq, Debug)]
pub struct RoutingScheme {
    /// Routes of the direct paths by [`PathId`]: one path for each pair, or two; both are in source
    /// form if there are two.
    pub paths: Vec<Routes>,
    /// Endpoints at whose switches a packet may end its first leg and begin its second; empty if no
    /// decision selects such a path.
    pub vias: Vec<EndpointId>,
    /// Selection among the paths, or among the outputs at each switch.
    pub decision: Decision,
}

impl RoutingScheme {
    /// Returns the scheme with one path for each pair.
    pub fn by_pair(routes: Routes) -> Self {
        Self { paths: vec![routes], vias: Vec::new(), decision: Decision::ByPair }
    }

    /// Returns the routes of a path.
    #[inline]
    pub fn routes(&self, path: PathId) -> &Routes {
        &self.paths[path.index()]
    }

    /// Iterates over the direct paths of a pair.
    pub fn path_ids(&self) -> impl Iterator<Item = PathId> + use<> {
        PathId::direct(self.paths.len())
    }

    /// Returns whether any path leads through an in-transit host.
    pub fn has_in_transit_hosts(&self) -> bool {
        self.paths.iter().any(Routes::has_in_transit_hosts)
    }

    /// Returns the maximum number of legs of a path over intermediate switches, 1 for direct paths.
    pub const fn legs_over_switches(&self) -> u8 {
        if self.vias.is_empty() { 1 } else { 2 }
    }

    /// Returns whether any path has several legs.
    pub fn has_legs(&self) -> bool {
        self.has_in_transit_hosts() || !self.vias.is_empty()
    }

    /// Returns the endpoint to which the routes of a leg of a packet lead: an endpoint at its
    /// intermediate switch, or the destination.
    #[inline]
    pub fn end_of_leg(&self, packet: &Packet, leg: u8) -> EndpointId {
        match packet.path_id.via() {
            Some(via) if leg == 0 => self.vias[via],
            _ => packet.destination,
        }
    }

    /// Returns whether packets select an output at every switch.
    pub const fn is_adaptive(&self) -> bool {
        matches!(self.decision, Decision::AtSwitches(_))
    }
}
