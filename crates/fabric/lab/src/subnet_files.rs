//! Files that tell what a subnet manager decided: another place where a path is opened.

use crate::fabric_file::from_format;
use gingham_input::{InputError, read, unpack};
use gingham_topology::format::{self, FormatError};
use gingham_topology::routing::{LaneMap, Lanes, Routes, ServiceLevels, SwitchTables};
use gingham_topology::subnet::{
    self, ArbitrationTables, ForwardingTables, LaneDump, LevelDump, Lids, PortArbitration,
    PortKind, QosConf, TableDump,
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
    /// Routes, for each LID offset.
    pub routes: Vec<Routes>,
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
    let subnet = Subnet::new(fabric, &files.fabric)?;
    let mut findings = Vec::new();
    let forwarding = subnet.tables(&files.tables.display().to_string(), &read(&files.tables)?)?;
    let tables = files.tables.display().to_string();
    findings.extend(forwarding.findings.iter().map(|found| (tables.clone(), found.clone())));
    let mut keep = |path: &Path, found: Vec<Finding>| {
        findings.extend(found.into_iter().map(|found| (path.display().to_string(), found)));
    };
    let mut map = None;
    if let Some(path) = &files.lanes {
        let (joined, found) = subnet.lanes(&path.display().to_string(), &read(path)?)?;
        keep(path, found);
        map = Some(joined);
    }
    let mut levels = None;
    if let Some(path) = &files.levels {
        let (joined, found) = subnet.levels(&path.display().to_string(), &read(path)?)?;
        keep(path, found);
        levels = Some(joined);
    }
    let lanes = (map.is_some() || levels.is_some()).then(|| {
        let (map, levels) = subnet.completed(map, levels);
        Lanes::new(fabric, map, levels)
    });
    Ok(LoadedRoutes {
        routes: forwarding.routes,
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
        kinds: Vec<(PortKind, ArbitrationTables)>,
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
    joined(name, bytes, read_text)
}

/// What a subnet manager decided on for one fabric, file by file; errors name the files.
pub(crate) struct Subnet<'a> {
    fabric: &'a Fabric,
    lids: Lids,
}

impl<'a> Subnet<'a> {
    /// Knows who answers to which LID; errors name the fabric's own file.
    pub(crate) fn new(fabric: &'a Fabric, name: &str) -> Result<Self, InputError> {
        let lids = Lids::of(fabric).map_err(|error| from_format(name, &error))?;
        Ok(Self { fabric, lids })
    }

    /// Forwarding tables.
    pub(crate) fn tables(&self, name: &str, bytes: &[u8]) -> Result<ForwardingTables, InputError> {
        joined(name, bytes, |text| subnet::join(self.fabric, &self.lids, &TableDump::read(text)?))
    }

    /// Tables from service level to lane.
    pub(crate) fn lanes(
        &self,
        name: &str,
        bytes: &[u8],
    ) -> Result<(LaneMap, Vec<Finding>), InputError> {
        joined(name, bytes, |text| {
            subnet::join_lanes(self.fabric, &self.lids, &LaneDump::read(text)?)
        })
    }

    /// Service levels of pairs.
    pub(crate) fn levels(
        &self,
        name: &str,
        bytes: &[u8],
    ) -> Result<(ServiceLevels, Vec<Finding>), InputError> {
        joined(name, bytes, |text| {
            subnet::join_levels(self.fabric, &self.lids, &LevelDump::read(text)?)
        })
    }

    /// Both, with what holds where a file does not tell them.
    pub(crate) fn completed(
        &self,
        map: Option<LaneMap>,
        levels: Option<ServiceLevels>,
    ) -> (LaneMap, ServiceLevels) {
        (
            map.unwrap_or_else(|| LaneMap::uniform(self.fabric, LaneMap::DEFAULT)),
            levels.unwrap_or_else(|| ServiceLevels::zero(self.fabric)),
        )
    }
}

/// What `read_text` makes of a file that was read already; errors name it so.
fn joined<T>(
    name: &str,
    bytes: &[u8],
    read_text: impl FnOnce(&str) -> Result<T, FormatError>,
) -> Result<T, InputError> {
    let bytes = unpack(name, bytes)?;
    let read = format::decode(&bytes).and_then(|decoded| read_text(&decoded.text));
    read.map_err(|error| from_format(name, &error))
}
