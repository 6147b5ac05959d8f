//! Ends of switches: a probe that diverts, and what it was told.

use super::start;
use gingham_net::{Noted, Plan, ProbePlan};
use gingham_topology::routing::{Algorithm, Form, UpDown, route};
use gingham_topology::{EndpointId, Fabric};
use std::sync::Arc;

/// The plan whose switches have ends, from all of which paths lead. Each packet that comes to a host
/// is followed by a control packet of one byte the other way, unless the end of a switch sent it; of
/// the control packets that switches read, every so-manieth is diverted.
pub(crate) fn with_ends(mut plan: Plan, divert_every: u64) -> Plan {
    let fabric = plan.fabric.clone().with_ports_0();
    let algorithm = Algorithm::UpDown(UpDown::default());
    plan.path_sets = vec![route(&fabric, &algorithm, Form::Source).unwrap()];
    plan.probe =
        Some(ProbePlan { control_every: 1, control_bytes: 1, divert_every, weigh_every: 0 });
    plan.with_ports_0()
}

/// What a probe was told of a run.
pub(crate) struct Heard {
    fabric: Fabric,
    noted: Vec<Noted>,
}

impl Heard {
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

    /// Of every packet: when it had arrived whole, and where.
    pub(crate) fn received(&self) -> Vec<(u64, String)> {
        let name = |noted: &Noted| self.fabric.endpoint_name(EndpointId::new(noted.place));
        self.all("received").map(|noted| (noted.time.as_ps(), name(noted))).collect()
    }

    /// When packets of an endpoint began.
    pub(crate) fn began(&self, name: &str) -> Vec<u64> {
        let is_there =
            |noted: &&Noted| self.fabric.endpoint_name(EndpointId::new(noted.place)) == name;
        self.all("began").filter(is_there).map(|noted| noted.time.as_ps()).collect()
    }

    /// When a switch read packets that an endpoint sent.
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
