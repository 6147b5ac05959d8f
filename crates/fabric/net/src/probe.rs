//! A probe: it asks for every notice, keeps them in order, and now and then orders a packet that no
//! message is behind, or another weight for a lane.
//!
//! Two simulations of a plan that tell the same notices in the same order are the same to
//! everything that hears notices; that is what a probe is for. It changes a run, since what it
//! orders takes wire and buffers. Where switches have ends of their own it diverts control packets to
//! them, and has these ends answer.

use crate::{ArbiterPlace, Packet, Plan, Weighing};
use gingham_kernel::Time;
use gingham_topology::ChannelId;
use std::num::NonZeroU16;

/// What a probe does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbePlan {
    /// Of the packets that are received, every so-manieth is followed by a control packet the other
    /// way; none if 0.
    pub control_every: u64,
    /// Payload of these, and of those that ends of switches send.
    pub control_bytes: u32,
    /// Of the control packets of hosts that switches read, every so-manieth is diverted to the end of
    /// the switch, which answers it, and sends every second one on as well; none if 0.
    pub divert_every: u64,
    /// Of the packets that are received, every so-manieth is followed by another weight for some
    /// lane somewhere, where there are weights that can change; none if 0.
    pub weigh_every: u64,
}

/// The weights that a probe orders, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    /// Where weights can change.
    places: Vec<(ArbiterPlace, ChannelId)>,
    lanes: u8,
    ordered: usize,
}

/// From one place to the next, so that all are reached in no order of theirs: a prime above any
/// number of places in tests.
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

    /// The next weight: of all lanes of a place in turn, from 1 to 11.
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

/// A notice as a probe keeps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Noted {
    /// Time of the crash.
    pub time: Time,
    /// What happened.
    pub what: &'static str,
    /// The source, endpoint or channel where.
    pub place: usize,
    /// The lane, where there is one.
    pub lane: u8,
    /// What stands in the buffer, where a head was read.
    pub waiting_flits: u64,
    /// Whether there is space for one more, where all has happened to which a head led.
    pub has_space: Option<bool>,
    /// To which packet.
    pub packet: Option<Packet>,
}
