//! Refusal of names that a switching kind does not support.

use super::keys::schema_at;
use super::support::{Feature, SwitchingKind};
use super::variants;
use crate::error::LabError;
use crate::scenario::{PerLane, ScenarioSource};
use serde::Serialize;
use serde_json::Value;

/// Refuses the first unsupported name. Keys that the switching kind does not have are refused
/// earlier, with all names under them.
pub(crate) fn refuse_unsupported(source: &ScenarioSource) -> Result<(), LabError> {
    let scenario = &source.scenario;
    let (routing, network) = (&scenario.routing, &scenario.network);
    let alternative = routing.alternative.as_ref();
    refuse(source, "network.arbitration", network.arbitration.as_ref())?;
    refuse(source, "network.marking", network.marking.as_ref())?;
    refuse(source, "routing.algorithm", Some(&routing.algorithm))?;
    let algorithm = alternative.and_then(|of| of.algorithm.as_ref());
    refuse(source, "routing.alternative.algorithm", algorithm)?;
    let choose = alternative.and_then(|of| of.choose.as_ref());
    refuse(source, "routing.alternative.choose", choose)?;
    let key = "network.lanes.forwarding";
    match &network.lanes.forwarding {
        None => Ok(()),
        Some(PerLane::All(one)) => refuse(source, key, Some(one)),
        Some(PerLane::Each(all)) => all
            .iter()
            .enumerate()
            .try_for_each(|(lane, one)| refuse_at(source, &format!("{key}.{lane}"), key, one)),
    }
}

fn refuse(
    source: &ScenarioSource,
    key: &str,
    variant: Option<&impl Serialize>,
) -> Result<(), LabError> {
    variant.map_or(Ok(()), |variant| refuse_at(source, key, key, variant))
}

fn refuse_at(
    source: &ScenarioSource,
    path: &str,
    key: &str,
    variant: &impl Serialize,
) -> Result<(), LabError> {
    let name = name_of(variant);
    let network = &source.scenario.network;
    let kind = SwitchingKind::of(&network.parameters().switching);
    let variants = variants(schema_at(key));
    let (_, variant, _) =
        variants.iter().find(|(other, ..)| *other == name).expect("a variant of its enum");
    match Feature::needed_by(variant).filter(|feature| !kind.has(*feature)) {
        None => Ok(()),
        Some(feature) => {
            let (network, reason) = (kind.under(network), feature.reason());
            let message = format!("`{name}` does not go with {network}: {reason}");
            Err(source.refuse(path, message).into())
        }
    }
}

pub(crate) fn name_of(variant: impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(Value::String(name)) => name,
        Ok(Value::Object(fields)) if fields.len() == 1 => fields.into_iter().next().expect("one").0,
        other => unreachable!("a name, alone or with parameters, not {other:?}"),
    }
}
