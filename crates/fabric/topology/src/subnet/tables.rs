//! Forwarding tables as parsed from texts.

use super::LID_MAX;
use super::line::{Line, number};
use crate::Guid;
use crate::format::FormatError;

/// Port number that means no entry.
const NO_PORT: u64 = 255;

/// Tables in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TableDump<'a> {
    /// One table a switch.
    pub tables: Vec<SwitchTable<'a>>,
}

/// Forwarding table of a switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchTable<'a> {
    /// Line of the heading.
    pub line: u32,
    /// GUID of the switch.
    pub guid: Guid,
    /// Entries in the order of the text.
    pub entries: Vec<ForwardingEntry<'a>>,
}

/// Line of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForwardingEntry<'a> {
    /// Line.
    pub line: u32,
    /// Destination, from 0 to [`LID_MAX`].
    pub lid: u16,
    /// Output port; 0: the switch itself, `None`: no entry.
    pub port: Option<u8>,
    /// GUID of the destination's port, if given.
    pub port_guid: Option<Guid>,
    /// Description of the destination, if given.
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
