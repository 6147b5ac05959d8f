//! Range checks of the numbers in `network.lanes`.

use crate::compile::imported::decides_on_lanes;
use crate::compile::written::whose;
use crate::error::LabError;
use crate::scenario::{Forwarding, LaneParameters, PerLane, PipelineParameters, ScenarioSource};
use gingham_topology::routing::{LANES_MAX, LaneSet};
use std::ops::RangeInclusive;

/// Largest flit, in bytes.
const FLIT_MAX_BYTES: u32 = 1 << 12;
/// Deepest lane buffer, in flits.
pub(crate) const DEPTH_MAX: i64 = 65_535;
/// Maximum number of cycles of the pipeline before a lane buffer.
const PIPELINE_CYCLES_MAX: i64 = 65_535;
/// Maximum number of routing cycles.
const ROUTING_CYCLES_MAX: i64 = 1_000;

pub(crate) fn count_of_lanes(
    source: &ScenarioSource,
    lanes: &LaneParameters,
) -> Result<u8, LabError> {
    let rule = format!("a channel has from 1 to {LANES_MAX} lanes");
    let count = Section { source }.number("count", lanes.count, 1..=LANES_MAX.into(), &rule)?;
    Ok(u8::try_from(count).expect("checked"))
}

/// Returns the value of each lane; the error explains why a list does not fit.
pub(crate) fn value_by_lane<T: Copy>(
    source: &ScenarioSource,
    values: &PerLane<T>,
    count: u8,
) -> Result<Vec<T>, String> {
    values.by_lane(usize::from(count)).map_err(|given| {
        let of_count = whose(source, "network.lanes.count");
        format!(
            "a list has a value for each lane, and this one has {given}, while network.lanes.count is {count}{of_count}: make \
             them as many, or give one value for all"
        )
    })
}

/// The section `network.lanes`, and the errors about it.
pub(crate) struct Section<'a> {
    pub(crate) source: &'a ScenarioSource,
}

impl Section<'_> {
    pub(crate) fn refuse(&self, key: &str, message: impl std::fmt::Display) -> LabError {
        self.source.refuse(&format!("network.lanes.{key}"), message).into()
    }

    pub(crate) fn number(
        &self,
        key: &str,
        value: i64,
        allowed: RangeInclusive<i64>,
        rule: &str,
    ) -> Result<u32, LabError> {
        let within = allowed.contains(&value).then(|| u32::try_from(value).expect("small"));
        within.ok_or_else(|| self.refuse(key, format!("{rule}, not {value}")))
    }

    /// Returns the number of lanes that each VL of imported tables owns, if given.
    pub(crate) fn lanes_per_vl(&self, count: u8) -> Result<Option<u8>, LabError> {
        let Some(written) = self.source.scenario.network.lanes.per_vl else { return Ok(None) };
        if !decides_on_lanes(&self.source.scenario.routing) {
            let message = "no tables map service levels to VLs: name them with routing.lane_tables, or leave the key out";
            return Err(self.refuse("per_vl", message));
        }
        let of_count = whose(self.source, "network.lanes.count");
        let rule = format!(
            "network.lanes.count is {count}{of_count}, so that a VL owns from 1 to {count} lanes"
        );
        let lanes = self.number("per_vl", written, 1..=count.into(), &rule)?;
        Ok(Some(u8::try_from(lanes).expect("as many as lanes")))
    }

    fn by_lane<T: Copy>(
        &self,
        key: &str,
        values: &PerLane<T>,
        count: u8,
    ) -> Result<Vec<T>, LabError> {
        value_by_lane(self.source, values, count).map_err(|why| self.refuse(key, why))
    }

    /// Returns depths by lane; 0 for lanes that do not exist.
    pub(crate) fn depths(
        &self,
        key: &str,
        written: &PerLane<i64>,
        count: u8,
        least: i64,
    ) -> Result<[u32; LANES_MAX as usize], LabError> {
        let rule = format!("a lane holds from {least} to {DEPTH_MAX} flits");
        let mut depths = [0; LANES_MAX as usize];
        let values = self.by_lane(key, written, count)?;
        for (lane, value) in values.into_iter().enumerate() {
            let key = match written {
                PerLane::All(_) => key.to_owned(),
                PerLane::Each(_) => format!("{key}.{lane}"),
            };
            depths[lane] = self.number(&key, value, least..=DEPTH_MAX, &rule)?;
        }
        Ok(depths)
    }

    pub(crate) fn flit_bytes(&self, switch: &PipelineParameters) -> Result<u32, LabError> {
        let bytes = u32::try_from(switch.flit.0).ok();
        bytes.filter(|bytes| (1..=FLIT_MAX_BYTES).contains(bytes)).ok_or_else(|| {
            let message = format!(
                "a flit carries from 1 B to {} KiB, not {}",
                FLIT_MAX_BYTES >> 10,
                switch.flit
            );
            self.refuse("flit", message)
        })
    }

    pub(crate) fn cut_through(
        &self,
        switch: &PipelineParameters,
        count: u8,
    ) -> Result<LaneSet, LabError> {
        let by_lane = (0..count).zip(self.by_lane("forwarding", &switch.forwarding, count)?);
        let cut = by_lane.filter(|(_, forwarding)| *forwarding == Forwarding::VirtualCutThrough);
        Ok(cut.map(|(lane, _)| lane).collect())
    }

    pub(crate) fn pipeline_cycles(&self, switch: &PipelineParameters) -> Result<u32, LabError> {
        let rule = format!("a flit is in its lane after 0 to {PIPELINE_CYCLES_MAX} cycles");
        self.number("pipeline_cycles", switch.pipeline_cycles, 0..=PIPELINE_CYCLES_MAX, &rule)
    }

    pub(crate) fn routing_cycles(&self, switch: &PipelineParameters) -> Result<u32, LabError> {
        let rule = format!("a switch routes in from 0 to {ROUTING_CYCLES_MAX} cycles");
        self.number("routing_cycles", switch.routing_cycles, 0..=ROUTING_CYCLES_MAX, &rule)
    }
}
