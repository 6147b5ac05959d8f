//! Scenario keys that only some switching kinds have: refusal under other kinds, and notes in the
//! reference.
//!
//! A key or table declares the feature that it needs (`x-needs`), and the equivalent key of
//! five-stage switches (`x-instead`).

use super::SCENARIO;
use super::support::{Feature, KINDS, SwitchingKind};
use crate::error::LabError;
use crate::scenario::{ScenarioSource, SwitchingParameters};
use serde_json::Value;

/// Tables with keys for only some switching kinds, in the order of refusal; `*` stands for every
/// index of a list.
const TABLES: [&str; 8] = [
    "network",
    "network.header",
    "network.lanes",
    "network.in_transit",
    "network.packets",
    "traffic.*",
    "traffic.*.window.ack",
    "routing",
];

impl Feature {
    fn owners(self) -> &'static str {
        self.reason().strip_prefix("belongs to ").expect("a reason names the owners")
    }

    fn cure(self) -> String {
        let kinds = KINDS.iter().filter(|kind| kind.has(self));
        let kinds: Vec<String> = kinds.map(|kind| format!("\"{}\"", kind.name)).collect();
        format!("say network.switching = {}, or leave it out", kinds.join(" or "))
    }
}

fn pointer(path: &str) -> String {
    let step = |step| if step == "*" { "/items".to_owned() } else { format!("/properties/{step}") };
    path.split('.').map(step).collect()
}

pub(super) fn schema_at(path: &str) -> &'static Value {
    SCENARIO.pointer(&pointer(path)).expect("a key of scenarios")
}

/// Returns the features that a key needs, followed by those that its enclosing tables need.
pub(super) fn needs(key: &str) -> Vec<Feature> {
    let ends = key.match_indices('.').map(|(end, _)| end).chain([key.len()]);
    // The schema has no pointer to keys inside enum variants, which declare no features.
    let needed = |end| Feature::needed_by(SCENARIO.pointer(&pointer(&key[..end]))?);
    let mut needs: Vec<Feature> = ends.filter_map(needed).collect();
    needs.reverse();
    needs
}

fn owned_keys(path: &str) -> impl Iterator<Item = (&'static str, Feature, &'static str)> {
    let table = schema_at(path);
    let keys = table["properties"].as_object().expect("a table has keys");
    let own = keys.iter().filter(move |(key, _)| !is_table(path, key));
    let own = own.filter_map(|(key, schema)| {
        let instead = schema["x-instead"].as_str().unwrap_or_default();
        Some((&**key, Feature::needed_by(schema)?, instead))
    });
    let of_table = Feature::needed_by(table).into_iter();
    own.chain(of_table.flat_map(|feature| keys.keys().map(move |key| (&**key, feature, ""))))
}

fn is_table(path: &str, key: &str) -> bool {
    TABLES.contains(&&*format!("{path}.{key}"))
}

pub(crate) fn refuse_foreign(
    source: &ScenarioSource,
    switching: &SwitchingParameters,
) -> Result<(), LabError> {
    let kind = SwitchingKind::of(switching);
    for path in TABLES {
        let classes = if path.contains('*') { source.scenario.traffic.len() } else { 1 };
        for place in (0..classes).map(|index| path.replace('*', &index.to_string())) {
            let is_written = |key: &str| source.tree.get(&format!("{place}.{key}")).is_some();
            let mut foreign = owned_keys(path).filter(|(_, feature, _)| !kind.has(*feature));
            let Some((key, feature, instead)) = foreign.find(|(key, ..)| is_written(key)) else {
                continue;
            };
            let instead = match instead {
                words if !words.is_empty() && kind.has(Feature::FiveStages) => {
                    format!(", where {words}")
                }
                _ => String::new(),
            };
            let message = format!(
                "{}, and this is {}{instead}: {}",
                feature.reason(),
                kind.under(&source.scenario.network),
                feature.cure()
            );
            return Err(source.refuse(&format!("{place}.{key}"), message).into());
        }
    }
    Ok(())
}

/// Adds the supporting switching kinds to descriptions in the schema: once for a table if all its
/// keys need a feature, otherwise for each key that needs one.
pub(super) fn note_owners(schema: &mut Value) {
    for path in TABLES {
        let table = schema.pointer_mut(&pointer(path)).expect("a table of scenarios");
        note_owner(table);
        let keys = table["properties"].as_object_mut().expect("a table has keys").iter_mut();
        keys.filter(|(key, _)| !is_table(path, key)).for_each(|(_, key)| note_owner(key));
    }
}

fn note_owner(of: &mut Value) {
    if let Some(feature) = Feature::needed_by(of) {
        let meaning = of["description"].as_str().unwrap_or_default();
        of["description"] = format!("{meaning} Only in {}.", feature.owners()).into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::scenario_schema;

    const SHARED: [&str; 14] = [
        "network.preset",
        "network.switching",
        "network.link_rate",
        "network.cable_length",
        "network.delay_per_metre",
        "network.fec_delay",
        "network.packet_max",
        "network.adapters",
        "network.admission",
        "network.crashes",
        "network.arbitration",
        "network.marking",
        "network.header.type_bytes",
        "network.header.trailer_bytes",
    ];

    #[test]
    fn every_network_key_is_shared_or_owned() {
        for path in ["network", "network.header"] {
            let keys = schema_at(path)["properties"].as_object().unwrap();
            for (name, of) in keys {
                let key = format!("{path}.{name}");
                let is_owned = Feature::needed_by(of).is_some() || TABLES.contains(&&*key);
                assert!(is_owned || SHARED.contains(&&*key), "{key}");
            }
        }
    }

    #[test]
    fn lane_keys_are_limited_to_networks_with_lanes() {
        let network = &scenario_schema()["properties"]["network"]["properties"];
        let lanes = network["lanes"]["description"].as_str().unwrap();
        assert!(
            lanes.ends_with(" Only in networks of virtual lanes and of whole packets."),
            "{lanes}"
        );
        let flit = network["lanes"]["properties"]["flit"]["description"].as_str().unwrap();
        assert!(flit.ends_with(" Only in networks of virtual lanes."), "{flit}");
        let slack = network["slack"]["description"].as_str().unwrap();
        assert!(slack.ends_with(" Only in wormhole networks."), "{slack}");
    }
}
