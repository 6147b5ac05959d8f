//! Join of SL-to-VL mapping tables with their fabric.

use super::conf::{PortKind, QosConf};
use super::forwarding::listed;
use super::lane_dump::{LaneDump, LaneTable, TableOwner};
use super::lids::{LidOwner, Lids};
use crate::format::{FaultCode, FormatError};
use crate::routing::LaneMap;
use crate::{EndpointId, Fabric, Finding, FindingKind, Guid, NodeId, NodeKind, PortRef};
use std::collections::{BTreeMap, BTreeSet};

const SAME_TIME: &str = "take the tables and the ibnetdiscover dump of one subnet together";

/// Joins the tables with the fabric. A missing table is a finding, and OpenSM's default replaces
/// it.
pub fn join_lanes(
    fabric: &Fabric,
    lids: &Lids,
    dump: &LaneDump,
) -> Result<(LaneMap, Vec<Finding>), FormatError> {
    match dump {
        LaneDump::Conf(conf) => Ok(by_conf(fabric, conf)),
        LaneDump::Tables(tables) => {
            let mut joiner = LaneJoiner::new(fabric, lids);
            for table in tables {
                joiner.add(table)?;
            }
            Ok(joiner.finish())
        }
    }
}

fn by_conf(fabric: &Fabric, conf: &QosConf) -> (LaneMap, Vec<Finding>) {
    let mut map = LaneMap::uniform(fabric, conf.lane_row(PortKind::SwitchOuter));
    for endpoint in fabric.endpoint_ids() {
        let is_router = fabric.node(fabric.endpoint(endpoint).node).kind == NodeKind::Router;
        let kind = if is_router { PortKind::Router } else { PortKind::Adapter };
        map.set_endpoint(endpoint, conf.lane_row(kind));
    }
    let text = "the file has `qos FALSE`: OpenSM then writes no tables, and ports keep theirs";
    let finding = Finding::of_fabric(FindingKind::MissingLane, text.to_owned());
    (map, if conf.is_enabled { Vec::new() } else { vec![finding] })
}

struct LaneJoiner<'a> {
    fabric: &'a Fabric,
    lids: &'a Lids,
    by_guid: BTreeMap<Guid, LidOwner>,
    map: LaneMap,
    listed: BTreeSet<(NodeId, u16, u16)>,
    listed_endpoints: BTreeSet<EndpointId>,
}

impl<'a> LaneJoiner<'a> {
    fn new(fabric: &'a Fabric, lids: &'a Lids) -> Self {
        Self {
            fabric,
            lids,
            by_guid: owners_by_guid(fabric),
            map: LaneMap::uniform(fabric, LaneMap::DEFAULT),
            listed: BTreeSet::new(),
            listed_endpoints: BTreeSet::new(),
        }
    }

    fn add(&mut self, table: &LaneTable) -> Result<(), FormatError> {
        let (owner, name) = match table.of {
            TableOwner::Guid(guid) => (self.by_guid.get(&guid).copied(), format!("GUID 0x{guid}")),
            TableOwner::Lid(lid) => (self.lids.owner(lid), format!("LID {lid}")),
        };
        let owner = owner.ok_or_else(|| {
            let message = format!("the topology has no switch and no adapter with {name}");
            FormatError::at(table.line, None, message, SAME_TIME).coded(FaultCode::Contradiction)
        })?;
        for entry in &table.rows {
            match owner {
                LidOwner::Endpoint { endpoint, .. } => {
                    self.map.set_endpoint(endpoint, entry.row);
                    self.listed_endpoints.insert(endpoint);
                }
                LidOwner::Switch(switch) => {
                    let ports = [u16::from(entry.input), u16::from(entry.output)];
                    self.refuse_port(switch, ports, entry.line)?;
                    self.map.set_switch(switch, ports[0], ports[1], entry.row);
                    self.listed.insert((switch, ports[0], ports[1]));
                }
            }
        }
        Ok(())
    }

    fn refuse_port(&self, switch: NodeId, ports: [u16; 2], line: u32) -> Result<(), FormatError> {
        let node = self.fabric.node(switch);
        match ports.into_iter().find(|port| *port > node.ports) {
            None => Ok(()),
            Some(port) => {
                let message =
                    format!("switch {} has ports 0 to {}, not {port}", node.name, node.ports);
                let error = FormatError::at(line, None, message, SAME_TIME);
                Err(error.coded(FaultCode::Contradiction))
            }
        }
    }

    fn finish(self) -> (LaneMap, Vec<Finding>) {
        let is_incomplete = |switch: &NodeId| {
            let ports = || {
                let channels = self.fabric.channels_from(*switch);
                channels.map(|channel| self.fabric.source(channel).port)
            };
            let listed = |input, output| self.listed.contains(&(*switch, input, output));
            ports().any(|input| ports().any(|output| input != output && !listed(input, output)))
        };
        let switches: Vec<&str> = self
            .fabric
            .switches()
            .filter(is_incomplete)
            .map(|switch| self.fabric.node(switch).name.as_str())
            .collect();
        let adapters: Vec<String> = self
            .fabric
            .endpoint_ids()
            .filter(|endpoint| !self.listed_endpoints.contains(endpoint))
            .map(|endpoint| self.fabric.endpoint_name(endpoint))
            .collect();
        let adapters: Vec<&str> = adapters.iter().map(String::as_str).collect();
        let findings = [("switches", switches), ("adapters", adapters)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(kind, names)| missing(kind, &names))
            .collect();
        (self.map, findings)
    }
}

fn missing(kind: &str, names: &[&str]) -> Finding {
    let text = format!(
        "no row from SL to lane for some ports of {} {kind} ({}); OpenSM's default stands in: \
         SL n on lane n, 15 on 7",
        names.len(),
        listed(names)
    );
    Finding::of_fabric(FindingKind::MissingLane, text)
}

/// Returns the owner of each GUID. The first endpoint of a node also owns the node's GUID.
fn owners_by_guid(fabric: &Fabric) -> BTreeMap<Guid, LidOwner> {
    let mut owners = BTreeMap::new();
    for endpoint in fabric.endpoint_ids() {
        let PortRef { node, port } = fabric.endpoint(endpoint);
        let owner = LidOwner::Endpoint { endpoint, lid_offset: 0 };
        if let Some(guid) = fabric.node(node).guid {
            owners.entry(guid).or_insert(owner);
        }
        if let Some(guid) = fabric.node(node).addresses.get(&port).and_then(|address| address.guid)
        {
            owners.insert(guid, owner);
        }
    }
    for switch in fabric.switches() {
        let node = fabric.node(switch);
        let of_port = node.addresses.get(&0).and_then(|address| address.guid);
        owners.extend(node.guid.into_iter().chain(of_port).map(|g| (g, LidOwner::Switch(switch))));
    }
    owners
}
