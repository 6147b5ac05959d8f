//! Loading of subnet manager files.

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

/// Files with the routes and lanes of a subnet manager.
#[derive(Clone, Debug)]
pub struct SubnetFiles {
    /// Name of the fabric file, used in messages.
    pub fabric: String,
    /// File with the forwarding tables.
    pub tables: PathBuf,
    /// File with tables that map service levels to lanes.
    pub lanes: Option<PathBuf>,
    /// File with the service levels of host pairs.
    pub levels: Option<PathBuf>,
}

/// Routes and lanes computed by a subnet manager.
#[derive(Clone, Debug)]
pub struct LoadedRoutes {
    /// Routes for each LID offset.
    pub routes: Vec<Routes>,
    /// Lanes; `None` without lane tables and service levels.
    pub lanes: Option<Lanes>,
    /// Routes to the switches themselves.
    pub to_switches: SwitchTables,
    /// Problems found, each with its file name.
    pub findings: Vec<(String, Finding)>,
}

/// Reads the files and matches them with the fabric. Without service levels, every host pair uses
/// SL 0. Without lane tables, service levels map to the lanes of an unconfigured OpenSM.
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

/// Arbitration tables for virtual lanes.
#[derive(Clone, Debug)]
pub enum LoadedArbitration {
    /// Tables of individual ports, printed by `smpquery`.
    Ports(Vec<PortArbitration>),
    /// Tables from an OpenSM configuration.
    Kinds {
        /// Whether OpenSM is configured to write the tables into ports.
        is_enabled: bool,
        /// Tables for each type of port.
        kinds: Vec<(PortKind, ArbitrationTables)>,
    },
}

/// Reads the output of `smpquery vlarb`, or `opensm.conf`.
pub fn load_arbitration(path: &Path) -> Result<LoadedArbitration, InputError> {
    arbitration_of(&path.display().to_string(), &read(path)?)
}

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

pub(crate) struct Subnet<'a> {
    fabric: &'a Fabric,
    lids: Lids,
}

impl<'a> Subnet<'a> {
    pub(crate) fn new(fabric: &'a Fabric, name: &str) -> Result<Self, InputError> {
        let lids = Lids::of(fabric).map_err(|error| from_format(name, &error))?;
        Ok(Self { fabric, lids })
    }

    pub(crate) fn tables(&self, name: &str, bytes: &[u8]) -> Result<ForwardingTables, InputError> {
        joined(name, bytes, |text| subnet::join(self.fabric, &self.lids, &TableDump::read(text)?))
    }

    pub(crate) fn lanes(
        &self,
        name: &str,
        bytes: &[u8],
    ) -> Result<(LaneMap, Vec<Finding>), InputError> {
        joined(name, bytes, |text| {
            subnet::join_lanes(self.fabric, &self.lids, &LaneDump::read(text)?)
        })
    }

    pub(crate) fn levels(
        &self,
        name: &str,
        bytes: &[u8],
    ) -> Result<(ServiceLevels, Vec<Finding>), InputError> {
        joined(name, bytes, |text| {
            subnet::join_levels(self.fabric, &self.lids, &LevelDump::read(text)?)
        })
    }

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

fn joined<T>(
    name: &str,
    bytes: &[u8],
    read_text: impl FnOnce(&str) -> Result<T, FormatError>,
) -> Result<T, InputError> {
    let bytes = unpack(name, bytes)?;
    let read = format::decode(&bytes).and_then(|decoded| read_text(&decoded.text));
    read.map_err(|error| from_format(name, &error))
}
