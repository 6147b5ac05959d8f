//! Destinations of the hosts of a class.

use super::context::ClassContext;
use crate::check::{Check, SHARE, Sentence, check, note, refuse, say, when, within};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_net::WhenPoolFull;
use gingham_net::traffic::{
    ArrivalPlan, DestinationPlan, Destinations, GridShift, HotSpot, OtherHosts, Permutation,
    UniformPlaces, Within, derangement,
};
use gingham_topology::EndpointId;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) enum Aim {
    At {
        destinations: DestinationPlan,
        load_factor: f64,
    },
    /// Host that sends nothing; the reason completes the sentence "N of M hosts ...".
    Nowhere(&'static str),
}

impl Aim {
    pub(super) fn at(destinations: DestinationPlan) -> Self {
        Self::At { destinations, load_factor: 1.0 }
    }
}

pub(super) const UNREACHABLE: &str = "can reach no destination";

pub(super) fn aims(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    arrivals: &ArrivalPlan,
    gathered: &mut Gathered,
) -> Result<Vec<Aim>, LabError> {
    let uniform = Destinations::Uniform(UniformPlaces::default());
    match context.class.destinations.as_ref().unwrap_or(&uniform) {
        Destinations::Uniform(places) => to_uniform(context, hosts, *places, gathered),
        Destinations::Host(name) => {
            let destination =
                super::chosen_hosts::host_matching(context, "destinations.host", name)?;
            Ok(hosts.iter().map(|host| fixed(context, *host, destination, UNREACHABLE)).collect())
        }
        Destinations::HotSpot(hot_spot) => to_hot_spot(context, hosts, hot_spot, gathered),
        Destinations::Pairs(pairs) => to_pairs(context, hosts, pairs),
        Destinations::Transpose => {
            super::permutations::permuted(context, hosts, "transpose", Permutation::Transpose)
        }
        Destinations::BitComplement => super::permutations::permuted(
            context,
            hosts,
            "bit-complement",
            Permutation::BitComplement,
        ),
        Destinations::BitReversal => {
            super::permutations::permuted(context, hosts, "bit-reversal", Permutation::BitReversal)
        }
        Destinations::Shuffle => {
            super::permutations::permuted(context, hosts, "shuffle", Permutation::Shuffle)
        }
        Destinations::BitRotation => {
            super::permutations::permuted(context, hosts, "bit-rotation", Permutation::BitRotation)
        }
        Destinations::Asymmetric => asymmetric(context, hosts, gathered),
        Destinations::Tornado(places) => super::permutations::shifted(
            context,
            hosts,
            "tornado",
            GridShift::Tornado,
            places,
            gathered,
        ),
        Destinations::Neighbour(places) => super::permutations::shifted(
            context,
            hosts,
            "neighbour",
            GridShift::Neighbour,
            places,
            gathered,
        ),
        Destinations::Stencil(places) => super::stencil::stencil(context, hosts, places, gathered),
        Destinations::GroupShift(places) => {
            super::group_shift::group_shift(context, hosts, places, gathered)
        }
        Destinations::RandomPermutation(draw) => {
            let seed = draw.seed.unwrap_or(context.source.scenario.seed);
            let targets = derangement(seed, &context.class.name, hosts.len());
            Ok(at_places(context, hosts, |place| targets[place]))
        }
        Destinations::Matrix(file) => {
            super::matrix::matrix(context, hosts, arrivals, file, gathered)
        }
    }
}

fn to_uniform(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    places: UniformPlaces,
    gathered: &mut Gathered,
) -> Result<Vec<Aim>, LabError> {
    check(&of_uniform(), &context.subject(To { context, hosts, written: places }), gathered)?;
    let mut of_class: BTreeMap<usize, Vec<EndpointId>> = BTreeMap::new();
    for host in hosts {
        of_class.entry(context.hosts.island[host.index()]).or_default().push(*host);
    }
    let of_class: BTreeMap<usize, Arc<[EndpointId]>> =
        of_class.into_iter().map(|(island, hosts)| (island, hosts.into())).collect();
    let aim = |host: &EndpointId| {
        let mut others = match places.within {
            Within::Fabric => super::chosen_hosts::hosts_near(context, *host),
            Within::Class => super::chosen_hosts::but_own(
                context,
                Arc::clone(&of_class[&context.hosts.island[host.index()]]),
                *host,
            ),
        };
        if places.itself {
            others.own = 0..0;
        }
        uniform_among(others, UNREACHABLE)
    };
    Ok(hosts.iter().map(aim).collect())
}

struct To<'a, T> {
    context: &'a ClassContext<'a>,
    hosts: &'a [EndpointId],
    written: T,
}

fn of_uniform<'a>() -> [Check<To<'a, UniformPlaces>>; 2] {
    [
        refuse("destinations.uniform.itself", |it| {
            let cure = "leave out `itself`, so that hosts send only to other hosts";
            it.written.itself.then(|| to_itself(it.context, it.hosts, cure))?
        }),
        note(|it| {
            let all: usize = it.context.hosts.on_island.values().map(|hosts| hosts.len()).sum();
            let count = it.hosts.len();
            let (to, key) = match it.written.within {
                Within::Fabric => (format!("all {all} hosts of the fabric"), "fabric"),
                Within::Class => ("one another only".to_owned(), "class"),
            };
            // A class with a single sending host has no other host to send to.
            when!(
                count != all && count != 1,
                "its {count} hosts send to {to} (destinations.uniform.within = \"{key}\")"
            )
        }),
    ]
}

/// Returns uniform destinations among other hosts; if there are none, the source is silent for the
/// reason `why_none`.
pub(super) fn uniform_among(others: OtherHosts, why_none: &'static str) -> Aim {
    if others.has_any() {
        Aim::at(DestinationPlan::Uniform(others))
    } else {
        Aim::Nowhere(why_none)
    }
}

/// Returns two destinations for each host `s` of `N`: `s mod N/2` and `s mod N/2 + N/2`, one of
/// which is the host itself.
fn asymmetric(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    gathered: &mut Gathered,
) -> Result<Vec<Aim>, LabError> {
    check(&of_asymmetric(), &context.subject(To { context, hosts, written: () }), gathered)?;
    let half = hosts.len() / 2;
    let aim = |(place, host): (usize, &EndpointId)| {
        let both = [place % half, place % half + half].map(|place| hosts[place]);
        let among = both.into_iter().filter(|other| context.hosts.joined(*host, *other)).collect();
        uniform_among(OtherHosts { among, own: 0..0 }, UNREACHABLE)
    };
    Ok(hosts.iter().enumerate().map(aim).collect())
}

fn of_asymmetric<'a>() -> [Check<To<'a, ()>>; 2] {
    [
        refuse("destinations", |it| {
            let count = it.hosts.len();
            when!(
                !count.is_multiple_of(2),
                "asymmetric needs an even number of hosts, such as {} or {}, not {count}",
                count - 1,
                count + 1
            )
        }),
        refuse("destinations", |it| {
            let cure =
                "asymmetric sends half of all messages to their own host: use another pattern";
            to_itself(it.context, it.hosts, cure)
        }),
    ]
}

/// Refuses traffic from hosts to themselves if a host has no switch that returns the packets, or if
/// lane tables or the deadlock proof do not cover them.
fn to_itself(context: &ClassContext<'_>, hosts: &[EndpointId], cure: &str) -> Option<Sentence> {
    if context.source.scenario.routing.lane_tables.is_some() {
        return say!(
            "tables of lanes (routing.lane_tables) do not cover packets that leave a switch by the port of their arrival; {cure}"
        );
    }
    if context.links.parameters.in_transit.when_full == WhenPoolFull::Stop {
        return say!(
            "hosts that stop their senders (network.in_transit.when_full) could wait for packets of their own, and \
             the proof against deadlock does not look at these; {cure}"
        );
    }
    let has_switch = |host: &EndpointId| {
        let peer = context.fabric.target(context.fabric.endpoint_channel(*host)).node;
        context.fabric.node(peer).is_switch()
    };
    let name = context.fabric.endpoint_name(*hosts.iter().find(|host| !has_switch(host))?);
    say!("no switch leads what `{name}` sends back to it; {cure}")
}

pub(super) fn fixed(
    context: &ClassContext<'_>,
    source: EndpointId,
    destination: EndpointId,
    own: &'static str,
) -> Aim {
    if super::chosen_hosts::is_own(context, source, destination) {
        Aim::Nowhere(own)
    } else if context.hosts.joined(source, destination) {
        Aim::at(DestinationPlan::Fixed(destination))
    } else {
        Aim::Nowhere(UNREACHABLE)
    }
}

pub(super) fn at_places(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    target: impl Fn(usize) -> usize,
) -> Vec<Aim> {
    let aim = |(place, host): (usize, &EndpointId)| {
        fixed(context, *host, hosts[target(place)], "map to themselves")
    };
    hosts.iter().enumerate().map(aim).collect()
}

fn of_hot_spot<'a>() -> [Check<&'a HotSpot>; 2] {
    [
        refuse("destinations.hot-spot.share", |it| {
            within!(it.share, SHARE, "the share of hot hosts is above 0 and at most 1")
        }),
        refuse("destinations.hot-spot.hosts", |it| {
            let rule = "at least one host must be hot; for none, say destinations = \"uniform\"";
            when!(it.hosts.is_empty(), "{rule}")
        }),
    ]
}

fn to_hot_spot(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    written: &HotSpot,
    gathered: &mut Gathered,
) -> Result<Vec<Aim>, LabError> {
    check(&of_hot_spot(), &context.subject(written), gathered)?;
    let share = written.share;
    let hot = super::chosen_hosts::hosts_matching(
        context,
        "destinations.hot-spot.hosts",
        &written.hosts,
    )?;
    let mut near: BTreeMap<EndpointId, Arc<[EndpointId]>> = BTreeMap::new();
    let aim = |host: &EndpointId| {
        let all = super::chosen_hosts::hosts_near(context, *host);
        // The hosts of an island share a list of hot hosts, stored under the island's first host.
        let island = *all.among.first()?;
        let joined = || hot.iter().copied().filter(|h| context.hosts.joined(*host, *h)).collect();
        let among = near.entry(island).or_insert_with(joined);
        let hot = super::chosen_hosts::but_own(context, Arc::clone(among), *host);
        let plan = if hot.has_any() {
            DestinationPlan::HotSpot { hot, share, all }
        } else {
            DestinationPlan::Uniform(all)
        };
        plan.has_any(*host).then(|| Aim::at(plan))
    };
    let aims = hosts.iter().map(aim);
    Ok(aims.map(|aim| aim.unwrap_or(Aim::Nowhere(UNREACHABLE))).collect())
}

fn to_pairs(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    written: &BTreeMap<String, String>,
) -> Result<Vec<Aim>, LabError> {
    let mut pairs: BTreeMap<EndpointId, EndpointId> = BTreeMap::new();
    for (from, to) in written {
        let key = format!("destinations.pairs.{from:?}");
        let find = |name: &str| {
            let found = context.hosts.find(context.fabric, name);
            found.map_err(|fault| fault.within(|message| context.error(&key, message)))
        };
        let (source, destination) = (find(from)?, find(to)?);
        let message = if hosts.binary_search(&source).is_err() {
            format!("`{from}` is none of the hosts of the class")
        } else if source == destination {
            format!("`{from}` would send to itself; leave it out to keep it silent")
        } else if !context.hosts.joined(source, destination) {
            format!("no path leads from `{from}` to `{to}`")
        } else if pairs.insert(source, destination).is_some() {
            format!("`{from}` is named twice; a host has one destination here")
        } else {
            continue;
        };
        return Err(context.error(&key, message).into());
    }
    let aim = |host: &EndpointId| match pairs.get(host) {
        Some(destination) => Aim::at(DestinationPlan::Fixed(*destination)),
        None => Aim::Nowhere("have no pair"),
    };
    Ok(hosts.iter().map(aim).collect())
}
