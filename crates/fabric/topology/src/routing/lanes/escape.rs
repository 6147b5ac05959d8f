//! Escape lanes: those on which packets that choose anew at every switch follow the tables.
//!
//! ```text
//!   lanes of a VC class    0 | 1 2 3
//!                     escape | adaptive
//!   at a switch:  on lanes 1, 2, 3 of every channel on a shortest way, or on lane 0 of the one of the tables
//! ```
//!
//! A packet that finds no adaptive lane takes an escape lane; from there it may go on either way. The
//! escape lanes alone are a network without cycles, so that nobody waits for ever (`proof/adaptive.rs`).
//!
//! Where dimensions close to rings of four or more, the escape lanes are shared out among two
//! classes: the upper for packets that are yet to cross the dateline of the dimension in which they
//! go on, the lower for all others. Unlike the rules of `datelines.rs` this looks at nothing but
//! where the packet is and where it is to go, for between two escape lanes it may have been
//! anywhere. On the upper class nobody goes on past a dateline, and on the lower nobody takes one.
//!
//! Source: Duato, "A new theory of deadlock-free adaptive routing in wormhole networks", IEEE
//! Transactions on Parallel and Distributed Systems 4(12), 1993; the classes: Dally and Seitz 1987,
//! section IV.

use super::datelines::{Datelines, Shares};
use super::set::LaneSet;
use crate::{ChannelId, NodeId};

/// Which lanes are for escape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EscapeLanes {
    /// Where rings close; by wrap, since that rule knows who is to cross.
    datelines: Option<Datelines>,
    /// By VC class.
    classes: Vec<ClassLanes>,
}

/// Those of a VC class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ClassLanes {
    adaptive: LaneSet,
    escape: Shares,
}

impl EscapeLanes {
    /// The lowest `count` lanes of every VC class.
    pub(super) fn new(datelines: Option<Datelines>, vc_classes: &[LaneSet], count: usize) -> Self {
        let of = |all: &LaneSet| {
            let escape: LaneSet = all.lanes().take(count).collect();
            ClassLanes { adaptive: all.without(escape), escape: Shares::new(escape) }
        };
        Self { datelines, classes: vc_classes.iter().map(of).collect() }
    }

    /// The escape lanes of a VC class in the channel of the tables, for packets to what hangs on the
    /// switch `to`.
    pub(super) fn escape(&self, vc_class: usize, channel: ChannelId, to: NodeId) -> LaneSet {
        let of = self.classes[vc_class].escape;
        match &self.datelines {
            Some(datelines) => datelines.on_if_yet_to_cross(of, channel, to),
            None => of.all,
        }
    }

    /// The lanes of a VC class in any channel on a shortest way.
    pub fn adaptive(&self, vc_class: usize) -> LaneSet {
        self.classes[vc_class].adaptive
    }

    /// The adaptive lanes of all VC classes.
    pub fn all_adaptive(&self) -> LaneSet {
        self.classes.iter().fold(LaneSet::EMPTY, |all, of| all | of.adaptive)
    }

    /// The escape lanes of all VC classes.
    pub fn all_escape(&self) -> LaneSet {
        self.classes.iter().fold(LaneSet::EMPTY, |all, of| all | of.escape.all)
    }

    /// Every set of lanes that packets may take or wait for somewhere.
    pub(super) fn sets(&self) -> impl Iterator<Item = LaneSet> {
        let of = |of: &ClassLanes| [of.adaptive].into_iter().chain(of.escape.sets());
        self.classes.iter().flat_map(of).chain([self.all_escape()])
    }

    /// All channels up to so many that are not known are outside of the dimensions.
    pub(super) fn add_outside(&mut self, channel_count: usize) {
        if let Some(datelines) = &mut self.datelines {
            datelines.add_outside(channel_count);
        }
    }
}
