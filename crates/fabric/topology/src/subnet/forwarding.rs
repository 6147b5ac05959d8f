//! Routes from forwarding tables, joined with their fabric.
//!
//! ```text
//!   table of s0:  LID 4 -> port 7     Lids: LID 4 is h3's path 0     routes[0]: s0, h3 -> 7
//!                 LID 5 -> port 8           LID 5 is h3's path 1     routes[1]: s0, h3 -> 8
//!                 LID 8 -> port 9           LID 8 is switch s1       to_switches:     s0, s1 -> 9
//! ```
//!
//! Contradictions between tables and fabric are errors. Entries for LIDs without an owner are only
//! findings, because they remain after the removal of a host.

use super::lids::{LidOwner, Lids, name, port_guid};
use super::line::on_one_line;
use super::tables::{ForwardingEntry, SwitchTable, TableDump};
use crate::format::{FaultCode, FormatError};
use crate::routing::{Routes, SwitchTables, TableRoutes, islands};
use crate::{Fabric, Finding, FindingKind, Guid, NodeId};
use std::collections::BTreeMap;

const NAMES_MAX: usize = 3;

const SAME_TIME: &str = "take the tables and the ibnetdiscover dump of one subnet together";

/// Routes from forwarding tables joined with their fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForwardingTables {
    /// Routes for each LID offset; the routes of endpoints with fewer LIDs are repeated.
    pub routes: Vec<Routes>,
    /// Routes to switches.
    pub to_switches: SwitchTables,
    /// Findings about the tables.
    pub findings: Vec<Finding>,
}

/// Joins forwarding tables with their fabric.
pub fn join(
    fabric: &Fabric,
    lids: &Lids,
    dump: &TableDump<'_>,
) -> Result<ForwardingTables, FormatError> {
    let mut joiner = TableJoiner::new(fabric, lids);
    for table in &dump.tables {
        joiner.add(table)?;
    }
    joiner.refuse_missing()?;
    Ok(joiner.finish())
}

struct TableJoiner<'a> {
    fabric: &'a Fabric,
    lids: &'a Lids,
    switches: BTreeMap<Guid, NodeId>,
    lines: Vec<Option<u32>>,
    tables: Vec<TableRoutes>,
    to_switches: SwitchTables,
    unknown: BTreeMap<u16, (u32, u32)>,
    findings: Vec<Finding>,
}

impl<'a> TableJoiner<'a> {
    fn new(fabric: &'a Fabric, lids: &'a Lids) -> Self {
        let guid = |switch| fabric.node(switch).guid.map(|guid| (guid, switch));
        Self {
            fabric,
            lids,
            switches: fabric.switches().filter_map(guid).collect(),
            lines: vec![None; fabric.switches().len()],
            tables: (0..lids.lid_offsets()).map(|_| TableRoutes::new(fabric)).collect(),
            to_switches: SwitchTables::new(fabric),
            unknown: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

    fn add(&mut self, table: &SwitchTable<'_>) -> Result<(), FormatError> {
        let switch = self.switches.get(&table.guid).copied().ok_or_else(|| {
            let message = format!("the topology has no switch with GUID 0x{}", table.guid);
            FormatError::at(table.line, None, message, SAME_TIME).coded(FaultCode::Contradiction)
        })?;
        if let Some(first) = self.lines[switch.index()] {
            let name = &self.fabric.node(switch).name;
            let text = format!("a second table of {name}; the one of line {first} is kept");
            self.find(table.line, FindingKind::Ignored, text);
            return Ok(());
        }
        self.lines[switch.index()] = Some(table.line);
        let mut seen: BTreeMap<u16, Option<u8>> = BTreeMap::new();
        for entry in &table.entries {
            self.check(switch, entry)?;
            match seen.get(&entry.lid) {
                Some(port) if *port == entry.port => {}
                Some(port) => self.find_repeated(switch, entry, *port),
                None => {
                    seen.insert(entry.lid, entry.port);
                    self.set(switch, entry);
                }
            }
        }
        Ok(())
    }

    fn check(&self, switch: NodeId, entry: &ForwardingEntry<'_>) -> Result<(), FormatError> {
        let node = self.fabric.node(switch);
        if let Some(port) = entry.port.filter(|port| u16::from(*port) > node.ports) {
            let message = format!("switch {} has ports 0 to {}, not {port}", node.name, node.ports);
            let error = FormatError::at(entry.line, None, message, SAME_TIME);
            return Err(error.coded(FaultCode::Contradiction));
        }
        let Some(owner) = self.lids.owner(entry.lid) else { return Ok(()) };
        let known = port_guid(self.fabric, owner);
        if let (Some(listed), Some(known)) = (entry.port_guid, known)
            && listed != known
        {
            let name = name(self.fabric, owner);
            let message = format!(
                "LID {} belongs to port GUID 0x{listed} here, and to {name} (0x{known}) in the topology",
                entry.lid
            );
            let error = FormatError::at(entry.line, None, message, SAME_TIME);
            return Err(error.coded(FaultCode::Contradiction));
        }
        self.check_made_up(entry, owner)
    }

    /// Checks destination names if [`Lids::of`] assigned the LIDs, which may differ from those in
    /// the tables.
    fn check_made_up(
        &self,
        entry: &ForwardingEntry<'_>,
        owner: LidOwner,
    ) -> Result<(), FormatError> {
        let node = match owner {
            LidOwner::Endpoint { endpoint, .. } => self.fabric.endpoint(endpoint).node,
            LidOwner::Switch(switch) => switch,
        };
        let description = &self.fabric.node(node).description;
        let is_named = || entry.name.map(on_one_line) == Some(on_one_line(description));
        if !self.lids.is_made_up() || is_named() {
            return Ok(());
        }
        Err(FormatError::at(
            entry.line,
            None,
            format!(
                "the topology has no LIDs, and nothing else identifies the owner of LID {}",
                entry.lid
            ),
            "give the output of `ibnetdiscover` from the subnet that these tables run in",
        )
        .coded(FaultCode::Contradiction))
    }

    fn set(&mut self, switch: NodeId, entry: &ForwardingEntry<'_>) {
        let port = entry.port.map(u16::from);
        match self.lids.owner(entry.lid) {
            Some(LidOwner::Switch(to)) => self.to_switches.set_port(switch, to, port),
            Some(LidOwner::Endpoint { endpoint, lid_offset }) => {
                let own = usize::from(self.lids.count_of(endpoint));
                let sets = self.tables.iter_mut().skip(lid_offset.into()).step_by(own);
                sets.for_each(|tables| tables.set_port(switch, endpoint, port));
            }
            None if port.is_some() => {
                self.unknown.entry(entry.lid).or_insert((entry.line, 0)).1 += 1;
            }
            None => {}
        }
    }

    fn find(&mut self, line: u32, kind: FindingKind, text: String) {
        self.findings.push(Finding { line: Some(line), kind, text });
    }

    fn find_repeated(&mut self, switch: NodeId, entry: &ForwardingEntry<'_>, kept: Option<u8>) {
        let shown = |port: Option<u8>| port.map_or("none".to_owned(), |port| port.to_string());
        let text = format!(
            "{} has a second entry for LID {}, port {}; the first, port {}, is kept",
            self.fabric.node(switch).name,
            entry.lid,
            shown(entry.port),
            shown(kept)
        );
        self.find(entry.line, FindingKind::Disagreement, text);
    }

    fn refuse_missing(&self) -> Result<(), FormatError> {
        let missing: Vec<&str> = self
            .fabric
            .switches()
            .filter(|switch| self.lines[switch.index()].is_none())
            .map(|switch| self.fabric.node(switch).name.as_str())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!(
            "this is the last table, and {} of the topology's {} switches have none: {}",
            missing.len(),
            self.lines.len(),
            listed(&missing)
        );
        let last = self.lines.iter().flatten().max().copied().unwrap_or(1);
        let error =
            FormatError::at(last, None, message, format!("if the text is whole, {SAME_TIME}"));
        Err(error.coded(FaultCode::Truncated))
    }

    fn finish(mut self) -> ForwardingTables {
        for (lid, (line, entries)) in std::mem::take(&mut self.unknown) {
            let noun = if entries == 1 { "switch has an entry" } else { "switches have entries" };
            let text = format!("{entries} {noun} for LID {lid}, which no port of the topology has");
            self.find(line, FindingKind::UnknownLid, text);
        }
        self.find_endpoints_without_lid();
        self.findings.sort();
        self.findings.extend(self.to_switches.check(self.fabric, &islands(self.fabric)));
        ForwardingTables {
            routes: self.tables.into_iter().map(Routes::Table).collect(),
            to_switches: self.to_switches,
            findings: self.findings,
        }
    }

    fn find_endpoints_without_lid(&mut self) {
        let without = |endpoint: &crate::EndpointId| self.lids.count_of(*endpoint) == 0;
        let names: Vec<String> = self
            .fabric
            .endpoint_ids()
            .filter(without)
            .map(|endpoint| self.fabric.endpoint_name(endpoint))
            .collect();
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let text = format!("no LID for {} endpoints: {}", names.len(), listed(&names));
            self.findings.push(Finding::of_fabric(FindingKind::UnknownLid, text));
        }
    }
}

/// Returns a list such as `a, b, c and 7 more`.
pub(super) fn listed(names: &[&str]) -> String {
    let shown = names[..names.len().min(NAMES_MAX)].join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
