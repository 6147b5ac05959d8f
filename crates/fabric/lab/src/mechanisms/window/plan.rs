//! What holds back the flows of a class: a window of packets under way, and a pace.

use crate::catalogue::name_of;
use crate::compile::classes::context::ClassContext;
use crate::compile::longest::sent_as;
use crate::compile::measure::TIME_MAX;
use crate::error::LabError;
use crate::scenario::{Answer, ScenarioSource, Window};
use gingham_kernel::Bytes;
use gingham_net::{
    AnswerPlan, Answered, ClassPlan, PacePlan, Plan, Priority, REFILL_BYTES, Response, WindowPlan,
};
use std::ops::RangeInclusive;

/// Windows: up to more packets than a network of any size holds of one flow.
const WINDOWS: RangeInclusive<u32> = 1..=1_000_000;
/// The most by which a mark divides a rate: more than any paper asks for.
const FACTOR_MAX: f64 = 1e6;
/// The longest answer: more than whoever acknowledges has to say.
const ANSWER_MAX_BYTES: u32 = 64 << 10;

/// The window of a class of this priority.
pub(crate) fn window(
    context: &ClassContext<'_>,
    priority: Priority,
) -> Result<Option<WindowPlan>, LabError> {
    let Some(window) = &context.class.window else { return Ok(None) };
    let packets = window_packets(context, window)?;
    let answer = answer(context, &window.answer, priority)?;
    check_response(context, &window.response)?;
    let (answered, response) = (window.answered, window.response.clone());
    Ok(Some(WindowPlan { packets, answered, answer, response }))
}

/// How many packets may be under way: no more than are answered in the end.
fn window_packets(context: &ClassContext<'_>, window: &Window) -> Result<u32, LabError> {
    let refuse = |key: &str, message: String| Err(context.error(key, message).into());
    let packets = match (window.packets, window.answered) {
        (Some(packets), _) => packets,
        (None, Answered::Marked(_)) => return Ok(u32::MAX),
        (None, _) => {
            let message = "a window has from 1 to 1,000,000 packets: say how many, or leave out the window, or answer only such \
                           packets as are marked with answered = { marked = \"50 us\" }";
            return refuse("window.packets", message.to_owned());
        }
    };
    let Some(count) = u32::try_from(packets).ok().filter(|count| WINDOWS.contains(count)) else {
        let message = format!(
            "a window has from 1 to 1,000,000 packets, not {packets}; without a window there is no limit"
        );
        return refuse("window.packets", message);
    };
    match window.answered {
        Answered::Every(every) if !(1..=count).contains(&every) => {
            let message = format!(
                "a flow with a window of {count} waits for an answer after as many, so that one answer is to 1 to {count} packets, not \
                 to {every}"
            );
            refuse("window.answered", message)
        }
        Answered::Marked(_) => {
            let message = "packets that are not marked are not answered, so that no flow can wait for answers: leave out \
                           packets, or answer all";
            refuse("window.packets", message.to_owned())
        }
        _ => Ok(count),
    }
}

/// Refuses rates that no flow can have.
fn check_response(context: &ClassContext<'_>, response: &Response) -> Result<(), LabError> {
    if let Err((key, message)) = response.check() {
        let key = format!("window.response.{}.{key}", name_of(response));
        return Err(context.error(&key, message).into());
    }
    let key = |of: &str| format!("window.response.{}.{of}", name_of(response));
    if let Some(lowest) = response.lowest().filter(|share| !(*share > 0.0 && *share <= 1.0)) {
        let message = format!(
            "the lowest rate of a flow is a share of its highest, which is the pace of the class or the full rate of the link: \
             above 0 and at most 1, not {lowest}"
        );
        return Err(context.error(&key("lowest"), message).into());
    }
    if let Some(factor) =
        response.factor().filter(|factor| !(*factor > 1.0 && *factor <= FACTOR_MAX))
    {
        let message = format!(
            "a mark divides the rate by more than 1, and by no more than {FACTOR_MAX}, not by {factor}"
        );
        return Err(context.error(&key("factor"), message).into());
    }
    Ok(())
}

fn answer(
    context: &ClassContext<'_>,
    answer: &Answer,
    of_class: Priority,
) -> Result<AnswerPlan, LabError> {
    let payload_bytes = u32::try_from(answer.length.0).ok();
    let payload_bytes = payload_bytes.filter(|bytes| (1..=ANSWER_MAX_BYTES).contains(bytes));
    let payload_bytes = payload_bytes.ok_or_else(|| {
        let message = format!("an answer has from 1 B to 64 KiB of payload, not {}", answer.length);
        context.error("window.answer.length", message)
    })?;
    crate::compile::classes::sending::check_packet_payload(
        context,
        "window.answer.length",
        answer.length,
    )?;
    let priority = match answer.priority {
        Some(written) => {
            crate::compile::classes::sending::level(context, "window.answer.priority", written)?
        }
        None => of_class,
    };
    let vc_class = context.links.kind.lanes.vc_class_of_answers(context.index);
    Ok(AnswerPlan { payload_bytes, priority, vc_class })
}

/// The pace of a class, at every endpoint: excess of another class may be sent as one of it.
pub(crate) fn pace(context: &ClassContext<'_>) -> Result<Option<PacePlan>, LabError> {
    let response = context.class.window.as_ref().map(|window| &window.response);
    // What changes a pace goes down from that of the class, or from the full rate.
    let full = response.filter(|of| of.is_paced()).map(|_| 1.0);
    let Some(pace) = context.class.pace.or(full) else { return Ok(None) };
    if !(pace > 0.0 && pace <= 1.0) {
        let message =
            format!("a pace is a fraction of the host's link, above 0 and at most 1, not {pace}");
        return Err(context.error("pace", message).into());
    }
    let refill =
        |endpoint| crate::mechanisms::policing::time_at(context, endpoint, pace, REFILL_BYTES);
    Ok(Some(PacePlan { refill: context.fabric.endpoint_ids().map(refill).collect() }))
}

/// Refuses packets whose time at the pace of their class is longer than any run.
pub(crate) fn check_paces(source: &ScenarioSource, plan: &Plan) -> Result<(), LabError> {
    for class in &plan.classes {
        for (index, paced) in plan.classes.iter().enumerate() {
            let is_sent_so = sent_as(plan, class).any(|other| std::ptr::eq(other, paced));
            let Some(pace) = paced.pace.as_ref().filter(|_| is_sent_so) else { continue };
            let response = paced.window.as_ref().map(|window| &window.response);
            let lowest = response.and_then(Response::lowest);
            let Some(longest) = too_long(class, paced, pace, lowest) else { continue };
            let has = match longest {
                u32::MAX => "may be of any length".to_owned(),
                _ => format!("may have {} of payload", Bytes(longest.into())),
            };
            let message = format!(
                "at this pace{} 64 KiB, or a packet of class `{}`, which {has}, take longer than {TIME_MAX}, and no run lasts \
                 as long: raise it, or cut packets with segmentation",
                if lowest.is_some() { ", the lowest of its response," } else { "" },
                class.name
            );
            let key = match response.filter(|of| of.is_paced()) {
                None => format!("traffic.{index}.pace"),
                Some(of) => format!("traffic.{index}.window.response.{}.lowest", name_of(of)),
            };
            return Err(source.refuse(&key, message).into());
        }
    }
    Ok(())
}

/// The most payload of a packet of one class, sent as those of another, if its time at the pace of
/// that, or the time of 64 KiB, is longer than any run.
fn too_long(
    class: &ClassPlan,
    paced: &ClassPlan,
    pace: &PacePlan,
    lowest: Option<f64>,
) -> Option<u32> {
    let most = u128::from(TIME_MAX.as_ps()) * u128::from(REFILL_BYTES);
    class.sources.iter().find_map(|sender| {
        let refill_ps = slowest_ps(pace.refill[sender.endpoint.index()].as_ps(), lowest);
        let longest = paced.longest_anywhere_bytes(*sender.payload_bytes().end());
        let bytes = u64::from(longest).max(REFILL_BYTES);
        (u128::from(refill_ps) * u128::from(bytes) > most).then_some(longest)
    })
}

/// A time at the pace of a class, at the lowest rate of its response.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "what no run lasts is the same however it is rounded"
)]
fn slowest_ps(refill_ps: u64, lowest: Option<f64>) -> u64 {
    lowest.map_or(refill_ps, |lowest| (refill_ps as f64 / lowest) as u64)
}
