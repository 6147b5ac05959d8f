//! Table entries for the LIDs of switches themselves, used by management packets.
//!
//! The deadlock proof excludes management packets, which have their own lane (VL 15, or the lane of
//! a management class).

use crate::{Fabric, Finding, FindingKind, NodeId};

/// Marker for a missing entry; a switch needs no entry for itself.
const NO_PORT: u16 = 0;

/// One output port per switch and destination switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchTables {
    switch_count: usize,
    /// Output ports, by destination switch and then by current switch.
    ports: Vec<u16>,
}

impl SwitchTables {
    /// Creates tables without entries.
    pub fn new(fabric: &Fabric) -> Self {
        let switch_count = fabric.switches().len();
        Self { switch_count, ports: vec![NO_PORT; switch_count * switch_count] }
    }

    /// Returns the output port for packets to the switch `to`; `None` without an entry.
    pub fn port(&self, switch: NodeId, to: NodeId) -> Option<u16> {
        let port = self.ports[to.index() * self.switch_count + switch.index()];
        (port != NO_PORT).then_some(port)
    }

    /// Sets or removes an entry; port 0, the switch itself, removes it.
    pub fn set_port(&mut self, switch: NodeId, to: NodeId, port: Option<u16>) {
        self.ports[to.index() * self.switch_count + switch.index()] = port.unwrap_or(NO_PORT);
    }

    /// Reports destination switches that the tables do not reach from all switches of their
    /// connected component.
    pub(crate) fn check(&self, fabric: &Fabric, islands: &[NodeId]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for to in fabric.switches() {
            let joined = |from: &NodeId| islands[from.index()] == islands[to.index()];
            let mut astray =
                fabric.switches().filter(|from| joined(from) && !self.reaches(fabric, *from, to));
            if let Some(first) = astray.next() {
                let name = |node| &fabric.node(node).name;
                let text = format!(
                    "management packets for switch {} do not arrive from {} switches, such as {}",
                    name(to),
                    astray.count() + 1,
                    name(first)
                );
                findings.push(Finding::of_fabric(FindingKind::UnreachedSwitch, text));
            }
        }
        findings
    }

    fn reaches(&self, fabric: &Fabric, from: NodeId, to: NodeId) -> bool {
        let mut switch = from;
        for _ in 0..self.switch_count {
            if switch == to {
                return true;
            }
            let channel = self.port(switch, to).and_then(|port| fabric.outgoing(switch, port));
            let Some(channel) = channel else { return false };
            switch = fabric.target(channel).node;
            if !fabric.node(switch).is_switch() {
                return false;
            }
        }
        false
    }
}
