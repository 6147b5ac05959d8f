//! Size checks and numbered drafts shared by all generators.
//!
//! Invariant: a port gets at most one cable.

use super::GenerateError;
use crate::numbering::{host_guid, switch_guid};
use crate::{DraftNode, Fabric, FabricBuilder, NodeKind};

const NODES_MAX: u128 = 1_000_000;

/// Maximum number of ports on all switches, which bounds cables and tables.
const SWITCH_PORTS_MAX: u128 = 10_000_000;

const PORTS_PER_SWITCH_MAX: u128 = 65_535;

/// Size of a fabric; 128 bits hold the product of four 32-bit numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) switches: u128,
    pub(super) hosts: u128,
    pub(super) ports_per_switch: u128,
}

impl Size {
    pub(super) fn check(
        self,
        parameter: &'static str,
        value: &dyn std::fmt::Debug,
    ) -> Result<(), GenerateError> {
        let nodes = self.switches.saturating_add(self.hosts);
        let switch_ports = self.switches.saturating_mul(self.ports_per_switch);
        let limits = [
            ("nodes", nodes, NODES_MAX),
            ("ports on one switch", self.ports_per_switch, PORTS_PER_SWITCH_MAX),
            ("ports on all switches", switch_ports, SWITCH_PORTS_MAX),
        ];
        match limits.into_iter().find(|(_, count, count_max)| count > count_max) {
            None => Ok(()),
            Some((what, count, count_max)) => Err(GenerateError::TooLarge {
                parameter,
                value: format!("{value:?}"),
                count,
                what,
                count_max,
            }),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Draft {
    builder: FabricBuilder,
    switch_count: u64,
    host_count: u64,
}

impl Draft {
    pub(super) fn switch(&mut self, name: &str, ports: u32) -> DraftNode {
        let guid = switch_guid(self.switch_count);
        self.switch_count += 1;
        self.builder.add_plain(NodeKind::Switch, name, guid, port_number(ports))
    }

    pub(super) fn host(&mut self, name: &str) -> DraftNode {
        let guid = host_guid(self.host_count);
        self.host_count += 1;
        self.builder.add_plain(NodeKind::Host, name, guid, 1)
    }

    pub(super) fn adapter(&mut self, node: &str, rail: u32) -> DraftNode {
        self.host(&format!("{node} mlx5_{rail}"))
    }

    /// Adds hosts on ports `1` to `count`, named after the switch's `coordinates` and the host's
    /// index on the switch.
    pub(super) fn hosts_at(&mut self, switch: DraftNode, coordinates: &str, count: u32) {
        for place in 0..count {
            let host = self.host(&format!("h{coordinates}-{place}"));
            self.cable((switch, place + 1), (host, 1));
        }
    }

    /// Adds hosts on ports `1` to `count`, numbered consecutively across switches.
    pub(super) fn numbered_hosts(&mut self, switch: DraftNode, count: u32) {
        for place in 0..count {
            let host = self.host(&format!("h{}", self.host_count));
            self.cable((switch, place + 1), (host, 1));
        }
    }

    pub(super) fn cable(&mut self, a: (DraftNode, u32), b: (DraftNode, u32)) {
        let ends = [a, b].map(|(node, port)| (node, port_number(port)));
        self.builder
            .add_cable(ends, None, None)
            .expect("a generator gives each of its ports one cable");
    }

    pub(super) fn build(self) -> Fabric {
        self.builder.build()
    }
}

fn port_number(port: u32) -> u16 {
    u16::try_from(port).expect("the size of a switch was checked")
}
