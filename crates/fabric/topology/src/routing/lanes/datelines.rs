//! Datelines: channels where packets change lanes, to avoid cycles in the rings of a torus.
//!
//! ```text
//!   a ring of five, upwards            lanes of a VC class     0 1 | 2 3
//!                    dateline                                   dateline class 0 | dateline class 1
//!   s0 ─► s1 ─► s2 ─► s3 ─► s4 ═► s0
//!   from s3 to s1:    dateline class 0 ║ dateline class 1 ─► dateline class 1
//! ```
//!
//! In each dimension with rings of four or more switches, the channels between the last switch and
//! the first form the dateline, in both directions. On other channels a packet may use all lanes of
//! its VC class.
//!
//! By hop: a packet enters a dimension on dateline class 0, and uses class 1 from the channel that
//! crosses the dateline. Neither class forms a cycle, because class 0 ends at the dateline, and a
//! shortest path on class 1 does not reach the dateline again.
//!
//! By wrap: a packet that will cross the dateline of a dimension uses class 1 in that whole
//! dimension; every other packet uses class 0. No packet crosses the dateline on class 0. All paths
//! on class 1 contain the dateline, so paths of up to `l` channels form at most `2 l - 2`
//! consecutive turns; a cycle in a ring of `k` needs `k` turns, and shortest paths have `2 l <= k`.
//! The classes are more evenly loaded than by hop.
//!
//! Dimension-order routing excludes cycles across dimensions; other routes need the proof.
//!
//! Source: Dally and Seitz 1987 (`proof/dependency.rs`), section IV (virtual channels of the k-ary
//! n-cube); by wrap: Scott and Thorson, "Optimized routing in the Cray T3D", PCRCW 1994.

use super::set::{DatelineClass, LaneSet};
use crate::{ChannelId, Fabric, Grid, GridError, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Size of the largest ring whose shortest paths never use two consecutive channels.
const FREE_CIRCLE_MAX: u32 = 3;

/// Marker for a channel outside rings with a dateline.
const OUTSIDE: u8 = u8::MAX;

/// Rule for the dateline class of a packet in a dimension with a dateline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DatelineRule {
    /// Lower class before the dateline, upper class from the channel that crosses it onwards.
    #[default]
    #[schemars(extend("x-source" = "Dally and Seitz 1987, section IV"))]
    ByHop,
    /// Upper class in the whole dimension if the packet will cross its dateline, otherwise lower
    /// class.
    #[schemars(extend("x-source" = "Scott and Thorson 1994"))]
    ByWrap,
}

/// Datelines of a mesh or torus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datelines {
    /// By channel: twice the index of its dimension among those with datelines, plus 1 if it
    /// crosses the dateline; or [`OUTSIDE`].
    places: Vec<u8>,
    wraps: Option<Wraps>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Wraps {
    rings: usize,
    coordinates: Vec<u32>,
    /// By channel: coordinate of its source switch, and whether the channel leads upwards.
    beginnings: Vec<(u32, bool)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shares {
    pub(crate) all: LaneSet,
    dateline_classes: [LaneSet; Datelines::CLASSES],
}

impl Datelines {
    /// Number of dateline classes in a fabric with datelines.
    pub const CLASSES: usize = 2;

    /// Finds the datelines of a mesh or torus.
    ///
    /// # Errors
    /// Reports the first switch or cable that does not fit into a grid.
    pub fn new(fabric: &Fabric, rule: DatelineRule) -> Result<Self, GridError> {
        Ok(Self::of_grid(fabric, &Grid::recognise(fabric)?, rule))
    }

    fn of_grid(fabric: &Fabric, grid: &Grid, rule: DatelineRule) -> Self {
        let needs_one = |dimension: &usize| {
            grid.wraps()[*dimension] && grid.dimensions()[*dimension] > FREE_CIRCLE_MAX
        };
        let rings: Vec<usize> = (0..grid.dimensions().len()).filter(needs_one).collect();
        let place = |channel: ChannelId| {
            let [from, to] = [fabric.source(channel).node, fabric.target(channel).node];
            let are_switches = [from, to].iter().all(|node| fabric.node(*node).is_switch());
            are_switches.then(|| place(grid, &rings, from, to)).flatten().unwrap_or(OUTSIDE)
        };
        let places: Vec<u8> = ChannelId::first(fabric.channel_count()).map(place).collect();
        let wraps =
            (rule == DatelineRule::ByWrap).then(|| Wraps::new(fabric, grid, &rings, &places));
        Self { places, wraps }
    }

    /// Returns the rule for the dateline class.
    pub fn rule(&self) -> DatelineRule {
        if self.wraps.is_some() { DatelineRule::ByWrap } else { DatelineRule::ByHop }
    }

    pub(super) fn add_outside(&mut self, channel_count: usize) {
        self.places.resize(channel_count, OUTSIDE);
    }

    /// Returns the number of dateline classes; 1 without datelines.
    pub fn dateline_classes(&self) -> usize {
        if self.places.iter().any(|place| *place != OUTSIDE) { Self::CLASSES } else { 1 }
    }

    /// Returns whether a channel crosses the dateline of its dimension.
    pub fn is_crossed_by(&self, channel: ChannelId) -> bool {
        let place = self.places[channel.index()];
        place != OUTSIDE && place & 1 == 1
    }

    #[inline(never)] // Keeps callers small when there are no datelines.
    pub(super) fn onward(
        &self,
        shares: Shares,
        dateline_class: DatelineClass,
        incoming: ChannelId,
        outgoing: ChannelId,
        to: impl FnOnce() -> NodeId,
    ) -> (LaneSet, DatelineClass) {
        let dateline_class = self.class_after(dateline_class, incoming, outgoing, to);
        (self.on(shares, dateline_class, outgoing), dateline_class)
    }

    #[inline]
    pub(super) fn class_after(
        &self,
        dateline_class: DatelineClass,
        incoming: ChannelId,
        outgoing: ChannelId,
        to: impl FnOnce() -> NodeId,
    ) -> DatelineClass {
        let (before, after) = (self.places[incoming.index()], self.places[outgoing.index()]);
        if after == OUTSIDE {
            return DatelineClass(0);
        }
        let class = match &self.wraps {
            _ if before >> 1 == after >> 1 => dateline_class.0,
            Some(wraps) => wraps.will_cross(usize::from(after >> 1), outgoing, to()).into(),
            None => 0,
        };
        DatelineClass(class | after & 1)
    }

    /// Returns the lanes of class 1 if packets to the switch `to` have yet to cross the dateline of
    /// the channel's dimension, otherwise of class 0. Requires classes by wrap.
    pub(super) fn on_if_yet_to_cross(
        &self,
        shares: Shares,
        channel: ChannelId,
        to: NodeId,
    ) -> LaneSet {
        let place = self.places[channel.index()];
        let wraps = self.wraps.as_ref().filter(|_| place != OUTSIDE);
        let class = wraps.map(|of| of.will_cross(usize::from(place >> 1), channel, to));
        class.map_or(shares.all, |class| shares.dateline_classes[usize::from(class)])
    }

    #[inline]
    pub(super) fn on(
        &self,
        shares: Shares,
        dateline_class: DatelineClass,
        channel: ChannelId,
    ) -> LaneSet {
        if self.places[channel.index()] == OUTSIDE {
            shares.all
        } else {
            shares.dateline_classes[usize::from(dateline_class.0)]
        }
    }
}

impl Wraps {
    fn new(fabric: &Fabric, grid: &Grid, rings: &[usize], places: &[u8]) -> Self {
        let of_switch = |switch| rings.iter().map(move |ring| grid.coordinate(switch, *ring));
        let beginning = |(channel, place): (ChannelId, &u8)| {
            if *place == OUTSIDE {
                return (0, false);
            }
            let ring = rings[usize::from(place >> 1)];
            let ends = [fabric.source(channel).node, fabric.target(channel).node];
            let [a, b] = ends.map(|end| grid.coordinate(end, ring));
            (a, (b > a) != (place & 1 == 1))
        };
        let channels = ChannelId::first(places.len()).zip(places);
        Self {
            rings: rings.len(),
            coordinates: fabric.switches().flat_map(of_switch).collect(),
            beginnings: channels.map(beginning).collect(),
        }
    }

    /// Returns whether a shortest path that enters a dimension through `channel` crosses its
    /// dateline.
    fn will_cross(&self, ring: usize, channel: ChannelId, to: NodeId) -> bool {
        let end = self.coordinates[to.index() * self.rings + ring];
        let (begins, leads_up) = self.beginnings[channel.index()];
        if leads_up { end < begins } else { end > begins }
    }
}

fn place(grid: &Grid, rings: &[usize], from: NodeId, to: NodeId) -> Option<u8> {
    let coordinates = |dimension: &usize| [from, to].map(|end| grid.coordinate(end, *dimension));
    let number = rings.iter().position(|dimension| {
        let [a, b] = coordinates(dimension);
        a != b
    })?;
    let [a, b] = coordinates(&rings[number]);
    // In rings of four or more switches, the coordinates of neighbours differ by more than 1 only
    // across the dateline.
    let crosses = u8::from(a.abs_diff(b) > 1);
    Some(2 * u8::try_from(number).expect("fewer rings than bits of a switch's number") + crosses)
}

impl Shares {
    pub(super) fn sets(self) -> impl Iterator<Item = LaneSet> {
        [self.all].into_iter().chain(self.dateline_classes)
    }

    /// Divides lanes into two contiguous parts; the lower part gets an odd lane. A single lane
    /// belongs to both dateline classes.
    pub(crate) fn new(all: LaneSet) -> Self {
        let count = all.lanes().count();
        if count < Datelines::CLASSES {
            return Self { all, dateline_classes: [all; Datelines::CLASSES] };
        }
        let lower: LaneSet = all.lanes().take(count.div_ceil(Datelines::CLASSES)).collect();
        let upper = all.lanes().filter(|lane| !lower.contains(*lane)).collect();
        Self { all, dateline_classes: [lower, upper] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dateline_classes_split_lanes_into_contiguous_halves() {
        let shares = |lanes: &[u8]| Shares::new(lanes.iter().copied().collect()).dateline_classes;
        let set = |lanes: &[u8]| lanes.iter().copied().collect::<LaneSet>();
        assert_eq!(shares(&[0, 1, 2, 3]), [set(&[0, 1]), set(&[2, 3])]);
        assert_eq!(shares(&[1, 4, 9]), [set(&[1, 4]), set(&[9])]);
        assert_eq!(shares(&[5]), [set(&[5]), set(&[5])]);
        assert_eq!(shares(&[]), [LaneSet::EMPTY; 2]);
    }
}
