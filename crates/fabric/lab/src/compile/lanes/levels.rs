//! Service levels of classes and acknowledgements, for lanes assigned by tables.

use super::users::users;
use crate::compile::imported::decides_on_lanes;
use crate::error::LabError;
use crate::scenario::{LaneName, ScenarioSource};
use gingham_topology::routing::{LEVELS, VcClass};
use std::collections::BTreeMap;

/// Service levels; `None` if the service level of the host pair applies.
#[derive(Clone)]
pub(crate) struct ClassLevels {
    pub(crate) by_class: Vec<Option<VcClass>>,
    pub(crate) of_acks: BTreeMap<usize, Option<VcClass>>,
}

impl ClassLevels {
    /// Determines the service levels; `None` if tables do not assign lanes.
    pub(super) fn of(source: &ScenarioSource) -> Result<Option<Self>, LabError> {
        let refuse =
            |key: &str, message: String| -> LabError { source.refuse(key, message).into() };
        let by_tables = decides_on_lanes(&source.scenario.routing);
        let asked = source.scenario.network.lanes.datelines;
        if by_tables && asked.is_some_and(|asked| asked.rule().is_some()) {
            let message = "tables decide on lanes (routing.lane_tables, routing.service_levels), and they have their own way to \
                           break cycles: leave datelines out";
            return Err(refuse("network.lanes.datelines", message.to_owned()));
        }
        let mut levels = Self { by_class: Vec::new(), of_acks: BTreeMap::new() };
        for user in users(source) {
            if by_tables && user.lanes.is_some() {
                let message = "tables decide on lanes (routing.lane_tables, routing.service_levels): set the level with `service_level`, \
                               or leave it out";
                return Err(refuse(&user.key("lanes"), message.to_owned()));
            }
            let is_bound = source.scenario.traffic[user.class].lane != LaneName::Any;
            if by_tables && is_bound && !user.is_ack {
                let message = "tables decide on lanes (routing.lane_tables, routing.service_levels), and a packet takes any lane of its \
                               VL: leave the key out";
                return Err(refuse(&user.key("lane"), message.to_owned()));
            }
            if !by_tables && user.service_level.is_some() {
                let message = "no tables make lanes of service levels: name them with routing.lane_tables, or say the lanes \
                               with `lanes`";
                return Err(refuse(&user.key("service_level"), message.to_owned()));
            }
            let own = user.service_level.map(|written| {
                let level = u8::try_from(written).ok().filter(|it| usize::from(*it) < LEVELS);
                level.map(VcClass).ok_or_else(|| {
                    let message = format!("a service level is from 0 to 15, not {written}");
                    refuse(&user.key("service_level"), message)
                })
            });
            let own = own.transpose()?;
            if user.is_ack {
                levels.of_acks.insert(user.class, own.or(levels.by_class[user.class]));
            } else {
                levels.by_class.push(own);
            }
        }
        Ok(by_tables.then_some(levels))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = Option<VcClass>> {
        self.by_class.iter().chain(self.of_acks.values()).copied()
    }
}
