//! Service levels of pairs as text, and their join with the fabric.
//!
//! ```text
//!   source_lid,destination_lid,sl        our own table; decimal or hexadecimal (0x) numbers
//!   4,9,1
//!   2,9,0                                LID 2 is a switch: applies to its endpoints
//!
//!   PathRecord dump:                     saquery -p
//!       dlid....................9
//!       slid....................4
//!       sl......................0x1
//! ```
//!
//! Routing engines select levels by pair of switches, or by switch and destination, so rows may
//! contain a switch's LID. Rows with endpoints override rows with switches, first by source, then
//! by destination.
//!
//! Source: infiniband-diags, `saquery.c`.

use super::lids::{LidOwner, Lids};
use super::line::{Line, lines, number, refuse_cut, truncated};
use crate::format::{FaultCode, FormatError};
use crate::routing::{LEVELS, ServiceLevels, switch_of};
use crate::{EndpointId, Fabric, Finding, FindingKind, NodeId};

const EXPECTED: &str = "expected a table that begins with `source_lid,destination_lid,sl`, or the \
                        output of `saquery -p`";

const SAME_TIME: &str = "take the levels and the ibnetdiscover dump of one subnet together";

/// First line of the CSV table.
pub const HEADING: &str = "source_lid,destination_lid,sl";

/// Service levels read from text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LevelDump {
    /// Rows in input order.
    pub rows: Vec<LevelRow>,
}

/// Service level of a pair of LIDs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelRow {
    /// Line number.
    pub line: u32,
    /// LID of the source.
    pub source: u16,
    /// LID of the destination.
    pub destination: u16,
    /// Service level, below 16.
    pub level: u8,
}

impl LevelDump {
    /// Reads either format.
    pub fn read(text: &str) -> Result<Self, FormatError> {
        refuse_cut(text, EXPECTED)?;
        let content = |line: &Line<'_>| !line.text.is_empty() && !line.text.starts_with('#');
        let first = lines(text).find(content);
        match first {
            Some(line) if line.text.replace(' ', "") == HEADING => table(text),
            _ if text.contains("PathRecord dump:") => path_records(text),
            Some(line) => Err(line.says("these are not service levels", EXPECTED)),
            None => Err(nothing()),
        }
    }
}

fn nothing() -> FormatError {
    FormatError::whole("the file has no service level", EXPECTED).coded(FaultCode::Nothing)
}

fn table(text: &str) -> Result<LevelDump, FormatError> {
    let content = |line: &Line<'_>| !line.text.is_empty() && !line.text.starts_with('#');
    let rows = lines(text).filter(content).skip(1).map(row).collect::<Result<Vec<_>, _>>()?;
    if rows.is_empty() {
        return Err(nothing());
    }
    Ok(LevelDump { rows })
}

fn row(line: Line<'_>) -> Result<LevelRow, FormatError> {
    let numbers: Option<Vec<u64>> = line.text.split(',').map(|cell| number(cell.trim())).collect();
    match numbers.as_deref() {
        Some(&[source, destination, level]) => level_row(line, source, destination, level),
        _ => Err(line.error("two LIDs and an SL, such as 4,9,1")),
    }
}

fn level_row(
    line: Line<'_>,
    source: u64,
    destination: u64,
    level: u64,
) -> Result<LevelRow, FormatError> {
    let lid = |lid| u16::try_from(lid).map_err(|_| line.error("LIDs up to 65535"));
    let level = u8::try_from(level).ok().filter(|level| usize::from(*level) < LEVELS);
    Ok(LevelRow {
        line: line.number,
        source: lid(source)?,
        destination: lid(destination)?,
        level: level.ok_or_else(|| line.error("an SL from 0 to 15"))?,
    })
}

/// Partial `saquery` record: its first line, then `slid`, `dlid` and `sl`.
type LevelRecord<'a> = (Line<'a>, [Option<u64>; 3]);

fn path_records(text: &str) -> Result<LevelDump, FormatError> {
    let mut dump = LevelDump::default();
    let mut open: Option<LevelRecord<'_>> = None;
    for line in lines(text) {
        let content = line.text.trim_start();
        if content == "PathRecord dump:" {
            dump.rows.extend(open.take().map(close).transpose()?);
            open = Some((line, [None; 3]));
        } else if let (Some((_, values)), Some((key, value))) =
            (&mut open, content.split_once(".."))
        {
            let place = ["slid", "dlid", "sl"].iter().position(|name| *name == key);
            if let Some(place) = place {
                let value = number(value.trim_start_matches('.'));
                values[place] = Some(value.ok_or_else(|| line.error("a number"))?);
            }
        }
    }
    dump.rows.extend(open.take().map(close).transpose()?);
    Ok(dump)
}

fn close((line, values): LevelRecord<'_>) -> Result<LevelRow, FormatError> {
    match values {
        [Some(source), Some(destination), Some(level)] if source > 0 && destination > 0 => {
            level_row(line, source, destination, level)
        }
        _ => Err(truncated(line.number, "this record lacks its LIDs or its SL")),
    }
}

/// Joins the levels with the fabric, with level 0 for pairs without a row; missing and
/// contradictory rows are findings.
pub fn join_levels(
    fabric: &Fabric,
    lids: &Lids,
    dump: &LevelDump,
) -> Result<(ServiceLevels, Vec<Finding>), FormatError> {
    let mut tables = Tables::new(fabric, lids);
    let mut findings = Vec::new();
    for row in &dump.rows {
        findings.extend(tables.add(lids, row)?);
    }
    let mut missing = None;
    let mut missing_count = 0_u64;
    let levels = ServiceLevels::by_pair(fabric, lids.lid_offsets(), |from, to, lid_offset| {
        let level = tables.level(from, to, lid_offset);
        if level.is_none() && matters(fabric, &tables, from, to) {
            missing_count += 1;
            missing.get_or_insert((from, to));
        }
        level.unwrap_or(0)
    });
    findings.extend(missing.map(|(from, to)| {
        let names = [from, to].map(|endpoint| fabric.endpoint_name(endpoint));
        let text = format!(
            "no SL for {missing_count} pairs of hosts, such as {} to {}; they are taken to send on \
             SL 0",
            names[0], names[1]
        );
        Finding::of_fabric(FindingKind::MissingLane, text)
    }));
    Ok((levels, findings))
}

/// Returns whether packets of a pair use channels between switches.
fn matters(fabric: &Fabric, tables: &Tables, from: EndpointId, to: EndpointId) -> bool {
    let [here, there] = [from, to].map(|endpoint| tables.switch_of[endpoint.index()]);
    let are_hosts = [from, to].iter().all(|endpoint| fabric.is_host_endpoint(*endpoint));
    are_hosts && here.is_some() && there.is_some() && here != there
}

const NONE: u8 = u8::MAX;

struct Tables {
    endpoints: usize,
    switches: usize,
    lid_offsets: usize,
    switch_of: Vec<Option<NodeId>>,
    /// Levels ordered by source (endpoints, then switches) and destination (each LID of an
    /// endpoint, then switches).
    levels: Vec<u8>,
}

impl Tables {
    fn new(fabric: &Fabric, lids: &Lids) -> Self {
        let (endpoints, switches) = (fabric.endpoints().len(), fabric.switches().len());
        let lid_offsets = usize::from(lids.lid_offsets());
        let columns = endpoints * lid_offsets + switches;
        Self {
            endpoints,
            switches,
            lid_offsets,
            switch_of: fabric.endpoint_ids().map(|endpoint| switch_of(fabric, endpoint)).collect(),
            levels: vec![NONE; (endpoints + switches) * columns],
        }
    }

    fn add(&mut self, lids: &Lids, row: &LevelRow) -> Result<Option<Finding>, FormatError> {
        let owner = |lid| {
            lids.owner(lid).ok_or_else(|| {
                let message = format!("no port of the topology has LID {lid}");
                FormatError::at(row.line, None, message, SAME_TIME).coded(FaultCode::Contradiction)
            })
        };
        let source = match owner(row.source)? {
            LidOwner::Endpoint { endpoint, .. } => endpoint.index(),
            LidOwner::Switch(switch) => self.endpoints + switch.index(),
        };
        let destination = owner(row.destination)?;
        let repeats = match destination {
            LidOwner::Endpoint { endpoint, .. } => usize::from(lids.count_of(endpoint)),
            LidOwner::Switch(_) => self.lid_offsets,
        };
        let mut column = self.column(destination);
        let place = self.place(source, column);
        let kept = self.levels[place];
        if kept != NONE {
            return Ok((kept != row.level).then(|| said_twice(row, kept)));
        }
        // The levels of an endpoint with fewer LIDs are repeated.
        let last = self.last_column(destination);
        while column <= last {
            let place = self.place(source, column);
            self.levels[place] = row.level;
            column += repeats;
        }
        Ok(None)
    }

    fn column(&self, destination: LidOwner) -> usize {
        match destination {
            LidOwner::Endpoint { endpoint, lid_offset } => {
                endpoint.index() * self.lid_offsets + usize::from(lid_offset)
            }
            LidOwner::Switch(switch) => self.endpoints * self.lid_offsets + switch.index(),
        }
    }

    fn last_column(&self, destination: LidOwner) -> usize {
        match destination {
            LidOwner::Endpoint { endpoint, .. } => (endpoint.index() + 1) * self.lid_offsets - 1,
            LidOwner::Switch(_) => self.column(destination),
        }
    }

    fn place(&self, source: usize, column: usize) -> usize {
        source * (self.endpoints * self.lid_offsets + self.switches) + column
    }

    fn level(&self, from: EndpointId, to: EndpointId, lid_offset: u8) -> Option<u8> {
        let by_switch = |endpoint: EndpointId| self.switch_of[endpoint.index()];
        let sources = [Some(from.index()), by_switch(from).map(|s| self.endpoints + s.index())];
        let columns = [
            Some(self.column(LidOwner::Endpoint { endpoint: to, lid_offset })),
            by_switch(to).map(|switch| self.column(LidOwner::Switch(switch))),
        ];
        let rows = sources.into_iter().flatten();
        let mut rows = rows.flat_map(|row| columns.into_iter().flatten().map(move |c| (row, c)));
        rows.find_map(|(row, column)| {
            let level = self.levels[self.place(row, column)];
            (level != NONE).then_some(level)
        })
    }
}

fn said_twice(row: &LevelRow, kept: u8) -> Finding {
    let text = format!(
        "SL {} for LID {} to LID {}, which an earlier row gives SL {kept}; that is kept",
        row.level, row.source, row.destination
    );
    Finding { line: Some(row.line), kind: FindingKind::Disagreement, text }
}
