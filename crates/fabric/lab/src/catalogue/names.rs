//! Names that networks of some switching kinds do not take: what refuses them, with the reason that
//! the catalogue gives.

use super::concepts::CONCEPTS;
use super::support::{Support, SwitchingKind};
use crate::error::LabError;
use crate::scenario::{PerLane, ScenarioSource};
use serde::Serialize;
use serde_json::Value;

/// Refuses the first name that networks of the scenario's kind do not take.
///
/// Keys that belong to some kinds, and all names under them, are refused before.
pub(crate) fn refuse_unsupported(source: &ScenarioSource) -> Result<(), LabError> {
    let scenario = &source.scenario;
    let kind = SwitchingKind::of(&scenario.network.parameters().switching);
    let alternative = scenario.routing.alternative.as_ref();
    let forwarding = match &scenario.network.lanes.forwarding {
        None => Vec::new(),
        Some(PerLane::All(one)) => vec![("network.lanes.forwarding".to_owned(), *one)],
        Some(PerLane::Each(all)) => {
            let key = |lane: usize| format!("network.lanes.forwarding.{lane}");
            all.iter().enumerate().map(|(lane, one)| (key(lane), *one)).collect()
        }
    };
    let refuse = |concept: &str, key: &str, name: String| match refusal(concept, &name, kind) {
        None => Ok(()),
        Some(reason) => {
            let network = kind.under(&scenario.network);
            let message = format!("`{name}` does not go with {network}: {reason}");
            Err(LabError::from(source.refuse(key, message)))
        }
    };
    if let Some(arbitration) = scenario.network.arbitration {
        refuse("arbitration", "network.arbitration", name_of(arbitration))?;
    }
    if let Some(marking) = &scenario.network.marking {
        refuse("marking", "network.marking", name_of(marking))?;
    }
    refuse("routing", "routing.algorithm", name_of(&scenario.routing.algorithm))?;
    if let Some(algorithm) = alternative.and_then(|of| of.algorithm.as_ref()) {
        refuse("routing", "routing.alternative.algorithm", name_of(algorithm))?;
    }
    if let Some(choose) = alternative.and_then(|of| of.choose.as_ref()) {
        refuse("path-choice", "routing.alternative.choose", name_of(choose))?;
    }
    forwarding
        .into_iter()
        .try_for_each(|(key, forwarding)| refuse("forwarding", &key, name_of(forwarding)))
}

/// Why a kind refuses a name, if it does.
fn refusal(concept: &str, name: &str, kind: &SwitchingKind) -> Option<&'static str> {
    let concept = CONCEPTS.iter().find(|of| of.name == concept);
    let concept = concept.expect("a concept of the catalogue");
    match (concept.support)(name, kind) {
        Support::Refused { reason } => Some(reason),
        Support::Works | Support::Meaningless => None,
    }
}

/// The name of a variant, as a scenario writes it.
pub(crate) fn name_of(variant: impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(Value::String(name)) => name,
        Ok(Value::Object(fields)) if fields.len() == 1 => fields.into_iter().next().expect("one").0,
        other => unreachable!("a name, alone or with parameters, not {other:?}"),
    }
}
