//! The way of each pair of hosts, hop by hop, two bytes each: all that heads look at in switches.
//!
//! ```text
//!   first   by pair    7                          where the hops of the pair begin, once a packet of it has come
//!   hops    7: [ 1, all ] [ 3, lanes 0 1 ] [ 4, all ]     the output, by its column in the group, and which lanes
//! ```
//!
//! A worm that comes to a lane has the number of its next hop with it (`Coming::hop`); how far it has
//! come by that is written to it where somebody looks, and as it comes to its host. Hops are written
//! down as the first packet of a pair is routed, from the same routes and the same
//! rule for lanes that ports ask at every hop. Packets that come through in-transit hosts have none,
//! and neither have those of networks with very many pairs.

use super::group::Head;
use super::places::Places;
use crate::lanes::context::Context;
use crate::lanes::layout::Layout;
use crate::lanes::network::Network;
use crate::lanes::worms::Worm;
use gingham_net::Plan;
use gingham_topology::routing::{DatelineClass, LaneSet};

/// Pairs of hosts for which there is room.
const PAIRS_MAX: usize = 1 << 20;

/// Bits of a hop that are the number of its output.
const OUTPUT_BITS: u32 = 4;

/// The hops of all pairs of which a packet has come.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    hosts: usize,
    vc_classes: usize,
    /// By path set, VC class, source and destination: where the hops begin, 0 if none are there.
    first: Vec<u32>,
    hops: Vec<u16>,
    /// What heads may take, by the number that hops have of it.
    choices: Vec<Lanes>,
}

/// What a head may take at a hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lanes {
    lanes: LaneSet,
    /// The dateline class of the packet there.
    dateline_class: DatelineClass,
}

impl Paths {
    /// Those of a plan, if it is of a kind that has them.
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let hosts = plan.fabric.endpoints().len();
        let vc_classes = plan.lanes.allowed.vc_classes().len();
        let pairs = hosts * hosts * vc_classes * plan.path_sets.len();
        (pairs <= PAIRS_MAX && !plan.has_in_transit_hosts()).then(|| Self {
            hosts,
            vc_classes,
            first: vec![0; pairs],
            hops: vec![0],
            choices: Vec::new(),
        })
    }

    /// What the head of an input lane, whose routing is over, requests, and of which output, by its
    /// column in the group.
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

    /// The hops of a worm before this one.
    #[inline]
    pub(crate) fn passed(worm: &Worm, hop: u32) -> u16 {
        u16::try_from(hop - worm.hops).expect("a path has few hops")
    }

    /// Writes to a worm how far it has come, whose next hop is this one.
    pub(crate) fn settle(&self, worm: &mut Worm, hop: u32) {
        worm.position = Self::passed(worm, hop);
        if worm.position > 0 {
            let last = usize::from(self.hops[hop as usize - 1]);
            worm.dateline_class = self.choices[last >> OUTPUT_BITS].dateline_class;
        }
    }

    /// Where the hops of a worm begin, which has come to its first switch; the worm knows it from
    /// now on.
    #[inline]
    fn find(&mut self, worm: &mut Worm, plan: &Plan, parts: (&Layout, &Places)) -> u32 {
        let packet = &worm.packet;
        let kind = packet.path_set.index() * self.vc_classes + usize::from(packet.vc_class.0);
        let source = kind * self.hosts + packet.source.index();
        let pair = source * self.hosts + packet.destination.index();
        if self.first[pair] == 0 {
            self.first[pair] = self.write(worm, plan, parts);
        }
        worm.hops = self.first[pair];
        worm.hops
    }

    /// Writes down the hops of a worm. Returns where they begin.
    #[inline(never)]
    fn write(&mut self, worm: &Worm, plan: &Plan, (layout, places): (&Layout, &Places)) -> u32 {
        let first = u32::try_from(self.hops.len()).expect("hops are fewer than 2^32");
        let mut worm = *worm;
        let mut incoming = plan.fabric.endpoint_channel(worm.packet.source);
        while plan.is_switch(plan.ends(incoming).target.node) {
            let outgoing = worm.output(plan, || plan.ends(incoming).target.node);
            let (lanes, dateline_class) = worm.lanes_onward(plan, incoming, outgoing);
            debug_assert!(!lanes.is_empty(), "a packet has a lane wherever it goes");
            let output = places.number_in_group(layout.port(outgoing));
            let choice = self.number_of(Lanes { lanes, dateline_class });
            let hop = choice << OUTPUT_BITS | output;
            self.hops.push(u16::try_from(hop).expect("sets of lanes are few"));
            worm.dateline_class = dateline_class;
            worm.position += 1;
            incoming = outgoing;
        }
        first
    }

    /// The number that hops have of some lanes.
    fn number_of(&mut self, lanes: Lanes) -> usize {
        let known = self.choices.iter().position(|choice| *choice == lanes);
        known.unwrap_or_else(|| {
            self.choices.push(lanes);
            self.choices.len() - 1
        })
    }
}
