//! Files that tell what a subnet manager decided: another place where a path is opened.

use crate::fabric_file::from_format;
use gingham_input::{InputError, read};
use gingham_topology::format::{self, FormatError};
use gingham_topology::routing::{LaneMap, Lanes, Routes, ServiceLevels, SwitchTables};
use gingham_topology::subnet::{
    self, Arbitration, LaneDump, LevelDump, Lids, PortArbitration, PortKind, QosConf, TableDump,
};
use gingham_topology::{Fabric, Finding};
use std::path::{Path, PathBuf};

/// Which files tell of routes and lanes.
#[derive(Clone, Debug)]
pub struct SubnetFiles {
    /// The fabric's own file, for messages.
    pub fabric: String,
    /// Forwarding tables.
    pub tables: PathBuf,
    /// Tables from service level to lane.
    pub lanes: Option<PathBuf>,
    /// Service levels of pairs.
    pub levels: Option<PathBuf>,
}

/// Routes and lanes as a subnet manager decided on them.
#[derive(Clone, Debug)]
pub struct LoadedRoutes {
    /// Routes, for each alternative of the LMC.
    pub alternatives: Vec<Routes>,
    /// Lanes; `None` if no file tells anything of them.
    pub lanes: Option<Lanes>,
    /// Routes to the switches themselves.
    pub to_switches: SwitchTables,
    /// File and finding.
    pub findings: Vec<(String, Finding)>,
}

/// Reads the files and joins them with the fabric that they belong to.
///
/// Without service levels every pair sends on SL 0. Without tables of lanes the levels run on
/// the lanes that OpenSM gives where nothing is configured.
pub fn load_routes(fabric: &Fabric, files: &SubnetFiles) -> Result<LoadedRoutes, InputError> {
    let lids = Lids::of(fabric).map_err(|error| from_format(&files.fabric, &error))?;
    let (forwarding, mut findings) = with_text(&files.tables, |text| {
        let forwarding = subnet::join(fabric, &lids, &TableDump::read(text)?)?;
        let findings = forwarding.findings.clone();
        Ok((forwarding, findings))
    })?;
    let map = files.lanes.as_ref().map(|path| {
        with_text(path, |text| subnet::join_lanes(fabric, &lids, &LaneDump::read(text)?))
    });
    let levels = files.levels.as_ref().map(|path| {
        with_text(path, |text| subnet::join_levels(fabric, &lids, &LevelDump::read(text)?))
    });
    let (map, found) = map.transpose()?.unzip();
    findings.extend(found.into_iter().flatten());
    let (levels, found) = levels.transpose()?.unzip();
    findings.extend(found.into_iter().flatten());
    let lanes = (map.is_some() || levels.is_some()).then(|| {
        let map = map.unwrap_or_else(|| LaneMap::uniform(fabric, LaneMap::DEFAULT));
        Lanes::new(fabric, map, levels.unwrap_or_else(|| ServiceLevels::zero(fabric)))
    });
    Ok(LoadedRoutes {
        alternatives: forwarding.alternatives,
        lanes,
        to_switches: forwarding.to_switches,
        findings,
    })
}

/// The arbitration among lanes that a file tells of.
#[derive(Clone, Debug)]
pub enum LoadedArbitration {
    /// Of single ports, as `smpquery` asked them.
    Ports(Vec<PortArbitration>),
    /// As OpenSM is configured.
    Kinds {
        /// Whether it writes tables into ports at all.
        is_enabled: bool,
        /// Of all ports of each kind.
        kinds: Vec<(PortKind, Arbitration)>,
    },
}

/// Reads arbitration tables: outputs of `smpquery vlarb`, or `opensm.conf`.
pub fn load_arbitration(path: &Path) -> Result<LoadedArbitration, InputError> {
    arbitration_of(&path.display().to_string(), &read(path)?)
}

/// The same of a file that was read already; errors name it so.
pub(crate) fn arbitration_of(name: &str, bytes: &[u8]) -> Result<LoadedArbitration, InputError> {
    let read_text = |text: &str| {
        if text.lines().any(|line| line.starts_with("qos")) {
            let conf = QosConf::read(text)?;
            let kinds = PortKind::ALL.map(|kind| (kind, conf.arbitration(kind)));
            Ok(LoadedArbitration::Kinds { is_enabled: conf.is_enabled, kinds: kinds.into() })
        } else {
            Ok(LoadedArbitration::Ports(subnet::arbitration::read(text)?))
        }
    };
    format::decode(bytes).and_then(read_text).map_err(|error| from_format(name, &error))
}

/// Reads the file at `path` by `read_text`; findings and errors name it.
fn with_text<T>(
    path: &Path,
    read_text: impl FnOnce(&str) -> Result<(T, Vec<Finding>), FormatError>,
) -> Result<(T, Vec<(String, Finding)>), InputError> {
    let name = path.display().to_string();
    let bytes = read(path)?;
    let joined = format::decode(&bytes).and_then(read_text);
    let (value, findings) = joined.map_err(|error| from_format(&name, &error))?;
    Ok((value, findings.into_iter().map(|finding| (name.clone(), finding)).collect()))
}
