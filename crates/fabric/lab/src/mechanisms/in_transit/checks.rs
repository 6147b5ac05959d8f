//! Checks of in-transit hosts.

use super::room::{ack_without_room, has_room_anywhere, without_room};
use crate::check::{
    Check, Sentence, Subject, check, delay_too_long, note, refuse, say, when, within,
};
use crate::compile::cables::RATE_MIN;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::{InTransit, ScenarioSource};
use gingham_kernel::Bytes;
use gingham_net::{InTransitParameters, Plan, WhenFull, WhenPoolFull};
use gingham_topology::Fabric;
use gingham_topology::routing::{FallBacks, Routes};

const SWITCHES_NAMED: usize = 4;

pub(crate) fn of_keys() -> [Check<InTransitParameters>; 6] {
    [
        refuse("spill_delay", |it| unspilled(it.source, |of| of.spill_delay.is_some())),
        refuse("spill_rate", |it| unspilled(it.source, |of| of.spill_rate.is_some())),
        refuse("detection", |it| delay_too_long(it.detection)),
        refuse("programming", |it| delay_too_long(it.programming)),
        refuse("spill_delay", |it| delay_too_long(it.spill_delay)),
        refuse("spill_rate", |it| {
            within!(
                it.spill_rate,
                RATE_MIN..,
                "the bus to a host's memory carries at least {RATE_MIN}"
            )
        }),
    ]
}

fn unspilled(source: &ScenarioSource, is_given: fn(&InTransit) -> bool) -> Option<Sentence> {
    let written = &source.scenario.network.in_transit;
    when!(
        written.when_full == Some(WhenPoolFull::Stop) && is_given(written),
        "sets the cost of spilling, and with when_full = \"stop\" nothing spills: leave it out, or set when_full = \
         \"spill\""
    )
}

fn of_sets<'a>() -> [Check<&'a [Routes]>; 1] {
    [note(|it| {
        let is_written = it.source.scenario.network.in_transit != InTransit::default();
        when!(
            is_written && !it.iter().any(Routes::has_in_transit_hosts),
            "no path leads through an in-transit host, so that network.in_transit changes nothing; routing.algorithm \
             = \"in-transit\" makes such paths"
        )
    })]
}

fn of_set<'a>() -> [Check<(&'a Fabric, &'a Routes)>; 1] {
    [note(|it| {
        let (fabric, Routes::Source(routes)) = it.of else { return None };
        let FallBacks { pairs, switches } = routes.fall_backs();
        let named = switches.iter().take(SWITCHES_NAMED);
        let named: Vec<_> = named.map(|switch| fabric.node(*switch).name.as_str()).collect();
        let rest = if switches.len() > SWITCHES_NAMED { ", ..." } else { "" };
        when!(
            *pairs > 0,
            "{pairs} pairs of hosts go a longer way than their shortest, which turns from down to up at switches without a \
             host that could send packets on ({}{rest})",
            named.join(", ")
        )
    })]
}

pub(crate) fn check_paths(
    source: &ScenarioSource,
    fabric: &Fabric,
    sets: &[Routes],
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    check(&of_sets(), &Subject::of_table(source, "", sets), gathered)?;
    let mut each = sets.iter().map(|set| Subject::of_table(source, "", (fabric, set)));
    each.try_for_each(|set| check(&of_set(), &set, gathered))
}

/// Refuses packets that never fit into a buffer pool: under `stop` they would wait forever, under
/// `spill` they would always spill. Under `spill`, messages of unlimited length are exempt.
pub(crate) fn of_plan<'a>() -> [Check<&'a Plan>; 2] {
    [
        refuse("network.in_transit.pool", |it| {
            if !it.routing.has_in_transit_hosts() {
                return None;
            }
            let may_spill = matches!(it.in_transit.when_full, WhenFull::Spill { .. });
            it.classes.iter().find_map(|class| {
                let packet = without_room(it.of, class)
                    .filter(|found| found.payload_bytes < u32::MAX || !may_spill)
                    .map(|found| (found, "a packet", "cut packets with traffic.*.segmentation"));
                let ack = || {
                    let cure = "make acknowledgements shorter with traffic.*.window.ack.length";
                    Some((ack_without_room(it.of, class)?, "an acknowledgement", cure))
                };
                let (found, what, cure) = packet.or_else(ack)?;
                let [from, to] =
                    [found.from, found.to].map(|host| it.fabric.endpoint_name(host));
                say!(
                    "{what} of class `{}` from `{from}` to `{to}` goes through an in-transit host and {}, and the buffer of \
                     a host holds {}, so that it would {}: raise the pool, or {cure}",
                    class.name,
                    match found.payload_bytes {
                        u32::MAX => "may be of any length".to_owned(),
                        _ => format!("takes {} there", Bytes(found.bytes)),
                    },
                    Bytes(it.in_transit.pool_bytes),
                    if may_spill { "always spill" } else { "wait for ever" }
                )
            })
        }),
        // Probes and their responses may use any path.
        refuse("network.in_transit.pool", |it| {
            let payload_bytes = it.admission.as_ref()?.payload_bytes;
            let [probe, pool] = [payload_bytes.into(), it.in_transit.pool_bytes].map(Bytes);
            when!(
                it.routing.has_in_transit_hosts() && !has_room_anywhere(it.of, payload_bytes),
                "a probe of the admission control has {probe} of payload and may go through an in-transit host, whose buffer holds {pool}: \
                 raise the pool, or lower network.admission.length"
            )
        }),
    ]
}
