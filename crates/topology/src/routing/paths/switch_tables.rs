//! Entries for the LIDs of switches themselves, which management packets use.
//!
//! They are kept apart from those for endpoints: no host's packet takes them, management has a
//! lane of its own (VL 15 or the lane of a management class), and nothing here enters the proof.

use super::graph::SwitchGraph;
use crate::routing::algorithms::choices::{Choices, State};
use crate::{Fabric, Finding, FindingKind, NodeId};

/// No entry; a switch reaches itself without one.
const NO_PORT: u16 = 0;

/// One output port per switch and destination switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchTables {
    switch_count: usize,
    /// By destination, then by switch.
    ports: Vec<u16>,
}

impl SwitchTables {
    /// Tables without entries.
    pub fn new(fabric: &Fabric) -> Self {
        let switch_count = fabric.switches().len();
        Self { switch_count, ports: vec![NO_PORT; switch_count * switch_count] }
    }

    /// The port by which `switch` forwards packets for the switch `to`, if it has an entry.
    pub fn port(&self, switch: NodeId, to: NodeId) -> Option<u16> {
        let port = self.ports[to.index() * self.switch_count + switch.index()];
        (port != NO_PORT).then_some(port)
    }

    /// Writes or removes an entry. Port 0 is the switch itself and counts as none.
    pub fn set_port(&mut self, switch: NodeId, to: NodeId, port: Option<u16>) {
        self.ports[to.index() * self.switch_count + switch.index()] = port.unwrap_or(NO_PORT);
    }

    /// Entries by an algorithm's choices in the table form; of equally long ways, those to different
    /// switches take different ones in turn.
    pub(crate) fn by_choices(
        fabric: &Fabric,
        graph: &SwitchGraph,
        toward: &dyn Fn(NodeId) -> Choices,
    ) -> Self {
        let mut tables = Self::new(fabric);
        for to in graph.switches() {
            let choices = toward(to);
            for switch in graph.switches() {
                let onward = choices.from(State::new(switch.index()));
                if !onward.is_empty() {
                    let choice = onward[to.index() % onward.len()];
                    let port = fabric.source(choice.channel).port;
                    tables.set_port(switch, to, Some(port));
                }
            }
        }
        tables
    }

    /// One finding a destination switch that some others do not reach, though cables join them.
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
                findings.push(Finding { line: None, kind: FindingKind::UnreachedSwitch, text });
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
