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
//! its dateline, in both directions. A packet is on dateline class 0 when it enters a dimension, on
//! dateline class 1 from the channel on that crosses the dateline of that dimension, and on
//! dateline class 0 again in the next dimension. On dateline class 0 nobody goes on past the
//! dateline and on dateline class 1 a shortest way ends before it comes there again, so that
//! neither dateline class closes a cycle; between dimensions the order of dimension-order routing
//! sees to it. Other routes may turn in other ways, so whether they are free of deadlock is for the
//! proof to say.
//!
//! Rings of three switches need none: no shortest way takes two of their channels in a row.
//! In dimensions without a dateline, and on cables of hosts, a packet may use all its lanes.
//!
//! Source: Dally and Seitz, "Deadlock-free message routing in multiprocessor interconnection
//! networks", IEEE Transactions on Computers C-36(5), 1987, section IV (virtual channels of the
//! k-ary n-cube).
//!
//! Invariant: both channels of a cable are alike.

use super::set::{DatelineClass, LaneSet};
use crate::{ChannelId, Fabric, Grid, GridError, NodeId};

/// The largest ring on which no shortest way takes two channels in a row.
const FREE_CIRCLE_MAX: u32 = 3;

/// A channel that lies on no ring with a dateline.
const OUTSIDE: u8 = u8::MAX;

/// The datelines of a fabric whose switches are a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datelines {
    /// By channel: twice the number of its dimension among those with datelines, and one more where
    /// the channel crosses; or [`OUTSIDE`].
    places: Vec<u8>,
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
    pub fn new(fabric: &Fabric) -> Result<Self, GridError> {
        Ok(Self::of_grid(fabric, &Grid::recognise(fabric)?))
    }

    fn of_grid(fabric: &Fabric, grid: &Grid) -> Self {
        let needs_one = |dimension: &usize| {
            grid.wraps()[*dimension] && grid.dimensions()[*dimension] > FREE_CIRCLE_MAX
        };
        let rings: Vec<usize> = (0..grid.dimensions().len()).filter(needs_one).collect();
        let place = |channel: ChannelId| {
            let [from, to] = [fabric.source(channel).node, fabric.target(channel).node];
            let are_switches = [from, to].iter().all(|node| fabric.node(*node).is_switch());
            are_switches.then(|| place(grid, &rings, from, to)).flatten().unwrap_or(OUTSIDE)
        };
        Self { places: ChannelId::first(fabric.channel_count()).map(place).collect() }
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
    /// goes on by `outgoing`.
    #[inline(never)] // Where there are none, what asks stays small.
    pub(super) fn onward(
        &self,
        shares: Shares,
        dateline_class: DatelineClass,
        incoming: ChannelId,
        outgoing: ChannelId,
    ) -> (LaneSet, DatelineClass) {
        let dateline_class = self.class_after(dateline_class, incoming, outgoing);
        (self.on(shares, dateline_class, outgoing), dateline_class)
    }

    /// The dateline class of a packet that came by `incoming` on `dateline_class` and goes on by
    /// `outgoing`.
    #[inline]
    pub(super) fn class_after(
        &self,
        dateline_class: DatelineClass,
        incoming: ChannelId,
        outgoing: ChannelId,
    ) -> DatelineClass {
        let (from, to) = (self.places[incoming.index()], self.places[outgoing.index()]);
        if to == OUTSIDE {
            return DatelineClass(0);
        }
        let kept = if from >> 1 == to >> 1 { dateline_class.0 } else { 0 };
        DatelineClass(kept | to & 1)
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
