//! Service levels of classes, where tables decide on lanes.

use crate::compile::imported::decides_on_lanes;
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_topology::routing::{LEVELS, VcClass};

/// By class: the service level that it says; `None` if lanes are not decided on by tables.
pub(super) fn of_classes(
    source: &ScenarioSource,
) -> Result<Option<Vec<Option<VcClass>>>, LabError> {
    let refuse = |key: &str, message: String| -> LabError { source.refuse(key, message).into() };
    let by_tables = decides_on_lanes(&source.scenario.routing);
    if by_tables && source.scenario.network.lanes.datelines == Some(true) {
        let message = "tables decide on lanes (routing.lane_tables, routing.service_levels), and they have their own way to \
                       break cycles: leave datelines out";
        return Err(refuse("network.lanes.datelines", message.to_owned()));
    }
    let mut levels = Vec::new();
    for (index, class) in source.scenario.traffic.iter().enumerate() {
        let key = |name: &str| format!("traffic.{index}.{name}");
        if by_tables && class.lanes.is_some() {
            let message = "tables decide on lanes (routing.lane_tables, routing.service_levels): say with `service_level` on \
                           which level the class sends, or leave it out";
            return Err(refuse(&key("lanes"), message.to_owned()));
        }
        let Some(written) = class.service_level else {
            levels.push(None);
            continue;
        };
        if !by_tables {
            let message = "no tables make lanes of service levels: name them with routing.lane_tables, or say the lanes with \
                           `lanes`";
            return Err(refuse(&key("service_level"), message.to_owned()));
        }
        let level = u8::try_from(written).ok().filter(|level| usize::from(*level) < LEVELS);
        let level = level.ok_or_else(|| {
            refuse(&key("service_level"), format!("a service level is from 0 to 15, not {written}"))
        })?;
        levels.push(Some(VcClass(level)));
    }
    Ok(by_tables.then_some(levels))
}
