//! Forwarding tables in OpenSM's `opensm.fdbs`; `table_dump.rs` shows the format.
//!
//! Each table has a line for every LID from 1 to the highest, so a shorter table has been
//! truncated.
//!
//! Sources: OpenSM, `osm_dump.c`, `dump_ucast_routes`, and before release 3.2 `osm_ucast_mgr.c`;
//! ibutils, `ibdm/Fabric.cpp`, `parseFdbFile`.

use super::line::{Line, truncated};
use super::tables::{ForwardingEntry, TableDump, lid, port};
use crate::format::FormatError;

/// Recognises a table heading. `ibdiagnet` writes the function name of older releases of OpenSM,
/// `osm_ucast_mgr_dump_ucast_routes:`.
pub(super) fn is_heading(text: &str) -> bool {
    let is_name = |name: &str| name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase());
    text.split_once("dump_ucast_routes:").is_some_and(|(prefix, _)| is_name(prefix))
}

pub(super) fn entry(line: Line<'_>) -> Result<ForwardingEntry<'_>, FormatError> {
    let mut fields = line.text.split(':').map(str::trim);
    let lid = lid(line, fields.next())?;
    let port = match fields.next() {
        Some("UNREACHABLE") => None,
        field => port(line, field)?,
    };
    Ok(ForwardingEntry { line: line.number, lid, port, port_guid: None, name: None })
}

pub(super) fn refuse_short(dump: &TableDump<'_>) -> Result<(), FormatError> {
    let Some((last, before)) = dump.tables.split_last() else { return Ok(()) };
    let usual = before.iter().map(|table| table.entries.len()).max();
    match usual {
        Some(usual) if last.entries.len() < usual => {
            let (guid, count) = (last.guid, last.entries.len());
            let what = format!("the last table, of switch {guid}, has {count} of {usual} entries");
            Err(truncated(last.line, &what))
        }
        _ => Ok(()),
    }
}
