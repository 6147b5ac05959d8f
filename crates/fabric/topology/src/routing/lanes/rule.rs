//! What decides on the lanes of a packet, hop by hop.
//!
//! ```text
//!                    h0 ──────► s0 ──────► s1 ──────► s2 ──────► h2
//!   free             {0,1,2,3}  {0,1,2,3}  {0,1,2,3}  {0,1,2,3}
//!   datelines        {0,1,2,3}  {0,1}      {2,3}      {0,1,2,3}      where s0 ► s1 ► s2 crosses at s1 ► s2
//!   tables, SL 3     {3}        {0}        {1}        {1}
//!   two lanes a VL   {6,7}      {0,1}      {2,3}      {2,3}
//! ```
//!
//! Every packet has a [`VcClass`] all its way, and a [`DatelineClass`] that it may change at a hop.
//! Both together with the channel by which it came, the one by which it goes on and its destination
//! give the set of lanes that it may take there, and it takes any one of them. The proof walks all routes with this
//! rule, and whatever moves packets asks the same rule at every hop, so that the one is about the
//! other.
//!
//! Tables map a service level to a virtual lane (VL) of InfiniBand. A VL owns `lanes_per_vl` consecutive lanes: VL `v` those
//! from `v * lanes_per_vl` on. The buffer of a VL holds many packets, whereas a lane is granted to one packet at a time, so
//! that a VL of several lanes is the closer model of hardware.
//!
//! Invariant: the lanes of a hop depend on VC class, dateline class, the two channels and the switch
//! of the destination alone, and are found by a few loads.

use super::datelines::{DatelineRule, Datelines, Shares};
use super::escape::EscapeLanes;
use super::map::{LEVELS, LaneMap, MANAGEMENT_LANE};
use super::service_levels::ServiceLevels;
use super::set::{DatelineClass, LANES_MAX, LaneSet, VcClass};
use crate::{ChannelId, EndpointId, Fabric, GridError, NodeId};

/// How it is decided which lanes a packet may take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaneRule {
    /// Any lane of the VC class at every hop.
    Free,
    /// The lanes of a VC class are shared out among dateline classes, of which a packet takes one or
    /// the other in each dimension.
    Datelines(Datelines),
    /// A packet chooses anew at every switch, and has lanes that are for the channel of the tables
    /// alone.
    Escape(EscapeLanes),
    /// Tables from service level to VL, and the service level of each pair, which is the VC
    /// class.
    Tables {
        /// The VL of each service level, hop by hop.
        map: LaneMap,
        /// The service level of each pair.
        levels: ServiceLevels,
        /// Lanes that each VL owns, at least 1. A packet takes any lane of its VL.
        lanes_per_vl: u8,
    },
}

/// What decides on lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lanes {
    rule: LaneRule,
    /// By VC class; empty under tables.
    shares: Vec<Shares>,
    /// Whether there are packets whose VC class tables give by their pair.
    has_class_by_pair: bool,
    /// The VC classes that packets may have whatever their pair.
    everywhere: Vec<VcClass>,
    count: usize,
}

impl Lanes {
    /// Which lane a service level takes at each hop, and which level a pair sends on.
    pub fn new(fabric: &Fabric, map: LaneMap, levels: ServiceLevels) -> Self {
        Self::by_tables(fabric, map, levels, true, &[])
    }

    /// Which lane a service level takes at each hop, where packets send on the level of their pair
    /// (`has_class_by_pair`), or on one of the levels in `everywhere` whatever their pair.
    pub fn by_tables(
        fabric: &Fabric,
        map: LaneMap,
        levels: ServiceLevels,
        has_class_by_pair: bool,
        everywhere: &[VcClass],
    ) -> Self {
        let by_pair = if has_class_by_pair { levels.in_use() } else { 0 };
        let in_use = everywhere.iter().fold(by_pair, |all, vc_class| all | 1 << vc_class.0);
        let count = count(map.lanes_at_switches(fabric, in_use));
        let rule = LaneRule::Tables { map, levels, lanes_per_vl: 1 };
        Self {
            rule,
            shares: Vec::new(),
            has_class_by_pair,
            everywhere: distinct(everywhere),
            count,
        }
    }

    /// These tables with `lanes_per_vl` consecutive lanes for every VL, from 1 to [`LANES_MAX`].
    ///
    /// The lanes of the highest VL in use must be below [`LANES_MAX`]. Panics unless tables decide.
    #[must_use]
    pub fn with_lanes_per_vl(mut self, lanes_per_vl: u8) -> Self {
        assert!((1..=LANES_MAX).contains(&lanes_per_vl), "a VL has from 1 to {LANES_MAX} lanes");
        let LaneRule::Tables { lanes_per_vl: before, .. } = &mut self.rule else {
            panic!("only tables have VLs")
        };
        let vls = self.count / usize::from(*before);
        *before = lanes_per_vl;
        self.count = vls * usize::from(lanes_per_vl);
        self
    }

    /// Any lane of the VC class at every hop; `vc_classes` are the sets of lanes, by VC class.
    pub fn free(vc_classes: &[LaneSet]) -> Self {
        Self::by_sets(LaneRule::Free, vc_classes)
    }

    /// The lanes of a VC class shared out among the dateline classes of `datelines`; `vc_classes`
    /// are the sets of lanes, by VC class.
    pub fn by_datelines(datelines: Datelines, vc_classes: &[LaneSet]) -> Self {
        Self::by_sets(LaneRule::Datelines(datelines), vc_classes)
    }

    /// The lowest `count` lanes of a VC class are escape lanes, of classes by `datelines` if there are
    /// some by wrap; `vc_classes` are the sets of lanes, by VC class.
    pub fn with_escape(datelines: Option<Datelines>, vc_classes: &[LaneSet], count: usize) -> Self {
        let escape = EscapeLanes::new(datelines, vc_classes, count);
        Self::by_sets(LaneRule::Escape(escape), vc_classes)
    }

    /// Lanes of a network in which every packet may take each of `count`, with datelines by a rule if
    /// `datelines` says so, none if it says `Some(None)`, or, where it says nothing, by hop if the
    /// routing algorithm needs them and there is a lane for each dateline class.
    ///
    /// # Errors
    /// Datelines on what is neither mesh nor torus.
    pub fn of_all(
        fabric: &Fabric,
        needs_datelines: bool,
        count: u8,
        datelines: Option<Option<DatelineRule>>,
    ) -> Result<Self, GridError> {
        let vc_classes = [LaneSet::first_n(count)];
        let are_by_default = needs_datelines && usize::from(count) >= Datelines::CLASSES;
        match datelines.unwrap_or(are_by_default.then(DatelineRule::default)) {
            Some(rule) => Ok(Self::by_datelines(Datelines::new(fabric, rule)?, &vc_classes)),
            None => Ok(Self::free(&vc_classes)),
        }
    }

    /// The same where switches have ends of their own ([`Fabric::with_ports_0`]): packets of these
    /// take the lanes of those of an endpoint on the same switch, and packets to them stay on lanes
    /// that they may take anyway.
    #[must_use]
    pub fn with_ports_0(mut self, fabric: &Fabric) -> Self {
        match &mut self.rule {
            LaneRule::Free => {}
            LaneRule::Datelines(datelines) => datelines.add_outside(fabric.channel_count()),
            LaneRule::Escape(escape) => escape.add_outside(fabric.channel_count()),
            LaneRule::Tables { map, levels, .. } => {
                map.add_ports_0(fabric);
                levels.add_ports_0(fabric);
            }
        }
        self
    }

    fn by_sets(rule: LaneRule, vc_classes: &[LaneSet]) -> Self {
        let all = vc_classes.iter().fold(LaneSet::EMPTY, |all, lanes| all | *lanes);
        Self {
            rule,
            shares: vc_classes.iter().map(|lanes| Shares::new(*lanes)).collect(),
            has_class_by_pair: false,
            everywhere: (0..=u8::MAX).map(VcClass).take(vc_classes.len()).collect(),
            count: count(all),
        }
    }

    /// How lanes are decided on.
    pub fn rule(&self) -> &LaneRule {
        &self.rule
    }

    /// How many dateline classes a packet can go through: more than one only where there are
    /// datelines.
    pub fn dateline_classes(&self) -> usize {
        match &self.rule {
            LaneRule::Datelines(datelines) => datelines.dateline_classes(),
            LaneRule::Free | LaneRule::Escape(_) | LaneRule::Tables { .. } => 1,
        }
    }

    /// Lanes that each VL owns: 1 unless tables decide.
    pub const fn lanes_per_vl(&self) -> u8 {
        match &self.rule {
            LaneRule::Tables { lanes_per_vl, .. } => *lanes_per_vl,
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => 1,
        }
    }

    /// One more than the highest lane that a packet may take between switches.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Every VC class, from 0 on: all service levels under tables.
    pub fn vc_classes(&self) -> impl ExactSizeIterator<Item = VcClass> {
        let count = match &self.rule {
            LaneRule::Tables { .. } => LEVELS,
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => self.shares.len(),
        };
        (0..u8::try_from(count).expect("few VC classes")).map(VcClass)
    }

    /// The VC class of packets of a pair where their class does not say: the service level of the
    /// pair under tables, else the first VC class.
    pub fn vc_class_of_pair(&self, from: EndpointId, to: EndpointId) -> VcClass {
        match &self.rule {
            LaneRule::Tables { levels, .. } => VcClass(levels.level(from, to, 0)),
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => VcClass(0),
        }
    }

    /// The lanes on which packets of a VC class may go somewhere, cables of hosts among them; where
    /// a class says nothing, those on which packets of any pair may.
    pub fn anywhere(&self, fabric: &Fabric, vc_class: Option<VcClass>) -> LaneSet {
        match &self.rule {
            LaneRule::Tables { map, levels, lanes_per_vl } => {
                let levels = vc_class.map_or_else(|| levels.in_use(), |vc_class| 1 << vc_class.0);
                let vls = map.lanes_at_switches(fabric, levels) | map.first_lanes(levels);
                LaneSet::of_vls(vls, *lanes_per_vl)
            }
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => {
                self.shares[usize::from(vc_class.unwrap_or_default().0)].all
            }
        }
    }

    /// Every VC class that packets of a pair may have, on a LID of its destination.
    pub(crate) fn vc_classes_on(
        &self,
        from: EndpointId,
        to: EndpointId,
        lid_offset: u8,
    ) -> impl Iterator<Item = VcClass> {
        let by_pair = match &self.rule {
            LaneRule::Tables { levels, .. } if self.has_class_by_pair => {
                Some(VcClass(levels.level(from, to, lid_offset)))
            }
            _ => None,
        };
        let others = self.everywhere.iter().copied().filter(move |other| Some(*other) != by_pair);
        by_pair.into_iter().chain(others)
    }

    /// The lanes on which a packet may leave its host, or an in-transit host; empty where it is
    /// dropped.
    pub fn first(&self, host: EndpointId, vc_class: VcClass) -> LaneSet {
        match &self.rule {
            LaneRule::Tables { map, lanes_per_vl, .. } => {
                lanes_of(map.first_lane(host, vc_class.0), *lanes_per_vl)
            }
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => {
                self.shares[usize::from(vc_class.0)].all
            }
        }
    }

    /// The lanes that a packet to `to` may take in `outgoing`, and its dateline class there, if it
    /// came by `incoming` on `dateline class`; no lanes where it is dropped. On the cable of its
    /// host, or of an in-transit host, its dateline class is 0.
    #[inline]
    pub fn onward(
        &self,
        fabric: &Fabric,
        vc_class: VcClass,
        dateline_class: DatelineClass,
        incoming: ChannelId,
        outgoing: ChannelId,
        to: EndpointId,
    ) -> (LaneSet, DatelineClass) {
        match &self.rule {
            LaneRule::Free => (self.shares[usize::from(vc_class.0)].all, DatelineClass(0)),
            LaneRule::Datelines(datelines) => datelines.onward(
                self.shares[usize::from(vc_class.0)],
                dateline_class,
                incoming,
                outgoing,
                || fabric.target(fabric.endpoint_channel(to)).node,
            ),
            LaneRule::Escape(_) => (self.told(fabric, vc_class, outgoing, to), DatelineClass(0)),
            LaneRule::Tables { map, lanes_per_vl, .. } => {
                let vl = map.lane(fabric, incoming, outgoing, vc_class.0);
                (lanes_of(vl, *lanes_per_vl), DatelineClass(0))
            }
        }
    }

    /// The lanes of a packet that chooses anew at every switch, in a channel on a shortest way to
    /// `to`, which is that of the tables or not.
    pub fn chosen(
        &self,
        fabric: &Fabric,
        vc_class: VcClass,
        (outgoing, is_told): (ChannelId, bool),
        to: EndpointId,
    ) -> LaneSet {
        match &self.rule {
            LaneRule::Escape(escape) if !is_told => escape.adaptive(vc_class.0.into()),
            LaneRule::Escape(_) => self.told(fabric, vc_class, outgoing, to),
            _ => self.shares[usize::from(vc_class.0)].all,
        }
    }

    /// Of the lanes that a packet may take in a channel, those whose credits indicate the load of
    /// the channel: the adaptive lanes, or all of them if none is adaptive.
    pub fn judged(&self, vc_class: VcClass, lanes: LaneSet) -> LaneSet {
        let LaneRule::Escape(escape) = &self.rule else { return lanes };
        let adaptive = lanes & escape.adaptive(vc_class.0.into());
        if adaptive.is_empty() { lanes } else { adaptive }
    }

    /// The lanes in the channel of the tables where some are for escape: all of the VC class on cables
    /// of hosts.
    fn told(
        &self,
        fabric: &Fabric,
        vc_class: VcClass,
        outgoing: ChannelId,
        to: EndpointId,
    ) -> LaneSet {
        let class = usize::from(vc_class.0);
        match &self.rule {
            LaneRule::Escape(escape) if fabric.node(fabric.target(outgoing).node).is_switch() => {
                let to = fabric.target(fabric.endpoint_channel(to)).node;
                escape.adaptive(class) | escape.escape(class, outgoing, to)
            }
            _ => self.shares[class].all,
        }
    }
}

/// How packets come to their first switch and leave it.
impl Lanes {
    /// The lanes on which packets from one endpoint to another leave the switch of the first by
    /// `first`; none where they are dropped, by their adapter or by the switch.
    pub(crate) fn entered(
        &self,
        fabric: &Fabric,
        (sender, to): (EndpointId, EndpointId),
        first: ChannelId,
        vc_class: VcClass,
    ) -> LaneSet {
        if self.first(sender, vc_class).is_empty() {
            return LaneSet::EMPTY;
        }
        let own = fabric.endpoint_channel(sender);
        self.onward(fabric, vc_class, DatelineClass(0), own, first, to).0
    }

    /// Whether tables give pairs of endpoints VC classes of their own.
    pub(crate) fn differ_by_pair(&self) -> bool {
        match &self.rule {
            LaneRule::Tables { levels, .. } => self.has_class_by_pair && !levels.are_zero(),
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => false,
        }
    }

    /// Whether packets of two endpoints on one switch, of one VC class, may take the same lanes
    /// into its other channels.
    pub(crate) fn treat_alike(&self, fabric: &Fabric, one: EndpointId, other: EndpointId) -> bool {
        match &self.rule {
            LaneRule::Tables { map, .. } => map.treats_alike(fabric, one, other),
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => true,
        }
    }
}

impl Lanes {
    /// Returns every set of lanes that some packet chooses from at a hop. Under tables these are
    /// the VLs: a packet may take all lanes of a VL or none.
    pub(crate) fn sets(&self) -> Vec<LaneSet> {
        match &self.rule {
            LaneRule::Free => self.shares.iter().map(|shares| shares.all).collect(),
            LaneRule::Escape(escape) => {
                self.shares.iter().map(|shares| shares.all).chain(escape.sets()).collect()
            }
            LaneRule::Datelines(_) => self.shares.iter().flat_map(|shares| shares.sets()).collect(),
            LaneRule::Tables { lanes_per_vl, .. } => {
                (0..MANAGEMENT_LANE).map(|vl| LaneSet::of_vl(vl, *lanes_per_vl)).collect()
            }
        }
    }
}

/// Rules that do not depend on the source of a packet: all but tables.
impl Lanes {
    /// The dateline class in `outgoing` of a packet to what hangs on the switch `to`, if it came by
    /// `incoming` on `dateline_class`.
    pub(crate) fn class_after(
        &self,
        dateline_class: DatelineClass,
        incoming: ChannelId,
        outgoing: ChannelId,
        to: NodeId,
    ) -> DatelineClass {
        match &self.rule {
            LaneRule::Datelines(datelines) => {
                datelines.class_after(dateline_class, incoming, outgoing, || to)
            }
            LaneRule::Free | LaneRule::Escape(_) | LaneRule::Tables { .. } => DatelineClass(0),
        }
    }

    /// The lanes of packets of a VC class and a dateline class in a channel between switches.
    ///
    /// Panics under tables, which give each pair lanes of its own.
    pub(crate) fn on(
        &self,
        vc_class: VcClass,
        dateline_class: DatelineClass,
        channel: ChannelId,
    ) -> LaneSet {
        let shares = || self.shares[usize::from(vc_class.0)];
        match &self.rule {
            LaneRule::Free | LaneRule::Escape(_) => shares().all,
            LaneRule::Datelines(datelines) => datelines.on(shares(), dateline_class, channel),
            LaneRule::Tables { .. } => unreachable!("tables look at the channel before"),
        }
    }
}

/// One more than the highest lane.
fn count(lanes: LaneSet) -> usize {
    1 + usize::from(lanes.highest().unwrap_or(0))
}

/// The lanes of a VL; none where packets are dropped.
fn lanes_of(vl: Option<u8>, lanes_per_vl: u8) -> LaneSet {
    vl.map_or(LaneSet::EMPTY, |vl| LaneSet::of_vl(vl, lanes_per_vl))
}

fn distinct(vc_classes: &[VcClass]) -> Vec<VcClass> {
    let mut vc_classes = vc_classes.to_vec();
    vc_classes.sort_unstable();
    vc_classes.dedup();
    vc_classes
}
