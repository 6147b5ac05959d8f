//! Expected traffic of a class.

use gingham_kernel::Time;
use gingham_net::traffic::{
    DestinationPlan, DrawnPlan, MessagePlan, OtherHosts, Scheduled, SourcePlan,
};
use gingham_net::{ClassId, ClassPlan, Excess, Plan, REFILL_BYTES};
use gingham_results::real;
use gingham_topology::EndpointId;
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Uniform<'a> {
    pub(super) source: EndpointId,
    pub(super) to: &'a OtherHosts,
    pub(super) messages_per_ps: f64,
    /// Whether these flows are counted; false if another list of the source already contains them.
    pub(super) counts_flows: bool,
}

pub(super) type Pair = (EndpointId, EndpointId, f64);

/// Returns whether the class creates its expected traffic throughout the run. Otherwise a load
/// above the bound does not rule out a steady state.
pub(super) fn is_steady(plan: &Plan, id: ClassId) -> bool {
    let class = &plan.classes[plan.reply_root(id).index()];
    let is_drawn = |source: &SourcePlan| match &source.messages {
        MessagePlan::Drawn(_) => !source.is_backlogged(),
        MessagePlan::Stream(stream) => stream.lifetime.is_none() && stream.crashes <= 0.0,
        MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => false,
    };
    let is_free = |id: ClassId| {
        let class = &plan.classes[id.index()];
        class.policing.is_none() && class.rate_limit.is_none() && class.active.end >= plan.stop.time
    };
    plan.events.is_empty()
        && plan.admission.is_none()
        && class.sources.iter().all(is_drawn)
        && plan.reply_chain(id).all(is_free)
}

pub(super) fn lengths_of(plan: &Plan, class: &ClassPlan) -> Vec<(u32, f64)> {
    let Some(source) = class.sources.first() else { return Vec::new() };
    match &source.messages {
        MessagePlan::Drawn(drawn) => super::wire::lengths(&drawn.lengths),
        MessagePlan::Replies(replies) => super::wire::lengths(&replies.lengths),
        MessagePlan::Stream(_) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length")]
            let mean = (source.payload_mean_bytes() as u32).max(1);
            vec![(mean, 1.0)]
        }
        MessagePlan::Scheduled(_) => scheduled_lengths(plan, class),
    }
}

fn scheduled_lengths(plan: &Plan, class: &ClassPlan) -> Vec<(u32, f64)> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for source in &class.sources {
        for message in scheduled(plan, source.schedule()) {
            *counts.entry(message.draft.payload_bytes).or_default() += 1;
        }
    }
    let total = real(counts.values().sum::<u64>().max(1).into());
    counts.into_iter().map(|(bytes, count)| (bytes, real(count.into()) / total)).collect()
}

fn scheduled<'a>(plan: &Plan, schedule: &'a [Scheduled]) -> impl Iterator<Item = &'a Scheduled> {
    let end = plan.stop.time;
    schedule.iter().filter(move |message| message.created < end)
}

/// Returns the rate of a source in messages per picosecond; a backlogged source has load 1.
fn drawn_rate(plan: &Plan, class: &ClassPlan, index: usize, drawn: &DrawnPlan) -> f64 {
    let source = &class.sources[index];
    let byte_ps = plan.byte_ps(plan.fabric.endpoint_channel(source.endpoint));
    let payload = drawn.lengths.mean_bytes();
    let interval = drawn.arrivals.interval_mean_ps(payload, byte_ps).unwrap_or(payload * byte_ps);
    let rate = interval.recip();
    match &class.policing {
        Some(policing) if !matches!(policing.excess, Excess::Demote(_)) => {
            let refill_ps = real(policing.refill[index].as_ps().into());
            rate.min(real(REFILL_BYTES.into()) / refill_ps / payload)
        }
        Some(_) | None => rate,
    }
}

#[derive(Default)]
pub(super) struct Demand<'a> {
    pub(super) uniform: Vec<Uniform<'a>>,
    pub(super) pairs: Vec<Pair>,
}

impl<'a> Demand<'a> {
    /// Returns the expected traffic; `None` if it needs more than `pairs_max` separate host pairs.
    pub(super) fn of(plan: &'a Plan, id: ClassId, pairs_max: usize) -> Option<Self> {
        let class = &plan.classes[id.index()];
        let mut demand = Self::default();
        if let Some(to) = class.replied() {
            let requests = Self::of(plan, to, pairs_max)?.into_pairs(pairs_max)?;
            let answering: BTreeSet<EndpointId> =
                class.sources.iter().map(|source| source.endpoint).collect();
            let replies = requests.into_iter().filter(|(_, to, _)| answering.contains(to));
            demand.pairs = merged(replies.map(|(from, to, rate)| (to, from, rate)).collect());
            return Some(demand);
        }
        for (index, source) in class.sources.iter().enumerate() {
            match &source.messages {
                MessagePlan::Drawn(drawn) => {
                    let rate = drawn_rate(plan, class, index, drawn);
                    demand.add_drawn(source.endpoint, &drawn.destinations, rate);
                }
                MessagePlan::Stream(stream) => {
                    let rate = stream.data.messages_per_ps();
                    demand.pairs.push((source.endpoint, stream.destination, rate));
                }
                MessagePlan::Scheduled(schedule) => {
                    demand.add_scheduled(plan, class, source.endpoint, schedule);
                }
                MessagePlan::Replies(_) => {
                    unreachable!("all sources of a class reply, or none does")
                }
            }
            if demand.pairs.len() > pairs_max {
                return None;
            }
        }
        demand.pairs = merged(demand.pairs);
        Some(demand)
    }

    fn add_drawn(&mut self, source: EndpointId, to: &'a DestinationPlan, rate: f64) {
        let uniform = |to: &'a OtherHosts, rate: f64, counts_flows| {
            let messages_per_ps = rate / real(to.len() as u128);
            (to.has_any() && rate > 0.0).then_some(Uniform {
                source,
                to,
                messages_per_ps,
                counts_flows,
            })
        };
        match to {
            DestinationPlan::Fixed(to) => self.pairs.push((source, *to, rate)),
            DestinationPlan::Uniform(others) => self.uniform.extend(uniform(others, rate, true)),
            DestinationPlan::HotSpot { hot, share, all } => {
                let rest = 1.0 - share;
                self.uniform.extend(uniform(hot, rate * share, rest <= 0.0));
                self.uniform.extend(uniform(all, rate * rest, true));
            }
            DestinationPlan::Weighted(weighted) => {
                let pairs = weighted.shares().map(|(to, share)| (source, to, rate * share));
                self.pairs.extend(pairs);
            }
        }
    }

    fn add_scheduled(
        &mut self,
        plan: &Plan,
        class: &ClassPlan,
        source: EndpointId,
        schedule: &[Scheduled],
    ) {
        let end = class.active.end.min(plan.stop.time);
        let time_ps = real(end.as_ps().saturating_sub(class.active.start.as_ps()).max(1).into());
        let mut counts: BTreeMap<EndpointId, u64> = BTreeMap::new();
        let is_within = |created: Time| class.active.contains(&created);
        for message in scheduled(plan, schedule).filter(|message| is_within(message.created)) {
            *counts.entry(message.draft.destination).or_default() += 1;
        }
        let pair = |(to, count): (EndpointId, u64)| (source, to, real(count.into()) / time_ps);
        self.pairs.extend(counts.into_iter().map(pair));
    }

    pub(super) fn into_pairs(mut self, pairs_max: usize) -> Option<Vec<Pair>> {
        for Uniform { source, to, messages_per_ps, .. } in &self.uniform {
            if self.pairs.len() + to.len() > pairs_max {
                return None;
            }
            self.pairs.extend(to.iter().map(|to| (*source, to, *messages_per_ps)));
        }
        Some(self.pairs)
    }

    pub(super) fn each_pair(&self) -> impl Iterator<Item = (EndpointId, EndpointId)> {
        let pairs = self.pairs.iter().map(|(from, to, _)| (*from, *to));
        let lists = self.uniform.iter().filter(|of| of.counts_flows);
        let uniform = lists.flat_map(|of| of.to.iter().map(|to| (of.source, to)));
        pairs.chain(uniform)
    }
}

fn merged(mut pairs: Vec<Pair>) -> Vec<Pair> {
    let ends = |pair: &Pair| (pair.0, pair.1);
    if pairs.is_sorted_by(|a, b| ends(a) < ends(b)) {
        return pairs;
    }
    pairs.sort_by_key(ends);
    pairs.dedup_by(|next, kept| {
        let is_one_flow = ends(next) == ends(kept);
        if is_one_flow {
            kept.2 += next.2;
        }
        is_one_flow
    });
    pairs
}
