//! Writer of forwarding tables in the format of `opensm-lfts.dump`, which OpenSM loads with
//! `-R file -U FILE`.
//!
//! The output equals OpenSM's dumps byte for byte. OpenSM identifies a destination by its port
//! GUID, or by its LID if the GUID is unknown.
//!
//! Source: OpenSM, `osm_dump.c`, `osm_ucast_file.c`.

use super::lids::{LidOwner, Lids, port_guid};
use super::line::on_one_line;
use crate::format::WriteError;
use crate::routing::{Routes, SwitchTables, TableRoutes};
use crate::{Fabric, Guid, NodeId, NodeKind};
use std::fmt::Write as _;

/// Writes the tables of all switches for all LIDs. `routes` must be table routes, one for each LID
/// offset.
pub fn write(
    fabric: &Fabric,
    lids: &Lids,
    routes: &[Routes],
    to_switches: &SwitchTables,
) -> Result<String, WriteError> {
    let tables: Vec<&TableRoutes> = routes.iter().map(tables_of).collect::<Result<_, _>>()?;
    let mut switches: Vec<(Guid, NodeId)> = fabric
        .switches()
        .map(|switch| Ok((guid(fabric, switch)?, switch)))
        .collect::<Result<_, WriteError>>()?;
    switches.sort_unstable();
    let destinations: Vec<(u16, LidOwner, String)> =
        lids.all().map(|(lid, owner)| (lid, owner, remark(fabric, owner))).collect();
    let last = destinations.last().map_or(0, |(lid, ..)| *lid);
    let mut text = String::new();
    for (guid, switch) in switches {
        let own = lids.of_switch(switch).unwrap_or(0);
        let name = on_one_line(&fabric.node(switch).description);
        let heading =
            format!("Unicast lids [0-{last}] of switch Lid {own} guid 0x{guid} ('{name}'):");
        text.push_str(&heading);
        text.push('\n');
        for (lid, owner, remark) in &destinations {
            if let Some(port) = port(&tables, to_switches, switch, *owner) {
                writeln!(text, "0x{lid:04x} {port:03} # {remark}").expect("a string takes text");
            }
        }
        writeln!(text, "{last} lids dumped").expect("a string takes text");
    }
    Ok(text)
}

fn tables_of(routes: &Routes) -> Result<&TableRoutes, WriteError> {
    match routes {
        Routes::Table(tables) => Ok(tables),
        Routes::Source(_) => Err(WriteError {
            message: "source routes are not forwarding tables".to_owned(),
            expected: "route in the form \"table\"".to_owned(),
        }),
    }
}

fn guid(fabric: &Fabric, switch: NodeId) -> Result<Guid, WriteError> {
    let node = fabric.node(switch);
    node.guid.ok_or_else(|| WriteError {
        message: format!("switch {} has no GUID, so OpenSM could not identify it", node.name),
        expected: "give it one in the fabric file".to_owned(),
    })
}

fn port(
    tables: &[&TableRoutes],
    to_switches: &SwitchTables,
    switch: NodeId,
    owner: LidOwner,
) -> Option<u16> {
    match owner {
        LidOwner::Switch(to) if to == switch => Some(0),
        LidOwner::Switch(to) => to_switches.port(switch, to),
        LidOwner::Endpoint { endpoint, lid_offset } => {
            tables[usize::from(lid_offset) % tables.len()].port(switch, endpoint)
        }
    }
}

/// Returns a remark such as `Channel Adapter portguid 0x0000400000000001: 'h0'`.
fn remark(fabric: &Fabric, owner: LidOwner) -> String {
    let node = match owner {
        LidOwner::Endpoint { endpoint, .. } => fabric.endpoint(endpoint).node,
        LidOwner::Switch(switch) => switch,
    };
    let node = fabric.node(node);
    let kind = match node.kind {
        NodeKind::Switch => "Switch",
        NodeKind::Host | NodeKind::Aggregation | NodeKind::Port0 => "Channel Adapter",
        NodeKind::Router => "Router",
    };
    let guid =
        port_guid(fabric, owner).map_or_else(String::new, |guid| format!(" portguid 0x{guid}"));
    format!("{kind}{guid}: '{}'", on_one_line(&node.description))
}
