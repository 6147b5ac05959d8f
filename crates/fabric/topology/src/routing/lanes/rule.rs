//! Selection of a packet's lanes, hop by hop.
//!
//! ```text
//!                    h0 ──────► s0 ──────► s1 ──────► s2 ──────► h2
//!   free             {0,1,2,3}  {0,1,2,3}  {0,1,2,3}  {0,1,2,3}
//!   datelines        {0,1,2,3}  {0,1}      {2,3}      {0,1,2,3}      dateline on s1 ► s2
//!   tables, SL 3     {3}        {0}        {1}        {1}
//!   two lanes per VL {6,7}      {0,1}      {2,3}      {2,3}
//! ```
//!
//! Every packet has a constant [`VcClass`], and a [`DatelineClass`] that may change at a hop. A
//! packet may take any lane of the resulting set.
//!
//! Tables map a service level (SL) to an InfiniBand virtual lane (VL). VL `v` owns `lanes_per_vl`
//! lanes from `v * lanes_per_vl` on. Several lanes per VL model hardware more closely, because a VL
//! stores many packets, whereas a lane is granted to one packet at a time.
//!
//! Invariant: the lanes of a hop depend only on VC class, dateline class, the two channels and the
//! destination switch.

use super::datelines::{DatelineRule, Datelines, Shares};
use super::escape::EscapeLanes;
use super::map::{LEVELS, LaneMap, MANAGEMENT_LANE};
use super::service_levels::ServiceLevels;
use super::set::{DatelineClass, LANES_MAX, LaneSet, VcClass};
use crate::{ChannelId, EndpointId, Fabric, GridError, NodeId};

/// Rule for the lanes of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaneRule {
    /// Any lane of the VC class at every hop.
    Free,
    /// Lanes of a VC class, divided between the dateline classes.
    Datelines(Datelines),
    /// Adaptive routing, with some lanes reserved as escape lanes; packets use these only on the
    /// channel of the table entry.
    Escape(EscapeLanes),
    /// Tables that map the service level, which is the VC class, to a VL.
    Tables {
        /// VL of each service level, hop by hop.
        map: LaneMap,
        /// Service level of each pair.
        levels: ServiceLevels,
        /// Number of lanes per VL, at least 1.
        lanes_per_vl: u8,
    },
}

/// Lane rule with the VC classes in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lanes {
    rule: LaneRule,
    /// By VC class: lanes of each dateline class; empty with tables.
    shares: Vec<Shares>,
    has_class_by_pair: bool,
    everywhere: Vec<VcClass>,
    /// Number of path legs that divide the lanes of a VC class; 1 if all legs share them.
    legs: u8,
    count: usize,
}

impl Lanes {
    /// Selects lanes by SL-to-VL tables, with the service level of each pair.
    pub fn new(fabric: &Fabric, map: LaneMap, levels: ServiceLevels) -> Self {
        Self::by_tables(fabric, map, levels, true, &[])
    }

    /// Selects lanes by SL-to-VL tables. Packets use the service level of their pair (with
    /// `has_class_by_pair`), or any level in `everywhere`.
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

    /// Divides the lanes of every VC class among the first `legs` legs of a path, as evenly as
    /// possible. With fewer lanes than legs, each leg uses all lanes.
    ///
    /// Panics for escape lanes and SL-to-VL tables, which do not distinguish legs.
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

    /// Returns the VC class restricted to the lanes of a leg, counted from 0. Legs beyond those of
    /// [`Self::with_legs`] use the lanes of the last leg.
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

    pub(crate) fn on_next_leg(&self, vc_class: VcClass) -> Option<VcClass> {
        if self.legs == 1 {
            return Some(vc_class);
        }
        let of_leg = self.shares.len() / usize::from(self.legs);
        let next = usize::from(vc_class.0) + of_leg;
        (next < self.shares.len()).then(|| VcClass(u8::try_from(next).expect("few VC classes")))
    }

    /// Gives every VL `lanes_per_vl` consecutive lanes (1 to [`LANES_MAX`]). Panics unless SL-to-VL
    /// tables select the lanes.
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

    /// Allows any lane of the VC class at every hop.
    pub fn free(vc_classes: &[LaneSet]) -> Self {
        Self::by_sets(LaneRule::Free, vc_classes)
    }

    /// Divides the lanes of each VC class between the dateline classes.
    pub fn by_datelines(datelines: Datelines, vc_classes: &[LaneSet]) -> Self {
        Self::by_sets(LaneRule::Datelines(datelines), vc_classes)
    }

    /// Reserves the lowest `count` lanes of each VC class as escape lanes, which `datelines` (by
    /// wrap) divide into classes.
    pub fn with_escape(datelines: Option<Datelines>, vc_classes: &[LaneSet], count: usize) -> Self {
        let escape = EscapeLanes::new(datelines, vc_classes, count);
        Self::by_sets(LaneRule::Escape(escape), vc_classes)
    }

    /// Creates a rule with one VC class of `count` lanes. If `datelines` is `None`, datelines by
    /// hop are used where the routing algorithm needs them and `count` suffices; `Some(None)`
    /// excludes datelines.
    ///
    /// # Errors
    /// Fails for datelines on a fabric that is neither a mesh nor a torus.
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

    /// Extends the rule to the management port (port 0) of each switch ([`Fabric::with_ports_0`]).
    /// Packets from port 0 use the lanes of an endpoint on that switch.
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

    /// Returns the rule for the lanes of a packet.
    pub fn rule(&self) -> &LaneRule {
        &self.rule
    }

    /// Returns the number of dateline classes; 1 without datelines.
    pub fn dateline_classes(&self) -> usize {
        match &self.rule {
            LaneRule::Datelines(datelines) => datelines.dateline_classes(),
            LaneRule::Free | LaneRule::Escape(_) | LaneRule::Tables { .. } => 1,
        }
    }

    /// Returns the number of lanes per VL; 1 without tables.
    pub const fn lanes_per_vl(&self) -> u8 {
        match &self.rule {
            LaneRule::Tables { lanes_per_vl, .. } => *lanes_per_vl,
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => 1,
        }
    }

    /// Returns the highest lane used between switches, plus 1.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns all VC classes; with tables, all service levels.
    pub fn vc_classes(&self) -> impl ExactSizeIterator<Item = VcClass> {
        let count = match &self.rule {
            LaneRule::Tables { .. } => LEVELS,
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => self.shares.len(),
        };
        (0..u8::try_from(count).expect("few VC classes")).map(VcClass)
    }

    /// Returns the default VC class of a pair: its service level with tables, otherwise class 0.
    pub fn vc_class_of_pair(&self, from: EndpointId, to: EndpointId) -> VcClass {
        match &self.rule {
            LaneRule::Tables { levels, .. } => VcClass(levels.level(from, to, 0)),
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => VcClass(0),
        }
    }

    /// Returns the union of the lanes that a VC class may use on all channels. `None` stands for
    /// class 0 or, with tables, for the levels of all pairs.
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

    /// Returns the lanes on the channel from a host, for sent or re-injected packets; empty if
    /// packets are dropped.
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

    /// Returns the lanes of a VC class if they are the same on all channels, else `None`.
    #[inline]
    pub fn everywhere(&self, vc_class: VcClass) -> Option<LaneSet> {
        matches!(self.rule, LaneRule::Free).then(|| self.shares[usize::from(vc_class.0)].all)
    }

    /// Returns the lanes (empty if the packet is dropped) and the dateline class (0 on host cables)
    /// on `outgoing`, for a packet that arrived on `incoming` in `dateline_class`.
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

    /// Returns the lanes that adaptive routing allows on a channel of a shortest path;
    /// `is_by_table` is set for the channel of the table entry.
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

    /// Returns the lanes whose credits indicate the load of a channel: the adaptive lanes in
    /// `lanes`, or all of `lanes` if none is adaptive.
    pub fn judged(&self, vc_class: VcClass, lanes: LaneSet) -> LaneSet {
        let LaneRule::Escape(escape) = &self.rule else { return lanes };
        let adaptive = lanes & escape.adaptive(vc_class.0.into());
        if adaptive.is_empty() { lanes } else { adaptive }
    }

    /// Returns the lanes that adaptive routing allows on the channel of the table entry; all lanes
    /// of the VC class on host cables.
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

impl Lanes {
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

    pub(crate) fn differ_by_pair(&self) -> bool {
        match &self.rule {
            LaneRule::Tables { levels, .. } => self.has_class_by_pair && !levels.are_zero(),
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => false,
        }
    }

    /// Returns whether packets from two endpoints on one switch take the same lanes on its other
    /// channels.
    pub(crate) fn treat_alike(&self, fabric: &Fabric, one: EndpointId, other: EndpointId) -> bool {
        match &self.rule {
            LaneRule::Tables { map, .. } => map.treats_alike(fabric, one, other),
            LaneRule::Free | LaneRule::Datelines(_) | LaneRule::Escape(_) => true,
        }
    }
}

impl Lanes {
    /// Returns the sets of lanes offered at any hop. With tables, these are the VLs, because a
    /// packet may take either all lanes of a VL or none.
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

impl Lanes {
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

    /// Returns the lanes that a packet may use on a channel. Panics if SL-to-VL tables select the
    /// lanes, because the tables also depend on the previous channel.
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

fn count(lanes: LaneSet) -> usize {
    1 + usize::from(lanes.highest().unwrap_or(0))
}

fn lanes_of(vl: Option<u8>, lanes_per_vl: u8) -> LaneSet {
    vl.map_or(LaneSet::EMPTY, |vl| LaneSet::of_vl(vl, lanes_per_vl))
}

fn distinct(vc_classes: &[VcClass]) -> Vec<VcClass> {
    let mut vc_classes = vc_classes.to_vec();
    vc_classes.sort_unstable();
    vc_classes.dedup();
    vc_classes
}
