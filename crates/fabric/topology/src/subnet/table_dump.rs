//! Linear forwarding tables as text: the output port of a switch for each LID.
//!
//! ```text
//!   Unicast lids [0x0-0x1b] of switch Lid 9 guid 0x0000500000000004 (s1-1):      dump_lfts,
//!     Lid  Out   Destination                                                     dump_fts,
//!          Port     Info                                                         ibroute
//!   0x0001 003 : (Switch portguid 0x0000500000000000: 's0-0')
//!   0x0009 255 : (illegal port)                                                  with -a
//!   27 valid lids dumped
//!
//!   Unicast lids [0-27] of switch Lid 1 guid 0x0000500000000000 ('s0-0'):        OpenSM's
//!   0x0001 000 # Switch portguid 0x0000500000000000: 's0-0'                      opensm-lfts.dump
//!   27 lids dumped                                   (the highest LID, not a count of lines)
//!
//!   dump_ucast_routes: Switch 0x0000500000000000                                 OpenSM's
//!   LID    : Port : Hops : Optimal                                               opensm.fdbs,
//!   0x0002 : 001  : 01   : yes                                                   ibdiagnet2.fdbs
//!   0x0009 : UNREACHABLE
//! ```
//!
//! Port 0 is the switch itself; port 255 and "UNREACHABLE" mean no entry. Multicast tables are
//! skipped.
//!
//! Sources: infiniband-diags, `dump_fts.c`; OpenSM, `osm_dump.c`.

use super::fdbs;
use super::line::{Line, lines, number, refuse_cut, shown, truncated};
use super::tables::{ForwardingEntry, SwitchTable, TableDump, lid, port};
use crate::format::{FaultCode, FormatError};

pub(super) const EXPECTED: &str = "expected the output of `dump_lfts` or `dump_fts`, or OpenSM's \
                                   opensm-lfts.dump or opensm.fdbs, or ibdiagnet's \
                                   ibdiagnet2.fdbs";

impl<'a> TableDump<'a> {
    /// Reads text in any of the three formats.
    pub fn read(text: &'a str) -> Result<Self, FormatError> {
        refuse_cut(text, EXPECTED)?;
        let mut reader = TableReader::default();
        for line in lines(text) {
            reader.take(line)?;
        }
        reader.finish()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Part {
    #[default]
    Between,
    /// Inside a table that ends with a closing line.
    Closed,
    /// Inside a table of `opensm.fdbs`, which ends at the next heading.
    Open,
    Multicast,
}

#[derive(Debug, Default)]
struct TableReader<'a> {
    dump: TableDump<'a>,
    part: Part,
}

impl<'a> TableReader<'a> {
    fn take(&mut self, line: Line<'a>) -> Result<(), FormatError> {
        let text = line.text.trim_start();
        if text.starts_with("Unicast lids") {
            self.begin(line, "guid", Part::Closed)
        } else if fdbs::is_heading(text) {
            self.begin(line, "Switch", Part::Open)
        } else if text.starts_with("Multicast mlids") {
            self.refuse_unclosed()?;
            self.part = Part::Multicast;
            Ok(())
        } else if text.starts_with("0x") {
            self.entry(line)
        } else if let Some((shown, says_valid)) = closing(text) {
            self.close(line, shown, says_valid)
        } else if is_passed_over(text) || self.part == Part::Multicast {
            Ok(())
        } else {
            let message = format!("cannot read {:?}", shown(text));
            Err(line.says(message, EXPECTED))
        }
    }

    fn begin(&mut self, line: Line<'a>, before: &str, part: Part) -> Result<(), FormatError> {
        self.refuse_unclosed()?;
        let guid = line.guid_after(before);
        let guid = guid.ok_or_else(|| line.error("the GUID of a switch, such as 0x2c903"))?;
        self.dump.tables.push(SwitchTable { line: line.number, guid, entries: Vec::new() });
        self.part = part;
        Ok(())
    }

    fn entry(&mut self, line: Line<'a>) -> Result<(), FormatError> {
        let read = match self.part {
            Part::Multicast => return Ok(()),
            Part::Between => {
                let expected = "expected the heading of a table in a line above";
                return Err(line.says("an entry without a table", expected));
            }
            Part::Closed => entry(line)?,
            Part::Open => fdbs::entry(line)?,
        };
        let table = self.dump.tables.last_mut().expect("a part of a table has a table");
        table.entries.push(read);
        Ok(())
    }

    fn close(&mut self, line: Line<'a>, given: u64, is_exact: bool) -> Result<(), FormatError> {
        if self.part == Part::Closed {
            let table = self.dump.tables.last().expect("a part of a table has a table");
            let read = table.entries.len() as u64;
            if is_exact && read != given {
                let message = format!("the table has {read} entries, but this line gives {given}");
                return Err(line.says(message, "take the tables again, whole and unfiltered"));
            }
        }
        self.part = Part::Between;
        Ok(())
    }

    fn refuse_unclosed(&self) -> Result<(), FormatError> {
        match (self.part, self.dump.tables.last()) {
            (Part::Closed, Some(table)) => {
                let what = format!("the table of switch {} has no closing line", table.guid);
                Err(truncated(table.line, &what))
            }
            _ => Ok(()),
        }
    }

    fn finish(self) -> Result<TableDump<'a>, FormatError> {
        self.refuse_unclosed()?;
        if self.dump.tables.iter().all(|table| table.entries.is_empty()) {
            let error = FormatError::whole("the file has no entry of any table", EXPECTED);
            return Err(error.coded(FaultCode::Nothing));
        }
        if self.part == Part::Open {
            fdbs::refuse_short(&self.dump)?;
        }
        Ok(self.dump)
    }
}

/// Returns the number in a closing line, and whether it counts entries (only in
/// `27 valid lids dumped`).
fn closing(text: &str) -> Option<(u64, bool)> {
    let (count, rest) = text.split_once(' ')?;
    let is_closing = rest.ends_with("lids dumped");
    is_closing.then(|| Some((number(count)?, rest.starts_with("valid")))).flatten()
}

fn is_passed_over(text: &str) -> bool {
    const BEGINNINGS: [&str; 6] =
        ["#", "Lid  Out", "Port     Info", "LID    : Port", "***", "ibwarn:"];
    text.is_empty() || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

fn entry(line: Line<'_>) -> Result<ForwardingEntry<'_>, FormatError> {
    let mut words = line.text.split_ascii_whitespace();
    let lid = lid(line, words.next())?;
    Ok(ForwardingEntry {
        line: line.number,
        lid,
        port: port(line, words.next())?,
        port_guid: line.guid_after("portguid"),
        name: quoted(line.text),
    })
}

/// Returns the name up to the last quotation mark, because a name may contain any character.
fn quoted(text: &str) -> Option<&str> {
    let start = text.find(": '")? + 3;
    let end = text.rfind('\'').filter(|end| *end >= start)?;
    Some(&text[start..end])
}
