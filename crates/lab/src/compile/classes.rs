//! Traffic classes: host patterns become endpoints, loads and lengths are checked.

use crate::error::LabError;
use crate::input::InputError;
use crate::scenario::{ScenarioSource, TrafficClass};
use gingham_kernel::{Bytes, Span, Time};
use gingham_model::ClassPlan;
use gingham_model::traffic::{
    ArrivalPlan, Arrivals, Bimodal, DestinationPlan, Destinations, LengthPlan, Lengths, OtherHosts,
    SourcePlan, Uniform,
};
use gingham_topology::{EndpointId, Fabric, NodeId, NodeKind};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use wildmatch::WildMatch;

/// The traffic classes of a scenario.
pub(super) fn classes(
    source: &ScenarioSource,
    fabric: &Fabric,
    notes: &mut Vec<String>,
) -> Result<Vec<ClassPlan>, LabError> {
    let written = &source.scenario.traffic;
    if written.is_empty() {
        return Err(InputError::at(&source.tree, "traffic", "at least one class must send").into());
    }
    let islands = Islands::of(fabric);
    let mut classes = Vec::new();
    for (index, class) in written.iter().enumerate() {
        let place = Place { source, fabric, path: format!("traffic.{index}"), class };
        if written[..index].iter().any(|earlier| earlier.name == class.name) {
            let message =
                format!("two classes are called `{}`; each needs a name of its own", class.name);
            return Err(place.error("name", message));
        }
        classes.push(place.compile(&islands, notes)?);
    }
    Ok(classes)
}

/// One class and where it stands, for messages.
struct Place<'a> {
    source: &'a ScenarioSource,
    fabric: &'a Fabric,
    path: String,
    class: &'a TrafficClass,
}

impl Place<'_> {
    fn error(&self, key: &str, message: impl std::fmt::Display) -> LabError {
        InputError::at(&self.source.tree, &format!("{}.{key}", self.path), message).into()
    }

    fn compile(&self, islands: &Islands, notes: &mut Vec<String>) -> Result<ClassPlan, LabError> {
        let arrivals = self.arrivals()?;
        let lengths = self.lengths()?;
        let active = self.active()?;
        let hosts = self.hosts()?;
        let mut sources = Vec::new();
        for endpoint in &hosts {
            if let Some(destinations) = self.destinations(islands, *endpoint)? {
                let (arrivals, lengths) = (arrivals, lengths.clone());
                sources.push(SourcePlan::drawn(*endpoint, arrivals, lengths, destinations));
            }
        }
        if sources.is_empty() {
            return Err(self.error("hosts", "none of these hosts has anywhere to send to"));
        }
        if sources.len() < hosts.len() {
            let silent = hosts.len() - sources.len();
            notes.push(format!(
                "class `{}`: {silent} of {} hosts have nowhere to send to and are silent",
                self.class.name,
                hosts.len()
            ));
        }
        Ok(ClassPlan { name: self.class.name.clone(), active, sources })
    }

    /// From its start to its stop.
    fn active(&self) -> Result<Range<Time>, LabError> {
        let (start, end) = (self.class.start.unwrap_or(Span::ZERO), self.source.scenario.stop.time);
        if self.class.start.is_some() && start >= end {
            let message = format!("the class starts at {start}, but the run ends at {end}");
            return Err(self.error("start", message));
        }
        match self.class.stop {
            Some(stop) if stop <= start => {
                let message = format!("the class stops at {stop}, not after its start at {start}");
                Err(self.error("stop", message))
            }
            stop => Ok(Time::ZERO + start..stop.map_or(Time::MAX, |stop| Time::ZERO + stop)),
        }
    }

    fn arrivals(&self) -> Result<ArrivalPlan, LabError> {
        match (&self.class.arrivals, self.class.load) {
            (Arrivals::Poisson, Some(load)) if load > 0.0 && load <= 1.0 => {
                Ok(ArrivalPlan::Poisson { load })
            }
            (Arrivals::Poisson, Some(load)) => {
                let message = format!(
                    "a load is the fraction of a host's link, above 0 and at most 1, not {load}"
                );
                Err(self.error("load", message))
            }
            (Arrivals::Poisson, None) => {
                let message = "poisson arrivals need a load, such as load = 0.3";
                Err(self.error("load", message))
            }
            (Arrivals::Backlogged, None) => Ok(ArrivalPlan::Backlogged),
            (Arrivals::Backlogged, Some(_)) => {
                Err(self.error("load", "a backlogged class sends all it can and takes no load"))
            }
        }
    }

    fn lengths(&self) -> Result<LengthPlan, LabError> {
        let payload = |key: &str, bytes: Bytes| self.payload(key, bytes);
        Ok(match &self.class.length {
            Lengths::Fixed(bytes) => LengthPlan::Fixed(payload("length", *bytes)?),
            Lengths::Exponential(mean) => {
                LengthPlan::Exponential(f64::from(payload("length", *mean)?))
            }
            Lengths::Uniform(Uniform { from, to }) => {
                let (least, largest) =
                    (payload("length.uniform.from", *from)?, payload("length.uniform.to", *to)?);
                if least > largest {
                    let message = format!("lengths from {from} to {to} leave none");
                    return Err(self.error("length.uniform", message));
                }
                LengthPlan::Uniform { from: least, to: largest }
            }
            Lengths::Bimodal(Bimodal { short, long, long_share }) => {
                if !(0.0..=1.0).contains(long_share) {
                    let message = format!("a share lies between 0 and 1, not at {long_share}");
                    return Err(self.error("length.bimodal.long_share", message));
                }
                LengthPlan::Bimodal {
                    short: payload("length.bimodal.short", *short)?,
                    long: payload("length.bimodal.long", *long)?,
                    long_share: *long_share,
                }
            }
        })
    }

    fn payload(&self, key: &str, bytes: Bytes) -> Result<u32, LabError> {
        let within = u32::try_from(bytes.0).ok().filter(|bytes| (1..=1 << 30).contains(bytes));
        within.ok_or_else(|| {
            let message = format!("a message has from 1 B to 1024 MiB of payload, not {bytes}");
            self.error(key, message)
        })
    }

    /// The endpoints whose hosts match, in canonical order.
    fn hosts(&self) -> Result<Vec<EndpointId>, LabError> {
        let mut chosen = vec![false; self.fabric.endpoints().len()];
        if self.class.hosts.is_empty() {
            return Err(self.error("hosts", "a class needs at least one host; `[\"*\"]` means all"));
        }
        for (index, pattern) in self.class.hosts.iter().enumerate() {
            let matched = matching(self.fabric, pattern);
            if matched.is_empty() {
                return Err(self.unknown_host(&format!("hosts.{index}"), pattern));
            }
            for endpoint in matched {
                chosen[endpoint.index()] = true;
            }
        }
        Ok(self.fabric.endpoint_ids().filter(|endpoint| chosen[endpoint.index()]).collect())
    }

    /// Where a source may send to; `None` if nowhere.
    fn destinations(
        &self,
        islands: &Islands,
        source: EndpointId,
    ) -> Result<Option<DestinationPlan>, LabError> {
        let plan = match &self.class.destinations {
            Destinations::Uniform => {
                let among = islands.hosts_near(source);
                let node = |endpoint: &EndpointId| self.fabric.endpoint(*endpoint).node;
                let home = node(&source);
                let own = among.partition_point(|other| node(other) < home)
                    ..among.partition_point(|other| node(other) <= home);
                DestinationPlan::Uniform(OtherHosts { among, own })
            }
            Destinations::Host(name) => match matching(self.fabric, name)[..] {
                [] => return Err(self.unknown_host("destinations.host", name)),
                [destination] if !islands.joined(source, destination) => return Ok(None),
                [destination] => DestinationPlan::Fixed(destination),
                ref several => return Err(self.several_hosts(name, several)),
            },
        };
        Ok(plan.has_any(source).then_some(plan))
    }

    fn several_hosts(&self, name: &str, found: &[EndpointId]) -> LabError {
        let names: Vec<String> =
            found.iter().map(|endpoint| self.fabric.endpoint_name(*endpoint)).collect();
        let key = format!("{}.destinations.host", self.path);
        let message = format!("`{name}` stands for several; one destination is needed");
        InputError::at(&self.source.tree, &key, message)
            .suggesting(name, "it stands for", names)
            .into()
    }

    fn unknown_host(&self, key: &str, text: &str) -> LabError {
        let names: Vec<String> = host_endpoints(self.fabric)
            .map(|endpoint| self.fabric.endpoint_name(endpoint))
            .collect();
        let key = format!("{}.{key}", self.path);
        let message = format!("no host is called `{text}`");
        InputError::at(&self.source.tree, &key, message)
            .suggesting(text, "known hosts", names)
            .into()
    }
}

fn host_endpoints(fabric: &Fabric) -> impl Iterator<Item = EndpointId> {
    fabric.endpoint_ids().filter(|endpoint| fabric.is_host_endpoint(*endpoint))
}

/// Host endpoints whose name, node name or dump id matches a pattern.
fn matching(fabric: &Fabric, pattern: &str) -> Vec<EndpointId> {
    let wild = WildMatch::new(pattern);
    let exact = fabric.find_node(pattern).filter(|id| fabric.node(*id).kind == NodeKind::Host);
    let matches = |endpoint: &EndpointId| {
        let node = fabric.endpoint(*endpoint).node;
        exact == Some(node)
            || wild.matches(&fabric.node(node).name)
            || wild.matches(&fabric.endpoint_name(*endpoint))
    };
    host_endpoints(fabric).filter(matches).collect()
}

/// Which endpoints can reach each other.
struct Islands {
    /// Label by endpoint.
    label: Vec<usize>,
    hosts: BTreeMap<usize, Arc<[EndpointId]>>,
}

impl Islands {
    fn of(fabric: &Fabric) -> Self {
        let of_switch = label_switches(fabric);
        let label_of = |endpoint: EndpointId| {
            let peer = fabric.target(fabric.endpoint_channel(endpoint));
            match fabric.endpoint_at(peer) {
                // Two endpoints on one cable are an island of their own.
                Some(peer) => fabric.nodes().len() + endpoint.index().min(peer.index()),
                None => of_switch[peer.node.index()],
            }
        };
        let label: Vec<usize> = fabric.endpoint_ids().map(label_of).collect();
        let mut hosts: BTreeMap<usize, Vec<EndpointId>> = BTreeMap::new();
        for endpoint in host_endpoints(fabric) {
            hosts.entry(label[endpoint.index()]).or_default().push(endpoint);
        }
        let hosts = hosts.into_iter().map(|(label, hosts)| (label, hosts.into())).collect();
        Self { label, hosts }
    }

    fn hosts_near(&self, endpoint: EndpointId) -> Arc<[EndpointId]> {
        self.hosts.get(&self.label[endpoint.index()]).cloned().unwrap_or_default()
    }

    fn joined(&self, a: EndpointId, b: EndpointId) -> bool {
        self.label[a.index()] == self.label[b.index()]
    }
}

/// A label a connected part, by switch; hosts join nothing, because they do not forward.
fn label_switches(fabric: &Fabric) -> Vec<usize> {
    let mut label = vec![usize::MAX; fabric.switches().len()];
    for start in fabric.switches() {
        let mut frontier: Vec<NodeId> = vec![start];
        while let Some(node) = frontier.pop() {
            if label[node.index()] == usize::MAX {
                label[node.index()] = start.index();
                let next = fabric.channels_from(node).map(|channel| fabric.target(channel).node);
                frontier.extend(next.filter(|node| fabric.node(*node).is_switch()));
            }
        }
    }
    label
}
