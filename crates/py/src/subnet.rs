//! Files of a running subnet.

use gingham_lab::{LoadedArbitration, ProvedRoutes, SubnetFiles, load_routes};
use gingham_topology::routing::Ejection;
use gingham_topology::subnet::conf;
use gingham_topology::subnet::{ArbitrationSlot, ArbitrationTables, Lids, write_tables};
use gingham_topology::{Fabric, routing};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error;
use crate::patience::interruptible;
use crate::routes::{Decided, Routes};

impl Routes {
    pub(crate) fn load(
        py: Python<'_>,
        fabric: &Arc<Fabric>,
        fabric_file: &str,
        tables: &str,
        lanes: Option<&str>,
        levels: Option<&str>,
    ) -> PyResult<Self> {
        let files = SubnetFiles {
            fabric: fabric_file.to_owned(),
            tables: tables.into(),
            lanes: lanes.map(PathBuf::from),
            levels: levels.map(PathBuf::from),
        };
        let fabric = Arc::clone(fabric);
        let loaded = interruptible(py, move || {
            let loaded = load_routes(&fabric, &files)?;
            let decided = Decided::BySubnet(loaded.to_switches);
            let proved = ProvedRoutes::new(fabric, loaded.routes, loaded.lanes, Ejection::Always);
            Ok(Self { proved, decided, findings: loaded.findings })
        })?;
        loaded.map_err(|refused| error::input(py, &refused))
    }

    pub(crate) fn tables_text(&self, py: Python<'_>) -> PyResult<String> {
        let fabric = self.proved.fabric();
        let to_switches = match &self.decided {
            Decided::BySubnet(tables) => tables.clone(),
            Decided::ByAlgorithm(algorithm) => {
                let tables = py.detach(|| routing::route_to_switches(fabric, algorithm));
                tables.map_err(|refused| error::refusal(py, refused))?
            }
        };
        let lids = Lids::of(fabric).map_err(|refused| error::refusal(py, refused))?;
        py.detach(|| write_tables(fabric, &lids, self.proved.by_offset(), &to_switches))
            .map_err(|refused| error::refusal_with_code(py, "unwritable", &refused.to_string()))
    }
}

/// Returns lines of `opensm.conf`: the lane of each service level, and the arbitration slots as
/// (lane, weight) pairs. `None` stands for OpenSM's default slots.
#[pyfunction]
#[pyo3(signature = (lanes, high=None, low=None, high_limit=0))]
pub(crate) fn qos_conf(
    py: Python<'_>,
    lanes: Vec<u8>,
    high: Option<Vec<(u8, u8)>>,
    low: Option<Vec<(u8, u8)>>,
    high_limit: u8,
) -> PyResult<String> {
    let is_row = lanes.iter().all(|lane| *lane <= routing::MANAGEMENT_LANE);
    let row = lanes.try_into().ok().filter(|_| is_row);
    let row = row.ok_or_else(|| {
        error::refusal_of(py, "lanes", "expected 16 lanes from 0 to 15, one an SL")
    })?;
    let default = ArbitrationTables::default();
    let slots = |slots: Vec<(u8, u8)>| {
        slots.into_iter().map(|(lane, weight)| ArbitrationSlot { lane, weight }).collect()
    };
    let arbitration = ArbitrationTables {
        high_limit,
        high: high.map_or(default.high, slots),
        low: low.map_or(default.low, slots),
    };
    conf::write(&row, &arbitration).map_err(|refused| error::refusal_of(py, "slots", refused))
}

/// LID, port, kind of ports, high-priority limit, high-priority slots and low-priority slots.
type ArbitrationRow =
    (Option<u16>, Option<u8>, Option<&'static str>, Option<u8>, Vec<(u8, u8)>, Vec<(u8, u8)>);

/// Reads the arbitration tables of single ports or of all ports of a kind.
#[pyfunction]
pub(crate) fn load_arbitration(py: Python<'_>, path: &str) -> PyResult<Vec<ArbitrationRow>> {
    let loaded = gingham_lab::load_arbitration(Path::new(path));
    let slots =
        |slots: &[ArbitrationSlot]| slots.iter().map(|slot| (slot.lane, slot.weight)).collect();
    Ok(match loaded.map_err(|refused| error::input(py, &refused))? {
        LoadedArbitration::Ports(ports) => ports
            .iter()
            .map(|of| (Some(of.lid), Some(of.port), None, None, slots(&of.high), slots(&of.low)))
            .collect(),
        LoadedArbitration::Kinds { kinds, .. } => kinds
            .iter()
            .map(|(kind, of)| {
                let limit = Some(of.high_limit);
                (None, None, Some(kind.name()), limit, slots(&of.high), slots(&of.low))
            })
            .collect(),
    })
}
