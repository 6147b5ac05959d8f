//! Keys of a scenario that have a meaning in networks of some switching kinds only: what refuses
//! them elsewhere, and what the reference says of them.

use super::support::{Feature, KINDS, SwitchingKind};
use crate::error::LabError;
use crate::scenario::{Scenario, ScenarioSource, SwitchingParameters};
use gingham_input::Tree;
use gingham_results::schema_of;
use serde_json::Value;

impl Feature {
    /// What networks that have it are called.
    fn owners(self) -> &'static str {
        self.reason().strip_prefix("belongs to ").expect("a reason names the owners")
    }

    /// The reason for which what is of it is refused elsewhere.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::SlackBuffers => "belongs to wormhole networks",
            Self::Lanes => "belongs to networks of virtual lanes and of whole packets",
            Self::FiveStages => "belongs to networks of virtual lanes",
            Self::InTransitHosts => "belongs to wormhole networks and those of virtual lanes",
            Self::WholePackets => "belongs to networks of whole packets",
        }
    }

    /// What to do about a key of it elsewhere.
    fn cure(self) -> String {
        let kinds = KINDS.iter().filter(|kind| kind.has(self));
        let kinds: Vec<String> = kinds.map(|kind| format!("\"{}\"", kind.name)).collect();
        format!("say network.switching = {}, or leave it out", kinds.join(" or "))
    }
}

/// Keys of one table of a scenario.
struct Section {
    /// Its path, `*` being any place in a list.
    path: &'static str,
    /// What networks have that have its keys.
    feature: Feature,
    /// Each with what stands for it in switches of five stages, if anything does; where none is
    /// named, all of the table.
    keys: &'static [(&'static str, &'static str)],
}

impl Section {
    /// The path of the first of its keys that is written in the table at `place`, and what stands
    /// for it in switches of five stages.
    fn first_written(&self, tree: &Tree, place: &str) -> Option<(String, &'static str)> {
        tree.get(place)?;
        let path_if_written = |key: &str| {
            let path = format!("{place}.{key}");
            tree.get(&path).is_some().then_some(path)
        };
        if self.keys.is_empty() {
            let mut schema = schema_of::<Scenario>();
            let keys = table_of(&mut schema, self.path)["properties"].as_object()?;
            return keys.keys().find_map(|key| path_if_written(key)).map(|path| (path, ""));
        }
        self.keys.iter().find_map(|(key, instead)| Some((path_if_written(key)?, *instead)))
    }
}

/// The schema of a table of a scenario.
fn table_of<'a>(schema: &'a mut Value, path: &str) -> &'a mut Value {
    path.split('.').fold(schema, |table, step| {
        if step == "*" { &mut table["items"] } else { &mut table["properties"][step] }
    })
}

const SECTIONS: [Section; 10] = [
    Section {
        path: "network",
        feature: Feature::SlackBuffers,
        keys: &[
            ("routing_delay", "a switch takes network.lanes.routing_cycles to find an output"),
            ("setup_delay", "its five stages take the place of a set-up delay"),
            ("slack", "its buffers are those of the lanes, network.lanes.depth"),
        ],
    },
    Section {
        path: "network.header",
        feature: Feature::SlackBuffers,
        keys: &[
            ("route_bytes", "the head flit carries the route"),
            ("mark_bytes", "the head flit carries the marks"),
        ],
    },
    Section {
        path: "network.lanes",
        feature: Feature::FiveStages,
        keys: &[
            ("per_vl", ""),
            ("depth", ""),
            ("flit", ""),
            ("output_depth", ""),
            ("pipeline_cycles", ""),
            ("routing_cycles", ""),
            ("credit_delay", ""),
            ("reallocation", ""),
            ("vc_allocator", ""),
            ("crossbar", ""),
            ("allocator", ""),
            ("input_speedup", ""),
            ("output_speedup", ""),
            ("crossbar_input", ""),
            ("crossbar_output", ""),
            ("injection", ""),
        ],
    },
    Section { path: "network.lanes", feature: Feature::Lanes, keys: &[] },
    Section { path: "network.in_transit", feature: Feature::InTransitHosts, keys: &[] },
    Section { path: "network.packets", feature: Feature::WholePackets, keys: &[] },
    Section {
        path: "traffic.*",
        feature: Feature::Lanes,
        keys: &[("lanes", ""), ("service_level", "")],
    },
    Section {
        path: "traffic.*.window.answer",
        feature: Feature::Lanes,
        keys: &[("lanes", ""), ("service_level", "")],
    },
    Section { path: "routing", feature: Feature::FiveStages, keys: &[("adaptive", "")] },
    Section {
        path: "routing",
        feature: Feature::Lanes,
        keys: &[("lane_tables", ""), ("service_levels", "")],
    },
];

/// Refuses the first key that networks of the scenario's kind do not have.
pub(crate) fn refuse_foreign(
    source: &ScenarioSource,
    switching: &SwitchingParameters,
) -> Result<(), LabError> {
    let kind = SwitchingKind::of(switching);
    for section in SECTIONS.iter().filter(|section| !kind.has(section.feature)) {
        let places = if section.path.contains('*') {
            let place = |index: usize| section.path.replace('*', &index.to_string());
            (0..source.scenario.traffic.len()).map(place).collect()
        } else {
            vec![section.path.to_owned()]
        };
        for place in places {
            let Some((key, instead)) = section.first_written(&source.tree, &place) else {
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
                section.feature.reason(),
                kind.under(&source.scenario.network),
                section.feature.cure()
            );
            return Err(source.refuse(&key, message).into());
        }
    }
    Ok(())
}

/// Says in the schema of scenarios which keys only some networks have: of a table, where all its
/// keys are such, and not again of its keys.
pub(super) fn note_owners(schema: &mut Value) {
    for Section { path, feature, keys } in &SECTIONS {
        let said = format!(" Only in {}.", feature.owners());
        let meaning = |of: &Value| of["description"].as_str().unwrap_or_default().to_owned();
        let note = |of: &mut Value| of["description"] = (meaning(of) + &said).into();
        let table = table_of(schema, path);
        if keys.is_empty() {
            note(table);
        } else {
            keys.iter().for_each(|(key, _)| note(&mut table["properties"][*key]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::scenario_schema;

    /// Keys that every network has.
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
    fn every_key_of_a_network_is_shared_or_has_owners() {
        let mut schema = scenario_schema();
        for path in ["network", "network.header"] {
            let keys = table_of(&mut schema, path)["properties"].as_object().unwrap();
            for name in keys.keys() {
                let key = format!("{path}.{name}");
                let is_owned = SECTIONS.iter().any(|section| {
                    let is_named = section.keys.iter().any(|(owned, _)| owned == name);
                    section.path == path && is_named || section.path == key
                });
                assert!(is_owned || SHARED.contains(&&*key), "{key}");
            }
        }
    }

    #[test]
    fn every_key_of_lanes_is_of_networks_with_lanes() {
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
