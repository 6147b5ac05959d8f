//! Checks that every packet fits into all lanes that accept only whole packets; longer packets
//! would wait forever.

use crate::check::{Check, Sentence, Subject, refuse, say, when};
use crate::compile::longest::{destinations, lanes_of_acks, lanes_of_probes, longest_as, sent_as};
use crate::compile::written::{first_written, whose};
use gingham_kernel::Bytes;
use gingham_net::traffic::SourcePlan;
use gingham_net::{ClassPlan, Plan};
use gingham_topology::EndpointId;
use gingham_topology::routing::{LANES_MAX, LaneSet};

#[derive(Clone, Copy)]
pub(crate) struct Room<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) lanes: LaneSet,
    pub(crate) holds: &'a [u32; LANES_MAX as usize],
    /// Buffer units that a packet needs, as a function of its payload in bytes.
    pub(crate) takes: &'a dyn Fn(u32) -> u64,
    pub(crate) key: &'static str,
    /// Phrase for the kind of lane, which follows the lane number in messages.
    pub(crate) kind: &'static str,
    pub(crate) unit: &'static str,
}

impl Room<'_> {
    fn smallest(&self, lanes: LaneSet) -> Option<(u8, u32)> {
        let held = |lane: u8| (lane, self.holds[usize::from(lane)]);
        (lanes & self.lanes).lanes().map(held).min_by_key(|(_, held)| *held)
    }
}

pub(crate) fn of_room<'a>() -> [Check<Room<'a>>; 2] {
    [
        refuse("traffic", |it| {
            it.plan.classes.iter().enumerate().find_map(|(index, class)| {
                let long = |other| long_packet(it, (index, class), other);
                sent_as(it.plan, class).find_map(long).or_else(|| {
                    let ack = class.window.as_ref()?.ack;
                    let what = format!("an acknowledgement of class `{}`", class.name);
                    let key = format!("traffic.{index}.window.ack.length");
                    let cure = format!("make acknowledgements shorter ({key})");
                    let lanes = lanes_of_acks(it.plan, ack);
                    long_control(it, (lanes, ack.payload_bytes), (&what, &key, &cure))
                })
            })
        }),
        refuse("network.admission", |it| {
            let of = it.plan.admission.as_ref()?;
            let (key, cure) =
                ("network.admission.length", "make probes shorter (network.admission.length)");
            let lanes = lanes_of_probes(it.plan, of);
            long_control(it, (lanes, of.payload_bytes), ("a probe", key, cure))
        }),
    ]
}

fn long_packet(
    it: &Subject<'_, Room<'_>>,
    (index, class): (usize, &ClassPlan),
    other: &ClassPlan,
) -> Option<Sentence> {
    let Room { key, kind, unit, plan, takes, .. } = it.of;
    let (lane, held) = it.smallest(plan.lanes_of(other))?;
    let found = too_long(it, (class, other), held)?;
    let payload = Bytes(found.into());
    let has = match found {
        u32::MAX => "may be of any length".to_owned(),
        _ => format!("may have {payload} of payload, {} {unit}", takes(found)),
    };
    let sentence = say!(
        "a packet of class `{}` {has}, and lane {lane}{kind} holds {held} {unit}{}, so that it would wait for ever: \
         raise {key}, or cut packets with traffic.{index}.segmentation",
        class.name,
        whose(it.source, key)
    );
    let keys = ["segmentation", "length"].map(|key| format!("traffic.{index}.{key}"));
    Some(sentence?.at(first_written(it.source, &[key, &keys[0], &keys[1]])))
}

fn long_control(
    it: &Subject<'_, Room<'_>>,
    (lanes, payload_bytes): (LaneSet, u32),
    (what, own, cure): (&str, &str, &str),
) -> Option<Sentence> {
    let Room { key, kind, unit, takes, .. } = it.of;
    let (takes, (lane, held)) = (takes(payload_bytes), it.smallest(lanes)?);
    let sentence = when!(
        takes > held.into(),
        "{what} has {} of payload, {takes} {unit}, and lane {lane}{kind} holds {held} {unit}{}, so that it would wait for ever: \
         raise {key}, or {cure}",
        Bytes(payload_bytes.into()),
        whose(it.source, key)
    );
    Some(sentence?.at(first_written(it.source, &[key, own])))
}

/// Returns the payload of a packet that needs more than `held` units, if messages of the first
/// class are sent as packets of the second.
fn too_long(room: &Room<'_>, (class, other): (&ClassPlan, &ClassPlan), held: u32) -> Option<u32> {
    let is_too_long = |payload: &u32| (room.takes)(*payload) > u64::from(held);
    class.sources.iter().find_map(|source: &SourcePlan| {
        let message = *source.payload_bytes().end();
        Some(other.longest_anywhere_bytes(message)).filter(is_too_long)?;
        let over =
            |to: EndpointId| longest_as(other, message, || room.plan.switches(source.endpoint, to));
        destinations(room.plan, source).map(over).find(is_too_long)
    })
}
