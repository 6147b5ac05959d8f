//! Forwarding tables as parsed from text.

use super::LID_MAX;
use super::line::{Line, number};
use crate::Guid;
use crate::format::FormatError;

const NO_PORT: u64 = 255;

/// Forwarding tables in input order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TableDump<'a> {
    /// Tables, one per switch.
    pub tables: Vec<SwitchTable<'a>>,
}

/// Forwarding table of a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchTable<'a> {
    /// Line number of the heading.
    pub line: u32,
    /// GUID of the switch.
    pub guid: Guid,
    /// Entries in input order.
    pub entries: Vec<ForwardingEntry<'a>>,
}

/// Table entry for one LID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForwardingEntry<'a> {
    /// Line number.
    pub line: u32,
    /// Destination LID, from 0 to [`LID_MAX`].
    pub lid: u16,
    /// Output port; 0 for the switch itself, `None` for a missing entry.
    pub port: Option<u8>,
    /// Port GUID of the destination; `None` if the entry omits it.
    pub port_guid: Option<Guid>,
    /// Description of the destination; `None` if the entry omits it.
    pub name: Option<&'a str>,
}

pub(super) fn lid(line: Line<'_>, word: Option<&str>) -> Result<u16, FormatError> {
    let lid = word.and_then(number).and_then(|lid| u16::try_from(lid).ok());
    lid.filter(|lid| *lid <= LID_MAX)
        .ok_or_else(|| line.error("a LID from 0x0 to 0xbfff and a port"))
}

pub(super) fn port(line: Line<'_>, word: Option<&str>) -> Result<Option<u8>, FormatError> {
    let is_decimal = |word: &&str| !word.starts_with("0x");
    let port = word.filter(is_decimal).and_then(number).and_then(|port| u8::try_from(port).ok());
    let port = port.ok_or_else(|| line.error("a LID and a port from 000 to 255"))?;
    Ok((u64::from(port) != NO_PORT).then_some(port))
}
