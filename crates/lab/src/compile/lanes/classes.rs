//! The lanes of each class.

use crate::error::LabError;
use crate::scenario::{ScenarioSource, TrafficClass};
use gingham_topology::routing::{LaneSet, MANAGEMENT_LANE, VcClass};

/// Which lanes classes may use; those with the same lanes share a VC class.
pub(super) struct ClassLanes {
    /// By class.
    pub(super) by_class: Vec<LaneSet>,
    /// By VC class.
    pub(super) sets: Vec<LaneSet>,
}

impl ClassLanes {
    /// The lanes of every class, which are all but InfiniBand's lane of management where it names
    /// none.
    pub(super) fn of(source: &ScenarioSource, count: u8) -> Result<Self, LabError> {
        let mut lanes = Self { by_class: Vec::new(), sets: Vec::new() };
        for (index, class) in source.scenario.traffic.iter().enumerate() {
            let of_class = lanes_of(source, index, class, count)?;
            lanes.by_class.push(of_class);
            if !lanes.sets.contains(&of_class) {
                lanes.sets.push(of_class);
            }
            if lanes.sets.len() > usize::from(u8::MAX) {
                let message = format!(
                    "classes may use at most {} different lists of lanes: let some use the same",
                    u8::MAX
                );
                return Err(source.refuse(&format!("traffic.{index}.lanes"), message).into());
            }
        }
        Ok(lanes)
    }

    pub(super) fn vc_class(&self, class: usize) -> VcClass {
        let own = self.by_class[class];
        let place = self.sets.iter().position(|set| *set == own).expect("a set of a class");
        VcClass(u8::try_from(place).expect("sets are few"))
    }
}

fn lanes_of(
    source: &ScenarioSource,
    index: usize,
    class: &TrafficClass,
    count: u8,
) -> Result<LaneSet, LabError> {
    let refuse = |key: &str, message: String| -> LabError {
        source.refuse(&format!("traffic.{index}.{key}"), message).into()
    };
    let Some(written) = &class.lanes else {
        return Ok(LaneSet::first_n(count.min(MANAGEMENT_LANE)));
    };
    let highest = count - 1;
    if written.is_empty() {
        let message = format!(
            "a class without a lane can send nothing: name some from 0 to {highest}, or leave the key out for all"
        );
        return Err(refuse("lanes", message));
    }
    let mut lanes = LaneSet::EMPTY;
    for (place, lane) in written.iter().enumerate() {
        let key = format!("lanes.{place}");
        let Some(number) = u8::try_from(*lane).ok().filter(|lane| *lane < count) else {
            let are = if count == 1 {
                "has one, 0".into()
            } else {
                format!("has {count}, from 0 to {highest}")
            };
            let message = format!("there is no lane {lane}: a channel {are} (network.lanes.count)");
            return Err(refuse(&key, message));
        };
        if lanes.contains(number) {
            return Err(refuse(&key, format!("lane {lane} is there twice")));
        }
        lanes = lanes | LaneSet::one(number);
    }
    Ok(lanes)
}
