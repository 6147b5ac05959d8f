//! Selection of a packet's lanes, hop by hop.
//!
//! ```text
//!                    h0 ──────► s0 ──────► s1 ──────► s2 ──────► h2
//!   free             {0,1,2,3}  {0,1,2,3}  {0,1,2,3}  {0,1,2,3}
//!   datelines        {0,1,2,3}  {0,1}      {2,3}      {0,1,2,3}      where s0 ► s1 ► s2 crosses at s1 ► s2
//!   tables, SL 3     {3}        {0}        {1}        {1}
//!   two lanes a VL   {6,7}      {0,1}      {2,3}      {2,3}
//! ```
//!
//! Every packet has a constant [`VcClass`], and a [`DatelineClass`] that may change at a hop. Both
//! together with the input channel, the output channel and the destination give a set of lanes; the
//! packet may take any of them. The proof walks all routes with this rule, and simulations apply it
//! at every hop, so the proof holds for them.
//!
//! Tables map a service level to a virtual lane (VL) of InfiniBand. A VL owns `lanes_per_vl`
//! consecutive lanes: VL `v` those from `v * lanes_per_vl` on. The buffer of a VL stores many
//! packets, whereas a lane is granted to one packet at a time, so a VL of several lanes is the
//! closer model of hardware.
//!
//! Invariant: the lanes of a hop depend only on VC class, dateline class, the two channels and the
//! switch of the destination, and are computed with a few memory accesses.

use super::datelines::{DatelineRule, Datelines, Shares};
use super::escape::EscapeLanes;
use super::map::{LEVELS, LaneMap, MANAGEMENT_LANE};
use super::service_levels::ServiceLevels;
use super::set::{DatelineClass, LANES_MAX, LaneSet, VcClass};
use crate::{ChannelId, EndpointId, Fabric, GridError, NodeId};

/// Rule that gives the lanes which a packet may take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaneRule {
    /// Any lane of the VC class at every hop.
    Free,
    /// The lanes of a VC class are divided among dateline classes; a packet uses one class in each
    /// dimension.
    Datelines(Datelines),
    /// A packet chooses its channel at every switch; some lanes are reserved for the table's
    /// channel.
    Escape(EscapeLanes),
    /// Tables from service level to VL, and the service level of each pair, which is the VC class.
    Tables {
        /// VL of each service level, hop by hop.
        map: LaneMap,
        /// Service level of each pair.
        levels: ServiceLevels,
        /// Number of lanes that each VL owns, at least 1. A packet takes any lane of its VL.
        lanes_per_vl: u8,
    },
}

/// Lane rule with the VC classes in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lanes {
    rule: LaneRule,
    /// By VC class; empty with tables.
    shares: Vec<Shares>,
    /// Whether some packets get their VC class from tables, by their pair.
    has_class_by_pair: bool,
    /// VC classes that packets may have independently of their pair.
    everywhere: Vec<VcClass>,
    /// Number of legs among which the lanes of a VC class are divided; 1 if every leg uses all.
    legs: u8,
    count: usize,
}

impl Lanes {
    /// Returns the rule of a map from service levels to lanes, with the level of each pair.
    pub fn new(fabric: &Fabric, map: LaneMap, levels: ServiceLevels) -> Self {
        Self::by_tables(fabric, map, levels, true, &[])
    }

    /// Returns the rule of a map from service levels to lanes. Packets use the level of their pair
    /// (`has_class_by_pair`), or one of the levels in `everywhere`, independently of their pair.
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
            legs: 1,
            count,
        }
    }

    /// Divides the lanes of every VC class among the first `legs` legs of a path, in ascending
    /// order and as evenly as possible. A VC class with fewer lanes than legs is not divided: each
    /// leg uses all of its lanes.
    ///
    /// Panics with escape lanes and with tables, which do not distinguish legs.
    #[must_use]
    pub fn with_legs(self, legs: u8) -> Self {
        assert!(legs > 0 && self.legs == 1, "lanes are divided once, among one leg or more");
        if legs == 1 {
            return self;
        }
        let is_supported = matches!(self.rule, LaneRule::Free | LaneRule::Datelines(_));
        assert!(is_supported, "this rule does not distinguish legs");
        let of_leg = |leg: u8| {
            let shares = self.shares.iter();
            shares.map(move |shares| shares.all.part(leg.into(), legs.into()))
        };
        let divided: Vec<LaneSet> = (0..legs).flat_map(of_leg).collect();
        Self { legs, ..Self::by_sets(self.rule, &divided) }
    }

    /// Returns the VC class that gives the lanes of a packet on a leg, from 0. Further legs use the
    /// lanes of the last one that has its own.
    #[inline]
    pub const fn on_leg(&self, vc_class: VcClass, leg: u8) -> VcClass {
        if self.legs == 1 {
            return vc_class;
        }
        self.on_leg_of_several(vc_class, leg)
    }

    #[expect(clippy::cast_possible_truncation, reason = "VC classes have 8 bits")]
    const fn on_leg_of_several(&self, vc_class: VcClass, leg: u8) -> VcClass {
        let last = self.legs - 1;
        let own = if leg < last { leg } else { last };
        VcClass(vc_class.0 + own * (self.shares.len() / self.legs as usize) as u8)
    }

    /// Returns the VC class that gives the lanes of a packet on its next leg, where `vc_class` gives
    /// those on its current leg; `None` on the last leg.
    pub(crate) fn on_next_leg(&self, vc_class: VcClass) -> Option<VcClass> {
        if self.legs == 1 {
            return Some(vc_class);
        }
        let of_leg = self.shares.len() / usize::from(self.legs);
        let next = usize::from(vc_class.0) + of_leg;
        (next < self.shares.len()).then(|| VcClass(u8::try_from(next).expect("few VC classes")))
    }

    /// Gives every VL `lanes_per_vl` consecutive lanes, from 1 to [`LANES_MAX`].
    ///
    /// The lanes of the highest VL in use must be below [`LANES_MAX`]. Panics unless the rule is
    /// tables.
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

    /// Returns the rule that allows any lane of the VC class at every hop; `vc_classes` are the
    /// sets of lanes, by VC class.
    pub fn free(vc_classes: &[LaneSet]) -> Self {
        Self::by_sets(LaneRule::Free, vc_classes)
    }

    /// Returns the rule that divides the lanes of a VC class among the dateline classes of
    /// `datelines`; `vc_classes` are the sets of lanes, by VC class.
    pub fn by_datelines(datelines: Datelines, vc_classes: &[LaneSet]) -> Self {
        Self::by_sets(LaneRule::Datelines(datelines), vc_classes)
    }

    /// Returns the rule with the lowest `count` lanes of a VC class as escape lanes, divided into
    /// classes by `datelines` (by wrap), if given; `vc_classes` are the sets of lanes, by VC class.
    pub fn with_escape(datelines: Option<Datelines>, vc_classes: &[LaneSet], count: usize) -> Self {
        let escape = EscapeLanes::new(datelines, vc_classes, count);
        Self::by_sets(LaneRule::Escape(escape), vc_classes)
    }

    /// Returns the rule of a network with `count` lanes, all open to every packet. `datelines`
    /// gives the dateline rule, `Some(None)` means no datelines, and `None` means by hop if the
    /// routing algorithm needs datelines and there is a lane for each dateline class.
    ///
    /// # Errors
    /// Fails for datelines on a fabric that is neither mesh nor torus.
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

    /// Extends the rule to ports 0 of switches ([`Fabric::with_ports_0`]): packets from these take
    /// the lanes of an endpoint on that switch, and packets to them stay on lanes that they may use
    /// anyway.
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
            legs: 1,
            count: count(all),
        }
    }

    /// Returns the rule.
    pub fn rule(&self) -> &LaneRule {
        &self.rule
    }

    /// Returns the number of dateline classes that a packet can use: more than one only with
    /// datelines.
    pub fn dateline_classes(&self) -> usize {
        match &self.rule {
            LaneRule::Datelines(datelines) => datelines.dateline_classes(),
            LaneRule::Free | LaneRule::Escape(_) | LaneRule::Tables { .. } => 1,
        }
    }

    /// Returns the number of lanes that each VL owns: 1 unless the rule is tables.
    pub const fn lanes_per_vl(&self) -> u8 {
        match &self.rule {
            LaneRule::Tables { lanes_per_vl, .. } => *lanes_per_vl,
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => 1,
        }
    }

    /// Returns one more than the highest lane that a packet may take between switches.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns every VC class, from 0 on: all service levels with tables.
    pub fn vc_classes(&self) -> impl ExactSizeIterator<Item = VcClass> {
        let count = match &self.rule {
            LaneRule::Tables { .. } => LEVELS,
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => self.shares.len(),
        };
        (0..u8::try_from(count).expect("few VC classes")).map(VcClass)
    }

    /// Returns the default VC class of packets of a pair: the service level of the pair with
    /// tables, else the first VC class.
    pub fn vc_class_of_pair(&self, from: EndpointId, to: EndpointId) -> VcClass {
        match &self.rule {
            LaneRule::Tables { levels, .. } => VcClass(levels.level(from, to, 0)),
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => VcClass(0),
        }
    }

    /// Returns the lanes that packets of a VC class may use on some channel, including cables of
    /// hosts; without a class, with tables those of any pair, else those of the first VC class.
    pub fn anywhere(&self, fabric: &Fabric, vc_class: Option<VcClass>) -> LaneSet {
        match &self.rule {
            LaneRule::Tables { map, levels, lanes_per_vl } => {
                let levels = vc_class.map_or_else(|| levels.in_use(), |vc_class| 1 << vc_class.0);
                let vls = map.lanes_at_switches(fabric, levels) | map.first_lanes(levels);
                LaneSet::of_vls(vls, *lanes_per_vl)
            }
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => {
                let of_leg = |leg| self.on_leg(vc_class.unwrap_or_default(), leg);
                let lanes = (0..self.legs).map(|leg| self.shares[usize::from(of_leg(leg).0)].all);
                lanes.fold(LaneSet::EMPTY, |all, lanes| all | lanes)
            }
        }
    }

    /// Returns every VC class that packets of a pair may have, on a LID of its destination.
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

    /// Returns the first lanes of a packet from its host, or from an in-transit host; empty if it
    /// is dropped.
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

    /// Returns the lanes that a packet to `to` may take on `outgoing`, and its dateline class
    /// there, if it arrived on `incoming` in `dateline_class`; no lanes if it is dropped. On the
    /// cable of its host, or of an in-transit host, its dateline class is 0.
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
            LaneRule::Escape(_) => {
                (self.by_table(fabric, vc_class, outgoing, to), DatelineClass(0))
            }
            LaneRule::Tables { map, lanes_per_vl, .. } => {
                let vl = map.lane(fabric, incoming, outgoing, vc_class.0);
                (lanes_of(vl, *lanes_per_vl), DatelineClass(0))
            }
        }
    }

    /// Returns the lanes of a packet that chooses its channel at every switch, on a channel of a
    /// shortest path to `to`; `is_by_table` marks the table's channel.
    pub fn chosen(
        &self,
        fabric: &Fabric,
        vc_class: VcClass,
        (outgoing, is_by_table): (ChannelId, bool),
        to: EndpointId,
    ) -> LaneSet {
        match &self.rule {
            LaneRule::Escape(escape) if !is_by_table => escape.adaptive(vc_class.0.into()),
            LaneRule::Escape(_) => self.by_table(fabric, vc_class, outgoing, to),
            _ => self.shares[usize::from(vc_class.0)].all,
        }
    }

    /// Returns those of the lanes that a packet may take on a channel whose credits indicate the
    /// load of the channel: the adaptive lanes, or all of them if none is adaptive.
    pub fn judged(&self, vc_class: VcClass, lanes: LaneSet) -> LaneSet {
        let LaneRule::Escape(escape) = &self.rule else { return lanes };
        let adaptive = lanes & escape.adaptive(vc_class.0.into());
        if adaptive.is_empty() { lanes } else { adaptive }
    }

    /// Returns the lanes on the table's channel under a rule with escape lanes: all of the VC class
    /// on cables of hosts.
    fn by_table(
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

/// Entry of packets into the fabric.
impl Lanes {
    /// Returns the lanes of packets from one endpoint to another on `first`, the channel that
    /// leaves the first switch; none if they are dropped, by their adapter or by the switch.
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

    /// Returns whether tables give pairs of endpoints different VC classes.
    pub(crate) fn differ_by_pair(&self) -> bool {
        match &self.rule {
            LaneRule::Tables { levels, .. } => self.has_class_by_pair && !levels.are_zero(),
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => false,
        }
    }

    /// Returns whether packets of two endpoints on one switch, of one VC class, may take equal
    /// lanes into its other channels.
    pub(crate) fn treat_alike(&self, fabric: &Fabric, one: EndpointId, other: EndpointId) -> bool {
        match &self.rule {
            LaneRule::Tables { map, .. } => map.treats_alike(fabric, one, other),
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => true,
        }
    }
}

impl Lanes {
    /// Returns every set of lanes offered to some packet at a hop. With tables these are the VLs: a
    /// packet may take all lanes of a VL or none.
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

/// Queries that do not depend on the source of a packet: for all rules but tables.
impl Lanes {
    /// Returns the dateline class on `outgoing` of a packet that arrived on `incoming` in
    /// `dateline_class`; its destination is attached to the switch `to`.
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

    /// Returns the lanes of packets of a VC class and a dateline class on a channel between
    /// switches.
    ///
    /// Panics with tables, whose lanes also depend on the previous channel.
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

/// Returns one more than the highest lane.
fn count(lanes: LaneSet) -> usize {
    1 + usize::from(lanes.highest().unwrap_or(0))
}

/// Returns the lanes of a VL; none if packets are dropped.
fn lanes_of(vl: Option<u8>, lanes_per_vl: u8) -> LaneSet {
    vl.map_or(LaneSet::EMPTY, |vl| LaneSet::of_vl(vl, lanes_per_vl))
}

fn distinct(vc_classes: &[VcClass]) -> Vec<VcClass> {
    let mut vc_classes = vc_classes.to_vec();
    vc_classes.sort_unstable();
    vc_classes.dedup();
    vc_classes
}
