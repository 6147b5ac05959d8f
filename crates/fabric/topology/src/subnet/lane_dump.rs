//! SL-to-VL mapping tables as text, from three sources.
//!
//! ```text
//!   Switch 0x0000500000000000, base LID 2, "s0"                      OpenSM's
//!   #in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15        opensm-sl2vl.dump
//!   #--------------------------------------------------------
//!   1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7
//!   Channel Adapter 0x0000400000000001, base LID 1, "h0"             (GUID of the port)
//!   0   0   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7
//!
//!   # SL2VL table: Lid 2                                             smpquery sl2vl LID PORT,
//!   #                 SL: | 0| 1| 2| 3| 4| 5| 6| 7| 8| ...           one after the other
//!   ports: in  1, out  2: | 0| 1| 2| 3| 4| 5| 6| 7| 0| ...
//!
//!   qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7                   opensm.conf (`conf.rs`)
//! ```
//!
//! Sources: OpenSM, `osm_dump.c`; infiniband-diags, `smpquery.c`.

use super::conf::{QosConf, lane_row_of};
use super::line::{Line, lines, number, refuse_cut};
use crate::Guid;
use crate::format::{FaultCode, FormatError};
use crate::routing::LaneRow;

const EXPECTED: &str = "expected OpenSM's opensm-sl2vl.dump, outputs of `smpquery sl2vl`, or \
                        opensm.conf";

/// SL-to-VL mapping tables read from text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaneDump {
    /// Tables of switches and adapters, in input order.
    Tables(Vec<LaneTable>),
    /// Configuration for each type of port.
    Conf(QosConf),
}

/// Mapping table of a switch or adapter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneTable {
    /// Line number of the heading.
    pub line: u32,
    /// Owner of the table.
    pub of: TableOwner,
    /// Rows, one per pair of ports.
    pub rows: Vec<LaneEntry>,
}

/// Switch or adapter, as identified in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableOwner {
    /// Owner identified by GUID.
    Guid(Guid),
    /// Owner identified by LID.
    Lid(u16),
}

/// Row for a pair of ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneEntry {
    /// Line number.
    pub line: u32,
    /// Input port.
    pub input: u8,
    /// Output port.
    pub output: u8,
    /// Lane of each service level.
    pub row: LaneRow,
}

impl LaneDump {
    /// Reads text from any of the three sources.
    pub fn read(text: &str) -> Result<Self, FormatError> {
        refuse_cut(text, EXPECTED)?;
        let is_conf = |line: Line<'_>| line.text.starts_with("qos");
        if lines(text).any(is_conf) {
            return QosConf::read(text).map(Self::Conf);
        }
        let mut tables: Vec<LaneTable> = Vec::new();
        for line in lines(text) {
            if let Some(of) = heading(line)? {
                tables.push(LaneTable { line: line.number, of, rows: Vec::new() });
            } else if let Some(entry) = entry(line)? {
                let table = tables.last_mut();
                let table = table.ok_or_else(|| {
                    line.says("a row without a table", "expected a heading in a line above")
                })?;
                table.rows.push(entry);
            }
        }
        if tables.iter().all(|table| table.rows.is_empty()) {
            let error = FormatError::whole("the file has no table of lanes", EXPECTED);
            return Err(error.coded(FaultCode::Nothing));
        }
        Ok(Self::Tables(tables))
    }
}

fn heading(line: Line<'_>) -> Result<Option<TableOwner>, FormatError> {
    const KINDS: [&str; 3] = ["Switch", "Channel Adapter", "Router"];
    let text = line.text.trim_start();
    if let Some(rest) = text.strip_prefix("# SL2VL table:") {
        let lid = rest.trim().strip_prefix("Lid ").map(str::trim).and_then(number);
        let lid = lid.and_then(|lid| u16::try_from(lid).ok());
        return lid
            .map(|lid| Some(TableOwner::Lid(lid)))
            .ok_or_else(|| line.error("a LID; ask `smpquery` by LID"));
    }
    let Some(kind) = KINDS.into_iter().find(|kind| text.starts_with(kind)) else {
        return Ok(None);
    };
    let guid = line.guid_after(kind).ok_or_else(|| line.error("a GUID such as 0x2c903"))?;
    Ok(Some(TableOwner::Guid(guid)))
}

/// Parses `1   2   : 0  1  2 ...` or `ports: in  1, out  2: | 0| 1| ...`; `None` for a comment.
fn entry(line: Line<'_>) -> Result<Option<LaneEntry>, FormatError> {
    let text = line.text.trim();
    if text.is_empty() || text.starts_with('#') || text.starts_with("ibwarn:") {
        return Ok(None);
    }
    let text = text.strip_prefix("ports:").unwrap_or(text);
    let (ports, row) = text.split_once(':').ok_or_else(|| line.error(ROW))?;
    let mut ports = ports.split([' ', ',']).filter(|word| !matches!(*word, "" | "in" | "out"));
    let mut port = || ports.next().and_then(number).and_then(|port| u8::try_from(port).ok());
    let (Some(input), Some(output), None) = (port(), port(), ports.next()) else {
        return Err(line.error(ROW));
    };
    let lanes = row.split([' ', '|']).filter(|word| !word.is_empty());
    Ok(Some(LaneEntry { line: line.number, input, output, row: lane_row_of(line, lanes)? }))
}

const ROW: &str = "an input port, an output port and the lanes of 16 SLs";

#[cfg(test)]
mod tests {
    use super::*;

    const LANES: LaneRow = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 15];

    #[test]
    fn opensm_and_smpquery_lane_tables_agree() {
        let by_opensm = "Switch 0x00a, base LID 2, \"s0: 1\"\n#in out : 0  1\n#---\n\
                         1   12  : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  15\n#---\n\n";
        let by_smpquery = "# SL2VL table: Lid 10\n#   SL: | 0| 1|\n\
             ports: in  1, out 12: | 0| 1| 2| 3| 4| 5| 6| 7| 0| 1| 2| 3| 4| 5| 6|15|\n";
        let owners = [TableOwner::Guid(Guid(10)), TableOwner::Lid(10)];
        for (text, of, line) in [(by_opensm, owners[0], 4), (by_smpquery, owners[1], 3)] {
            let row = LaneEntry { line, input: 1, output: 12, row: LANES };
            let table = LaneTable { line: 1, of, rows: vec![row] };
            assert_eq!(LaneDump::read(text), Ok(LaneDump::Tables(vec![table])));
        }
    }

    #[test]
    fn invalid_lane_row_error_has_its_line() {
        let error = |text: &str| LaneDump::read(text).unwrap_err().to_string();
        let cases = [
            ("1 2 : 0\n", "line 1: cannot read \"1 2 : 0\"; expected 16 lanes"),
            ("Switch 0xa, x\n1 : 0\n", "line 2: cannot read \"1 : 0\"; expected an input port"),
            ("Switch s0\n", "line 1: cannot read \"Switch s0\"; expected a GUID"),
            ("# SL2VL table: DR path 0,1\n", "line 1: cannot read"),
            ("# nothing\n", "the file has no table of lanes; expected OpenSM's"),
        ];
        for (text, expected) in cases {
            assert!(error(text).starts_with(expected), "{}", error(text));
        }
    }
}
