//! Traffic classes: host patterns become endpoints, files are read, loads and lengths are checked.
//!
//! ```text
//!   hosts ── in canonical order: places 0, 1, ..., N - 1
//!     │
//!   arrivals + lengths + destinations ─► for each host a SourcePlan, or a reason to be silent
//!   schedule ─────────────────────────► a SourcePlan for each host in it
//! ```
//!
//! Invariants: a source has somewhere to send to, and every destination can be reached; what a
//! user might not expect stands in a note.

mod arrivals;
mod chosen_hosts;
mod context;
mod destinations;
mod hosts;
mod lengths;
mod matrix;
mod permutations;
mod policing;
mod schedule;
mod sending;
mod sheet;

pub(super) use lengths::payload;
pub(super) use policing::check_packets;

use super::gathered::Gathered;
use super::network::Links;
use crate::error::LabError;
use crate::scenario::{Parameters, ScenarioSource};
use context::ClassContext;
use destinations::Aim;
use gingham_input::InputError;
use gingham_model::traffic::{Arrivals, SourcePlan};
use gingham_model::{Arbitration, ClassPlan};
use hosts::Hosts;
use std::collections::BTreeMap;

/// The traffic classes of a scenario.
pub(super) fn classes(
    source: &ScenarioSource,
    links: Links<'_>,
    gathered: &mut Gathered,
) -> Result<Vec<ClassPlan>, LabError> {
    let written = &source.scenario.traffic;
    if written.is_empty() {
        return Err(InputError::at(&source.tree, "traffic", "at least one class must send").into());
    }
    let hosts = Hosts::of(links.fabric);
    let mut classes = Vec::new();
    for (index, class) in written.iter().enumerate() {
        let context =
            ClassContext { source, links, fabric: links.fabric, hosts: &hosts, index, class };
        if written[..index].iter().any(|earlier| earlier.name == class.name) {
            let message =
                format!("two classes are called `{}`; each needs a name of its own", class.name);
            return Err(context.error("name", message).into());
        }
        classes.push(context.compile(gathered)?);
    }
    note_levels(links.parameters, &classes, gathered);
    policing::note_held_up(&classes, gathered);
    Ok(classes)
}

/// Says where switches look at priorities and find one only.
fn note_levels(parameters: &Parameters, classes: &[ClassPlan], gathered: &mut Gathered) {
    let first = classes[0].priority;
    let is_one = classes.iter().all(|class| class.priority == first);
    if is_one && parameters.arbitration == Arbitration::StrictPriority {
        let note = "switches go by priority, but all classes have the same: outputs go to inputs round robin";
        gathered.notes.push(note.to_owned());
    }
}

impl ClassContext<'_> {
    fn compile(&self, gathered: &mut Gathered) -> Result<ClassPlan, LabError> {
        let active = self.active()?;
        let sources = match &self.class.arrivals {
            Arrivals::Schedule(file) => self.scheduled(file, &active, gathered)?,
            _ => self.drawn(gathered)?,
        };
        Ok(ClassPlan {
            name: self.class.name.clone(),
            active,
            priority: self.priority()?,
            vc_class: self.links.kind.lanes.vc_class(self.index),
            segmentation: self.segmentation(gathered)?,
            policing: self.policing(&sources, gathered)?,
            window: None,
            pace: None,
            sources,
        })
    }

    /// The sources of a class that draws its messages.
    fn drawn(&self, gathered: &mut Gathered) -> Result<Vec<SourcePlan>, LabError> {
        let arrivals = self.arrivals()?;
        let lengths = self.lengths(gathered)?;
        let hosts = self.sending_hosts()?;
        let aims = self.aims(&hosts, &arrivals, gathered)?;
        let mut sources = Vec::new();
        let mut silent: BTreeMap<&str, usize> = BTreeMap::new();
        for (endpoint, aim) in hosts.iter().zip(aims) {
            match aim {
                Aim::At { destinations, load_factor } => {
                    let arrivals = arrivals.scaled(load_factor);
                    self.check_pace(*endpoint, &arrivals, &lengths)?;
                    let lengths = lengths.clone();
                    sources.push(SourcePlan::drawn(*endpoint, arrivals, lengths, destinations));
                }
                Aim::Nowhere(why) => *silent.entry(why).or_default() += 1,
            }
        }
        if sources.is_empty() {
            return Err(self.nobody_sends(&silent).into());
        }
        for (why, count) in silent {
            let all = hosts.len();
            self.note(gathered, format!("{count} of {all} hosts {why} and are silent"));
        }
        Ok(sources)
    }

    /// The error of a class all of whose hosts are silent, at what made them so.
    fn nobody_sends(&self, silent: &BTreeMap<&str, usize>) -> InputError {
        let key = match self.source.tree.get(&self.path("destinations")) {
            Some(_) => "destinations",
            None => "hosts",
        };
        let reasons: Vec<String> =
            silent.iter().map(|(why, count)| format!("{count} {why}")).collect();
        let reasons = reasons.join(", ");
        self.error(key, format!("none of the hosts has anywhere to send to: {reasons}"))
    }
}
