//! Number of outputs available to adaptively routed packets.

use crate::routing::paths::TableRoutes;
use crate::{EndpointId, Fabric};
use std::collections::BTreeMap;

/// Number of outputs for packets to hosts on other switches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Choice {
    /// Mean over all pairs of a switch and a reachable host on another switch; `None` without
    /// pairs.
    pub mean_outputs: Option<f64>,
    /// Largest number of outputs at any switch.
    pub max_outputs: usize,
}

impl Choice {
    /// Counts the outputs in the tables; only adaptive tables offer several outputs to a packet.
    pub fn new(fabric: &Fabric, tables: &TableRoutes) -> Self {
        // Paths to the hosts on one switch differ only in their last channel.
        let mut hosts: BTreeMap<_, (EndpointId, usize)> = BTreeMap::new();
        for host in fabric.endpoint_ids().filter(|of| fabric.is_host_endpoint(*of)) {
            let end = fabric.target(fabric.endpoint_channel(host)).node;
            hosts.entry(end).or_insert((host, 0)).1 += 1;
        }
        let (mut sum, mut cases, mut max_outputs) = (0, 0, 0);
        for (end, (to, count)) in hosts {
            for switch in fabric.switches().filter(|switch| *switch != end) {
                let outputs = tables.onward(fabric, switch, to).count();
                sum += outputs * count;
                cases += if outputs > 0 { count } else { 0 };
                max_outputs = max_outputs.max(outputs);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "statistics need few digits")]
        let mean_outputs = (cases > 0).then(|| sum as f64 / cases as f64);
        Self { mean_outputs, max_outputs }
    }
}
