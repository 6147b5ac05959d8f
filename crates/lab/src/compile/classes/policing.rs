//! How much of a class a host may send: rates become times, names classes, and what could never be
//! sent is refused.

use super::context::ClassContext;
use super::lengths::payload;
use crate::compile::gathered::Gathered;
use crate::compile::measure::TIME_MAX;
use crate::error::LabError;
use crate::scenario::{Excess, Policing, ScenarioSource};
use gingham_input::InputError;
use gingham_kernel::{Bytes, Span};
use gingham_model::traffic::{Arrivals, SourcePlan};
use gingham_model::{
    self as model, ClassId, ClassPlan, Plan, PolicingPlan, Priority, REFILL_BYTES, SegmentationPlan,
};
use std::collections::BTreeSet;

impl ClassContext<'_> {
    /// How a class with these sources is policed.
    pub(super) fn policing(
        &self,
        sources: &[SourcePlan],
        gathered: &mut Gathered,
    ) -> Result<Option<PolicingPlan>, LabError> {
        let Some(policing) = &self.class.policing else { return Ok(None) };
        let rate = policing.rate;
        if !(rate > 0.0 && rate <= 1.0) {
            let message = format!(
                "tokens flow in at a fraction of the host's link, above 0 and at most 1, not {rate}"
            );
            return Err(self.error("policing.rate", message).into());
        }
        let burst_bytes = self.policed_bytes("burst", policing.burst)?;
        let longest = policing.longest.map(|bytes| self.policed_bytes("longest", bytes));
        let excess = self.excess(&policing.excess)?;
        if excess != model::Excess::Delay {
            self.check_lengths(policing, burst_bytes, sources, gathered)?;
        }
        let refill = sources.iter().map(|source| self.refill(policing, source));
        Ok(Some(PolicingPlan {
            refill: refill.collect::<Result<_, _>>()?,
            burst_bytes,
            longest_bytes: longest.transpose()?.unwrap_or(u32::MAX),
            excess,
        }))
    }

    fn policed_bytes(&self, key: &str, bytes: Bytes) -> Result<u32, LabError> {
        payload(bytes.0).ok_or_else(|| {
            let message = format!("from 1 B to 1024 MiB of payload, not {bytes}");
            self.error(&format!("policing.{key}"), message).into()
        })
    }

    fn excess(&self, excess: &Excess) -> Result<model::Excess, LabError> {
        match excess {
            Excess::Delay => Ok(model::Excess::Delay),
            Excess::Drop if matches!(self.class.arrivals, Arrivals::Backlogged) => {
                let message = "a backlogged class creates a message whenever one leaves, so that there would be no \
                               end of dropping; choose \"delay\", or arrivals with a load";
                Err(self.error("policing.excess", message).into())
            }
            Excess::Drop => Ok(model::Excess::Drop),
            Excess::Demote(name) => Ok(model::Excess::Demote(self.demoted_to(name)?)),
        }
    }

    fn demoted_to(&self, name: &str) -> Result<ClassId, LabError> {
        let classes = &self.source.scenario.traffic;
        let key = "policing.excess.demote";
        let own = self.class.priority;
        let lower = || classes.iter().filter(|class| class.priority < own);
        if lower().next().is_none() {
            let message = format!(
                "no class has a lower priority than {own} to send excess with: raise the priority of this one"
            );
            return Err(self.error(key, message).into());
        }
        let Some(index) = classes.iter().position(|class| class.name == name) else {
            let names: Vec<&str> = lower().map(|class| class.name.as_str()).collect();
            let error = self.error(key, format!("no class is called `{name}`"));
            return Err(error.suggesting(name, "classes of lower priority", &names).into());
        };
        let other = classes[index].priority;
        if other >= own {
            let message = format!(
                "excess goes to a class of lower priority than {own}, and that of `{name}` is {other}"
            );
            let names: Vec<&str> = lower().map(|class| class.name.as_str()).collect();
            let error = self.error(key, message);
            return Err(error.suggesting(name, "classes of lower priority", &names).into());
        }
        Ok(ClassId::new(index))
    }

    /// What is judged as a whole must fit the bucket: none of it is an error, some of it a note.
    fn check_lengths(
        &self,
        policing: &Policing,
        burst_bytes: u32,
        sources: &[SourcePlan],
        gathered: &mut Gathered,
    ) -> Result<(), LabError> {
        let ranges = || sources.iter().map(SourcePlan::payload_bytes);
        let shortest = ranges().map(|range| *range.start()).min().unwrap_or(0);
        let longest = ranges().map(|range| *range.end()).max().unwrap_or(0);
        let burst = policing.burst;
        if shortest > burst_bytes {
            let shortest = Bytes(shortest.into());
            let message = format!(
                "the bucket never holds enough for a message, the shortest of which has {shortest}: all would be excess"
            );
            return Err(self.error("policing.burst", message).into());
        }
        if longest > burst_bytes {
            self.note(
                gathered,
                format!("messages longer than its bucket of {burst} are always excess"),
            );
        }
        Ok(())
    }

    /// The time in which 64 KiB of tokens flow in at a host.
    fn refill(&self, policing: &Policing, source: &SourcePlan) -> Result<Span, LabError> {
        let byte_ps = self.links.byte_ps(source.endpoint);
        #[expect(clippy::cast_precision_loss, reason = "rounded to a picosecond in 64 KiB, once")]
        let span_ps = |bytes: u64| bytes as f64 * byte_ps / policing.rate;
        #[expect(clippy::cast_precision_loss, reason = "a limit")]
        if span_ps(policing.burst.0.max(REFILL_BYTES)) > TIME_MAX.as_ps() as f64 {
            let message = format!(
                "64 KiB, or a bucket of {}, take longer than {TIME_MAX} to flow in at {}, and no run lasts as long",
                policing.burst,
                self.fabric.endpoint_name(source.endpoint)
            );
            return Err(self.error("policing.rate", message).into());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        Ok(Span::from_ps(span_ps(REFILL_BYTES).round() as u64))
    }
}

/// Says of classes whose packets may wait for tokens which others they hold up, at a host and in a
/// level of both.
pub(super) fn note_held_up(classes: &[ClassPlan], gathered: &mut Gathered) {
    for class in classes {
        if class.policing.as_ref().is_none_or(|policing| policing.excess != model::Excess::Delay) {
            continue;
        }
        let hosts: BTreeSet<_> = class.sources.iter().map(|source| source.endpoint).collect();
        let is_held_up = |other: &&ClassPlan| {
            other.name != class.name
                && levels_of(classes, other).any(|level| level == class.priority)
                && other.sources.iter().any(|source| hosts.contains(&source.endpoint))
        };
        let held_up = classes.iter().filter(is_held_up).map(|other| format!("`{}`", other.name));
        let held_up: Vec<String> = held_up.collect();
        if !held_up.is_empty() {
            gathered.notes.push(format!(
                "class `{}`: packets of it that wait for tokens hold up those of {} behind them, which have the same \
                 priority or are demoted to it",
                class.name,
                held_up.join(", ")
            ));
        }
    }
}

/// The levels in which messages of a class wait: its own, and that of its excess if it is demoted.
fn levels_of(classes: &[ClassPlan], class: &ClassPlan) -> impl Iterator<Item = Priority> {
    let demoted = match class.policing.as_ref().map(|policing| policing.excess) {
        Some(model::Excess::Demote(other)) => Some(classes[other.index()].priority),
        _ => None,
    };
    [class.priority].into_iter().chain(demoted)
}

/// Refuses packets that would wait for more tokens than their bucket ever holds.
pub(in crate::compile) fn check_packets(
    source: &ScenarioSource,
    plan: &Plan,
) -> Result<(), LabError> {
    for (index, class) in plan.classes.iter().enumerate() {
        let Some(policing) = &class.policing else { continue };
        if policing.excess != model::Excess::Delay {
            continue;
        }
        let message = class.sources.iter().map(|source| *source.payload_bytes().end()).max();
        let message = message.unwrap_or(0);
        if message <= policing.burst_bytes {
            continue;
        }
        let packet = message.min(longest_packet_bytes(plan, class));
        if packet > policing.burst_bytes {
            let burst = Bytes(policing.burst_bytes.into());
            let has = if packet == u32::MAX {
                "may be of any length".to_owned()
            } else {
                format!("may have {} of payload", Bytes(packet.into()))
            };
            let message = format!(
                "a packet {has}, and would wait for ever for a bucket that holds {burst}: raise the burst, or cut \
                 packets with policing.longest or segmentation"
            );
            let key = format!("traffic.{index}.policing.burst");
            return Err(InputError::at(&source.tree, &key, message).into());
        }
    }
    Ok(())
}

/// The most payload of a packet of a class over any of its routes.
fn longest_packet_bytes(plan: &Plan, class: &ClassPlan) -> u32 {
    if matches!(class.segmentation, SegmentationPlan::None | SegmentationPlan::Fixed(_)) {
        return class.longest_packet_bytes(|| 1);
    }
    let over = |source: &SourcePlan| {
        let from = source.endpoint;
        let others = plan.fabric.endpoint_ids().filter(move |to| *to != from);
        let bytes = others.map(|to| class.longest_packet_bytes(|| plan.switches(from, to)));
        bytes.max().unwrap_or(0)
    };
    class.sources.iter().map(over).max().unwrap_or(0)
}
