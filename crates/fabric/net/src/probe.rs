//! Test probe for comparing two simulations: records every notice in order, and orders control
//! packets and lane weight changes.
//!
//! If two simulations of a plan have equal sequences of notices, every mechanism that uses notices
//! behaves equally in both. A probe changes the run, because its packets use links and buffers.

use crate::{ArbiterPlace, Packet, Plan, Weighing};
use gingham_kernel::Time;
use gingham_topology::ChannelId;
use std::num::NonZeroU16;

/// Actions of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbePlan {
    /// Number of received packets per control packet sent back; 0: none.
    pub control_every: u64,
    /// Payload bytes of control packets, including packets from ports 0.
    pub control_bytes: u32,
    /// Number of host control packets read at switches per packet diverted to port 0; 0: none.
    pub divert_every: u64,
    /// Number of received packets per lane weight change; 0: no changes.
    pub weigh_every: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Weights {
    places: Vec<(ArbiterPlace, ChannelId)>,
    lanes: u8,
    ordered: usize,
}

/// Stride for visiting all arbiters in an irregular order: a prime greater than their number in any
/// test.
const STRIDE: usize = 10_007;

impl Weights {
    pub(crate) fn new(plan: &Plan) -> Self {
        let is_asked_for = plan.probe.is_some_and(|probe| probe.weigh_every > 0);
        let weighed = ArbiterPlace::ALL.into_iter().filter(|place| plan.can_weigh(*place));
        let channels = |place| {
            let channels = ChannelId::first(plan.channels.len());
            channels.filter(move |of| plan.has_place(place, *of)).map(move |of| (place, of))
        };
        let places = if is_asked_for { weighed.flat_map(channels).collect() } else { Vec::new() };
        Self { places, lanes: plan.lanes.count, ordered: 0 }
    }

    pub(crate) fn next(&mut self) -> Option<Weighing> {
        if self.places.is_empty() {
            return None;
        }
        let step = self.ordered;
        self.ordered += 1;
        let (place, channel) = self.places[step * STRIDE % self.places.len()];
        let lane = u8::try_from(step % usize::from(self.lanes)).expect("lanes are few");
        let weight = u16::try_from(1 + step * 7 % 11).ok().and_then(NonZeroU16::new)?;
        Some(Weighing { channel, place, lane, weight })
    }
}

/// A recorded notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Noted {
    /// Time of the notice.
    pub time: Time,
    /// Kind of notice.
    pub what: &'static str,
    /// Index of the source, endpoint or input channel; for samples, the number of entries.
    pub place: usize,
    /// Input lane; 0 for notices without a lane.
    pub lane: u8,
    /// Flits in the lane's buffer when a head was read, or wire bytes of a packet waiting in a
    /// switch; otherwise 0.
    pub waiting_flits: u64,
    /// For [`crate::Notice::Settled`]: whether the output has space for another packet.
    pub has_space: Option<bool>,
    /// Packet of the notice, if any.
    pub packet: Option<Packet>,
}
