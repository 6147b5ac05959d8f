//! Precomputed paths of host pairs, with two bytes per hop: all routing data that switches need for
//! heads.
//!
//! ```text
//!   first   per pair    7                       index of the first hop, once a packet has been routed
//!   hops    7: [ 1, all ] [ 3, lanes 0 1 ] [ 4, all ]     output (its column in the group), permitted lanes
//! ```
//!
//! A worm that arrives at a lane carries the index of its next hop (`Coming::hop`). Its position is
//! written back only at its host and for inspection. The hops of a pair are computed when its first
//! packet is routed. Networks with in-transit hosts or very many pairs do not use precomputed
//! paths.

use super::group::Head;
use super::places::Places;
use crate::lanes::context::Context;
use crate::lanes::layout::Layout;
use crate::lanes::network::Network;
use crate::lanes::worms::Worm;
use gingham_net::Plan;
use gingham_topology::routing::{DatelineClass, LaneSet};

const PAIRS_MAX: usize = 1 << 20;

const OUTPUT_BITS: u32 = 4;

#[derive(Clone, Debug)]
pub(crate) struct Paths {
    hosts: usize,
    vc_classes: usize,
    /// Index of the first hop, for each path, VC class, source and destination; 0 if not yet
    /// computed.
    first: Vec<u32>,
    hops: Vec<u16>,
    choices: Vec<Lanes>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lanes {
    lanes: LaneSet,
    dateline_class: DatelineClass,
}

impl Paths {
    /// Creates an empty table of paths. Returns `None` if paths have several legs or there are too
    /// many pairs.
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let hosts = plan.fabric.endpoints().len();
        let vc_classes = plan.lanes.allowed.vc_classes().len();
        let pairs = hosts * hosts * vc_classes * plan.routing.paths.len();
        (pairs <= PAIRS_MAX && !plan.routing.has_legs()).then(|| Self {
            hosts,
            vc_classes,
            first: vec![0; pairs],
            hops: vec![0],
            choices: Vec::new(),
        })
    }

    /// Returns the request of a routed head, and the requested output, as a column number in the
    /// group.
    #[inline(always)]
    pub(crate) fn head(
        &mut self,
        from: usize,
        has_levels: bool,
        network: &Network,
        context: &mut Context,
        places: &Places,
    ) -> (usize, Head) {
        let Context { plan, lanes, layout, worms, .. } = context;
        let mut onward = network.buffers.first(from);
        if onward.hop == 0 {
            onward.hop = self.find(worms.get_mut(onward.worm), plan, (&*layout, places));
        }
        let hop = usize::from(self.hops[onward.hop as usize]);
        onward.hop += 1;
        let level = if has_levels {
            lanes.arbitration.level(worms.get(onward.worm).packet.priority)
        } else {
            0
        };
        let may = self.choices[hop >> OUTPUT_BITS].lanes.bits();
        (hop & ((1 << OUTPUT_BITS) - 1), Head::new(may, level, onward))
    }

    #[inline]
    pub(crate) fn passed(worm: &Worm, hop: u32) -> u16 {
        u16::try_from(hop - worm.hops).expect("a path has few hops")
    }

    pub(crate) fn settle(&self, worm: &mut Worm, hop: u32) {
        worm.route.hops = Self::passed(worm, hop);
        if worm.route.hops > 0 {
            let last = usize::from(self.hops[hop as usize - 1]);
            worm.route.dateline_class = self.choices[last >> OUTPUT_BITS].dateline_class;
        }
    }

    #[inline]
    fn find(&mut self, worm: &mut Worm, plan: &Plan, parts: (&Layout, &Places)) -> u32 {
        let packet = &worm.packet;
        let kind = packet.path_id.index() * self.vc_classes + usize::from(packet.vc_class.0);
        let source = kind * self.hosts + packet.source.index();
        let pair = source * self.hosts + packet.destination.index();
        if self.first[pair] == 0 {
            self.first[pair] = self.write(worm, plan, parts);
        }
        worm.hops = self.first[pair];
        worm.hops
    }

    #[inline(never)]
    fn write(&mut self, worm: &Worm, plan: &Plan, (layout, places): (&Layout, &Places)) -> u32 {
        let first = u32::try_from(self.hops.len()).expect("hops are fewer than 2^32");
        let Worm { packet, mut route, .. } = *worm;
        let mut incoming = plan.fabric.endpoint_channel(packet.source);
        while plan.is_switch(plan.ends(incoming).target.node) {
            let outgoing = route.output(plan, &packet, || plan.ends(incoming).target.node);
            let lanes = route.enter(plan, &packet, incoming, outgoing);
            let output = places.number_in_group(layout.port(outgoing));
            let choice = self.number_of(Lanes { lanes, dateline_class: route.dateline_class });
            let hop = choice << OUTPUT_BITS | output;
            self.hops.push(u16::try_from(hop).expect("sets of lanes are few"));
            incoming = outgoing;
        }
        first
    }

    fn number_of(&mut self, lanes: Lanes) -> usize {
        let known = self.choices.iter().position(|choice| *choice == lanes);
        known.unwrap_or_else(|| {
            self.choices.push(lanes);
            self.choices.len() - 1
        })
    }
}
