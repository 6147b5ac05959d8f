//! Routing scheme: the paths of each endpoint pair, and the selection among them.
//!
//! ```text
//!   at the source   Decision ─► PathId of the packet        by pair, length, draw, contention, load
//!                                 │
//!   at each node    RouteState ◄──┘ ─► output and lanes      from the table or the source route
//!                      │
//!                      └ leg 0 ──► in-transit host or switch ──► leg 1 ──► destination     lanes of each leg
//!
//!   at each switch  SwitchChooser ─► one output of several   adaptive routing
//! ```
//!
//! A path is a list of legs, each to an in-transit host, an intermediate switch or the destination.
//! Packets follow tables or carry source routes. Dateline classes restart with each leg, and the
//! lanes of a VC class may be divided among the legs
//! ([`gingham_topology::routing::Lanes::with_legs`]). With adaptive routing, a table entry is a set
//! of outputs.
//!
//! The deadlock proof covers every selectable path, leg by leg and lane by lane
//! ([`gingham_topology::routing::prove`]).

mod contention;
mod decision;
mod output_load;
mod path;
mod route_state;
mod source_chooser;
mod switch_chooser;

pub use contention::{Contention, ContentionPlan};
pub use decision::*;
pub use output_load::OutputLoad;
pub use path::{PathId, PathLength};
pub use route_state::RouteState;
pub use source_chooser::SourceChooser;
pub use switch_chooser::{HeadPlace, OutputChoice, Reselect, Select, SwitchChooser};

use crate::Packet;
use gingham_topology::EndpointId;
use gingham_topology::routing::{Ejection, Lanes, RouteSet, Routes};
use std::ops::RangeInclusive;

/// Paths of a run, and the selection among them.
///
/// Tables are adaptive if and only if packets select outputs at switches. Alternative paths exist
/// if and only if hosts select paths.
#[derive(Clone, PartialEq, Debug)]
pub struct RoutingScheme {
    /// Routes of the direct paths, by [`PathId`]: one path per endpoint pair, or two with source
    /// routes.
    pub paths: Vec<Routes>,
    /// Endpoints at the intermediate switches of alternative paths, drawn with equal probability.
    /// Empty without paths via switches.
    pub vias: Vec<EndpointId>,
    /// Selection among paths, or among outputs at each switch.
    pub decision: Decision,
}

impl RoutingScheme {
    /// Maximum number of direct paths per endpoint pair.
    pub const PATHS_MAX: usize = 2;

    /// Returns a scheme without paths via intermediate switches.
    ///
    /// # Panics
    /// If `decision` does not fit `paths`.
    pub fn new(paths: Vec<Routes>, decision: Decision) -> Self {
        let scheme = Self { paths, vias: Vec::new(), decision };
        scheme.assert_consistent();
        scheme
    }

    /// Returns a scheme with one path per endpoint pair.
    pub fn by_pair(routes: Routes) -> Self {
        Self::new(vec![routes], Decision::ByPair)
    }

    /// Returns a scheme with alternative paths via the switches of `vias`; both legs use `routes`.
    ///
    /// # Panics
    /// If `vias` is empty or too long, if the routes are adaptive or lead through in-transit hosts,
    /// or if hosts do not select paths.
    pub fn over_switches(routes: Routes, vias: Vec<EndpointId>, decision: Decision) -> Self {
        assert!(!vias.is_empty(), "there is an intermediate switch");
        let scheme = Self { paths: vec![routes], vias, decision };
        scheme.assert_consistent();
        scheme
    }

    pub(crate) fn assert_consistent(&self) {
        let Self { paths, vias, decision } = self;
        let is_adaptive =
            |routes: &Routes| matches!(routes, Routes::Table(tables) if tables.are_adaptive());
        let (count, via_count) = (paths.len(), vias.len());
        assert!((1..=Self::PATHS_MAX).contains(&count), "{count} direct paths, not one or two");
        assert!(via_count <= PathId::VIAS_MAX, "{via_count} intermediate switches are too many");
        assert!(
            paths.iter().any(is_adaptive) == self.is_adaptive(),
            "tables are adaptive if and only if packets select outputs at switches"
        );
        assert!(
            self.has_one_path() != decision.is_at_source(),
            "there are alternative paths if and only if hosts select them"
        );
        let carries_route = |routes: &Routes| matches!(routes, Routes::Source(_));
        assert!(count == 1 || paths.iter().all(carries_route), "two paths are of source form");
        assert!(
            vias.is_empty() || count == 1 && !self.has_in_transit_hosts(),
            "paths over switches have no other alternative, and no in-transit hosts"
        );
    }

    /// Returns the routes of a path.
    #[inline]
    pub fn routes(&self, path: PathId) -> &Routes {
        &self.paths[path.index()]
    }

    /// Iterates over the paths of an endpoint pair, direct paths first.
    pub fn path_ids(&self) -> impl Iterator<Item = PathId> + use<> {
        PathId::direct(self.paths.len()).chain((0..self.vias.len()).map(PathId::over))
    }

    /// Returns whether each endpoint pair has only one path, apart from adaptive routing.
    pub fn has_one_path(&self) -> bool {
        self.paths.len() == 1 && self.vias.is_empty()
    }

    /// Returns the routes with their lanes, for the deadlock proof.
    pub fn route_set<'a>(&'a self, lanes: Option<&'a Lanes>, ejection: Ejection) -> RouteSet<'a> {
        let over_switches = !self.vias.is_empty();
        RouteSet { ejection, over_switches, ..RouteSet::new(&self.paths, lanes) }
    }

    /// Returns the probability that a packet takes a path, if its message has a payload of
    /// `message_bytes`; `None` if the probability depends on the state of the network.
    pub fn probability(&self, path: PathId, message_bytes: u32) -> Option<f64> {
        let alternative = self.decision.alternative(message_bytes)?;
        Some(match path.via() {
            None if path == PathId::PRIMARY => 1.0 - alternative,
            None if self.vias.is_empty() => alternative,
            Some(via) if via < self.vias.len() => alternative / count(self.vias.len()),
            _ => 0.0,
        })
    }

    /// Returns whether a packet may take a path, for some message payload in this range.
    pub fn may_take(&self, path: PathId, message_bytes: &RangeInclusive<u32>) -> bool {
        // The probability is monotonic in the message length, so the ends of the range suffice.
        let ends = [*message_bytes.start(), *message_bytes.end()];
        ends.into_iter().any(|bytes| self.probability(path, bytes).is_none_or(|of| of > 0.0))
    }

    /// Returns whether any path leads through an in-transit host.
    pub fn has_in_transit_hosts(&self) -> bool {
        self.paths.iter().any(Routes::has_in_transit_hosts)
    }

    /// Returns the maximum number of legs into which intermediate switches divide a path.
    pub const fn legs_over_switches(&self) -> u8 {
        if self.vias.is_empty() { 1 } else { 2 }
    }

    /// Returns whether any path has several legs.
    pub fn has_legs(&self) -> bool {
        self.has_in_transit_hosts() || !self.vias.is_empty()
    }

    /// Returns the endpoint where a leg ends: an endpoint at the intermediate switch, or the
    /// destination.
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

#[expect(clippy::cast_precision_loss, reason = "intermediate switches are few")]
fn count(vias: usize) -> f64 {
    vias as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_topology::Fabric;
    use gingham_topology::generate::{Generator, Mesh};
    use gingham_topology::routing::{Algorithm, DimensionOrder, Form, route};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const AT_RANDOM: Decision = Decision::AtRandom { alternative: 0.25 };
    const BY_LOAD: Decision = Decision::ByLoad { threshold_bytes: u64::MAX };
    const AT_SWITCHES: Decision =
        Decision::AtSwitches(SwitchDecision { select: Select::First, reselect: Reselect::Never });

    fn fabric() -> Fabric {
        let mesh = Mesh { dimensions: vec![2, 2], hosts_per_switch: 1, rails: 1 };
        Generator::Mesh(mesh).generate(1).unwrap()
    }

    fn routes(form: Form) -> Routes {
        let algorithm = Algorithm::DimensionOrder(DimensionOrder::default());
        route(&fabric(), &algorithm, form).unwrap()
    }

    fn adaptive() -> Routes {
        let Routes::Table(tables) = routes(Form::Table) else { panic!("tables") };
        Routes::Table(tables.made_adaptive(&fabric()).unwrap())
    }

    fn vias(count: usize) -> Vec<EndpointId> {
        vec![EndpointId::new(0); count]
    }

    #[test]
    fn paths_and_decision_must_agree() {
        let [source, table] = [Form::Source, Form::Table].map(routes);
        let cases = [
            (vec![source.clone()], 0, Decision::ByPair, true),
            (vec![table.clone()], 0, Decision::ByPair, true),
            (vec![], 0, Decision::ByPair, false),
            (vec![source.clone(); 2], 0, AT_RANDOM, true),
            (vec![source.clone(); 2], 0, BY_LOAD, true),
            (vec![table.clone()], 1, BY_LOAD, true),
            (vec![table.clone()], 0, BY_LOAD, false),
            (vec![source.clone(); 2], 0, Decision::ByPair, false),
            (vec![source.clone(); 3], 0, AT_RANDOM, false),
            (vec![table.clone(); 2], 0, AT_RANDOM, false),
            (vec![source.clone()], 0, AT_RANDOM, false),
            (vec![adaptive()], 0, AT_SWITCHES, true),
            (vec![adaptive()], 0, Decision::ByPair, false),
            (vec![table.clone()], 0, AT_SWITCHES, false),
            (vec![table.clone()], 1, AT_RANDOM, true),
            (vec![source.clone()], PathId::VIAS_MAX, AT_RANDOM, true),
            (vec![source.clone()], PathId::VIAS_MAX + 1, AT_RANDOM, false),
            (vec![table], 1, Decision::ByPair, false),
            (vec![source; 2], 1, AT_RANDOM, false),
            (vec![adaptive()], 1, AT_RANDOM, false),
            (vec![adaptive()], 1, AT_SWITCHES, false),
        ];
        for (number, (paths, count, decision, is_consistent)) in cases.into_iter().enumerate() {
            let scheme = RoutingScheme { paths, vias: vias(count), decision };
            let found = catch_unwind(AssertUnwindSafe(|| scheme.assert_consistent()));
            assert_eq!(found.is_ok(), is_consistent, "case {number}");
        }
    }

    #[test]
    fn probabilities_of_all_paths_sum_to_one() {
        let direct = RoutingScheme::new(vec![routes(Form::Source); 2], AT_RANDOM);
        let over = RoutingScheme::over_switches(routes(Form::Table), vias(5), AT_RANDOM);
        for (scheme, expected) in
            [(direct, vec![0.75, 0.25]), (over, vec![0.75, 0.05, 0.05, 0.05, 0.05, 0.05])]
        {
            let found: Vec<f64> =
                scheme.path_ids().map(|path| scheme.probability(path, 64).unwrap()).collect();
            assert_eq!(found, expected);
        }
    }
}
