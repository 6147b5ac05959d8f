//! Lanes of each class, and of its acknowledgements.

use super::users::{LaneUser, admission_user, users};
use crate::error::LabError;
use crate::scenario::{LaneName, ScenarioSource};
use gingham_topology::routing::{LaneSet, MANAGEMENT_LANE, VcClass};
use std::collections::BTreeMap;

/// Lanes of classes and their acknowledgements; equal lane sets share a VC class.
#[derive(Clone)]
pub(super) struct ClassLanes {
    pub(super) by_class: Vec<LaneSet>,
    of_acks: BTreeMap<usize, LaneSet>,
    is_single: Vec<bool>,
    of_admission: Option<LaneSet>,
    pub(super) sets: Vec<LaneSet>,
}

impl ClassLanes {
    /// Determines the lanes. By default classes use all lanes except InfiniBand's management lane,
    /// and acknowledgements use the lanes of their class.
    pub(super) fn of(source: &ScenarioSource, count: u8) -> Result<Self, LabError> {
        let traffic = &source.scenario.traffic;
        let is_single = traffic.iter().map(|class| class.lane != LaneName::Any).collect();
        let mut lanes = Self {
            by_class: Vec::new(),
            of_acks: BTreeMap::new(),
            is_single,
            of_admission: None,
            sets: Vec::new(),
        };
        for user in users(source) {
            let own = match user.lanes {
                Some(written) => named(source, &user, written, count)?,
                None if user.is_ack => lanes.by_class[user.class],
                None => LaneSet::first_n(count.min(MANAGEMENT_LANE)),
            };
            if user.is_ack {
                lanes.of_acks.insert(user.class, own);
            } else {
                lanes.by_class.push(own);
            }
            lanes.add(own);
            if !user.is_ack && lanes.is_single[user.class] {
                own.lanes().for_each(|lane| lanes.add(LaneSet::one(lane)));
            }
            if lanes.sets.len() > usize::from(u8::MAX) {
                let message = format!(
                    "classes may use at most {} different lists of lanes: let some use the same",
                    u8::MAX
                );
                return Err(source.refuse(&user.key("lanes"), message).into());
            }
        }
        if let Some(user) = admission_user(source) {
            let own = match user.lanes {
                Some(written) => named(source, &user, written, count)?,
                None if count > MANAGEMENT_LANE => LaneSet::one(MANAGEMENT_LANE),
                None => LaneSet::first_n(count),
            };
            lanes.of_admission = Some(own);
            lanes.add(own);
        }
        Ok(lanes)
    }

    pub(super) fn vc_class_of_admission(&self) -> Option<VcClass> {
        self.of_admission.map(|own| self.vc_class_of(own))
    }

    fn add(&mut self, set: LaneSet) {
        if !self.sets.contains(&set) {
            self.sets.push(set);
        }
    }

    /// Returns one VC class for each lane of a class, because each message keeps to one of these
    /// lanes.
    pub(super) fn single_vc_classes(&self, class: usize) -> Box<[VcClass]> {
        self.by_class[class].lanes().map(|lane| self.vc_class_of(LaneSet::one(lane))).collect()
    }

    pub(super) fn ack_as_class(&mut self, class: usize) {
        self.of_acks.insert(class, self.by_class[class]);
        let all: Vec<LaneSet> = self
            .by_class
            .iter()
            .chain(self.of_acks.values())
            .chain(&self.of_admission)
            .copied()
            .collect();
        let singles =
            |(of, is_single): (&LaneSet, &bool)| if *is_single { *of } else { LaneSet::EMPTY };
        let singles = self.by_class.iter().zip(&self.is_single).map(singles);
        let singles = singles.fold(LaneSet::EMPTY, |all, of| all | of);
        let all: Vec<LaneSet> = all.into_iter().chain(singles.lanes().map(LaneSet::one)).collect();
        self.sets.retain(|set| all.contains(set));
    }

    pub(super) fn vc_class(&self, class: usize) -> VcClass {
        self.vc_class_of(self.by_class[class])
    }

    pub(super) fn vc_class_of_acks(&self, class: usize) -> Option<VcClass> {
        self.of_acks.get(&class).map(|own| self.vc_class_of(*own))
    }

    fn vc_class_of(&self, own: LaneSet) -> VcClass {
        let place = self.sets.iter().position(|set| *set == own).expect("a set of a class");
        VcClass(u8::try_from(place).expect("sets are few"))
    }

    pub(super) fn with_fewer<'a>(
        &self,
        source: &'a ScenarioSource,
        count: usize,
    ) -> Option<LaneUser<'a>> {
        let lanes = |user: &LaneUser<'_>| match self.of_acks.get(&user.class) {
            Some(own) if user.is_ack => *own,
            _ => self.by_class[user.class],
        };
        users(source).find(|user| (lanes(user).len() as usize) < count)
    }
}

fn named(
    source: &ScenarioSource,
    user: &LaneUser<'_>,
    written: &[i64],
    count: u8,
) -> Result<LaneSet, LabError> {
    let refuse =
        |key: &str, message: String| -> LabError { source.refuse(&user.key(key), message).into() };
    let highest = count - 1;
    if written.is_empty() {
        let [problem, without] = if user.is_ack {
            ["acknowledgements without a lane can never be sent", "those of the class"]
        } else {
            ["a class without a lane cannot send", "all"]
        };
        let message =
            format!("{problem}: name some from 0 to {highest}, or leave the key out for {without}");
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
            let message =
                format!("lane {lane} does not exist: a channel {are} (network.lanes.count)");
            return Err(refuse(&key, message));
        };
        if lanes.contains(number) {
            return Err(refuse(&key, format!("lane {lane} is there twice")));
        }
        lanes = lanes | LaneSet::one(number);
    }
    Ok(lanes)
}
