//! Ends of switches: a probe that diverts packets, and its notifications.

use super::start;
use gingham_net::{Noted, Plan, ProbePlan};
use gingham_topology::routing::{Algorithm, Form, UpDown, route};
use gingham_topology::{EndpointId, Fabric};
use std::sync::Arc;

/// Plan with ends of switches, and paths from all of them. A control packet of one byte answers
/// each packet that arrives at a host, unless the end of a switch sent it; every `divert_every`-th
/// control packet read by switches is diverted.
pub(crate) fn with_ends(mut plan: Plan, divert_every: u64) -> Plan {
    let fabric = plan.fabric.clone().with_ports_0();
    let algorithm = Algorithm::UpDown(UpDown::default());
    plan.routing.paths = vec![route(&fabric, &algorithm, Form::Source).unwrap()];
    plan.probe =
        Some(ProbePlan { control_every: 1, control_bytes: 1, divert_every, weigh_every: 0 });
    plan.with_ports_0()
}

pub(crate) struct Recording {
    fabric: Fabric,
    noted: Vec<Noted>,
}

impl Recording {
    pub(crate) fn of(plan: Plan) -> Self {
        let fabric = plan.fabric.clone();
        let mut simulation = start(Arc::new(plan));
        while simulation.endpoints().is_running() {
            simulation.advance(1);
            simulation.assert_invariants();
        }
        Self { fabric, noted: simulation.endpoints().noted().to_vec() }
    }

    fn all(&self, what: &str) -> impl Iterator<Item = &Noted> {
        self.noted.iter().filter(move |noted| noted.what == what)
    }

    /// Time and place of the complete arrival of every packet.
    pub(crate) fn received(&self) -> Vec<(u64, String)> {
        let name = |noted: &Noted| self.fabric.endpoint_name(EndpointId::new(noted.place));
        self.all("received").map(|noted| (noted.time.as_ps(), name(noted))).collect()
    }

    pub(crate) fn began(&self, name: &str) -> Vec<u64> {
        let is_there =
            |noted: &&Noted| self.fabric.endpoint_name(EndpointId::new(noted.place)) == name;
        self.all("began").filter(is_there).map(|noted| noted.time.as_ps()).collect()
    }

    /// Times at which a switch read packets of an endpoint.
    pub(crate) fn read(&self, switch: &str, source: &str) -> Vec<u64> {
        let is_there = |noted: &&Noted| {
            let channel = gingham_topology::ChannelId::new(noted.place);
            let packet = noted.packet.unwrap();
            self.fabric.node(self.fabric.target(channel).node).name == switch
                && self.fabric.endpoint_name(packet.source) == source
        };
        self.all("read").filter(is_there).map(|noted| noted.time.as_ps()).collect()
    }
}
