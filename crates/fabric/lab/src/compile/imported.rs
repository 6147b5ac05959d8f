//! Import of a subnet manager's tables, from files named in a scenario.
//!
//! A class's `service_level` overrides the level of a host pair. A host may have several LIDs (LMC
//! above 0) with different routes. Real software chooses one of them; here every sender uses the
//! first.
//!
//! Invariants: the tables lead from every host to every other host on its island, and no packet of
//! any class is dropped for lack of a lane.

use super::gathered::Gathered;
use super::lanes::ClassLevels;
use crate::check::{Check, Subject, check, note, refuse, say, when};
use crate::error::LabError;
use crate::scenario::{Routing, Scenario, ScenarioSource};
use crate::subnet_files::Subnet;
use gingham_input::FileRead;
use gingham_kernel::FileName;
use gingham_topology::routing::{
    LANES_MAX, LaneDrop, LaneMap, Lanes, RouteSet, Routes, ServiceLevels, UpDown, VcClass,
};
use gingham_topology::{Algorithm, EndpointId, Fabric, Finding};

const FINDINGS_MAX: usize = 5;

#[derive(Default)]
pub(super) struct Imported {
    pub(super) routes: Option<Routes>,
    pub(super) lanes: Option<(LaneMap, ServiceLevels)>,
}

pub(super) fn decides_on_lanes(routing: &Routing) -> bool {
    routing.lane_tables.is_some() || routing.service_levels.is_some()
}

pub(super) fn imported(
    source: &ScenarioSource,
    fabric: &Fabric,
    gathered: &mut Gathered,
) -> Result<Imported, LabError> {
    let routing = &source.scenario.routing;
    if routing.tables.is_none() && !decides_on_lanes(routing) {
        return Ok(Imported::default());
    }
    let written = Subject::of_table(source, "routing", routing);
    check(&of_keys(), &written, gathered)?;
    let subnet = Subnet::new(fabric, &name_of_fabric(source))?;
    let mut reader = Reader { source, gathered };
    let mut imported = Imported::default();
    if let Some(name) = &routing.tables {
        let (file, bytes) = reader.open("routing.tables", name)?;
        let forwarding = subnet.tables(&file, &bytes)?;
        reader.note(&file, &forwarding.findings);
        let routes = (fabric, &forwarding.routes[..]);
        check(&of_tables(), &Subject::of_table(source, "routing", routes), reader.gathered)?;
        imported.routes = forwarding.routes.into_iter().next();
    }
    let mut map = None;
    if let Some(name) = &routing.lane_tables {
        let (file, bytes) = reader.open("routing.lane_tables", name)?;
        let (joined, findings) = subnet.lanes(&file, &bytes)?;
        reader.note(&file, &findings);
        map = Some(joined);
    }
    let mut levels = None;
    if let Some(name) = &routing.service_levels {
        let (file, bytes) = reader.open("routing.service_levels", name)?;
        let (joined, findings) = subnet.levels(&file, &bytes)?;
        reader.note(&file, &findings);
        levels = Some(joined.of_base_lids());
    }
    imported.lanes = decides_on_lanes(routing).then(|| subnet.completed(map, levels));
    Ok(imported)
}

fn of_keys<'a>() -> [Check<&'a Routing>; 2] {
    [
        refuse("algorithm", |it| {
            let is_default = it.algorithm == Algorithm::UpDown(UpDown::default());
            when!(
                it.tables.is_some() && !is_default,
                "routing.tables take the place of an algorithm: leave one of the two out"
            )
        }),
        refuse("alternative", |it| {
            when!(
                it.tables.is_some() && it.alternative.is_some(),
                "a packet that chooses between two paths must carry its route, and tables give one path a pair: leave \
                 routing.tables or [routing.alternative] out"
            )
        }),
    ]
}

fn name_of_fabric(source: &ScenarioSource) -> String {
    match &source.scenario.topology {
        crate::scenario::Topology::File(name) => source.path_of(name).display().to_string(),
        _ => "the fabric".to_owned(),
    }
}

struct Reader<'a> {
    source: &'a ScenarioSource,
    gathered: &'a mut Gathered,
}

impl Reader<'_> {
    fn open(&mut self, key: &str, name: &FileName) -> Result<(String, Vec<u8>), LabError> {
        let path = self.source.path_of(name);
        let (read, bytes) = FileRead::open(key, &path).map_err(|error| {
            self.source.refuse(key, format!("{} cannot be read: {error}", path.display()))
        })?;
        let file = read.path.clone();
        self.gathered.files.push(read);
        Ok((file, bytes))
    }

    fn note(&mut self, file: &str, findings: &[Finding]) {
        let described = |finding: &Finding| match finding.line {
            Some(line) => format!("{file}:{line}: {}", finding.text),
            None => format!("{file}: {}", finding.text),
        };
        self.gathered.notes.extend(findings.iter().take(FINDINGS_MAX).map(described));
        if findings.len() > FINDINGS_MAX {
            let more = findings.len() - FINDINGS_MAX;
            self.gathered
                .notes
                .push(format!("{file}: {more} more findings; `gingham route check` shows all"));
        }
    }
}

/// Requires that the first set of routes, which all packets take, connects all host pairs.
fn of_tables<'a>() -> [Check<(&'a Fabric, &'a [Routes])>; 2] {
    [
        note(|it| {
            let count = it.of.1.len();
            when!(
                count > 1,
                "the tables have {count} routes for each pair, one for each LID that a host answers to (LMC); all packets \
                 take that to the first"
            )
        }),
        refuse("tables", |it| {
            let (fabric, routes) = it.of;
            let faults = routes[0].trace(fabric).faults;
            let fault = faults.iter().find(|fault| fabric.is_host_endpoint(fault.to))?;
            say!(
                "{}; a run needs a route between all hosts: `gingham route check` shows every fault",
                fault.describe(fabric)
            )
        }),
    ]
}

#[derive(Clone, Copy)]
pub(super) struct Among {
    pub(super) count: u8,
    pub(super) lanes_per_vl: Option<u8>,
}

pub(super) fn lanes(
    source: &ScenarioSource,
    fabric: &Fabric,
    (map, levels): (LaneMap, ServiceLevels),
    classes: &ClassLevels,
    Among { count, lanes_per_vl }: Among,
    gathered: &mut Gathered,
) -> Result<Lanes, LabError> {
    let has_probes = source.scenario.network.admission.is_some();
    let is_bound_by_pair = has_probes || classes.all().any(|level| level.is_none());
    let everywhere: Vec<VcClass> = classes.all().flatten().collect();
    let lanes = Lanes::by_tables(fabric, map, levels, is_bound_by_pair, &everywhere);
    let highest = highest_vl(source, fabric, &lanes, classes);
    let vls = 1 + highest.as_ref().map_or(0, |highest| highest.vl);
    let lanes_per_vl = match lanes_per_vl {
        Some(given) => given,
        None => (count / vls).max(1),
    };
    if let Some(highest) = &highest
        && u32::from(vls) * u32::from(lanes_per_vl) > u32::from(count)
    {
        return Err(too_few(source, highest, count, lanes_per_vl));
    }
    let is_given = source.scenario.network.lanes.per_vl.is_some();
    if lanes_per_vl > 1 && !is_given {
        gathered.notes.push(format!(
            "tables use {}, and channels have {count} lanes, so that each VL owns {lanes_per_vl} lanes: a packet takes any lane \
             of its VL (network.lanes.per_vl)",
            if vls == 1 { "VL 0 alone".to_owned() } else { format!("VLs up to {}", vls - 1) }
        ));
    }
    Ok(lanes.with_lanes_per_vl(lanes_per_vl))
}

struct HighestVl {
    vl: u8,
    whose: String,
}

/// Returns the highest VL in use, and which packets use it; `lanes` has one lane per VL.
fn highest_vl(
    source: &ScenarioSource,
    fabric: &Fabric,
    lanes: &Lanes,
    classes: &ClassLevels,
) -> Option<HighestVl> {
    let mut levels = Vec::new();
    for (index, class) in source.scenario.traffic.iter().enumerate() {
        levels.push((format!("packets of class `{}`", class.name), classes.by_class[index]));
        let of_acks = classes.of_acks.get(&index);
        levels.extend(
            of_acks.map(|level| (format!("acknowledgements of class `{}`", class.name), *level)),
        );
    }
    if source.scenario.network.admission.is_some() {
        levels.push(("probes of the admission control".to_owned(), None));
    }
    let vls = levels.into_iter().filter_map(|(whose, level)| {
        Some(HighestVl { vl: lanes.anywhere(fabric, level).highest()?, whose })
    });
    vls.reduce(|highest, other| if other.vl > highest.vl { other } else { highest })
}

fn too_few(
    source: &ScenarioSource,
    HighestVl { vl, whose }: &HighestVl,
    count: u8,
    lanes_per_vl: u8,
) -> LabError {
    let vls = vl + 1;
    if lanes_per_vl == 1 {
        let message = format!(
            "tables put {whose} on lane {vl}, and channels have {count}, from 0 to {}: say network.lanes.count = {vls}",
            count - 1,
        );
        return source.refuse("network.lanes.count", message).into();
    }
    let needed = u32::from(vls) * u32::from(lanes_per_vl);
    let mut cures = Vec::new();
    if count >= vls {
        cures.push(format!("network.lanes.per_vl = {}", count / vls));
    }
    if needed <= u32::from(LANES_MAX) {
        cures.push(format!("network.lanes.count = {needed}"));
    }
    if cures.is_empty() {
        cures.push(format!("network.lanes.per_vl = 1 and network.lanes.count = {vls}"));
    }
    let message = format!(
        "tables put {whose} on VL {vl}, and {vls} VLs of {lanes_per_vl} lanes need {needed}, while channels have {count}: say {}",
        cures.join(" or ")
    );
    source.refuse("network.lanes.per_vl", message).into()
}

pub(super) fn of_lanes<'a>() -> [Check<(&'a Fabric, RouteSet<'a>)>; 1] {
    [refuse("service_levels", |it| {
        let Scenario { routing, traffic, .. } = &it.source.scenario;
        if !decides_on_lanes(routing) {
            return None;
        }
        let (fabric, routes) = it.of;
        let drops = routes.lane_use(fabric).drops;
        let is_host = |host: EndpointId| fabric.is_host_endpoint(host);
        let of_hosts = |drop: &&LaneDrop| is_host(drop.example.0) && is_host(drop.example.1);
        let drop = drops.iter().find(of_hosts)?;
        let has_acks = traffic.iter().any(|class| class.window.is_some());
        let of_acks = if has_acks { ", traffic.*.window.ack.service_level" } else { "" };
        let sentence = say!(
            "{}; send on another level (traffic.*.service_level{of_acks}), or map it to another lane",
            drop.describe(fabric)
        )?;
        let is_by_tables = routing.lane_tables.is_some();
        Some(if is_by_tables { sentence.at("routing.lane_tables") } else { sentence })
    })]
}
