//! Names of the routing algorithms, with their parameters.
//!
//! ```toml
//! algorithm = "up-down"                                  # all parameters at their defaults
//! algorithm = { up-down = { root = "smallest-distance" } }
//! algorithm = { up-down = { root = { named = "spine3" } } }
//! algorithm = { up-down = { root = { named = ["spine1", "spine2"] } } }
//! ```

use super::cable_cost::differing_lengths;
use super::error::RouteError;
use super::shortest_path::{PathWeight, ShortestPath};
use super::{Algorithm, Name};
use crate::Fabric;
use schemars::Schema;
use serde::{Deserialize, Deserializer, de};
use std::fmt;

impl Algorithm {
    /// Returns whether the algorithm needs datelines to avoid dependency cycles around a torus.
    pub fn needs_datelines(&self) -> bool {
        self.parameters().needs_datelines()
    }

    /// Rejects adaptive routing with an algorithm that minimises a quantity other than the number
    /// of channels.
    pub fn check_choosing(&self) -> Result<(), RouteError> {
        match self {
            Self::ShortestPath(ShortestPath { weight: PathWeight::Latency, .. }) => {
                Err(RouteError::LatencyToChoose)
            }
            _ => Ok(()),
        }
    }

    /// Returns a note for the user, prefixed with its code, if the algorithm counts channels
    /// although cables differ in length.
    pub fn note_of_lengths(&self, fabric: &Fabric) -> Option<String> {
        let Self::ShortestPath(ShortestPath { weight: PathWeight::Hops, .. }) = self else {
            return None;
        };
        let [least, most] = differing_lengths(fabric)?;
        Some(format!(
            "lengths-differ: cables between switches are from {least} to {most} long, and \
             shortest-path counts channels; weight = \"latency\" adds lengths"
        ))
    }
}

impl<'de> Deserialize<'de> for Algorithm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AlgorithmVisitor)
    }
}

struct AlgorithmVisitor;

impl<'de> de::Visitor<'de> for AlgorithmVisitor {
    type Value = Algorithm;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a routing algorithm, or a table with one name as its only key")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Algorithm, E> {
        Name::deserialize(de::value::StrDeserializer::new(text)).map(Name::with_defaults)
    }

    fn visit_map<M: de::MapAccess<'de>>(self, mut map: M) -> Result<Algorithm, M::Error> {
        let name = map.next_key::<Name>()?;
        let name = name.ok_or_else(|| de::Error::invalid_length(0, &self))?;
        let algorithm = name.with_parameters(&mut map)?;
        match map.next_key::<de::IgnoredAny>()? {
            None => Ok(algorithm),
            Some(_) => Err(de::Error::invalid_length(2, &self)),
        }
    }
}

pub(super) fn accept_bare_names(schema: &mut Schema) {
    let Some(variants) = schema.get_mut("oneOf").and_then(|variants| variants.as_array_mut())
    else {
        return;
    };
    let bare: Vec<_> = variants
        .iter()
        .filter_map(|variant| {
            let name = variant.get("required")?.get(0)?.clone();
            let help = variant.get("description").cloned().unwrap_or_default();
            let bare = schemars::json_schema!({
                "type": "string", "const": name, "description": help,
            });
            Some(bare.to_value())
        })
        .collect();
    variants.extend(bare);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{DimensionOrder, Root, UpDown};
    use gingham_kernel::Length;
    use serde::Serialize;

    #[derive(Debug, Deserialize, Serialize)]
    struct File {
        algorithm: Algorithm,
    }

    fn read(text: &str) -> Result<Algorithm, toml::de::Error> {
        toml::from_str::<File>(text).map(|file| file.algorithm)
    }

    fn up_down(root: Root) -> Algorithm {
        Algorithm::UpDown(UpDown { root, ..UpDown::default() })
    }

    #[test]
    fn bare_algorithm_name_means_the_defaults() {
        assert_eq!(read("algorithm = 'up-down'").unwrap(), up_down(Root::TopSwitches));
        let shortest = Algorithm::ShortestPath(ShortestPath::default());
        assert_eq!(read("algorithm = 'shortest-path'").unwrap(), shortest);
        assert_eq!(read("[algorithm]\nshortest-path = {}").unwrap(), shortest);
        let dimension_order = Algorithm::DimensionOrder(DimensionOrder::default());
        assert_eq!(read("algorithm = 'dimension-order'").unwrap(), dimension_order);
        assert_eq!(read("algorithm = { up-down = {} }").unwrap(), up_down(Root::TopSwitches));
    }

    #[test]
    fn shortest_path_weight_is_hops_or_latency() {
        let by_latency = read("algorithm = { shortest-path = { weight = 'latency' } }").unwrap();
        let expected = ShortestPath { weight: PathWeight::Latency, hop_length: None };
        assert_eq!(by_latency, Algorithm::ShortestPath(expected));
        let of_hop = read("[algorithm.shortest-path]\nweight = 'latency'\nhop_length = '20 m'");
        let expected =
            ShortestPath { weight: PathWeight::Latency, hop_length: Some(Length::from_mm(20_000)) };
        assert_eq!(of_hop.unwrap(), Algorithm::ShortestPath(expected));
    }

    #[test]
    fn routing_parameters_round_trip() {
        let nearest = read("algorithm = { up-down = { root = 'smallest-distance' } }").unwrap();
        assert_eq!(nearest, up_down(Root::SmallestTotalDistance));
        let named = read("[algorithm.up-down]\nroot = { named = 's3' }").unwrap();
        assert_eq!(named, up_down(Root::Named("s3".into())));
        let spines = ["s3", "s0"].map(str::to_owned);
        let several = read("[algorithm.up-down]\nroot = { named = ['s3', 's0'] }").unwrap();
        assert_eq!(several, up_down(Root::Named(spines.into_iter().collect())));
        for algorithm in [nearest, named, several, Algorithm::ShortestPath(ShortestPath::default())]
        {
            let text = toml::to_string(&File { algorithm: algorithm.clone() }).unwrap();
            assert_eq!(read(&text).unwrap(), algorithm, "{text}");
        }
    }

    #[test]
    fn routing_parameter_errors_show_their_position() {
        let cases = [
            ("x = 1\nalgorithm = 'up-dwn'", "up-dwn", "unknown variant `up-dwn`, expected one of"),
            ("algorithm = { up-dwn = {} }", "up-dwn", "unknown variant `up-dwn`"),
            (
                "[algorithm.up-down]\nrot = 1",
                "rot",
                "unknown field `rot`, expected `root` or `tree`",
            ),
            ("[algorithm.up-down]\nroot = 'low'", "'low'", "unknown variant `low`"),
            (
                "[algorithm.up-down]\nroot = { named = [] }",
                "[]",
                "invalid length 0, expected the name of a switch, or a list of at least one",
            ),
            ("[algorithm.up-down]\nroot = { named = [3] }", "3", "expected a string"),
            ("algorithm = 3", "3", "the name of a routing algorithm, or a table with one name"),
            ("algorithm = {}", "{}", "invalid length 0"),
            ("algorithm = { up-down = {}, shortest-path = {} }", "{ up-down", "invalid length 2"),
        ];
        for (text, place, message) in cases {
            let error = read(text).expect_err(text);
            assert!(error.message().contains(message), "{text}: {}", error.message());
            let span = error.span().expect("an error has a place");
            assert!(text[span.clone()].contains(place), "{text}: at {:?}", &text[span]);
        }
    }

    #[test]
    fn schema_allows_bare_names_and_carries_help() {
        let schema = schemars::schema_for!(Algorithm);
        let variants = schema.get("oneOf").and_then(|variants| variants.as_array()).unwrap();
        let bare: Vec<_> =
            variants.iter().filter_map(|variant| variant["const"].as_str()).collect();
        assert_eq!(
            bare,
            ["shortest-path", "dimension-order", "up-down", "simple-routes", "in-transit", "smart"]
        );
        let helped = variants.iter().filter(|variant| variant["description"].is_string());
        assert_eq!(helped.count(), 2 * bare.len(), "as many tables as bare names");
    }
}
