//! Table of messages: a sample, or all delivered messages.

use gingham_net::{Conformance, Delivery, Plan};
use gingham_results::{Builder, Table};

#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) classes: Vec<String>,
    pub(crate) endpoints: Vec<String>,
}

impl Names {
    pub(crate) fn of(plan: &Plan) -> Self {
        let endpoint_name = |endpoint| plan.fabric.endpoint_name(endpoint);
        Self {
            classes: plan.classes.iter().map(|class| class.name.clone()).collect(),
            endpoints: plan.fabric.endpoint_ids().map(endpoint_name).collect(),
        }
    }
}

const POLICING: [&str; 3] = ["conforming", "delayed", "demoted"];

fn policing(delivery: &Delivery) -> usize {
    match delivery.conformance {
        Conformance::Conforming => 0,
        Conformance::Delayed => 1,
        Conformance::Demoted => 2,
        Conformance::Dropped => unreachable!("a dropped message is not delivered"),
    }
}

pub(crate) fn table(names: &Names, rows: &[Delivery]) -> Table {
    let Names { classes, endpoints } = names.clone();
    Builder::new(rows)
        .integers(
            ("message", ""),
            "number among the messages of its source, in order of creation",
            |d| d.message.number.index() as u64,
        )
        .words("class", "traffic class", classes, |d| d.message.class.index())
        .words("source", "sending host", endpoints.clone(), |d| d.message.source.index())
        .words("destination", "receiving host", endpoints, |d| d.message.destination.index())
        .integers(("payload_bytes", "B"), "payload", |d| u64::from(d.message.payload_bytes))
        .integers(("packets", "packets"), "packets that carried it", |d| u64::from(d.packets))
        .integers(("switches", "switches"), "switches traversed", |d| u64::from(d.hops))
        .integers(("in_transit_hosts", "hosts"), "in-transit hosts that forwarded it", |d| {
            u64::from(d.in_transit_hosts)
        })
        .words("policing", "what policing did to it", POLICING.map(str::to_owned).into(), policing)
        .integers(("created_ps", "ps"), "created at its source", |d| d.message.created.as_ps())
        .integers(
            ("posted_ps", "ps"),
            "accepted by its channel adapter; its creation without adapters",
            |d| d.posted.as_ps(),
        )
        .integers(
            ("entered_ps", "ps"),
            "first flit of its first packet starts on the host's cable",
            |d| d.entered.as_ps(),
        )
        .integers(
            ("head_arrived_ps", "ps"),
            "first flit of its last packet has arrived whole",
            |d| d.head_arrived.as_ps(),
        )
        .integers(("delivered_ps", "ps"), "last flit has arrived whole", |d| d.delivered.as_ps())
        .integers(("latency_ps", "ps"), "creation to delivery", |d| d.latency().as_ps())
        .integers(("network_latency_ps", "ps"), "entry to delivery", |d| {
            d.network_latency().as_ps()
        })
        .integers(("head_latency_ps", "ps"), "entry to the head's arrival", |d| {
            d.head_latency().as_ps()
        })
        .build("messages", "one row per message, of the sample or of all (`measure.messages`)")
}
