//! What holds back the flows of a class: a window of packets under way, and a pace.

use super::context::ClassContext;
use crate::compile::longest::longest_anywhere;
use crate::compile::measure::TIME_MAX;
use crate::error::LabError;
use crate::scenario::{Answer, ScenarioSource};
use gingham_kernel::Bytes;
use gingham_model::traffic::SourcePlan;
use gingham_model::{
    AnswerPlan, ClassPlan, Excess, PacePlan, Plan, Priority, REFILL_BYTES, WindowPlan,
};

/// The largest window: more packets than a network of any size holds of one flow.
const PACKETS_MAX: i64 = 1_000_000;
/// The longest answer: more than whoever acknowledges has to say.
const ANSWER_MAX_BYTES: u32 = 64 << 10;

impl ClassContext<'_> {
    /// The window of a class of this priority.
    pub(super) fn window(&self, priority: Priority) -> Result<Option<WindowPlan>, LabError> {
        let Some(window) = &self.class.window else { return Ok(None) };
        let packets = Some(window.packets).filter(|packets| (1..=PACKETS_MAX).contains(packets));
        let packets = packets.and_then(|packets| u32::try_from(packets).ok()).ok_or_else(|| {
            let message = format!(
                "a window has from 1 to 1,000,000 packets, not {}; without a window there is no limit",
                window.packets
            );
            self.error("window.packets", message)
        })?;
        if let Err((key, message)) = window.response.check() {
            let name = window.response.name();
            return Err(self.error(&format!("window.response.{name}.{key}"), message).into());
        }
        let answer = self.answer(&window.answer, priority)?;
        Ok(Some(WindowPlan { packets, answer, response: window.response }))
    }

    fn answer(&self, answer: &Answer, of_class: Priority) -> Result<AnswerPlan, LabError> {
        let payload_bytes = u32::try_from(answer.length.0).ok();
        let payload_bytes = payload_bytes.filter(|bytes| (1..=ANSWER_MAX_BYTES).contains(bytes));
        let payload_bytes = payload_bytes.ok_or_else(|| {
            let message =
                format!("an answer has from 1 B to 64 KiB of payload, not {}", answer.length);
            self.error("window.answer.length", message)
        })?;
        let priority = match answer.priority {
            Some(written) => self.level("window.answer.priority", written)?,
            None => of_class,
        };
        let vc_class = self.links.kind.lanes.vc_class_of_answers(self.index);
        Ok(AnswerPlan { payload_bytes, priority, vc_class })
    }

    /// The pace of a class with these sources.
    pub(super) fn pace(&self, sources: &[SourcePlan]) -> Result<Option<PacePlan>, LabError> {
        let Some(pace) = self.class.pace else { return Ok(None) };
        if !(pace > 0.0 && pace <= 1.0) {
            let message = format!(
                "a pace is a fraction of the host's link, above 0 and at most 1, not {pace}"
            );
            return Err(self.error("pace", message).into());
        }
        let refill = |source: &SourcePlan| {
            self.time_at(source, pace, REFILL_BYTES).ok_or_else(|| {
                let message = format!(
                    "64 KiB take longer than {TIME_MAX} at this fraction of the link of {}, and no run lasts as long",
                    self.fabric.endpoint_name(source.endpoint)
                );
                self.error("pace", message).into()
            })
        };
        let refill = sources.iter().map(refill).collect::<Result<_, LabError>>()?;
        Ok(Some(PacePlan { refill }))
    }
}

/// Refuses packets whose time at a pace is longer than any run, and excess that is demoted to a
/// class with a pace at a host that has none in it.
pub(in crate::compile) fn check_paces(
    source: &ScenarioSource,
    plan: &Plan,
) -> Result<(), LabError> {
    for (index, class) in plan.classes.iter().enumerate() {
        check_pace(source, class, (index, class))?;
        let excess = class.policing.as_ref().map(|policing| policing.excess);
        let Some(Excess::Demote(other)) = excess else { continue };
        let paced = &plan.classes[other.index()];
        let is_unpaced = |of: &&SourcePlan| place(paced, of).is_none();
        if paced.pace.is_some()
            && let Some(unpaced) = class.sources.iter().find(is_unpaced)
        {
            let message = format!(
                "`{}` sends nothing in class `{}`, whose pace is that of its own hosts: let it send there, or demote to \
                 a class without a pace",
                plan.fabric.endpoint_name(unpaced.endpoint),
                paced.name
            );
            let key = format!("traffic.{index}.policing.excess.demote");
            return Err(source.refuse(&key, message).into());
        }
        check_pace(source, class, (other.index(), paced))?;
    }
    Ok(())
}

/// The same of packets of one class that are sent as those of the other, each of whose hosts has a
/// pace.
fn check_pace(
    source: &ScenarioSource,
    class: &ClassPlan,
    (index, paced): (usize, &ClassPlan),
) -> Result<(), LabError> {
    let Some(pace) = &paced.pace else { return Ok(()) };
    let too_long = class.sources.iter().find_map(|sender| {
        let refill_ps = pace.refill[place(paced, sender)?].as_ps();
        let longest = longest_anywhere(paced, *sender.payload_bytes().end());
        let most = u128::from(TIME_MAX.as_ps()) * u128::from(REFILL_BYTES);
        (u128::from(refill_ps) * u128::from(longest) > most).then_some(longest)
    });
    let Some(longest) = too_long else { return Ok(()) };
    let has = match longest {
        u32::MAX => "may be of any length".to_owned(),
        _ => format!("may have {} of payload", Bytes(longest.into())),
    };
    let message = format!(
        "a packet of class `{}` {has}, which may take longer than {TIME_MAX} at this pace, and no run lasts as long: raise \
         the pace, or cut packets with segmentation",
        class.name
    );
    Err(source.refuse(&format!("traffic.{index}.pace"), message).into())
}

/// The place of a source among those of a class.
fn place(class: &ClassPlan, source: &SourcePlan) -> Option<usize> {
    class.sources.iter().position(|own| own.endpoint == source.endpoint)
}
