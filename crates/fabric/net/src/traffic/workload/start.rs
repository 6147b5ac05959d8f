//! Context for starting the workload of one source.

use crate::traffic::SourcePlan;
use crate::{ClassId, ClassPlan, Plan};
use gingham_kernel::{Purpose, Stream, Time};
use gingham_topology::EndpointId;
use std::ops::Range;

#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'a> {
    pub(super) plan: &'a Plan,
    pub(super) class: ClassId,
    pub(super) index: usize,
    pub(super) streams_before: usize,
}

impl<'a> Start<'a> {
    pub(super) fn class_plan(&self) -> &'a ClassPlan {
        &self.plan.classes[self.class.index()]
    }

    pub(super) fn source(&self) -> &'a SourcePlan {
        &self.class_plan().sources[self.index]
    }

    pub(super) fn active(&self) -> Range<Time> {
        self.class_plan().active.clone()
    }

    pub(super) fn random(&self) -> impl Fn(Purpose) -> Stream + use<> {
        let name = self.plan.name_of(self.source().endpoint, self.class);
        random(self.plan.seed, name)
    }
}

pub(super) fn random_of_stream(
    plan: &Plan,
    class: ClassId,
    endpoint: EndpointId,
    number: u32,
) -> impl Fn(Purpose) -> Stream + use<> {
    random(plan.seed, format!("{}/{number}", plan.name_of(endpoint, class)))
}

fn random(seed: u64, name: String) -> impl Fn(Purpose) -> Stream {
    move |purpose| Stream::new(seed, &name, purpose)
}
