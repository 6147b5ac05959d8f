//! Checks of admission control.

use crate::check::{Check, SHARE, Sentence, note, refuse, say, when, within};
use crate::compile::classes::priority_out_of_range;
use crate::scenario::Admission;
use gingham_kernel::{Bytes, Rate};
use gingham_net::traffic::{SourcePlan, StreamPlan};
use gingham_net::{ClassId, Excess, PathId, Plan};
use gingham_results::real;
use std::collections::BTreeSet;

pub(super) fn of_keys<'a>() -> [Check<&'a Admission>; 4] {
    [
        refuse("share", |it| {
            within!(it.share, SHARE, "streams reserve a share of a link, above 0 and at most 1")
        }),
        refuse("length", |it| {
            let allowed = Bytes(1)..=Bytes(64 << 10);
            within!(it.length, allowed, "a probe has from 1 B to 64 KiB of payload")
        }),
        refuse("priority", |it| priority_out_of_range(it.priority)),
        refuse("best_effort_min", |it| {
            within!(it.best_effort_min, 1..=64, "a weight is from 1 to 64, in 64ths of a link")
        }),
    ]
}

pub(crate) fn of_plan<'a>() -> [Check<&'a Plan>; 6] {
    [
        refuse("network.admission.lease", |it| {
            let lease = it.admission.as_ref()?.lease?;
            let longest = asking(it.of).map(|(.., stream)| stream.data.message_bytes()).max();
            let longest = longest.unwrap_or(0);
            let byte_ps = it.channels.iter().map(|of| it.switching.byte_ps(of));
            let takes = f64::from(longest) * byte_ps.fold(0.0, f64::max);
            when!(
                real(lease.as_ps().into()) < takes,
                "a lease is at least as long as a message of {} takes on the slowest link, {:.3} us, and not {lease}: a few times the \
                 longest silence of a stream is enough",
                Bytes(longest.into()),
                takes / 1e6
            )
        }),
        note(|it| {
            let lease = it.admission.as_ref()?.lease?;
            let silence = asking(it.of).map(|(.., stream)| stream.data.silence()).max()?;
            when!(
                lease < silence,
                "streams send nothing for {silence} between messages, and their reservations expire after {lease} \
                 (network.admission.lease): leases longer than the silence keep them"
            )
        }),
        refuse("traffic.*.streams.solicits", |it| never_admitted(it)),
        note(|it| {
            let Admission { share, best_effort_min, .. } =
                *it.source.scenario.network.admission.as_ref()?;
            let admission = it.admission.as_ref()?;
            let [_, others] = admission.lanes(it.of);
            let others = others.len();
            let least = f64::from(admission.others_min) * f64::from(others) / 64.0;
            when!(
                best_effort_min > Admission::default().best_effort_min && share + least > 1.0,
                "streams may reserve {share} of a link, and {others} lanes of others have at least {least:.2} of \
                 it: if both are used, streams get less than they reserved (network.admission.share, \
                 best_effort_min)"
            )
        }),
        refuse("network.admission", |it| {
            when!(
                it.admission.is_some() && !it.routing.has_one_path(),
                "a probe reserves the only path of its stream, and here are several: leave out routing.alternative"
            )
        }),
        refuse("traffic.*.policing.excess", |it| {
            let admission = it.admission.as_ref()?;
            let (index, class) = it.classes.iter().enumerate().find(|(index, class)| {
                let excess = class.policing.as_ref().map(|policing| policing.excess);
                let is_lost = matches!(excess, Some(Excess::Drop | Excess::Demote(_)));
                is_lost && admission.classes[*index]
            })?;
            let sentence = say!(
                "the last packet of a stream of `{}` releases its reservations, and would not if it is dropped or demoted: say excess \
                 = \"delay\", or streams.admission = false",
                class.name
            );
            Some(sentence?.of_class(index))
        }),
    ]
}

fn never_admitted(plan: &Plan) -> Option<Sentence> {
    let admission = plan.admission.as_ref()?;
    asking(plan).find_map(|(class, sender, stream)| {
        let rate = stream.solicited_bytes_per_s();
        let path = plan.path(PathId::default(), sender.endpoint, stream.destination)?;
        let link = *path.iter().find(|link| admission.limits[link.index()] < rate)?;
        let [asked, limit] =
            [rate, admission.limits[link.index()]].map(Rate::from_bytes_per_second);
        let sentence = say!(
            "a stream solicits {asked}, and streams may have {limit} of {} on its way, so that it would never be admitted: \
             solicit less, or raise network.admission.share",
            plan.fabric.channel_name(link)
        );
        Some(sentence?.of_class(class.index()))
    })
}

/// Refuses switches that cannot send a refusal to the source of a stream. Called after switches
/// have received a port 0.
pub(super) fn of_responses<'a>() -> [Check<&'a Plan>; 1] {
    [refuse("network.admission", |it| {
        asking(it.of).find_map(|(_, sender, stream)| {
            let path = it.path(PathId::default(), sender.endpoint, stream.destination)?;
            path.iter().find_map(|channel| {
                let switch = it.ends(*channel).target.node;
                let end = it.fabric.port_0(switch)?;
                when!(
                    !it.is_routed(end, sender.endpoint),
                    "switch {} is on the path of a stream from {}, and has no route back to respond to a probe: route with \
                     another algorithm, or leave the admission control out",
                    it.fabric.node(switch).name,
                    it.fabric.endpoint_name(sender.endpoint)
                )
            })
        })
    })]
}

/// Returns streams that request admission: one for each class and host pair, because a pair's
/// streams are alike.
fn asking(plan: &Plan) -> impl Iterator<Item = (ClassId, &SourcePlan, &StreamPlan)> {
    let mut seen = BTreeSet::new();
    let asks = |class: ClassId| plan.admission.as_ref().is_some_and(|of| of.classes[class.index()]);
    plan.streams().filter(move |(class, sender, stream)| {
        asks(*class) && seen.insert((*class, sender.endpoint, stream.destination))
    })
}
