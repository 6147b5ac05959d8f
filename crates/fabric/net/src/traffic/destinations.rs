//! Destinations of messages.
//!
//! A scenario's pattern becomes one of four plans for each source: uniform, fixed (for every
//! permutation), hot spots, or weighted.
//!
//! Invariant: no source sends to its own host unless the scenario permits it.

use super::Weighted;
use crate::bare_names::accept_bare_names;
use gingham_kernel::{FileName, Stream};
use gingham_topology::EndpointId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Destination pattern of a class, as named in scenarios.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum Destinations {
    /// Any other reachable host, all with equal probability; each port of a host with several ports
    /// counts as a destination. The class's `hosts` limits the senders; `within = "class"` also
    /// limits the destinations to these hosts.
    #[schemars(extend("x-source" = "Flich et al. 2001, section IV-A"))]
    #[schemars(extend("x-example" = "{ uniform = { itself = true } }"))]
    Uniform(UniformPlaces),
    /// A single host, by name; `name[port]` selects one port of a host with several ports.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 3.1", "x-example" = r#"{ host = "h1-0-0" }"#))]
    Host(String),
    /// A fraction of the messages goes to given hosts, the rest to uniformly drawn hosts.
    #[schemars(extend("x-source" = "Pfister and Norton 1985"))]
    #[schemars(extend("x-example" = r#"{ hot-spot = { hosts = ["h1-1-0"], share = 0.1 } }"#))]
    HotSpot(HotSpot),
    /// One destination for each listed host, by name; other hosts send nothing.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = r#"{ pairs = { h0-0-0 = "h2-2-0", h1-0-0 = "h2-2-0" } }"#))]
    Pairs(BTreeMap<String, String>),
    /// The host at row r, column c of a square sends to row c, column r. Needs a square number of
    /// hosts.
    #[schemars(extend("x-source" = "Dally and Towles 2004, table 3.1"))]
    Transpose,
    /// Each host sends to the host whose number has every bit inverted. Needs a power-of-two number
    /// of hosts.
    #[schemars(extend("x-source" = "Dally and Towles 2004, table 3.1"))]
    BitComplement,
    /// Each host sends to the host whose number has its bits in reverse order. Needs a power-of-two
    /// number of hosts.
    #[schemars(extend("x-source" = "Dally and Towles 2004, table 3.1"))]
    BitReversal,
    /// Each host sends to the host whose number has its bits rotated left by one. Needs a
    /// power-of-two number of hosts.
    #[schemars(extend("x-source" = "Dally and Towles 2004, table 3.1"))]
    Shuffle,
    /// Each host sends to the host whose number has its bits rotated right by one. Needs a
    /// power-of-two number of hosts.
    #[schemars(extend("x-source" = "Dally and Towles 2004, table 3.1"))]
    BitRotation,
    /// Each of N hosts sends to itself or to its partner N / 2 hosts away, with equal probability.
    /// Needs an even number of hosts.
    #[schemars(extend("x-source" = "BookSim 2, src/traffic.cpp"))]
    Asymmetric,
    /// Each host sends nearly halfway around every dimension: ceil(k / 2) - 1 steps in a dimension
    /// of size k.
    #[schemars(extend("x-source" = "Dally and Towles 2004, table 3.1"))]
    #[schemars(extend("x-example" = "{ tornado = { dimensions = [4, 4] } }"))]
    Tornado(GridPlaces),
    /// Each host sends one step further in every dimension at once, a diagonal step with
    /// wrap-around. For the neighbours of a stencil code, use `stencil`.
    #[schemars(extend("x-source" = "Dally and Towles 2004, table 3.1"))]
    Neighbour(GridPlaces),
    /// Each message goes to a random neighbour on a grid, with equal probability: one step in one
    /// dimension, or also diagonally.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = "{ stencil = { dimensions = [4, 2, 2], diagonals = true } }"))]
    Stencil(StencilPlaces),
    /// Each group of hosts sends to the group a fixed number of groups further on. In a dragonfly,
    /// this is the worst case for minimal routing.
    #[schemars(extend("x-source" = "Kim et al. 2008, section 4.2; the same place in the group is ours"))]
    #[schemars(extend("x-example" = "{ group-shift = { group_size = 4, by = 1 } }"))]
    GroupShift(GroupPlaces),
    /// Each host sends to another host according to a permutation, drawn once from a seed and the
    /// name of the class.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 3.2; that no host sends to itself is ours"))]
    #[schemars(extend("x-example" = "{ random-permutation = { seed = 7 } }"))]
    RandomPermutation(PermutationDraw),
    /// Destinations are weighted by a CSV file, whose first row names destinations and whose first
    /// column names sources. The path is relative to the scenario. A host whose row has twice the
    /// mean row sum offers twice the load.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 3.2"))]
    #[schemars(extend("x-example" = r#"{ matrix = "demand.csv" }"#))]
    Matrix(FileName),
}

/// Parameters of `uniform`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UniformPlaces {
    /// Whether a host is among its own destinations, with the same probability as any other host.
    /// Messages to itself travel to its switch and back.
    #[schemars(extend("x-source" = "BookSim 2, src/traffic.cpp"))]
    pub itself: bool,
    /// Destinations to draw from: all hosts of the fabric, or only hosts of the class (`hosts`).
    pub within: Within,
}

/// Destination hosts of `uniform`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    /// All hosts that the sender can reach, including hosts outside the class.
    #[default]
    Fabric,
    /// Hosts of the class that the sender can reach.
    Class,
}

/// Parameters of `random-permutation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PermutationDraw {
    /// Seed of the permutation. Default: the seed of the run.
    pub seed: Option<u64>,
}

/// Parameters of `stencil`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StencilPlaces {
    /// Whether to include diagonal neighbours: up to 3^d - 1 neighbours in d dimensions instead of
    /// 2 d.
    pub diagonals: bool,
    /// Dimensions of the host grid; the last dimension varies fastest. Default: the fabric's own
    /// grid if its switches all have the same number of hosts, otherwise one ring of all hosts.
    pub dimensions: Option<Vec<u32>>,
    /// Whether the grid wraps around; otherwise, hosts at an edge have fewer neighbours. By
    /// default, the fabric's own grid wraps around where its cables do; any other grid always does.
    pub wrap: Option<bool>,
}

/// Parameters of `group-shift`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GroupPlaces {
    /// Number of hosts per group, in the canonical order of the class. Default: the group size of a
    /// generated dragonfly.
    #[schemars(range(min = 1))]
    pub group_size: Option<u32>,
    /// Number of groups to shift by, modulo the number of groups.
    pub by: i64,
    /// Whether each message goes to a random host of the destination group, with equal probability.
    /// By default, a host sends to the host with its own index in that group: a permutation.
    pub any: bool,
}

impl Default for GroupPlaces {
    fn default() -> Self {
        Self { group_size: None, by: 1, any: false }
    }
}

/// Parameters of `hot-spot`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotSpot {
    /// Hot hosts, as names or patterns.
    pub hosts: Vec<String>,
    /// Fraction of messages for the hot hosts, which all have equal probability; above 0 and at
    /// most 1. The other messages go to uniformly drawn hosts.
    pub share: f64,
}

/// Parameters of `tornado` and `neighbour`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GridPlaces {
    /// Dimensions of the host grid; the last dimension varies fastest. Default: the fabric's own
    /// grid if its switches all have the same number of hosts, otherwise one ring of all hosts.
    pub dimensions: Option<Vec<u32>>,
}

/// Endpoints to draw from, excluding the source's own host if it sends nothing to itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherHosts {
    /// Endpoints in ascending order.
    pub among: Arc<[EndpointId]>,
    /// Index range in `among` of the source's own host, if excluded; otherwise empty.
    pub own: Range<usize>,
}

impl OtherHosts {
    /// Returns whether there is any endpoint.
    pub fn has_any(&self) -> bool {
        self.len() > 0
    }

    /// Returns the number of endpoints.
    #[expect(clippy::len_without_is_empty, reason = "`has_any` says it")]
    pub fn len(&self) -> usize {
        self.among.len() - self.own.len()
    }

    /// Returns the endpoints in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = EndpointId> {
        let Self { among, own } = self;
        among[..own.start].iter().chain(&among[own.end..]).copied()
    }

    #[inline]
    fn draw(&self, stream: &mut Stream) -> EndpointId {
        let drawn = stream.below(self.len() as u64);
        let drawn = usize::try_from(drawn).expect("below a length");
        self.among[if drawn < self.own.start { drawn } else { drawn + self.own.len() }]
    }
}

/// Destinations of one source.
#[derive(Clone, PartialEq, Debug)]
pub enum DestinationPlan {
    /// Endpoints with equal probability, usually without the source's own host.
    Uniform(OtherHosts),
    /// A single endpoint.
    Fixed(EndpointId),
    /// Hot spots (Pfister and Norton 1985).
    HotSpot {
        /// Hot hosts, with equal probability.
        hot: OtherHosts,
        /// Fraction of messages to hot hosts.
        share: f64,
        /// Destinations of the other messages, including hot hosts.
        all: OtherHosts,
    },
    /// Endpoints with probabilities proportional to weights.
    Weighted(Arc<Weighted<EndpointId>>),
}

impl DestinationPlan {
    /// Returns whether messages from `source` have a valid destination.
    pub fn has_any(&self, source: EndpointId) -> bool {
        match self {
            Self::Uniform(others) => others.has_any(),
            Self::Fixed(destination) => *destination != source,
            Self::HotSpot { hot, all, .. } => hot.has_any() && all.has_any(),
            Self::Weighted(weighted) => !weighted.things().contains(&source),
        }
    }

    #[inline]
    pub(super) fn draw(&self, stream: &mut Stream) -> EndpointId {
        match self {
            Self::Fixed(destination) => *destination,
            Self::Uniform(others) => others.draw(stream),
            Self::HotSpot { hot, share, all } => {
                let among = if stream.unit() < *share { hot } else { all };
                among.draw(stream)
            }
            Self::Weighted(weighted) => weighted.draw(stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Purpose;

    fn counts(plan: &DestinationPlan) -> [u32; 5] {
        let mut stream = Stream::new(1, "uniform", Purpose::Destination);
        let mut count = [0; 5];
        for _ in 0..40_000 {
            count[plan.draw(&mut stream).index()] += 1;
        }
        count
    }

    fn others(own: Range<usize>) -> OtherHosts {
        OtherHosts { among: EndpointId::first(5).collect(), own }
    }

    #[test]
    fn uniform_excludes_own_host_and_is_equal_elsewhere() {
        let count = counts(&DestinationPlan::Uniform(others(1..3)));
        assert_eq!((count[1], count[2]), (0, 0));
        // Expected for each: 13,333 messages (standard deviation 94).
        for other in [0, 3, 4] {
            assert!(count[other].abs_diff(13_333) < 470, "{count:?}");
        }
    }

    #[test]
    fn uniform_including_own_host_is_equal() {
        // Expected for each: 8,000 messages (standard deviation 80).
        let count = counts(&DestinationPlan::Uniform(others(1..1)));
        assert!(count.iter().all(|count| count.abs_diff(8_000) < 400), "{count:?}");
    }

    #[test]
    fn hot_hosts_get_equal_shares_plus_uniform_traffic() {
        let hot = OtherHosts { among: [3, 4].map(EndpointId::new).into(), own: 0..0 };
        let plan = DestinationPlan::HotSpot { hot, share: 0.4, all: others(0..1) };
        let count = counts(&plan);
        // Expected: a cold host receives 0.6 / 4 = 0.15 of 40,000 messages, a hot host 0.15 + 0.4 /
        // 2 = 0.35: 6,000 and 14,000 messages (standard deviations 71 and 95).
        assert_eq!(count[0], 0);
        for (cold, hot) in [(1, 3), (2, 4)] {
            assert!(count[cold].abs_diff(6_000) < 357, "{count:?}");
            assert!(count[hot].abs_diff(14_000) < 477, "{count:?}");
        }
    }

    #[test]
    fn hot_host_sends_its_hot_share_to_other_hot_hosts() {
        let hot = OtherHosts { among: [3, 4].map(EndpointId::new).into(), own: 0..1 };
        let plan = DestinationPlan::HotSpot { hot, share: 1.0, all: others(3..4) };
        assert_eq!(counts(&plan), [0, 0, 0, 0, 40_000]);
    }
}
