//! Probe for comparing two simulations: records every notice in order, and orders control packets
//! and weights of lanes.
//!
//! Simulations of a plan with equal sequences of notices are equivalent for every mechanism that
//! uses notices. A probe changes a run, because its packets use wire and buffers.

use crate::{ArbiterPlace, Packet, Plan, Weighing};
use gingham_kernel::Time;
use gingham_topology::ChannelId;
use std::num::NonZeroU16;

/// Actions of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbePlan {
    /// Number of received packets for each control packet sent back; 0 for none.
    pub control_every: u64,
    /// Payload of control packets, also of those from ports 0.
    pub control_bytes: u32,
    /// Number of control packets of hosts read at switches for each one diverted to port 0, which
    /// replies and sends every second one on; 0 for none.
    pub divert_every: u64,
    /// Number of received packets for each change of a lane's weight; 0 for none.
    pub weigh_every: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// Places with changeable weights.
    places: Vec<(ArbiterPlace, ChannelId)>,
    lanes: u8,
    ordered: usize,
}

/// Stride over the places, for an irregular order that visits all: a prime above their number in
/// any test.
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

    /// Next change of weight: weights from 1 to 11, for the lanes of the places in round robin.
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
    /// Kind of the notice.
    pub what: &'static str,
    /// Index of the source, endpoint or channel.
    pub place: usize,
    /// Lane, if any.
    pub lane: u8,
    /// Flits in the buffer when the head was read.
    pub waiting_flits: u64,
    /// Whether there is space for another packet, for [`crate::Notice::Settled`].
    pub has_space: Option<bool>,
    /// Packet of the notice, if any.
    pub packet: Option<Packet>,
}
