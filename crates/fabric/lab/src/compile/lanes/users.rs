//! Who sends on lanes: classes, and the answers of those whose flows have a window.

use crate::scenario::ScenarioSource;

/// A class, or the answers of one, with what it says of its lanes.
pub(super) struct LaneUser<'a> {
    /// The class.
    pub(super) class: usize,
    /// Whether it is its answers.
    pub(super) is_answer: bool,
    /// The path of the table that says it.
    pub(super) path: String,
    /// As messages call it.
    pub(super) called: String,
    pub(super) lanes: Option<&'a [i64]>,
    pub(super) service_level: Option<i64>,
}

impl LaneUser<'_> {
    /// The path of one of its keys.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }
}

/// Everybody, each class before its answers.
pub(super) fn users(source: &ScenarioSource) -> impl Iterator<Item = LaneUser<'_>> {
    source.scenario.traffic.iter().enumerate().flat_map(|(index, class)| {
        let own = LaneUser {
            class: index,
            is_answer: false,
            path: format!("traffic.{index}"),
            called: format!("class `{}`", class.name),
            lanes: class.lanes.as_deref(),
            service_level: class.service_level,
        };
        let answers = class.window.as_ref().map(|window| LaneUser {
            class: index,
            is_answer: true,
            path: format!("traffic.{index}.window.answer"),
            called: format!("answers of class `{}`", class.name),
            lanes: window.answer.lanes.as_deref(),
            service_level: window.answer.service_level,
        });
        std::iter::once(own).chain(answers)
    })
}

/// The admission control, if there is one. Its class means nothing.
pub(super) fn admission_user(source: &ScenarioSource) -> Option<LaneUser<'_>> {
    let admission = source.scenario.network.admission.as_ref()?;
    Some(LaneUser {
        class: 0,
        is_answer: false,
        path: "network.admission".to_owned(),
        called: "the admission control".to_owned(),
        lanes: admission.lanes.as_deref(),
        service_level: None,
    })
}
