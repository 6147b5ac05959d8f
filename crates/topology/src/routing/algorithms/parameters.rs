//! The parameters of the routing algorithms. Their doc comments are what users read as help.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `shortest-path`: none.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortestPath {}

/// Parameters of `dimension-order`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DimensionOrder {
    /// Which way round a circle packets go where both ways are equally long.
    pub ties: Ties,
}

/// Parameters of `up-down`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UpDown {
    /// The switch from which "up" is measured.
    pub root: Root,
    /// How the switches are ranked from the root on.
    pub tree: Tree,
}

/// Parameters of `simple-routes`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SimpleRoutes {
    /// The switch from which "up" is measured.
    pub root: Root,
    /// How the switches are ranked from the root on.
    pub tree: Tree,
    /// What load costs: a channel costs 1, and this much more for each time that it carries
    /// the mean load of all channels. 0 gives shortest legal paths without balance.
    #[schemars(range(min = 0, max = 100))]
    pub weight: f64,
    /// Whether the hosts of a switch may be reached by paths of their own.
    pub spread: Spread,
    /// How often every path is taken up and laid anew, once all are laid; it ends earlier when
    /// nothing changes any more.
    pub passes: u32,
}

impl Default for SimpleRoutes {
    fn default() -> Self {
        Self {
            root: Root::default(),
            tree: Tree::default(),
            weight: 0.5,
            spread: Spread::default(),
            passes: 3,
        }
    }
}

/// Parameters of `in-transit`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InTransit {
    /// The switch from which "up" is measured.
    pub root: Root,
    /// How the switches are ranked from the root on.
    pub tree: Tree,
    /// Among which of the shortest paths the least loaded one is chosen.
    pub hosts: TransitHosts,
    /// Whether the hosts of a switch may be reached by paths of their own.
    pub spread: Spread,
    /// How often every path is taken up and laid anew, once all are laid; it ends earlier when
    /// nothing changes any more.
    pub passes: u32,
}

impl Default for InTransit {
    fn default() -> Self {
        Self {
            root: Root::default(),
            tree: Tree::default(),
            hosts: TransitHosts::default(),
            spread: Spread::default(),
            passes: 3,
        }
    }
}

/// Parameters of `smart`: none.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Smart {}

/// Which shortest paths `in-transit` chooses from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransitHosts {
    /// All of them, however many in-transit hosts they take.
    #[default]
    Any,
    /// Those with the fewest in-transit hosts.
    Fewest,
}

/// Whether paths to a switch are spread over its hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Each host of a switch may be reached by a path of its own.
    #[default]
    Hosts,
    /// All hosts of a switch are reached by one path from each other switch: faster and smaller,
    /// for fabrics of hundreds of switches.
    Switches,
}

/// Which way round a circle of a torus packets go where both ways are equally long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// Towards larger coordinates.
    #[default]
    Up,
    /// From even coordinates towards larger ones, from odd ones towards smaller ones: where all send to all, all
    /// channels of a circle carry the same if its size is a multiple of 4.
    Alternate,
}

/// How switches are ranked for up*/down*.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tree {
    /// By their hops from the root; of equals, the lower id is higher up.
    #[default]
    BreadthFirst,
    /// In the order in which a depth-first search meets them. It goes on to the neighbour with
    /// most cables to switches that it has met, of equals to the one farthest from all others.
    /// Its authors begin at `root = "largest-distance"`.
    DepthFirst,
}

/// How the root of up*/down* is found. In a fabric of several islands each has a root.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Root {
    /// The first switch in canonical order: the one with the lowest GUID.
    #[default]
    LowestId,
    /// The switch with the smallest sum of hops to all others; of equals, the lowest.
    #[serde(rename = "smallest-distance")]
    SmallestTotalDistance,
    /// The switch with the largest sum of hops to all others; of equals, the lowest.
    #[serde(rename = "largest-distance")]
    LargestTotalDistance,
    /// The switch with this name, dump id or GUID. Islands without it take their lowest switch.
    Named(String),
}

/// Where the path of a packet is decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// At the source: a packet carries its whole path, as in Myrinet.
    Source,
    /// At every switch: one output port per destination, as in InfiniBand.
    Table,
}
