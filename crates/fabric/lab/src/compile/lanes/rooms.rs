//! Checks that every packet fits into any lane that must hold it whole.
//!
//! Such a lane accepts a packet only with free space for all of it, so a packet longer than the
//! lane would wait forever.

use crate::compile::longest::{
    destinations, lanes_of_answers, lanes_of_probes, longest_as, sent_as,
};
use crate::compile::written::{first_written, whose};
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_kernel::Bytes;
use gingham_net::traffic::SourcePlan;
use gingham_net::{ClassPlan, Plan};
use gingham_topology::EndpointId;
use gingham_topology::routing::{LANES_MAX, LaneSet};

/// Capacity of lanes, and the space that packets need in them.
pub(crate) struct Room<'a> {
    /// Lanes that must hold whole packets.
    pub(crate) lanes: LaneSet,
    /// Capacity by lane, in units.
    pub(crate) holds: &'a [u32; LANES_MAX as usize],
    /// Units that a packet needs, by its payload.
    pub(crate) takes: &'a dyn Fn(u32) -> u64,
    /// Key that sets the capacity.
    pub(crate) key: &'static str,
    /// Description of such lanes, to follow the lane number.
    pub(crate) kind: &'static str,
    /// Name of the units.
    pub(crate) unit: &'static str,
}

impl Room<'_> {
    fn smallest(&self, lanes: LaneSet) -> Option<(u8, u32)> {
        let held = |lane: u8| (lane, self.holds[usize::from(lane)]);
        (lanes & self.lanes).lanes().map(held).min_by_key(|(_, held)| *held)
    }
}

/// Refuses packets longer than a lane that they may use and that must hold them whole.
pub(crate) fn check(source: &ScenarioSource, plan: &Plan, room: &Room<'_>) -> Result<(), LabError> {
    if room.lanes.is_empty() {
        return Ok(());
    }
    for (index, class) in plan.classes.iter().enumerate() {
        for other in sent_as(plan, class) {
            let Some((lane, held)) = room.smallest(plan.lanes_of(other)) else { continue };
            let Some(found) = too_long(plan, room, (class, other), held) else { continue };
            let Room { key, kind, unit, .. } = room;
            let has = match found {
                u32::MAX => "may be of any length".to_owned(),
                _ => format!(
                    "may have {} of payload, {} {unit}",
                    Bytes(found.into()),
                    (room.takes)(found)
                ),
            };
            let message = format!(
                "a packet of class `{}` {has}, and lane {lane}{kind} holds {held} {unit}{}, so that it would wait for ever: \
                 raise {key}, or cut packets with traffic.{index}.segmentation",
                class.name,
                whose(source, key)
            );
            let keys = ["segmentation", "length"].map(|key| format!("traffic.{index}.{key}"));
            let at = first_written(source, &[key, &keys[0], &keys[1]]);
            return Err(source.refuse(at, message).into());
        }
        if let Some(window) = &class.window {
            let answer = window.answer;
            let lanes = lanes_of_answers(plan, answer);
            let what = format!("an answer of class `{}`", class.name);
            let cure = format!("make answers shorter (traffic.{index}.window.answer.length)");
            let key = format!("traffic.{index}.window.answer.length");
            check_short(source, room, (lanes, answer.payload_bytes), (&what, &key, &cure))?;
        }
    }
    match &plan.admission {
        None => Ok(()),
        Some(of) => {
            let (what, cure) = ("a probe", "make probes shorter (network.admission.length)");
            let lanes = lanes_of_probes(plan, of);
            let said = (what, "network.admission.length", cure);
            check_short(source, room, (lanes, of.payload_bytes), said)
        }
    }
}

/// Refuses acknowledgements or probes that are longer than such a lane.
fn check_short(
    source: &ScenarioSource,
    room: &Room<'_>,
    (lanes, payload_bytes): (LaneSet, u32),
    (what, own, cure): (&str, &str, &str),
) -> Result<(), LabError> {
    let takes = (room.takes)(payload_bytes);
    let smallest = room.smallest(lanes);
    let Some((lane, held)) = smallest.filter(|(_, held)| u64::from(*held) < takes) else {
        return Ok(());
    };
    let Room { key, kind, unit, .. } = room;
    let message = format!(
        "{what} has {} of payload, {takes} {unit}, and lane {lane}{kind} holds {held} {unit}{}, so that it would wait for ever: \
         raise {key}, or {cure}",
        Bytes(payload_bytes.into()),
        whose(source, key)
    );
    Err(source.refuse(first_written(source, &[key, own]), message).into())
}

/// Returns the payload of a packet that needs more than `held` units, among messages of the first
/// class sent as packets of the second.
fn too_long(
    plan: &Plan,
    room: &Room<'_>,
    (class, other): (&ClassPlan, &ClassPlan),
    held: u32,
) -> Option<u32> {
    let is_too_long = |payload: &u32| (room.takes)(*payload) > u64::from(held);
    class.sources.iter().find_map(|source: &SourcePlan| {
        let message = *source.payload_bytes().end();
        Some(other.longest_anywhere_bytes(message)).filter(is_too_long)?;
        let over =
            |to: EndpointId| longest_as(other, message, || plan.switches(source.endpoint, to));
        destinations(plan, source).map(over).find(is_too_long)
    })
}
