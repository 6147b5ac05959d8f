//! Escape lanes: on these lanes, adaptively routed packets follow the forwarding tables.
//!
//! ```text
//!   lanes of a VC class    0 | 1 2 3
//!                     escape | adaptive
//!   at a switch:  lanes 1, 2, 3 of all shortest paths, or lane 0 of the table's channel
//! ```
//!
//! A packet that finds no free adaptive lane takes an escape lane, and may use either kind of lane
//! at its next hop. The escape lanes alone form no cycle, so no packet waits for ever
//! (`proof/adaptive.rs`).
//!
//! On rings of four or more switches, packets that have yet to cross the dateline of their next
//! dimension use an upper class of escape lanes, all others a lower class. The class depends only
//! on position and destination, because a packet may take any path between two escape lanes. The
//! upper class ends at the dateline, which the lower class never crosses.
//!
//! Source: Duato, "A new theory of deadlock-free adaptive routing in wormhole networks", IEEE
//! Transactions on Parallel and Distributed Systems 4(12), 1993; the classes: Dally and Seitz 1987,
//! section IV.

use super::datelines::{Datelines, Shares};
use super::set::LaneSet;
use crate::{ChannelId, NodeId};

/// Escape and adaptive lanes of each VC class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EscapeLanes {
    datelines: Option<Datelines>,
    classes: Vec<ClassLanes>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ClassLanes {
    adaptive: LaneSet,
    escape: Shares,
}

impl EscapeLanes {
    pub(super) fn new(datelines: Option<Datelines>, vc_classes: &[LaneSet], count: usize) -> Self {
        let of = |all: &LaneSet| {
            let escape: LaneSet = all.lanes().take(count).collect();
            ClassLanes { adaptive: all.without(escape), escape: Shares::new(escape) }
        };
        Self { datelines, classes: vc_classes.iter().map(of).collect() }
    }

    pub(super) fn escape(&self, vc_class: usize, channel: ChannelId, to: NodeId) -> LaneSet {
        let of = self.classes[vc_class].escape;
        match &self.datelines {
            Some(datelines) => datelines.on_if_yet_to_cross(of, channel, to),
            None => of.all,
        }
    }

    /// Returns the adaptive lanes of a VC class.
    pub fn adaptive(&self, vc_class: usize) -> LaneSet {
        self.classes[vc_class].adaptive
    }

    /// Returns the adaptive lanes of all VC classes.
    pub fn all_adaptive(&self) -> LaneSet {
        self.classes.iter().fold(LaneSet::EMPTY, |all, of| all | of.adaptive)
    }

    /// Returns the escape lanes of all VC classes.
    pub fn all_escape(&self) -> LaneSet {
        self.classes.iter().fold(LaneSet::EMPTY, |all, of| all | of.escape.all)
    }

    pub(super) fn sets(&self) -> impl Iterator<Item = LaneSet> {
        let of = |of: &ClassLanes| [of.adaptive].into_iter().chain(of.escape.sets());
        self.classes.iter().flat_map(of).chain([self.all_escape()])
    }

    pub(super) fn add_outside(&mut self, channel_count: usize) {
        if let Some(datelines) = &mut self.datelines {
            datelines.add_outside(channel_count);
        }
    }
}
