//! Arbitration tables of a port, which assign weights to its virtual lanes.
//!
//! ```text
//!   # VLArbitration tables: Lid 2 port 1 LowCap 8 HighCap 8       smpquery vlarb
//!   # Low priority VL Arbitration Table:
//!   VL    : |0x0 |0x1 |0x2 |
//!   WEIGHT: |0x0 |0x4 |0x4 |
//!   # High priority VL Arbitration Table:
//!   VL    : |0x0 |0x1 |0x2 |
//!   WEIGHT: |0x4 |0x0 |0x0 |
//! ```
//!
//! Sources: InfiniBand Architecture Specification, Volume 1, sections 7.6.9 and 14.2.5.9;
//! infiniband-diags, `smpquery.c`.

use super::line::{Line, lines, number, refuse_cut};
use crate::format::{FaultCode, FormatError};
use crate::routing::MANAGEMENT_LANE;

const EXPECTED: &str = "expected the output of `smpquery vlarb LID PORT`";

/// Slot of an arbitration table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArbitrationSlot {
    /// Virtual lane, from 0 to 14.
    pub lane: u8,
    /// Bytes per turn, in units of 64 bytes; 0 skips the slot.
    pub weight: u8,
}

/// Both tables of a port, and the high-priority limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArbitrationTables {
    /// High-priority data sent before low priority gets a turn, in units of 4096 bytes; 0 allows
    /// one packet, 255 is unlimited.
    pub high_limit: u8,
    /// High-priority slots.
    pub high: Vec<ArbitrationSlot>,
    /// Low-priority slots.
    pub low: Vec<ArbitrationSlot>,
}

impl Default for ArbitrationTables {
    /// Returns OpenSM's tables: weight 4 for lane 0 at high priority, and for every other lane at
    /// low priority.
    fn default() -> Self {
        let slots = |weight: fn(u8) -> u8| {
            (0..MANAGEMENT_LANE)
                .map(|lane| ArbitrationSlot { lane, weight: weight(lane) })
                .collect()
        };
        Self {
            high_limit: 0,
            high: slots(|lane| if lane == 0 { 4 } else { 0 }),
            low: slots(|lane| if lane == 0 { 0 } else { 4 }),
        }
    }
}

/// Arbitration tables of one port in a dump.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortArbitration {
    /// Line number of the heading.
    pub line: u32,
    /// LID of the adapter port, or of the switch.
    pub lid: u16,
    /// Port number on a switch; 0 for an adapter.
    pub port: u8,
    /// High-priority slots.
    pub high: Vec<ArbitrationSlot>,
    /// Low-priority slots.
    pub low: Vec<ArbitrationSlot>,
}

/// Reads the concatenated outputs of `smpquery vlarb`.
pub fn read(text: &str) -> Result<Vec<PortArbitration>, FormatError> {
    refuse_cut(text, EXPECTED)?;
    let mut reader = PortReader::default();
    for line in lines(text) {
        reader.take(line)?;
    }
    if reader.ports.is_empty() {
        let error = FormatError::whole("the file has no arbitration table", EXPECTED);
        return Err(error.coded(FaultCode::Nothing));
    }
    match reader.lanes {
        Some((line, _)) => Err(line.says("lanes without weights", EXPECTED)),
        None => Ok(reader.ports),
    }
}

#[derive(Debug, Default)]
struct PortReader<'a> {
    ports: Vec<PortArbitration>,
    is_high: bool,
    lanes: Option<(Line<'a>, Vec<u8>)>,
}

impl<'a> PortReader<'a> {
    fn take(&mut self, line: Line<'a>) -> Result<(), FormatError> {
        let text = line.text.trim_start();
        if let Some(rest) = text.strip_prefix("# VLArbitration tables:") {
            self.ports.push(heading(line, rest)?);
        } else if text.starts_with("# Low priority") || text.starts_with("# High priority") {
            self.is_high = text.starts_with("# High");
        } else if let Some(rest) = text.strip_prefix("VL ") {
            self.lanes = Some((line, bytes(line, rest)?));
        } else if let Some(rest) = text.strip_prefix("WEIGHT:") {
            self.add(line, &bytes(line, rest)?)?;
        } else if !text.is_empty() && !text.starts_with('#') && !text.starts_with("ibwarn:") {
            return Err(line.error("a line of `smpquery vlarb`, such as `VL    : |0x0 |0x1 |`"));
        }
        Ok(())
    }

    fn add(&mut self, line: Line<'a>, weights: &[u8]) -> Result<(), FormatError> {
        let lanes = self.lanes.take();
        let (Some((_, lanes)), Some(port)) = (lanes, self.ports.last_mut()) else {
            return Err(line.says("weights without lanes", EXPECTED));
        };
        if lanes.len() != weights.len() {
            let message = format!("{} weights for {} lanes", weights.len(), lanes.len());
            return Err(line.says(message, EXPECTED));
        }
        let slots = lanes.iter().zip(weights).map(|(lane, weight)| (*lane, *weight));
        let slots = slots.map(|(lane, weight)| ArbitrationSlot { lane, weight });
        let table = if self.is_high { &mut port.high } else { &mut port.low };
        table.extend(slots);
        Ok(())
    }
}

fn heading(line: Line<'_>, rest: &str) -> Result<PortArbitration, FormatError> {
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let value = |name: &str| {
        let place = words.iter().position(|word| *word == name)?;
        number(words.get(place + 1)?)
    };
    let lid = value("Lid").and_then(|lid| u16::try_from(lid).ok());
    let port = value("port").and_then(|port| u8::try_from(port).ok());
    match (lid, port) {
        (Some(lid), Some(port)) => {
            Ok(PortArbitration { line: line.number, lid, port, high: Vec::new(), low: Vec::new() })
        }
        _ => Err(line.error("a LID and a port; ask `smpquery` by LID")),
    }
}

fn bytes(line: Line<'_>, rest: &str) -> Result<Vec<u8>, FormatError> {
    let cells = rest.trim_start_matches([' ', ':']).split('|').map(str::trim);
    let cells = cells.filter(|cell| !cell.is_empty());
    let byte = |cell| number(cell).and_then(|byte| u8::try_from(byte).ok());
    let bytes: Option<Vec<u8>> = cells.map(byte).collect();
    bytes.ok_or_else(|| line.error("numbers such as 0x4 between strokes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# VLArbitration tables: Lid 2 port 1 LowCap 8 HighCap 8\n\
                        # Low priority VL Arbitration Table:\n\
                        VL    : |0x0 |0x1 |\n\
                        WEIGHT: |0x0 |0x4 |\n\
                        # High priority VL Arbitration Table:\n\
                        VL    : |0x0 |\n\
                        WEIGHT: |0xff|\n";

    #[test]
    fn both_arbitration_tables_of_a_port_are_read() {
        let [port] = &read(TEXT).unwrap()[..] else { panic!("one port") };
        assert_eq!((port.line, port.lid, port.port), (1, 2, 1));
        let slots = |slots: &[ArbitrationSlot]| {
            slots.iter().map(|s| (s.lane, s.weight)).collect::<Vec<_>>()
        };
        assert_eq!(slots(&port.low), [(0, 0), (1, 4)]);
        assert_eq!(slots(&port.high), [(0, 255)]);
    }

    #[test]
    fn invalid_arbitration_table_error_has_its_line() {
        let error = |from, to| read(&TEXT.replace(from, to)).unwrap_err().to_string();
        assert!(
            error("WEIGHT: |0x0 |0x4 |", "WEIGHT: |0x0 |").starts_with("line 4: 1 weights for")
        );
        assert!(error("Lid 2", "DR path 0,1").starts_with("line 1: cannot read"));
        assert!(error("WEIGHT: |0xff|\n", "").starts_with("line 6: lanes without weights"));
        assert!(error("|0xff|", "|0x100|").starts_with("line 7: cannot read"));
    }
}
