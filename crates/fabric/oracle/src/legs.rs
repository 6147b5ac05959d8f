//! Legs of a path, each represented by its number of channels.

use gingham_net::{Packet, Plan};
use gingham_topology::ChannelId;
use gingham_topology::routing::{DatelineClass, LaneSet};

#[derive(Clone, Debug)]
pub(crate) struct Legs(Vec<usize>);

impl Legs {
    pub(crate) fn new(legs: &[Vec<ChannelId>]) -> Self {
        Self(legs.iter().map(Vec::len).collect())
    }

    /// Returns the permitted lanes and the dateline class on `outgoing`. The packet comes from
    /// `incoming`, the channel at index `position` of the path, with class `dateline_class`.
    pub(crate) fn lanes_onward(
        &self,
        plan: &Plan,
        packet: &Packet,
        (position, dateline_class): (usize, DatelineClass),
        [incoming, outgoing]: [ChannelId; 2],
    ) -> (LaneSet, DatelineClass) {
        let mut leg = 0;
        let mut begin = 0;
        while leg + 1 < self.0.len() && begin + self.0[leg] <= position + 1 {
            begin += self.0[leg];
            leg += 1;
        }
        let is_first_of_leg = begin == position + 1;
        let dateline_class = if is_first_of_leg { DatelineClass(0) } else { dateline_class };
        let leg = u8::try_from(leg).expect("a path has few legs");
        let allowed = &plan.lanes.allowed;
        let (lanes, dateline_class) = allowed.onward(
            &plan.fabric,
            allowed.on_leg(packet.vc_class, leg),
            dateline_class,
            incoming,
            outgoing,
            plan.routing.end_of_leg(packet, leg),
        );
        assert!(!lanes.is_empty(), "no packet is sent that would be dropped");
        (lanes, dateline_class)
    }
}
