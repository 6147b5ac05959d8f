//! Users of lanes: classes, and acknowledgements of classes with a window.

use crate::scenario::ScenarioSource;

pub(super) struct LaneUser<'a> {
    pub(super) class: usize,
    pub(super) is_ack: bool,
    pub(super) path: String,
    pub(super) called: String,
    pub(super) lanes: Option<&'a [i64]>,
    pub(super) service_level: Option<i64>,
}

impl LaneUser<'_> {
    pub(super) fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }
}

pub(super) fn users(source: &ScenarioSource) -> impl Iterator<Item = LaneUser<'_>> {
    source.scenario.traffic.iter().enumerate().flat_map(|(index, class)| {
        let own = LaneUser {
            class: index,
            is_ack: false,
            path: format!("traffic.{index}"),
            called: format!("class `{}`", class.name),
            lanes: class.lanes.as_deref(),
            service_level: class.service_level,
        };
        let acks = class.window.as_ref().map(|window| LaneUser {
            class: index,
            is_ack: true,
            path: format!("traffic.{index}.window.ack"),
            called: format!("acknowledgements of class `{}`", class.name),
            lanes: window.ack.lanes.as_deref(),
            service_level: window.ack.service_level,
        });
        std::iter::once(own).chain(acks)
    })
}

/// Returns admission control as a user of lanes; the class index of this user is meaningless.
pub(super) fn admission_user(source: &ScenarioSource) -> Option<LaneUser<'_>> {
    let admission = source.scenario.network.admission.as_ref()?;
    Some(LaneUser {
        class: 0,
        is_ack: false,
        path: "network.admission".to_owned(),
        called: "the admission control".to_owned(),
        lanes: admission.lanes.as_deref(),
        service_level: None,
    })
}
