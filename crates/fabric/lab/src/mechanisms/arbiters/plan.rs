//! Plans of arbiters: schedulers, with the tables of their files.

use super::checks::{of_crossbar, of_place};
use super::{Among, Place as _};
use crate::check::{Subject, check};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::{LaneParameters, PipelineParameters, ScenarioSource};
use gingham_net::scheduler::Fault;
use gingham_net::{ArbiterPlace, Scheduler};

pub(crate) fn ports(
    source: &ScenarioSource,
    lanes: &LaneParameters,
    among: Among,
    gathered: &mut Gathered,
) -> Result<[Scheduler; 2], LabError> {
    let mut plan = |place, written| Reader { source, place, among, written }.plan(gathered);
    Ok([
        plan(ArbiterPlace::LinkOutput, &lanes.arbiters.link_output)?,
        plan(ArbiterPlace::AdapterPort, &lanes.arbiters.adapter_port)?,
    ])
}

pub(crate) fn crossbar(
    source: &ScenarioSource,
    switch: &PipelineParameters,
    among: Among,
    gathered: &mut Gathered,
) -> Result<(Scheduler, Option<Scheduler>), LabError> {
    check(&of_crossbar(), &Subject::of_table(source, "network.lanes", switch), gathered)?;
    let mut plan = |place, written| Reader { source, place, among, written }.plan(gathered);
    let input = plan(ArbiterPlace::CrossbarInput, &switch.crossbar_input)?;
    let output = switch.crossbar_output.as_ref();
    let output = output.map(|output| plan(ArbiterPlace::CrossbarOutput, output)).transpose()?;
    Ok((input, output))
}

pub(super) struct Reader<'a> {
    pub(super) source: &'a ScenarioSource,
    pub(super) place: ArbiterPlace,
    pub(super) among: Among,
    pub(super) written: &'a Scheduler,
}

impl Reader<'_> {
    fn plan(&self, gathered: &mut Gathered) -> Result<Scheduler, LabError> {
        let subject = Subject::of_table(self.source, self.place.key(), self);
        check(&of_place(), &subject, gathered)?;
        let mut scheduler = self.written.clone();
        if let Scheduler::InfiniBand(tables) = &mut scheduler {
            self.resolve(tables, gathered)?;
        }
        let Among { count, flit_bytes, .. } = self.among;
        scheduler.check(count, flit_bytes).map_err(|Fault { key, message }| {
            let name = scheduler.facts().name.to_owned();
            self.refuse(&if key.is_empty() { name } else { format!("{name}.{key}") }, message)
        })?;
        Ok(scheduler)
    }

    pub(super) fn refuse(&self, key: &str, message: impl std::fmt::Display) -> LabError {
        self.source.refuse(&format!("{}.{key}", self.place.key()), message).into()
    }
}
