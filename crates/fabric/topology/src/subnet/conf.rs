//! Quality-of-service lines of OpenSM's configuration file, read and written.
//!
//! ```text
//!   qos TRUE
//!   qos_max_vls 8                     number of lanes: 1, 2, 4, 8 or 15; 0 for all
//!   qos_high_limit 0                  -1 for the default
//!   qos_vlarb_high 0:4,1:0            (null) for the default
//!   qos_vlarb_low 0:0,1:4
//!   qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7
//!   qos_swe_sl2vl ...                 only for cabled switch ports; also ca, rtr, sw0
//! ```
//!
//! A line for one type of port overrides the common line, which overrides the default. Lane numbers
//! beyond the lanes in use wrap around, except lane 15.
//!
//! Source: OpenSM, `osm_subnet.c` (syntax) and `osm_qos.c` (semantics).

use super::arbitration::{ArbitrationSlot, ArbitrationTables};
use super::line::{Line, lines, number, refuse_cut};
use crate::format::{FaultCode, FormatError, WriteError};
use crate::routing::{LEVELS, LaneMap, LaneRow, MANAGEMENT_LANE};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const EXPECTED: &str = "expected lines of opensm.conf such as `qos TRUE` and `qos_sl2vl 0,1,...`";

const LANE_COUNTS: [u8; 5] = [1, 2, 4, 8, 15];

/// Maximum number of slots in an arbitration table [IBA 14.2.5.9].
const SLOTS_MAX: usize = 64;

/// Type of port with its own configuration lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PortKind {
    /// Channel adapter.
    Adapter,
    /// Port 0 of a switch.
    SwitchItself,
    /// Cabled port of a switch.
    SwitchOuter,
    /// Router.
    Router,
}

impl PortKind {
    /// All port types.
    pub const ALL: [Self; 4] = [Self::Adapter, Self::SwitchItself, Self::SwitchOuter, Self::Router];

    /// Returns the name in OpenSM's file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adapter => "ca",
            Self::SwitchItself => "sw0",
            Self::SwitchOuter => "swe",
            Self::Router => "rtr",
        }
    }
}

/// Configuration lines about lanes and their arbitration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct QosConf {
    /// Whether OpenSM writes the tables to the ports.
    pub is_enabled: bool,
    values: BTreeMap<String, (u32, Value)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Value {
    Number(u8),
    Row(LaneRow),
    Slots(Vec<ArbitrationSlot>),
}

impl QosConf {
    /// Reads a configuration file, or a part of one.
    pub fn read(text: &str) -> Result<Self, FormatError> {
        refuse_cut(text, EXPECTED)?;
        let mut conf = Self::default();
        let mut has_qos = false;
        for line in lines(text) {
            let content = line.text.split('#').next().unwrap_or_default().trim();
            let Some((key, value)) = content.split_once([' ', '\t']) else { continue };
            if key == "qos" {
                conf.is_enabled = boolean(line, value.trim())?;
                has_qos = true;
            } else if key.starts_with("qos_") {
                has_qos |= conf.add(line, key, value.trim())?;
            }
        }
        if has_qos {
            Ok(conf)
        } else {
            let error = FormatError::whole("the file has no line on QoS", EXPECTED);
            Err(error.coded(FaultCode::Nothing))
        }
    }

    fn add(&mut self, line: Line<'_>, key: &str, text: &str) -> Result<bool, FormatError> {
        let value = if key.ends_with("sl2vl") {
            (text != "(null)").then(|| lane_row(line, text).map(Value::Row)).transpose()?
        } else if key.ends_with("vlarb_high") || key.ends_with("vlarb_low") {
            (text != "(null)").then(|| slots(line, text).map(Value::Slots)).transpose()?
        } else if key.ends_with("max_vls") {
            let lanes = small(line, text, "a number of lanes: 0, 1, 2, 4, 8 or 15")?;
            (lanes > 0).then_some(Value::Number(lanes))
        } else if key.ends_with("high_limit") {
            let is_default = text == "-1";
            let limit = (!is_default).then(|| small(line, text, "a limit from 0 to 255, or -1"));
            limit.transpose()?.map(Value::Number)
        } else {
            return Ok(false);
        };
        if let Some(value) = value {
            self.values.insert(key.to_owned(), (line.number, value));
        }
        Ok(true)
    }

    fn value(&self, kind: PortKind, name: &str) -> Option<&Value> {
        let own = self.values.get(&format!("qos_{}_{name}", kind.name()));
        own.or_else(|| self.values.get(&format!("qos_{name}"))).map(|(_, value)| value)
    }

    /// Returns the lane of each service level.
    pub fn lane_row(&self, kind: PortKind) -> LaneRow {
        let row = match self.value(kind, "sl2vl") {
            Some(Value::Row(row)) => *row,
            _ => LaneMap::DEFAULT,
        };
        let mask = lane_mask(self.number(kind, "max_vls").unwrap_or(15));
        row.map(|lane| if lane == MANAGEMENT_LANE { lane } else { lane & mask })
    }

    /// Returns the arbitration tables, with OpenSM's defaults for missing lines.
    pub fn arbitration(&self, kind: PortKind) -> ArbitrationTables {
        let slots = |name| match self.value(kind, name) {
            Some(Value::Slots(slots)) => Some(slots.clone()),
            _ => None,
        };
        let default = ArbitrationTables::default();
        ArbitrationTables {
            high_limit: self.number(kind, "high_limit").unwrap_or(default.high_limit),
            high: slots("vlarb_high").unwrap_or(default.high),
            low: slots("vlarb_low").unwrap_or(default.low),
        }
    }

    fn number(&self, kind: PortKind, name: &str) -> Option<u8> {
        match self.value(kind, name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }
}

/// Returns OpenSM's lane mask: the lowest k bits for 2^k lanes, four bits for 15 lanes.
fn lane_mask(lanes: u8) -> u8 {
    let in_use = LANE_COUNTS.into_iter().rfind(|count| *count <= lanes).unwrap_or(1);
    if in_use == 15 { 15 } else { in_use - 1 }
}

fn boolean(line: Line<'_>, text: &str) -> Result<bool, FormatError> {
    match text.to_ascii_uppercase().as_str() {
        "TRUE" => Ok(true),
        "FALSE" => Ok(false),
        _ => Err(line.error("`qos TRUE` or `qos FALSE`")),
    }
}

fn small(line: Line<'_>, text: &str, expected: &str) -> Result<u8, FormatError> {
    let value = number(text).and_then(|value| u8::try_from(value).ok());
    value.ok_or_else(|| line.error(expected))
}

fn lane_row(line: Line<'_>, text: &str) -> Result<LaneRow, FormatError> {
    lane_row_of(line, text.split(',').map(str::trim))
}

pub(super) fn lane_row_of<'a>(
    line: Line<'_>,
    words: impl Iterator<Item = &'a str>,
) -> Result<LaneRow, FormatError> {
    let small = |word| number(word).and_then(|value| u8::try_from(value).ok());
    let lanes: Option<Vec<u8>> =
        words.map(|word| small(word).filter(|lane| *lane <= MANAGEMENT_LANE)).collect();
    let row: Option<LaneRow> = lanes.and_then(|lanes| lanes.try_into().ok());
    row.ok_or_else(|| line.error(&format!("{LEVELS} lanes from 0 to 15, one for each SL")))
}

fn slots(line: Line<'_>, text: &str) -> Result<Vec<ArbitrationSlot>, FormatError> {
    let slot = |word: &str| {
        let (first, second) = word.trim().split_once(':')?;
        let small = |word| number(word).and_then(|value| u8::try_from(value).ok());
        let slot = ArbitrationSlot { lane: small(first)?, weight: small(second)? };
        (slot.lane < MANAGEMENT_LANE).then_some(slot)
    };
    let slots: Option<Vec<ArbitrationSlot>> = text.split(',').map(slot).collect();
    slots
        .filter(|slots| slots.len() <= SLOTS_MAX)
        .ok_or_else(|| line.error("at most 64 pairs such as 0:4, of lane (0 to 14) and weight"))
}

/// Writes OpenSM's configuration lines for this arbitration and SL-to-VL mapping on every port.
pub fn write(row: &LaneRow, arbitration: &ArbitrationTables) -> Result<String, WriteError> {
    refuse_slots(&arbitration.high)?;
    refuse_slots(&arbitration.low)?;
    let highest = row.iter().filter(|lane| **lane < MANAGEMENT_LANE).max().copied().unwrap_or(0);
    let lanes = LANE_COUNTS.into_iter().find(|count| *count > highest).unwrap_or(15);
    let row = row.map(|lane| lane.to_string()).join(",");
    let slots = |slots: &[ArbitrationSlot]| {
        let slots: Vec<_> =
            slots.iter().map(|slot| format!("{}:{}", slot.lane, slot.weight)).collect();
        // OpenSM replaces "(null)" with its default, but skips slots of weight 0.
        if slots.is_empty() { "0:0".to_owned() } else { slots.join(",") }
    };
    let mut text = String::from("# Written by gingham; lines for /etc/opensm/opensm.conf.\n");
    let mut add = |line: String| writeln!(text, "{line}").expect("a string takes any text");
    add("qos TRUE".to_owned());
    add(format!("qos_max_vls {lanes}"));
    add(format!("qos_high_limit {}", arbitration.high_limit));
    add(format!("qos_vlarb_high {}", slots(&arbitration.high)));
    add(format!("qos_vlarb_low {}", slots(&arbitration.low)));
    add(format!("qos_sl2vl {row}"));
    Ok(text)
}

fn refuse_slots(slots: &[ArbitrationSlot]) -> Result<(), WriteError> {
    let has_management = slots.iter().any(|slot| slot.lane >= MANAGEMENT_LANE);
    if !has_management && slots.len() <= SLOTS_MAX {
        return Ok(());
    }
    Err(WriteError {
        message: "no port takes these slots of an arbiter".to_owned(),
        expected: format!("expected at most {SLOTS_MAX} slots of lanes from 0 to 14"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: &str = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15";

    #[test]
    fn qos_row_precedence_is_kind_then_common_then_default() {
        let text = "# a file\nqos TRUE\nqos_sl2vl 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n\
                    qos_ca_sl2vl 2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,15\nqos_rtr_sl2vl (null)\n";
        let conf = QosConf::read(text).unwrap();
        assert!(conf.is_enabled);
        assert_eq!(conf.lane_row(PortKind::SwitchOuter), [1; 16]);
        assert_eq!(conf.lane_row(PortKind::Router), [1; 16]);
        assert_eq!(conf.lane_row(PortKind::Adapter)[14..], [2, 15]);
        let conf = QosConf::read("qos FALSE\n").unwrap();
        assert_eq!((conf.is_enabled, conf.lane_row(PortKind::Adapter)), (false, LaneMap::DEFAULT));
    }

    #[test]
    fn lanes_above_max_vls_wrap_except_management() {
        let text = format!("qos TRUE\nqos_max_vls 4\nqos_sl2vl {IDENTITY}\n");
        let row = QosConf::read(&text).unwrap().lane_row(PortKind::SwitchOuter);
        assert_eq!(row, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 15]);
    }

    #[test]
    fn written_toml_reads_back() {
        let slot = |lane, weight| ArbitrationSlot { lane, weight };
        let arbitration = ArbitrationTables {
            high_limit: 3,
            high: vec![slot(1, 10)],
            low: vec![slot(0, 5), slot(2, 255)],
        };
        let mut row = [0; 16];
        row[1] = 1;
        row[2] = 2;
        let text = write(&row, &arbitration).unwrap();
        assert_eq!(
            text.lines().skip(1).collect::<Vec<_>>(),
            [
                "qos TRUE",
                "qos_max_vls 4",
                "qos_high_limit 3",
                "qos_vlarb_high 1:10",
                "qos_vlarb_low 0:5,2:255",
                "qos_sl2vl 0,1,2,0,0,0,0,0,0,0,0,0,0,0,0,0",
            ]
        );
        let none = ArbitrationTables { high: vec![], ..arbitration.clone() };
        let line = write(&row, &none).unwrap();
        assert!(line.contains("\nqos_vlarb_high 0:0\n"), "{line}");
        let conf = QosConf::read(&text).unwrap();
        for kind in [PortKind::Adapter, PortKind::SwitchOuter] {
            assert_eq!((conf.lane_row(kind), conf.arbitration(kind)), (row, arbitration.clone()));
        }
    }
}
