//! Datelines: where packets change lanes so that the rings of a torus close no cycle.
//!
//! ```text
//!   a ring of five, upwards            lanes of a VC class     0 1 | 2 3
//!                    dateline                                   dateline class 0 | dateline class 1
//!   s0 ─► s1 ─► s2 ─► s3 ─► s4 ═► s0
//!   from s3 to s1:    dateline class 0 ║ dateline class 1 ─► dateline class 1
//! ```
//!
//! In each dimension that closes to rings, the channels between the last switch and the first are
//! its dateline, in both directions. There are two rules for the class of a packet.
//!
//! By hop: a packet is on dateline class 0 when it enters a dimension, on dateline class 1 from the
//! channel on that crosses the dateline of that dimension, and on dateline class 0 again in the
//! next dimension. On dateline class 0 nobody goes on past the dateline and on dateline class 1 a
//! shortest way ends before it comes there again, so that neither closes a cycle.
//!
//! By wrap: a packet that is going to cross the dateline of a dimension is on dateline class 1 in
//! all of that dimension, and every other on dateline class 0. On dateline class 0 nobody takes the
//! dateline. On dateline class 1 all ways contain it: with ways of at most `l` channels in a ring
//! of `k` there are `2 l - 2` turns in a row, and a cycle needs `k`. A shortest way has `2 l <= k`,
//! so that neither closes a cycle, and the classes are more alike than by hop. Who is going to
//! cross is told from the coordinates of its destination as it enters the dimension: up, if that
//! is less than where it stands.
//!
//! Between dimensions the order of dimension-order routing sees to it. Other routes may turn in
//! other ways, so whether they are free of deadlock is for the proof to say.
//!
//! Rings of three switches need none: no shortest way takes two of their channels in a row.
//! In dimensions without a dateline, and on cables of hosts, a packet may use all its lanes.
//!
//! Source: Dally and Seitz, "Deadlock-free message routing in multiprocessor interconnection
//! networks", IEEE Transactions on Computers C-36(5), 1987, section IV (virtual channels of the
//! k-ary n-cube); by wrap: Scott and Thorson, "Optimized routing in the Cray T3D", PCRCW 1994.
//!
//! Invariant: both channels of a cable are alike.

use super::set::{DatelineClass, LaneSet};
use crate::{ChannelId, Fabric, Grid, GridError, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest ring on which no shortest way takes two channels in a row.
const FREE_CIRCLE_MAX: u32 = 3;

/// A channel that lies on no ring with a dateline.
const OUTSIDE: u8 = u8::MAX;

/// Which dateline class packets take in a dimension with a dateline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DatelineRule {
    /// The lower one up to the dateline, the upper one from the channel on that crosses it.
    #[default]
    #[schemars(extend("x-source" = "Dally and Seitz 1987, section IV"))]
    ByHop,
    /// The upper one in the whole dimension if they are going to cross, else the lower one.
    #[schemars(extend("x-source" = "Scott and Thorson 1994"))]
    ByWrap,
}

/// The datelines of a fabric whose switches are a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datelines {
    /// By channel: twice the number of its dimension among those with datelines, and one more where
    /// the channel crosses; or [`OUTSIDE`].
    places: Vec<u8>,
    /// What tells who is going to cross; `None` where classes are by hop.
    wraps: Option<Wraps>,
}

/// Which packets cross a dateline, told as they enter a dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Wraps {
    /// Number of dimensions with datelines.
    rings: usize,
    /// By switch, then by dimension with a dateline.
    coordinates: Vec<u32>,
    /// By channel, where it is in such a dimension: the coordinate at which it begins, and whether
    /// it leads upwards.
    beginnings: Vec<(u32, bool)>,
}

/// The lanes of a VC class, shared out among the dateline classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shares {
    /// Where there is no dateline.
    pub(crate) all: LaneSet,
    /// By dateline class.
    dateline_classes: [LaneSet; Datelines::CLASSES],
}

impl Datelines {
    /// Layers where there are datelines.
    pub const CLASSES: usize = 2;

    /// The datelines of a mesh or torus; none if no dimension closes to rings of four or more.
    ///
    /// # Errors
    /// The first switch or cable that fits into no grid.
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

    /// The rule by which packets take their dateline class.
    pub fn rule(&self) -> DatelineRule {
        if self.wraps.is_some() { DatelineRule::ByWrap } else { DatelineRule::ByHop }
    }

    /// All channels up to so many that are not known are outside of the dimensions.
    pub(super) fn add_outside(&mut self, channel_count: usize) {
        self.places.resize(channel_count, OUTSIDE);
    }

    /// How many dateline classes there are: one, if no dimension has a dateline.
    pub fn dateline_classes(&self) -> usize {
        if self.places.iter().any(|place| *place != OUTSIDE) { Self::CLASSES } else { 1 }
    }

    /// Whether a channel crosses the dateline of its dimension.
    pub fn is_crossed_by(&self, channel: ChannelId) -> bool {
        let place = self.places[channel.index()];
        place != OUTSIDE && place & 1 == 1
    }

    /// The lanes and the dateline class of a packet that came by `incoming` on `dateline class` and
    /// goes on by `outgoing` to what hangs on the switch `to`.
    #[inline(never)] // Where there are none, what asks stays small.
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

    /// The dateline class of a packet that came by `incoming` on `dateline_class` and goes on by
    /// `outgoing` to what hangs on the switch `to`.
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

    /// The lanes in a channel of packets to what hangs on the switch `to`: those of class 1 if they
    /// are yet to cross the dateline of its dimension, as only classes by wrap can tell.
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

    /// The lanes of packets of a dateline class in a channel.
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

    /// Whether a packet that enters a dimension by a channel, on a shortest way to the switch `to`,
    /// is going to cross the dateline.
    fn will_cross(&self, ring: usize, channel: ChannelId, to: NodeId) -> bool {
        let end = self.coordinates[to.index() * self.rings + ring];
        let (begins, leads_up) = self.beginnings[channel.index()];
        if leads_up { end < begins } else { end > begins }
    }
}

/// The place of the channel from one switch to another; `None` outside of the dimensions with
/// datelines.
fn place(grid: &Grid, rings: &[usize], from: NodeId, to: NodeId) -> Option<u8> {
    let coordinates = |dimension: &usize| [from, to].map(|end| grid.coordinate(end, *dimension));
    let number = rings.iter().position(|dimension| {
        let [a, b] = coordinates(dimension);
        a != b
    })?;
    let [a, b] = coordinates(&rings[number]);
    // Rings are of four or more, so neighbours that differ by more than one are first and last.
    let crosses = u8::from(a.abs_diff(b) > 1);
    Some(2 * u8::try_from(number).expect("fewer rings than bits of a switch's number") + crosses)
}

impl Shares {
    /// Every set of lanes that packets may take somewhere.
    pub(super) fn sets(self) -> impl Iterator<Item = LaneSet> {
        [self.all].into_iter().chain(self.dateline_classes)
    }

    /// Equal contiguous parts, the lower one the larger; all lanes for each if there are fewer
    /// lanes than dateline classes.
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
    fn lanes_are_shared_out_in_equal_contiguous_parts() {
        let shares = |lanes: &[u8]| Shares::new(lanes.iter().copied().collect()).dateline_classes;
        let set = |lanes: &[u8]| lanes.iter().copied().collect::<LaneSet>();
        assert_eq!(shares(&[0, 1, 2, 3]), [set(&[0, 1]), set(&[2, 3])]);
        assert_eq!(shares(&[1, 4, 9]), [set(&[1, 4]), set(&[9])]);
        assert_eq!(shares(&[5]), [set(&[5]), set(&[5])]);
        assert_eq!(shares(&[]), [LaneSet::EMPTY; 2]);
    }
}
