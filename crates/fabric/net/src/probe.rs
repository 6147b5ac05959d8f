//! A probe, for comparing two simulations: requires every notice, records them in order, and now
//! and then orders a control packet or a new weight for a lane.
//!
//! Simulations of a plan with equal sequences of notices are equivalent for every mechanism that
//! uses notices. A probe changes a run, since its packets use wire and buffers. If switches have a
//! port 0, it diverts control packets there and makes that port reply.

use crate::{ArbiterPlace, Packet, Plan, Weighing};
use gingham_kernel::Time;
use gingham_topology::ChannelId;
use std::num::NonZeroU16;

/// Actions of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbePlan {
    /// Number of received packets for each control packet in the reverse direction; 0 for none.
    pub control_every: u64,
    /// Payload of these control packets, and of those sent by ports 0 of switches.
    pub control_bytes: u32,
    /// Number of control packets of hosts read by switches for each one diverted to the port 0 of
    /// the switch, which replies to it and sends every second one on as well; 0 for none.
    pub divert_every: u64,
    /// Number of received packets for each change of a lane's weight at some place, if there are
    /// weights that can change; 0 for none.
    pub weigh_every: u64,
}

/// Sequence of weights that a probe orders.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// Places with weights that can change.
    places: Vec<(ArbiterPlace, ChannelId)>,
    lanes: u8,
    ordered: usize,
}

/// Stride over the places, to visit all of them in an irregular order: a prime above the number of
/// places in any test.
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

    /// Returns the next weight, from 1 to 11, for the lanes of the places in round robin.
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
    /// Lane, if there is one.
    pub lane: u8,
    /// Flits in the buffer of a head that was read.
    pub waiting_flits: u64,
    /// Whether there is space for one more packet, for settled packets.
    pub has_space: Option<bool>,
    /// Packet of the notice, if any.
    pub packet: Option<Packet>,
}
