//! Flow statistics by section and, for followed flows, also by step.
//!
//! Flows are counted in classes with a window, a rate limit or a followed flow, or in all classes
//! if [`crate::MeasurePlan::flows`] is set.
//!
//! Invariants: merging sections preserves sums. Only non-zero sums are kept, 16 bytes each, at most
//! seven per section. A flow thus uses at most about 7 KiB, and a followed flow another 112 bytes
//! for each active step.

mod report;
mod sum;

pub use report::{ClassFlows, FlowReport, FlowSeries, FlowStep, FlowValues, HeldShares, fairness};

use super::follow::Steps;
use super::grid::{Grid, SECTIONS_MAX};
use crate::{ClassId, ClassPlan, Delivery, FlowId, FlowKey, Hold, Message, Plan};
use gingham_kernel::{Span, Time};
use sum::{FlowSums, SumOf};

#[derive(Clone, Debug)]
pub(super) struct FlowCollector {
    is_counted: Box<[bool]>,
    flows: Vec<Flow>,
    acks_waiting_max: Box<[usize]>,
    followed: Vec<FlowKey>,
    steps: Steps,
}

#[derive(Clone, Debug)]
struct Flow {
    key: FlowKey,
    sections: FlowSums,
    /// Periods during which the flow is held back, after the end of the last section. They are
    /// counted once doubled section widths cover them.
    ahead: Vec<Held>,
    steps: Option<FlowSums>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    hold: Hold,
    from: Time,
    to: Time,
}

impl FlowCollector {
    pub(super) fn new(plan: &Plan) -> Self {
        let follow = &plan.follow;
        let is_counted = |(class, plan_of): (ClassId, &ClassPlan)| {
            let is_followed = follow.flows.iter().any(|key| key.class == class);
            plan.measure.flows
                || is_followed
                || plan_of.window.is_some()
                || plan_of.rate_limit.is_some()
        };
        let ids = ClassId::first(plan.classes.len());
        Self {
            is_counted: ids.zip(&plan.classes).map(is_counted).collect(),
            flows: Vec::new(),
            acks_waiting_max: vec![0; plan.classes.len()].into(),
            followed: follow.flows.clone(),
            steps: Steps::new(plan),
        }
    }

    pub(super) fn add(&mut self, flow: FlowId, key: FlowKey) {
        assert_eq!(flow.index(), self.flows.len(), "flows are numbered at first use");
        let steps = self.followed.contains(&key).then(FlowSums::default);
        self.flows.push(Flow { key, sections: FlowSums::default(), ahead: Vec::new(), steps });
    }

    pub(super) fn count_created(&mut self, grid: &Grid, flow: FlowId, message: &Message) {
        let bytes = message.payload_bytes.into();
        self.add_at(grid, flow, message.created, (SumOf::Created, bytes));
    }

    pub(super) fn count_dropped(&mut self, grid: &Grid, flow: FlowId, message: &Message) {
        let (width, bytes) = (self.steps.width, message.payload_bytes.into());
        let Some(Flow { sections, steps, .. }) = self.counted(flow) else { return };
        sections.take_back(grid.section_at(message.created), SumOf::Created, bytes);
        if let Some(steps) = steps {
            steps.take_back(step_at(width, message.created), SumOf::Created, bytes);
        }
    }

    pub(super) fn count_accepted(&mut self, grid: &Grid, flow: FlowId, delivery: &Delivery) {
        let bytes = delivery.message.payload_bytes.into();
        self.add_at(grid, flow, delivery.delivered, (SumOf::Delivered, bytes));
    }

    pub(super) fn count_journey(&mut self, grid: &Grid, flow: FlowId, delivery: &Delivery) {
        let latency_ps = delivery.latency().as_ps();
        self.add_at(grid, flow, delivery.message.created, (SumOf::Journeys, latency_ps));
    }

    pub(super) fn count_acknowledged(
        &mut self,
        grid: &Grid,
        flow: FlowId,
        [packets, marked]: [u32; 2],
        now: Time,
    ) {
        for packet in 0..packets {
            self.add_at(grid, flow, now, (SumOf::Acknowledged, (packet < marked).into()));
        }
    }

    pub(super) fn count_held(
        &mut self,
        grid: &Grid,
        flow: FlowId,
        hold: Hold,
        from: Time,
        to: Time,
    ) {
        let width = self.steps.width;
        let Some(flow) = self.counted(flow) else { return };
        flow.count_held(grid, Held { hold, from, to });
        if let Some(steps) = &mut flow.steps {
            for (step, part) in parts(width, from, to) {
                steps.add(step, SumOf::Held(hold), part.as_ps());
            }
        }
    }

    pub(super) fn note_acks(&mut self, class: ClassId, depth: usize) {
        let most = &mut self.acks_waiting_max[class.index()];
        *most = depth.max(*most);
    }

    pub(super) fn double(&mut self, grid: &Grid) {
        for flow in &mut self.flows {
            flow.sections.double();
            for ahead in std::mem::take(&mut flow.ahead) {
                flow.count_held(grid, ahead);
            }
        }
    }

    fn add_at(&mut self, grid: &Grid, flow: FlowId, time: Time, (what, amount): (SumOf, u64)) {
        let width = self.steps.width;
        let Some(Flow { sections, steps, .. }) = self.counted(flow) else { return };
        sections.add(grid.section_at(time), what, amount);
        if let Some(steps) = steps {
            steps.add(step_at(width, time), what, amount);
        }
    }

    fn counted(&mut self, flow: FlowId) -> Option<&mut Flow> {
        let flow = &mut self.flows[flow.index()];
        self.is_counted[flow.key.class.index()].then_some(flow)
    }
}

impl Flow {
    fn count_held(&mut self, grid: &Grid, held: Held) {
        let reach = Time::ZERO + grid.section() * SECTIONS_MAX as u64;
        for (section, part) in parts(grid.section(), held.from, held.to.min(reach)) {
            self.sections.add(section, SumOf::Held(held.hold), part.as_ps());
        }
        if held.to > reach {
            self.ahead.push(Held { from: held.from.max(reach), ..held });
        }
    }
}

fn step_at(width: Span, time: Time) -> usize {
    usize::try_from(time.as_ps() / width.as_ps()).expect("64-bit platform")
}

/// Splits an interval at step boundaries into pairs of step index and length.
fn parts(width: Span, from: Time, to: Time) -> impl Iterator<Item = (usize, Span)> {
    (step_at(width, from)..).map_while(move |step| {
        let begins = Time::ZERO + width * step as u64;
        let ends = begins + width;
        (begins < to).then(|| (step, ends.min(to).since(begins.max(from))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_is_split_at_step_boundaries() {
        let split = |from, to| {
            let found = parts(Span::from_ps(100), Time::from_ps(from), Time::from_ps(to));
            found.map(|(step, part)| (step, part.as_ps())).collect::<Vec<_>>()
        };
        assert_eq!(split(20, 50), [(0, 30)]);
        assert_eq!(split(20, 100), [(0, 80)]);
        assert_eq!(split(80, 330), [(0, 20), (1, 100), (2, 100), (3, 30)]);
    }
}
