//! The best single channel, a reference for the striped pipe.

use super::compile_one;
use crate::plan::{Change, LinkPlan, Plan, SourceKind};
use crate::scenario::ScenarioSource;
use gingham_kernel::{Rate, Time};
use gingham_linkemu::{Loss, Outage};

/// Reference run of all sources over one channel.
#[derive(Clone, Debug)]
pub struct Alone {
    /// Index of the channel.
    pub channel: usize,
    /// Plan of the reference run.
    pub plan: Plan,
}

/// Returns the reference run; `None` if no comparison is needed, or if the scenario is invalid with
/// a single channel.
pub(super) fn alone(source: &ScenarioSource, plan: &Plan) -> Option<Alone> {
    let is_transport = |kind: &SourceKind| matches!(kind, SourceKind::Transport { .. });
    if plan.links.len() < 2 || !plan.sources.iter().any(|one| is_transport(&one.kind)) {
        return None;
    }
    let carried: Vec<u128> = plan.links.iter().map(|link| carried(link, plan.stop)).collect();
    let channel = (0..carried.len()).rev().max_by_key(|channel| carried[*channel])?;
    let mut single = source.clone();
    single.scenario.channel = vec![source.scenario.channel[channel].clone()];
    single.scenario.stripe.order = Some(source.scenario.order());
    let mut plan = compile_one(&single).ok()?.plan;
    (plan.events_max, plan.packets_max) = (0, 0);
    Some(Alone { channel, plan })
}

/// Returns the data that a channel can deliver until `stop`, in 10^-12 bytes, accounting for rate
/// changes, outages and the initial loss model.
fn carried(link: &LinkPlan, stop: Time) -> u128 {
    let (mut from, mut rate, mut sum) = (Time::ZERO, link.forth.rate, 0);
    let mut add = |from: Time, until: Time, rate: Rate| {
        let outage = |outage: &Outage| {
            let (from, until) = (outage.from.max(from), outage.until.min(until));
            until.as_ps().saturating_sub(from.as_ps())
        };
        let out_ps: u64 = link.forth.outages.iter().map(outage).sum();
        let span_ps = until.as_ps().saturating_sub(from.as_ps()).saturating_sub(out_ps);
        sum += u128::from(limited(link, rate)) * u128::from(span_ps);
    };
    for (at, change) in &link.changes {
        if let Change::Rate(next) = change {
            add(from, (*at).min(stop), rate);
            (from, rate) = ((*at).min(stop), *next);
        }
    }
    add(from, stop, rate);
    sum / 1_000 * u128::from(passed_thousandths(&link.forth.loss))
}

fn limited(link: &LinkPlan, rate: Rate) -> u64 {
    let limits = [link.cap, link.forth.policer.map(|policer| policer.rate)];
    let limits = limits.into_iter().flatten().map(Rate::bytes_per_second);
    limits.fold(rate.bytes_per_second(), u64::min)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 1,000")]
fn passed_thousandths(model: &Loss) -> u64 {
    let lost = match model {
        Loss::None => 0.0,
        Loss::Independent(each) => each.value(),
        Loss::Bursts(bursts) => {
            let (to_bad, to_good) = (bursts.to_bad.value(), bursts.to_good.value());
            let bad = if to_bad > 0.0 { to_bad / (to_bad + to_good) } else { 0.0 };
            bursts.loss_bad.value() * bad + bursts.loss_good.value() * (1.0 - bad)
        }
    };
    (1_000.0 * (1.0 - lost)).round() as u64
}
