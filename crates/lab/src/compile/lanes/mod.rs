//! Virtual lanes: figures are checked, classes bound to lanes, datelines laid, and what surprises is noted.
//!
//! ```text
//!   network.lanes, traffic.*.lanes ──► LaneFigures     what needs no fabric
//!   fabric, routes ──────────────────► Lanes           which lanes a packet may take at each hop: the proof asks it
//!   channels ────────────────────────► LanePlan        with the cycle, the least flit time of all
//! ```
//!
//! Invariant: every lane that a plan names exists, and a packet on a lane with virtual cut-through fits into it.

mod classes;
mod levels;
mod limits;
mod notes;
mod rooms;
mod section;

pub(super) use limits::check as check_limits;
pub(super) use notes::note;
pub(super) use rooms::check as check_rooms;

use super::arbiters::{Among, Arbiters};
use super::{Gathered, imported};
use crate::error::LabError;
use crate::scenario::{LaneParameters, Parameters, ScenarioSource};
use classes::ClassLanes;
use gingham_kernel::Span;
use gingham_model::{Arbitration, ChannelPlan, ClassPlan, Crossbar, LanePlan, Plan};
use gingham_topology::Fabric;
use gingham_topology::routing::{
    Algorithm, Datelines, LANES_MAX, LaneMap, LaneSet, Lanes, ServiceLevels, VcClass,
};
use section::Section;

/// What is known of the lanes of a network before there are routes.
pub(super) struct LaneFigures {
    pub(super) count: u8,
    pub(super) flit_bytes: u32,
    overhead_bytes: u32,
    depths_flits: [u32; LANES_MAX as usize],
    output_depths_flits: [u32; LANES_MAX as usize],
    cut_through: LaneSet,
    routing_cycles: u32,
    crossbar: Crossbar,
    arbitration: Arbitration,
    arbiters: Arbiters,
    classes: ClassLanes,
    /// By class, where tables decide on lanes: its service level, if it says one.
    levels: Option<Vec<Option<VcClass>>>,
}

impl LaneFigures {
    pub(super) fn of(
        source: &ScenarioSource,
        parameters: &Parameters,
        lanes: &LaneParameters,
        overhead_bytes: u32,
        gathered: &mut Gathered,
    ) -> Result<Self, LabError> {
        let of = Section { source };
        let count = of.count(lanes)?;
        let depths_flits = of.depths("depth", &lanes.depth, count)?;
        let output = lanes.output_depth.as_ref();
        let output = output.map(|output| of.depths("output_depth", output, count)).transpose()?;
        let (flit_bytes, cut_through) = (of.flit_bytes(lanes)?, of.cut_through(lanes, count)?);
        let among = Among { count, flit_bytes, cut_through, crossbar: lanes.crossbar };
        let arbiters = Arbiters::of(source, lanes, among, gathered)?;
        Ok(Self {
            count,
            flit_bytes,
            overhead_bytes,
            depths_flits,
            output_depths_flits: output.unwrap_or(depths_flits),
            cut_through,
            routing_cycles: of.routing_cycles(lanes)?,
            crossbar: lanes.crossbar,
            arbitration: parameters.arbitration,
            arbiters,
            levels: levels::of_classes(source)?,
            classes: ClassLanes::of(source, count)?,
        })
    }

    /// What the packets of a class are bound to.
    pub(super) fn vc_class(&self, class: usize) -> Option<VcClass> {
        if let Some(levels) = &self.levels {
            return levels.get(class).copied().flatten();
        }
        Some(self.classes.vc_class(class))
    }

    /// Payload that the shallowest lane of a class holds: what adaptive segments count for a switch.
    pub(super) fn lane_bytes(&self, class: usize) -> u64 {
        let lanes = self.classes.by_class[class].lanes();
        let depths = lanes.map(|lane| self.depths_flits[usize::from(lane)]);
        let bytes = u64::from(depths.min().unwrap_or(1)) * u64::from(self.flit_bytes);
        bytes.saturating_sub(self.overhead_bytes.into()).max(1)
    }

    /// Which lanes packets may take at each hop.
    pub(super) fn lanes(
        &self,
        source: &ScenarioSource,
        fabric: &Fabric,
        imported: Option<(LaneMap, ServiceLevels)>,
        gathered: &mut Gathered,
    ) -> Result<Lanes, LabError> {
        if let (Some(tables), Some(levels)) = (imported, &self.levels) {
            return imported::lanes(source, fabric, tables, levels, self.count);
        }
        match self.datelines(source, fabric, gathered)? {
            Some(datelines) => Ok(Lanes::by_datelines(datelines, &self.classes.sets)),
            None => Ok(Lanes::free(&self.classes.sets)),
        }
    }

    /// The datelines in force: those that are asked for, or, where nothing is said, those that dimension-order routing
    /// needs if every class has a lane for each dateline class.
    fn datelines(
        &self,
        source: &ScenarioSource,
        fabric: &Fabric,
        gathered: &mut Gathered,
    ) -> Result<Option<Datelines>, LabError> {
        const CLASSES: usize = Datelines::CLASSES;
        let asked = source.scenario.network.lanes.datelines;
        let routing = &source.scenario.routing.algorithm;
        let is_needed = matches!(routing, Algorithm::DimensionOrder(_));
        let few = self.classes.by_class.iter().position(|lanes| (lanes.len() as usize) < CLASSES);
        if asked == Some(false) || asked.is_none() && (!is_needed || few.is_some()) {
            return Ok(None);
        }
        let datelines = Datelines::new(fabric).map_err(|error| {
            let message = format!("datelines need a mesh or torus: {error}");
            source.refuse("network.lanes.datelines", message)
        })?;
        if datelines.dateline_classes() < CLASSES {
            if asked.is_some() {
                let note = "no dimension closes to circles of four switches or more, so that network.lanes.datelines \
                            changes nothing";
                gathered.notes.push(note.to_owned());
            }
            return Ok(None);
        }
        if let Some(index) = few {
            let class = &source.scenario.traffic[index];
            let message = format!(
                "datelines share out the lanes of a class among {CLASSES} dateline_classes, and class `{}` has but one: give it \
                 another, or say network.lanes.datelines = false",
                class.name
            );
            let key = match class.lanes {
                Some(_) => format!("traffic.{index}.lanes"),
                None => "network.lanes.count".to_owned(),
            };
            return Err(source.refuse(&key, message).into());
        }
        if asked.is_none() {
            gathered.notes.push(self.shared_out());
        }
        Ok(Some(datelines))
    }

    /// Says that lanes are shared out where nobody asked for it.
    fn shared_out(&self) -> String {
        let whose = match self.classes.sets.len() {
            1 => "the lanes are",
            _ => "the lanes of each class are",
        };
        format!(
            "{whose} shared out among two dateline_classes, the lower half up to the dateline of a circle of switches and the upper \
             half behind it, so that dimension-order routes are free of deadlock (network.lanes.datelines)"
        )
    }

    /// The plan over these channels.
    pub(super) fn plan(self, lanes: Lanes, channels: &[ChannelPlan]) -> LanePlan {
        LanePlan {
            lanes,
            count: self.count,
            flit_bytes: self.flit_bytes,
            overhead_bytes: self.overhead_bytes,
            cycle: channels.iter().map(|channel| channel.flit).min().unwrap_or(Span::from_ps(1)),
            depths_flits: self.depths_flits,
            output_depths_flits: self.output_depths_flits,
            cut_through: self.cut_through,
            routing_cycles: self.routing_cycles,
            crossbar: self.crossbar,
            arbitration: self.arbitration,
            crossbar_input: self.arbiters.crossbar_input,
            link_output: self.arbiters.link_output,
            adapter_port: self.arbiters.adapter_port,
        }
    }
}

/// The lanes on which packets of a class may go somewhere.
pub(super) fn lanes_of(plan: &Plan, class: &ClassPlan) -> LaneSet {
    let lanes = plan.lane_plan().map(|lanes| lanes.lanes.anywhere(&plan.fabric, class.vc_class));
    lanes.unwrap_or(LaneSet::one(0))
}
