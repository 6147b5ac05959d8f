//! Context in which a workload starts.

use crate::traffic::SourcePlan;
use crate::{ClassId, ClassPlan, Plan};
use gingham_kernel::{Purpose, Stream, Time};
use std::ops::Range;

/// The place of a workload in a plan: one source of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'a> {
    pub(super) plan: &'a Plan,
    pub(super) class: ClassId,
    /// Index of the source in its class.
    pub(super) index: usize,
    /// Number of streams of earlier sources.
    pub(super) streams_before: usize,
}

impl<'a> Start<'a> {
    pub(super) fn class_plan(&self) -> &'a ClassPlan {
        &self.plan.classes[self.class.index()]
    }

    pub(super) fn source(&self) -> &'a SourcePlan {
        &self.class_plan().sources[self.index]
    }

    /// Returns the crash time of its host, if it crashes.
    pub(super) fn host_crash(&self) -> Option<Time> {
        self.plan.crashes.get(&self.source().endpoint).copied()
    }

    /// Returns the period in which it creates messages.
    pub(super) fn active(&self) -> Range<Time> {
        let Range { start, end } = self.class_plan().active.clone();
        start..self.host_crash().map_or(end, |crash| crash.clamp(start, end))
    }

    /// Returns its random streams by purpose.
    pub(super) fn random(&self) -> impl Fn(Purpose) -> Stream + use<> {
        let name = self.plan.name_of(self.source().endpoint, self.class);
        random(self.plan.seed, name)
    }

    /// Returns its random streams by purpose if it is stream `number` of its endpoint in its class.
    pub(super) fn random_of_stream(&self, number: u32) -> impl Fn(Purpose) -> Stream + use<> {
        let name = self.plan.name_of(self.source().endpoint, self.class);
        random(self.plan.seed, format!("{name}/{number}"))
    }
}

fn random(seed: u64, name: String) -> impl Fn(Purpose) -> Stream {
    move |purpose| Stream::new(seed, &name, purpose)
}
