//! Where the hosts of a class send to.

use super::context::ClassContext;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_model::WhenPoolFull;
use gingham_model::traffic::{
    ArrivalPlan, DestinationPlan, Destinations, GridShift, HotSpot, OtherHosts, Permutation,
    UniformPlaces, Within, derangement,
};
use gingham_topology::EndpointId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What becomes of one host of a class.
#[derive(Clone, Debug)]
pub(super) enum Aim {
    /// It sends.
    At {
        destinations: DestinationPlan,
        /// Its load in terms of the class's.
        load_factor: f64,
    },
    /// It is silent; why, after "so many hosts".
    Nowhere(&'static str),
}

impl Aim {
    pub(super) fn at(destinations: DestinationPlan) -> Self {
        Self::At { destinations, load_factor: 1.0 }
    }
}

pub(super) const UNREACHABLE: &str = "can reach no destination";

impl ClassContext<'_> {
    /// The aim of each host.
    pub(super) fn aims(
        &self,
        hosts: &[EndpointId],
        arrivals: &ArrivalPlan,
        gathered: &mut Gathered,
    ) -> Result<Vec<Aim>, LabError> {
        let uniform = Destinations::Uniform(UniformPlaces::default());
        match self.class.destinations.as_ref().unwrap_or(&uniform) {
            Destinations::Uniform(places) => self.uniform(hosts, *places, gathered),
            Destinations::Host(name) => {
                let destination = self.host_matching("destinations.host", name)?;
                Ok(hosts.iter().map(|host| self.fixed(*host, destination, UNREACHABLE)).collect())
            }
            Destinations::HotSpot(hot_spot) => self.hot_spot(hosts, hot_spot),
            Destinations::Pairs(pairs) => self.pairs(hosts, pairs),
            Destinations::Transpose => self.permuted(hosts, "transpose", Permutation::Transpose),
            Destinations::BitComplement => {
                self.permuted(hosts, "bit-complement", Permutation::BitComplement)
            }
            Destinations::BitReversal => {
                self.permuted(hosts, "bit-reversal", Permutation::BitReversal)
            }
            Destinations::Shuffle => self.permuted(hosts, "shuffle", Permutation::Shuffle),
            Destinations::BitRotation => {
                self.permuted(hosts, "bit-rotation", Permutation::BitRotation)
            }
            Destinations::Asymmetric => self.asymmetric(hosts),
            Destinations::Tornado(places) => {
                self.shifted(hosts, "tornado", GridShift::Tornado, places, gathered)
            }
            Destinations::Neighbour(places) => {
                self.shifted(hosts, "neighbour", GridShift::Neighbour, places, gathered)
            }
            Destinations::Stencil(places) => self.stencil(hosts, places, gathered),
            Destinations::GroupShift(places) => self.group_shift(hosts, places, gathered),
            Destinations::RandomPermutation(draw) => {
                let seed = draw.seed.unwrap_or(self.source.scenario.seed);
                let targets = derangement(seed, &self.class.name, hosts.len());
                Ok(self.at_places(hosts, |place| targets[place]))
            }
            Destinations::Matrix(file) => self.matrix(hosts, arrivals, file, gathered),
        }
    }

    /// Uniform among the hosts of the fabric or of the class, mostly without the sender's own.
    fn uniform(
        &self,
        hosts: &[EndpointId],
        places: UniformPlaces,
        gathered: &mut Gathered,
    ) -> Result<Vec<Aim>, LabError> {
        if places.itself {
            let cure = "leave out `itself`, so that hosts send only to other hosts";
            self.check_itself(hosts, "destinations.uniform.itself", cure)?;
        }
        self.note_within(hosts, places.within, gathered);
        let mut of_class: BTreeMap<usize, Vec<EndpointId>> = BTreeMap::new();
        for host in hosts {
            of_class.entry(self.hosts.island[host.index()]).or_default().push(*host);
        }
        let of_class: BTreeMap<usize, Arc<[EndpointId]>> =
            of_class.into_iter().map(|(island, hosts)| (island, hosts.into())).collect();
        let aim = |host: &EndpointId| {
            let mut others = match places.within {
                Within::Fabric => self.hosts_near(*host),
                Within::Class => {
                    self.but_own(Arc::clone(&of_class[&self.hosts.island[host.index()]]), *host)
                }
            };
            if places.itself {
                others.own = 0..0;
            }
            Self::uniform_among(others, UNREACHABLE)
        };
        Ok(hosts.iter().map(aim).collect())
    }

    /// Notes the destinations of a class that includes only some of the hosts.
    fn note_within(&self, hosts: &[EndpointId], within: Within, gathered: &mut Gathered) {
        let all: usize = self.hosts.on_island.values().map(|hosts| hosts.len()).sum();
        let count = hosts.len();
        // The only sender of a class has no other host of the class to send to.
        if count == all || count == 1 {
            return;
        }
        let (to, key) = match within {
            Within::Fabric => (format!("all {all} hosts of the fabric"), "fabric"),
            Within::Class => ("one another only".to_owned(), "class"),
        };
        self.note(
            gathered,
            format!("its {count} hosts send to {to} (destinations.uniform.within = \"{key}\")"),
        );
    }

    /// Any of these hosts with equal probability. If there is none, the reason why the source never
    /// sends.
    pub(super) fn uniform_among(others: OtherHosts, why_none: &'static str) -> Aim {
        if others.has_any() {
            Aim::at(DestinationPlan::Uniform(others))
        } else {
            Aim::Nowhere(why_none)
        }
    }

    /// Host s of N sends to the hosts s mod N / 2 and N / 2 above it, and one of these is the host
    /// itself.
    fn asymmetric(&self, hosts: &[EndpointId]) -> Result<Vec<Aim>, LabError> {
        let count = hosts.len();
        if !count.is_multiple_of(2) {
            let message = format!(
                "asymmetric needs an even number of hosts, such as {} or {}, not {count}",
                count - 1,
                count + 1
            );
            return Err(self.error("destinations", message).into());
        }
        let cure = "asymmetric sends half of all messages to their own host: use another pattern";
        self.check_itself(hosts, "destinations", cure)?;
        let half = count / 2;
        let aim = |(place, host): (usize, &EndpointId)| {
            let both = [place % half, place % half + half].map(|place| hosts[place]);
            let among = both.into_iter().filter(|other| self.hosts.joined(*host, *other)).collect();
            Self::uniform_among(OtherHosts { among, own: 0..0 }, UNREACHABLE)
        };
        Ok(hosts.iter().enumerate().map(aim).collect())
    }

    /// Refuses hosts that send to themselves where nothing leads them back, or nothing proves that it
    /// always does.
    fn check_itself(&self, hosts: &[EndpointId], key: &str, cure: &str) -> Result<(), LabError> {
        let refuse = |why: &str| Err(self.error(key, format!("{why}; {cure}")).into());
        let scenario = &self.source.scenario;
        if scenario.routing.lane_tables.is_some() {
            return refuse(
                "tables of lanes (routing.lane_tables) say nothing of packets that leave a switch by the port by which \
                 they came",
            );
        }
        if self.links.parameters.in_transit.when_full == WhenPoolFull::Stop {
            return refuse(
                "hosts that stop their senders (network.in_transit.when_full) could wait for packets of their own, and \
                 the proof against deadlock does not look at these",
            );
        }
        let has_switch = |host: &EndpointId| {
            let peer = self.fabric.target(self.fabric.endpoint_channel(*host)).node;
            self.fabric.node(peer).is_switch()
        };
        match hosts.iter().find(|host| !has_switch(host)) {
            Some(host) => {
                let name = self.fabric.endpoint_name(*host);
                refuse(&format!("no switch leads what `{name}` sends back to it"))
            }
            None => Ok(()),
        }
    }

    /// One destination, unless it is the source's own host, or on another island.
    pub(super) fn fixed(
        &self,
        source: EndpointId,
        destination: EndpointId,
        own: &'static str,
    ) -> Aim {
        if self.is_own(source, destination) {
            Aim::Nowhere(own)
        } else if self.hosts.joined(source, destination) {
            Aim::at(DestinationPlan::Fixed(destination))
        } else {
            Aim::Nowhere(UNREACHABLE)
        }
    }

    /// The host at each place sends to the host at the place that `target` gives.
    pub(super) fn at_places(
        &self,
        hosts: &[EndpointId],
        target: impl Fn(usize) -> usize,
    ) -> Vec<Aim> {
        let aim = |(place, host): (usize, &EndpointId)| {
            self.fixed(*host, hosts[target(place)], "map to themselves")
        };
        hosts.iter().enumerate().map(aim).collect()
    }

    fn hot_spot(&self, hosts: &[EndpointId], written: &HotSpot) -> Result<Vec<Aim>, LabError> {
        let share = written.share;
        if !(share > 0.0 && share <= 1.0) {
            let message = format!("the share of hot hosts is above 0 and at most 1, not {share}");
            return Err(self.error("destinations.hot-spot.share", message).into());
        }
        if written.hosts.is_empty() {
            let message = "at least one host must be hot; for none, say destinations = \"uniform\"";
            return Err(self.error("destinations.hot-spot.hosts", message).into());
        }
        let hot = self.hosts_matching("destinations.hot-spot.hosts", &written.hosts)?;
        let mut near: BTreeMap<EndpointId, Arc<[EndpointId]>> = BTreeMap::new();
        let aim = |host: &EndpointId| {
            let all = self.hosts_near(*host);
            // Hosts of one island share one list, known by the first host on it.
            let island = *all.among.first()?;
            let joined = || hot.iter().copied().filter(|h| self.hosts.joined(*host, *h)).collect();
            let among = near.entry(island).or_insert_with(joined);
            let hot = self.but_own(Arc::clone(among), *host);
            // The only hot host has no other to send its share to.
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

    fn pairs(
        &self,
        hosts: &[EndpointId],
        written: &BTreeMap<String, String>,
    ) -> Result<Vec<Aim>, LabError> {
        let mut pairs: BTreeMap<EndpointId, EndpointId> = BTreeMap::new();
        for (from, to) in written {
            let key = format!("destinations.pairs.{from:?}");
            let find = |name: &str| {
                let found = self.hosts.find(self.fabric, name);
                found.map_err(|fault| fault.within(|message| self.error(&key, message)))
            };
            let (source, destination) = (find(from)?, find(to)?);
            let message = if hosts.binary_search(&source).is_err() {
                format!("`{from}` is none of the hosts of the class")
            } else if source == destination {
                format!("`{from}` would send to itself; leave it out to keep it silent")
            } else if !self.hosts.joined(source, destination) {
                format!("no path leads from `{from}` to `{to}`")
            } else if pairs.insert(source, destination).is_some() {
                format!("`{from}` is named twice; a host has one destination here")
            } else {
                continue;
            };
            return Err(self.error(&key, message).into());
        }
        let aim = |host: &EndpointId| match pairs.get(host) {
            Some(destination) => Aim::at(DestinationPlan::Fixed(*destination)),
            None => Aim::Nowhere("have no pair"),
        };
        Ok(hosts.iter().map(aim).collect())
    }
}
