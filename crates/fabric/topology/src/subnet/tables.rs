//! Forwarding tables as texts tell them: by switch, and by LID.

use super::LID_MAX;
use super::line::{Line, number};
use crate::Guid;
use crate::format::FormatError;

/// A port that says that there is none.
const NO_PORT: u64 = 255;

/// All tables of a text, in its order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TableDump<'a> {
    /// A table a switch.
    pub tables: Vec<SwitchTable<'a>>,
}

/// The forwarding table of one switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchTable<'a> {
    /// Line of its heading.
    pub line: u32,
    /// GUID of the switch.
    pub guid: Guid,
    /// Its entries, in the order of the text.
    pub entries: Vec<ForwardingEntry<'a>>,
}

/// One line of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForwardingEntry<'a> {
    /// Line of the text.
    pub line: u32,
    /// The destination, from 0 to [`LID_MAX`].
    pub lid: u16,
    /// The port by which packets leave, 0 for the switch itself, `None` for no way.
    pub port: Option<u8>,
    /// The GUID of the destination's port, where the text tells it.
    pub port_guid: Option<Guid>,
    /// What the destination calls itself, where the text tells it.
    pub name: Option<&'a str>,
}

/// A unicast LID.
pub(super) fn lid(line: Line<'_>, word: Option<&str>) -> Result<u16, FormatError> {
    let lid = word.and_then(number).and_then(|lid| u16::try_from(lid).ok());
    lid.filter(|lid| *lid <= LID_MAX)
        .ok_or_else(|| line.error("a LID from 0x0 to 0xbfff and a port"))
}

/// A port in decimal digits.
pub(super) fn port(line: Line<'_>, word: Option<&str>) -> Result<Option<u8>, FormatError> {
    let is_decimal = |word: &&str| !word.starts_with("0x");
    let port = word.filter(is_decimal).and_then(number).and_then(|port| u8::try_from(port).ok());
    let port = port.ok_or_else(|| line.error("a LID and a port from 000 to 255"))?;
    Ok((u64::from(port) != NO_PORT).then_some(port))
}
