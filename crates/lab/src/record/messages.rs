//! One row a message of the sample.

use super::table::{Builder, Table};
use crate::run::Simulation;

/// The table of messages: those created in the window and delivered, or a uniform sample of them.
pub(super) fn table(simulation: &Simulation) -> Table {
    let plan = simulation.plan();
    let rows = simulation.ledger().records().sorted();
    let classes: Vec<String> = plan.classes.iter().map(|class| class.name.clone()).collect();
    let endpoints: Vec<String> =
        plan.fabric.endpoint_ids().map(|endpoint| plan.fabric.endpoint_name(endpoint)).collect();
    Builder::new(&rows)
        .integers("message", "running number in order of creation", |d| d.message.id.index() as u64)
        .words("class", "traffic class", classes, |d| d.message.class.index())
        .words("source", "sending host", endpoints.clone(), |d| d.message.source.index())
        .words("destination", "receiving host", endpoints, |d| d.message.destination.index())
        .integers("payload_bytes", "payload", |d| u64::from(d.message.payload_bytes))
        .integers("switches", "switches traversed", |d| u64::from(d.hops))
        .integers("created_ps", "created at its source", |d| d.message.created.as_ps())
        .integers("entered_ps", "first flit starts on the host's cable", |d| d.entered.as_ps())
        .integers("head_arrived_ps", "first flit has arrived whole", |d| d.head_arrived.as_ps())
        .integers("delivered_ps", "last flit has arrived whole", |d| d.delivered.as_ps())
        .integers("latency_ps", "creation to delivery", |d| d.latency().as_ps())
        .integers("network_latency_ps", "entry to delivery", |d| d.network_latency().as_ps())
        .build("messages")
}
