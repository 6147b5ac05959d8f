//! Compilation of lanes.
//!
//! ```text
//!   network.lanes, traffic.*.lanes ──► LaneFigures     needs no fabric        ┐
//!   fabric, routes ──────────────────► Lanes           also used by the proof ┴► LanePlan
//!   network.lanes ───────────────────► PipelinePlan    the five-stage switch
//! ```
//!
//! Invariant: every lane that a plan names exists, and a packet on a lane with virtual cut-through
//! fits into this lane.

mod acks;
mod checks;
mod classes;
mod levels;
mod limits;
mod notes;
mod pipeline;
mod rooms;
mod users;

use super::adaptive;
use super::gathered::Gathered;
use super::imported::{self, Among};
use super::written::first_written;
use crate::check::{Subject, check as check_rows};
use crate::error::LabError;
use crate::scenario::{DatelineChoice, LaneParameters, ScenarioSource};
pub(crate) use acks::cure as cure_of_acks;
pub(crate) use checks::{Laned, wrong_list, wrong_values};
use classes::ClassLanes;
use gingham_net::{LanePlan, Scheduler};
use gingham_topology::Fabric;
use gingham_topology::routing::{
    DatelineRule, Datelines, LaneMap, LaneSet, Lanes, ServiceLevels, VcClass,
};
pub(crate) use levels::ClassLevels;
pub(crate) use notes::of_lanes;
pub(crate) use pipeline::{check, lane_bytes, plan};
pub(crate) use rooms::{Room, of_room};

pub(crate) fn count_of_lanes(
    source: &ScenarioSource,
    lanes: &LaneParameters,
    gathered: &mut Gathered,
) -> Result<u8, LabError> {
    check_rows(&checks::of_count(), &Subject::of_table(source, "network.lanes", lanes), gathered)?;
    Ok(u8::try_from(lanes.count).expect("a check refuses other numbers"))
}

#[derive(Clone)]
pub(crate) struct LaneFigures {
    count: u8,
    link_output: Scheduler,
    adapter_port: Scheduler,
    classes: ClassLanes,
    levels: Option<ClassLevels>,
    /// Number of lanes for each VL of imported tables; `None` to divide all lanes equally among the
    /// VLs.
    lanes_per_vl: Option<u8>,
}

impl LaneFigures {
    /// Assigns the classes to `count` lanes, with one lane for each VL of imported tables.
    pub(crate) fn of(
        source: &ScenarioSource,
        count: u8,
        [link_output, adapter_port]: [Scheduler; 2],
    ) -> Result<Self, LabError> {
        let levels = ClassLevels::of(source)?;
        let classes = ClassLanes::of(source, count)?;
        let lanes_per_vl = Some(1);
        Ok(Self { count, link_output, adapter_port, classes, levels, lanes_per_vl })
    }

    pub(crate) fn with_lanes_per_vl(self, lanes_per_vl: Option<u8>) -> Self {
        Self { lanes_per_vl, ..self }
    }

    pub(crate) fn by_class(&self) -> &[LaneSet] {
        &self.classes.by_class
    }

    /// Returns the VC class of a class's packets; `None` if it depends on the host pair.
    pub(crate) fn vc_class(&self, class: usize) -> Option<VcClass> {
        if let Some(levels) = &self.levels {
            return levels.by_class[class];
        }
        Some(self.classes.vc_class(class))
    }

    pub(crate) fn single_vc_classes(&self, class: usize) -> Box<[VcClass]> {
        self.classes.single_vc_classes(class)
    }

    pub(crate) fn vc_class_of_admission(&self) -> Option<VcClass> {
        if self.levels.is_some() { None } else { self.classes.vc_class_of_admission() }
    }

    pub(crate) fn vc_class_of_acks(&self, class: usize) -> Option<VcClass> {
        match &self.levels {
            Some(levels) => levels.of_acks.get(&class).copied().flatten(),
            None => self.classes.vc_class_of_acks(class),
        }
    }

    fn with_acks_as(&self, classes: impl Iterator<Item = usize>) -> Self {
        let mut other = self.clone();
        for class in classes {
            other.classes.ack_as_class(class);
            if let Some(levels) = &mut other.levels {
                levels.of_acks.insert(class, levels.by_class[class]);
            }
        }
        other
    }

    pub(crate) fn allowed(
        &self,
        source: &ScenarioSource,
        fabric: &Fabric,
        imported: Option<(LaneMap, ServiceLevels)>,
        gathered: &mut Gathered,
    ) -> Result<Lanes, LabError> {
        if let (Some(tables), Some(levels)) = (imported, &self.levels) {
            let among = Among { count: self.count, lanes_per_vl: self.lanes_per_vl };
            return imported::lanes(source, fabric, tables, levels, among, gathered);
        }
        if source.scenario.routing.adaptive.is_some() {
            return self.with_escape(source, fabric);
        }
        match self.datelines(source, fabric, gathered)? {
            Some(datelines) => Ok(Lanes::by_datelines(datelines, &self.classes.sets)),
            None => Ok(Lanes::free(&self.classes.sets)),
        }
    }

    fn with_escape(&self, source: &ScenarioSource, fabric: &Fabric) -> Result<Lanes, LabError> {
        let routing = &source.scenario.routing;
        let asked = routing.adaptive.as_ref().and_then(|adaptive| adaptive.escape_lanes);
        let needs_datelines = routing.algorithm.needs_datelines();
        let lanes = Lanes::of_choosing(fabric, needs_datelines, &self.classes.sets, asked);
        lanes.map_err(|error| {
            adaptive::no_escape(source, error, |least| {
                let user = self.classes.with_fewer(source, least);
                let own = user.as_ref().filter(|user| user.lanes.is_some());
                let key = own.map(|of| of.key("lanes"));
                (user.map(|user| user.called), key)
            })
        })
    }

    /// Returns the datelines in effect: as configured, or by default those of dimension-order
    /// routing if every class has enough lanes for all dateline classes.
    fn datelines(
        &self,
        source: &ScenarioSource,
        fabric: &Fabric,
        gathered: &mut Gathered,
    ) -> Result<Option<Datelines>, LabError> {
        const CLASSES: usize = Datelines::CLASSES;
        let asked = source.scenario.network.lanes.datelines;
        let routing = &source.scenario.routing.algorithm;
        let is_needed = routing.needs_datelines();
        let few = self.classes.with_fewer(source, CLASSES);
        let by_default = (is_needed && few.is_none()).then(DatelineRule::default);
        let Some(rule) = asked.map_or(by_default, DatelineChoice::rule) else { return Ok(None) };
        let datelines = Datelines::new(fabric, rule).map_err(|error| {
            let message = format!("datelines need a mesh or torus: {error}");
            source.refuse("network.lanes.datelines", message)
        })?;
        if datelines.dateline_classes() < CLASSES {
            if asked.is_some() {
                let note = "no dimension closes to rings of four switches or more, so that packets take any lane of their class, and \
                            network.lanes.datelines changes nothing: leave it out";
                gathered.notes.push(note.to_owned());
            }
            return Ok(None);
        }
        if let Some(user) = few {
            let have = if user.is_ack { "have but one: give them" } else { "has but one: give it" };
            let message = format!(
                "datelines share out the lanes of a class among {CLASSES} dateline classes, and {} {have} another, or say \
                 network.lanes.datelines = false",
                user.called
            );
            let keys = ["network.lanes.count", "network.lanes.datelines"];
            let key = match user.lanes {
                Some(_) => user.key("lanes"),
                None => first_written(source, &keys).to_owned(),
            };
            return Err(source.refuse(&key, message).into());
        }
        if asked.is_none() {
            gathered.notes.push(self.shared_out());
        }
        Ok(Some(datelines))
    }

    fn shared_out(&self) -> String {
        let whose = match self.classes.sets.len() {
            1 => "the lanes are",
            _ => "the lanes of each class are",
        };
        format!(
            "{whose} shared out among two dateline classes, the lower half up to the dateline of a ring of switches and the upper \
             half behind it, so that dimension-order routes are free of deadlock (network.lanes.datelines)"
        )
    }

    pub(crate) fn plan(self, allowed: Lanes) -> LanePlan {
        let Self { count, link_output, adapter_port, .. } = self;
        LanePlan { allowed, count, link_output, adapter_port }
    }
}
