//! Checks of windows and rate limits.

use crate::catalogue::name_of;
use crate::check::{Check, SHARE, outside, refuse, say, when, within};
use crate::compile::classes::context::ClassContext;
use crate::compile::classes::lengths::longest_said;
use crate::compile::classes::{packet_too_long, priority_out_of_range};
use crate::compile::longest::sent_as;
use crate::compile::measure::TIME_MAX;
use crate::scenario::Window;
use gingham_kernel::Bytes;
use gingham_net::{Acknowledged, ClassPlan, Plan, REFILL_BYTES, RateLimitPlan, Response};
use std::ops::{Bound, RangeInclusive};

/// Allowed window sizes, in packets; no flow has more packets in flight than the upper limit.
const WINDOWS: RangeInclusive<i64> = 1..=1_000_000;
/// Allowed factors by which a mark divides the rate; the upper limit exceeds those of all papers.
const FACTORS: (Bound<f64>, Bound<f64>) = (Bound::Excluded(1.0), Bound::Included(FACTOR_MAX));
const FACTOR_MAX: f64 = 1e6;
const ACK_LENGTHS: RangeInclusive<Bytes> = Bytes(1)..=Bytes(64 << 10);

pub(super) struct Windowed<'a> {
    pub(super) context: &'a ClassContext<'a>,
    pub(super) window: &'a Window,
}

pub(super) fn of_keys<'a>() -> [Check<Windowed<'a>>; 6] {
    [
        refuse("window.packets", |it| {
            let is_limited = !matches!(it.window.acknowledged, Acknowledged::Marked(_));
            when!(
                is_limited && it.window.packets.is_none(),
                "a window has from 1 to 1,000,000 packets: say how many, or leave out the window, or acknowledge only marked \
                 packets with acknowledged = {{ marked = \"50 us\" }}"
            )
        }),
        refuse("window.packets", |it| {
            let packets = it.window.packets?;
            when!(
                !WINDOWS.contains(&packets),
                "a window has from 1 to 1,000,000 packets, not {packets}; without a window there is no limit"
            )
        }),
        refuse("window.acknowledged", |it| {
            let (Some(count), Acknowledged::Every(every)) =
                (it.window.packets, it.window.acknowledged)
            else {
                return None;
            };
            when!(
                !(1..=count).contains(&every.into()),
                "a flow with a window of {count} waits for an acknowledgement after {count} packets; one acknowledgement is for 1 to {count} packets, not \
                 {every}"
            )
        }),
        refuse("window.packets", |it| {
            let is_marked = matches!(it.window.acknowledged, Acknowledged::Marked(_));
            when!(
                is_marked && it.window.packets.is_some(),
                "unmarked packets are not acknowledged, and no flow can wait for their acknowledgement: leave out \
                 packets, or acknowledge all"
            )
        }),
        refuse("window.acknowledged", |it| {
            let is_marked = matches!(it.window.acknowledged, Acknowledged::Marked(_));
            when!(
                is_marked && it.window.response.needs_round_trips(),
                "response = \"{}\" measures round trips, for which every packet must be acknowledged: remove acknowledged, and set \
                 packets",
                name_of(&it.window.response)
            )
        }),
        refuse("window.acknowledged", |it| {
            let is_all = it.window.acknowledged == Acknowledged::All;
            when!(
                !is_all && it.window.response.changes_window(),
                "response = \"{}\" reduces the window to one packet, and a flow would wait forever for an acknowledgement of \
                 several: remove acknowledged",
                name_of(&it.window.response)
            )
        }),
    ]
}

pub(super) fn of_acks_and_responses<'a>() -> [Check<Windowed<'a>>; 6] {
    [
        refuse("window.ack.length", |it| {
            let length = it.window.ack.length;
            within!(length, ACK_LENGTHS, "an acknowledgement has from 1 B to 64 KiB of payload")
        }),
        refuse("window.ack.length", |it| packet_too_long(it.context, it.window.ack.length)),
        refuse("window.ack.priority", |it| priority_out_of_range(it.window.ack.priority?)),
        refuse("window.response", |it| {
            let (key, message) = it.window.response.check().err()?;
            Some(say!("{message}")?.under(format!("{}.{key}", name_of(&it.window.response))))
        }),
        refuse("window.response", |it| {
            let sentence = within!(
                it.window.response.lowest()?,
                SHARE,
                "the lowest rate of a flow is a share of its highest, which is the rate limit of the class or the full rate of the link: \
                 above 0 and at most 1"
            );
            Some(sentence?.under(format!("{}.lowest", name_of(&it.window.response))))
        }),
        refuse("window.response", |it| {
            let factor = outside(it.window.response.factor()?, FACTORS)?;
            let sentence = say!(
                "a mark divides the rate by more than 1, and by no more than {FACTOR_MAX}, not by {factor}"
            );
            Some(sentence?.under(format!("{}.factor", name_of(&it.window.response))))
        }),
    ]
}

pub(super) fn of_rate_limit<'a>() -> [Check<&'a ClassContext<'a>>; 1] {
    [refuse("rate_limit", |it| {
        let rule = "a rate limit is a fraction of the host's link, above 0 and at most 1";
        within!(it.class.rate_limit?, SHARE, "{rule}")
    })]
}

/// Refuses rates so low that one packet would take longer than any run.
pub(crate) fn of_plan<'a>() -> [Check<&'a Plan>; 1] {
    [refuse("traffic.*.rate_limit", |it| {
        it.classes.iter().find_map(|class| {
            it.classes.iter().enumerate().find_map(|(index, paced)| {
                let is_sent_so = sent_as(it.of, class).any(|other| std::ptr::eq(other, paced));
                let rate_limit = paced.rate_limit.as_ref().filter(|_| is_sent_so)?;
                let response = paced.window.as_ref().map(|window| &window.response);
                let lowest = response.and_then(Response::lowest);
                let longest = too_long(class, paced, rate_limit, lowest)?;
                let sentence = say!(
                    "at this rate limit{} 64 KiB, or a packet of class `{}`, which {}, take longer than {TIME_MAX}, and no run lasts \
                     as long: raise it, or cut packets with segmentation",
                    if lowest.is_some() { ", the lowest of its response," } else { "" },
                    class.name,
                    longest_said(longest)
                )?;
                Some(match response.filter(|of| of.changes_rate()) {
                    None => sentence.of_class(index),
                    Some(of) => sentence.at(format!(
                        "traffic.{index}.window.response.{}.lowest",
                        name_of(of)
                    )),
                })
            })
        })
    })]
}

/// Returns the longest packet payload of `class`, segmented as class `paced`, if sending it at the
/// lowest rate of `paced` would take longer than any run. Shorter payloads count as 64 KiB.
fn too_long(
    class: &ClassPlan,
    paced: &ClassPlan,
    rate_limit: &RateLimitPlan,
    lowest: Option<f64>,
) -> Option<u32> {
    let most = u128::from(TIME_MAX.as_ps()) * u128::from(REFILL_BYTES);
    class.sources.iter().find_map(|sender| {
        let refill_ps = slowest_ps(rate_limit.refill[sender.endpoint.index()].as_ps(), lowest);
        let longest = paced.longest_anywhere_bytes(*sender.payload_bytes().end());
        let bytes = u64::from(longest).max(REFILL_BYTES);
        (u128::from(refill_ps) * u128::from(bytes) > most).then_some(longest)
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "what no run lasts is the same however it is rounded"
)]
fn slowest_ps(refill_ps: u64, lowest: Option<f64>) -> u64 {
    lowest.map_or(refill_ps, |lowest| (refill_ps as f64 / lowest) as u64)
}
