//! Lane weights that follow reservations, in 64ths of a link: stream lanes share the reserved part,
//! and other lanes the rest (`gingham_net`, `admission::weights`).

use super::admission::End;
use gingham_net::{AdmissionPlan, ArbiterPlace, Plan, Weighing};
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;
use std::collections::BTreeMap;
use std::num::NonZeroU16;

const PARTS: u64 = 64;

#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// Arbiters at each channel end whose weights follow the reservations.
    arbiters: BTreeMap<(ChannelId, End), Vec<ArbiterPlace>>,
    streams: LaneSet,
    others: LaneSet,
    /// Current weight of each stream lane, and of each other lane, at each channel end.
    known: BTreeMap<(ChannelId, End), [u16; 2]>,
}

impl Weights {
    /// Creates the weights; `None` if no arbiter has weights that can change.
    pub(super) fn new(plan: &Plan, admission: &AdmissionPlan) -> Option<Self> {
        let mut arbiters: BTreeMap<_, Vec<ArbiterPlace>> = BTreeMap::new();
        for channel in ChannelId::first(plan.channels.len()) {
            for place in ArbiterPlace::ALL {
                if plan.can_weigh(place) && plan.has_place(place, channel) {
                    let end = match place {
                        ArbiterPlace::CrossbarInput => End::Receiver,
                        _ => End::Sender,
                    };
                    arbiters.entry((channel, end)).or_default().push(place);
                }
            }
        }
        if arbiters.is_empty() {
            return None;
        }
        let mut lanes = [LaneSet::EMPTY; 2];
        for (class, asks) in plan.classes.iter().zip(&admission.classes) {
            let of = &mut lanes[usize::from(!asks)];
            *of = *of | plan.lanes_of(class);
        }
        let [streams, all_others] = lanes;
        let others = all_others.lanes().filter(|lane| !streams.contains(*lane)).collect();
        Some(Self { arbiters, streams, others, known: BTreeMap::new() })
    }

    pub(super) fn of(
        &mut self,
        plan: &AdmissionPlan,
        (channel, end): (ChannelId, End),
        reserved: u64,
    ) -> Vec<Weighing> {
        let rate = plan.rates[channel.index()].max(1);
        let parts = to_nearest(u128::from(reserved) * u128::from(PARTS), rate).min(PARTS);
        let each = |parts: u64, lanes: LaneSet| {
            let weight = to_nearest(parts.into(), u64::from(lanes.len()).max(1)).max(1);
            u16::try_from(weight).expect("at most 64")
        };
        let of_streams = each(parts, self.streams);
        let of_others = each(PARTS - parts, self.others).max(plan.others_min);
        let weights = [of_streams, of_others];
        if self.known.insert((channel, end), weights) == Some(weights) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for place in self.arbiters.get(&(channel, end)).into_iter().flatten().copied() {
            for (lanes, weight) in [(self.streams, of_streams), (self.others, of_others)] {
                let weight = NonZeroU16::new(weight).expect("at least 1");
                found.extend(lanes.lanes().map(|lane| Weighing { channel, place, lane, weight }));
            }
        }
        found
    }
}

fn to_nearest(number: u128, by: u64) -> u64 {
    let quotient = (2 * number + u128::from(by)) / (2 * u128::from(by));
    u64::try_from(quotient).unwrap_or(u64::MAX)
}
