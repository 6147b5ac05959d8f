//! Virtual lanes: figures are checked, classes bound to lanes, datelines laid, and what surprises is noted.
//!
//! ```text
//!   network.lanes, traffic.*.lanes ──► LaneFigures     what needs no fabric
//!   fabric, routes ──────────────────► Lanes           which lanes a packet may take at each hop: the proof asks it
//!   channels ────────────────────────► LanePlan        with the cycle, the least flit time of all
//! ```
//!
//! Invariant: every lane that a plan names exists, and a packet on a lane with virtual cut-through fits into it.

mod levels;
mod notes;
mod rooms;

pub(super) use notes::note;
pub(super) use rooms::check as check_rooms;

use super::arbiters::{Among, Arbiters};
use super::{Gathered, imported};
use crate::error::LabError;
use crate::scenario::{Forwarding, LaneParameters, Parameters, PerLane, ScenarioSource};
use gingham_kernel::Span;
use gingham_model::{Arbitration, ChannelPlan, ClassPlan, Crossbar, LanePlan, Plan};
use gingham_topology::Fabric;
use gingham_topology::routing::{
    Algorithm, Binding, Datelines, LANES_MAX, LaneMap, LaneSet, Lanes, MANAGEMENT_LANE,
    ServiceLevels,
};
use std::ops::RangeInclusive;

/// The largest flit.
const FLIT_MAX_BYTES: u32 = 1 << 12;
/// The deepest buffer of a lane.
const DEPTH_MAX: i64 = 65_535;
/// The most cycles of routing.
const ROUTING_CYCLES_MAX: i64 = 1_000;

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
    /// The lanes of each class.
    classes: Vec<LaneSet>,
    /// The distinct ones among them, by binding.
    sets: Vec<LaneSet>,
    /// By class, where tables decide on lanes: its service level, if it says one.
    levels: Option<Vec<Option<Binding>>>,
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
        let count = of.number(
            "count",
            lanes.count,
            1..=LANES_MAX.into(),
            "a channel has from 1 to 16 lanes",
        )?;
        let count = u8::try_from(count).expect("checked");
        let depths = of.depths("depth", &lanes.depth, count)?;
        let output = lanes.output_depth.as_ref();
        let outputs = output.map(|output| of.depths("output_depth", output, count)).transpose()?;
        let forwarding = of.by_lane("forwarding", &lanes.forwarding, count)?;
        let is_cut = |lane: &u8| forwarding[usize::from(*lane)] == Forwarding::VirtualCutThrough;
        let cycles = format!("a switch routes in from 0 to {ROUTING_CYCLES_MAX} cycles");
        let routing =
            of.number("routing_cycles", lanes.routing_cycles, 0..=ROUTING_CYCLES_MAX, &cycles)?;
        let levels = levels::of_classes(source)?;
        let classes = class_lanes(source, count)?;
        let mut sets: Vec<LaneSet> = Vec::new();
        for lanes in &classes {
            if !sets.contains(lanes) {
                sets.push(*lanes);
            }
        }
        let flit_bytes = of.flit_bytes(lanes)?;
        let cut_through = (0..count).filter(is_cut).collect();
        let among = Among { count, flit_bytes, cut_through, crossbar: lanes.crossbar };
        let arbiters = Arbiters::of(source, lanes, among, gathered)?;
        Ok(Self {
            count,
            flit_bytes,
            overhead_bytes,
            depths_flits: depths,
            output_depths_flits: outputs.unwrap_or(depths),
            cut_through,
            routing_cycles: routing,
            crossbar: lanes.crossbar,
            arbitration: parameters.arbitration,
            arbiters,
            classes,
            sets,
            levels,
        })
    }

    /// What the packets of a class are bound to.
    pub(super) fn binding(&self, class: usize) -> Option<Binding> {
        if let Some(levels) = &self.levels {
            return levels.get(class).copied().flatten();
        }
        let lanes = self.classes.get(class)?;
        let place = self.sets.iter().position(|set| set == lanes)?;
        Some(Binding(u8::try_from(place).expect("at most 256 sets")))
    }

    /// Payload that the shallowest lane of a class holds: what adaptive segments count for a switch.
    pub(super) fn lane_bytes(&self, class: usize) -> u64 {
        let lanes = self.classes.get(class).copied().unwrap_or(LaneSet::first_n(self.count));
        let depths = lanes.lanes().map(|lane| self.depths_flits[usize::from(lane)]);
        u64::from(depths.min().unwrap_or(1)) * u64::from(self.flit_bytes)
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
            Some(datelines) => Ok(Lanes::by_datelines(datelines, &self.sets)),
            None => Ok(Lanes::free(&self.sets)),
        }
    }

    /// The datelines in force: those that are asked for, or, where nothing is said, those that dimension-order routing
    /// needs if every class has a lane for each layer.
    fn datelines(
        &self,
        source: &ScenarioSource,
        fabric: &Fabric,
        gathered: &mut Gathered,
    ) -> Result<Option<Datelines>, LabError> {
        const LAYERS: usize = Datelines::LAYERS;
        let asked = source.scenario.network.lanes.datelines;
        let routing = &source.scenario.routing.algorithm;
        let is_needed = matches!(routing, Algorithm::DimensionOrder(_));
        let few = self.classes.iter().position(|lanes| (lanes.len() as usize) < LAYERS);
        if asked == Some(false) || asked.is_none() && (!is_needed || few.is_some()) {
            return Ok(None);
        }
        let datelines = Datelines::new(fabric).map_err(|error| {
            let message = format!("datelines need a mesh or torus: {error}");
            source.refuse("network.lanes.datelines", message)
        })?;
        if datelines.layers() < LAYERS {
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
                "datelines share out the lanes of a class among {LAYERS} layers, and class `{}` has but one: give it \
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
        let whose = match self.sets.len() {
            1 => "the lanes are",
            _ => "the lanes of each class are",
        };
        format!(
            "{whose} shared out among two layers, the lower half up to the dateline of a circle of switches and the upper \
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
    let lanes = plan.lane_plan().map(|lanes| lanes.lanes.anywhere(&plan.fabric, class.binding));
    lanes.unwrap_or(LaneSet::one(0))
}

/// The section `network.lanes`, and how its mistakes are told.
struct Section<'a> {
    source: &'a ScenarioSource,
}

impl Section<'_> {
    fn refuse(&self, key: &str, message: impl std::fmt::Display) -> LabError {
        self.source.refuse(&format!("network.lanes.{key}"), message).into()
    }

    fn number(
        &self,
        key: &str,
        value: i64,
        allowed: RangeInclusive<i64>,
        rule: &str,
    ) -> Result<u32, LabError> {
        let within = allowed.contains(&value).then(|| u32::try_from(value).expect("small"));
        within.ok_or_else(|| self.refuse(key, format!("{rule}, not {value}")))
    }

    fn by_lane<T: Copy>(
        &self,
        key: &str,
        values: &PerLane<T>,
        count: u8,
    ) -> Result<Vec<T>, LabError> {
        values.by_lane(usize::from(count)).map_err(|given| {
            let message = format!(
                "a list has a value for each of the {count} lanes (network.lanes.count), and this one has {given}: make \
                 them as many, or give one value for all"
            );
            self.refuse(key, message)
        })
    }

    /// By lane; 0 for lanes that are not there.
    fn depths(
        &self,
        key: &str,
        written: &PerLane<i64>,
        count: u8,
    ) -> Result<[u32; LANES_MAX as usize], LabError> {
        let rule = format!("a lane holds from 1 to {DEPTH_MAX} flits");
        let mut depths = [0; LANES_MAX as usize];
        let values = self.by_lane(key, written, count)?;
        for (lane, value) in values.into_iter().enumerate() {
            let key = match written {
                PerLane::All(_) => key.to_owned(),
                PerLane::Each(_) => format!("{key}.{lane}"),
            };
            depths[lane] = self.number(&key, value, 1..=DEPTH_MAX, &rule)?;
        }
        Ok(depths)
    }

    fn flit_bytes(&self, lanes: &LaneParameters) -> Result<u32, LabError> {
        let bytes = u32::try_from(lanes.flit.0).ok();
        bytes.filter(|bytes| (1..=FLIT_MAX_BYTES).contains(bytes)).ok_or_else(|| {
            let message = format!(
                "a flit carries from 1 B to {} KiB, not {}",
                FLIT_MAX_BYTES >> 10,
                lanes.flit
            );
            self.refuse("flit", message)
        })
    }
}

/// The lanes of every class, which are all but InfiniBand's lane of management where it names none.
fn class_lanes(source: &ScenarioSource, count: u8) -> Result<Vec<LaneSet>, LabError> {
    let all = LaneSet::first_n(count.min(MANAGEMENT_LANE));
    let of_class = |(index, class): (usize, &crate::scenario::TrafficClass)| {
        let Some(written) = &class.lanes else { return Ok(all) };
        let refuse = |key: &str, message: String| -> LabError {
            source.refuse(&format!("traffic.{index}.{key}"), message).into()
        };
        if written.is_empty() {
            let message = format!(
                "a class without a lane can send nothing: name some from 0 to {}, or leave the key out for all",
                count - 1
            );
            return Err(refuse("lanes", message));
        }
        let mut lanes = LaneSet::EMPTY;
        for (place, lane) in written.iter().enumerate() {
            let key = format!("lanes.{place}");
            let Some(number) = u8::try_from(*lane).ok().filter(|lane| *lane < count) else {
                let message = format!(
                    "there is no lane {lane}: channels have {count}, from 0 to {} (network.lanes.count)",
                    count - 1
                );
                return Err(refuse(&key, message));
            };
            if lanes.contains(number) {
                return Err(refuse(&key, format!("lane {lane} is there twice")));
            }
            lanes = lanes | LaneSet::one(number);
        }
        Ok(lanes)
    };
    source.scenario.traffic.iter().enumerate().map(of_class).collect()
}
