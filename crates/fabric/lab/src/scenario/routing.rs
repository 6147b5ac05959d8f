//! The routing section: one path set, or two path sets and the rule that chooses between them.

use gingham_kernel::{Bytes, FileName};
use gingham_net::{Choose, Reselect, Select};
use gingham_topology::routing::{Algorithm, Form, ROUTE_BYTES_MAX, UpDown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Routing of packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Routing {
    /// Routing algorithm.
    pub algorithm: Algorithm,
    /// Whether packets carry their route (`source`) or switches look it up (`table`). Default:
    /// `source`, unless the number of hosts times the number of switches with hosts exceeds
    /// 16,777,216.
    pub form: Option<Form>,
    /// Maximum memory for the routes of a path set. Larger path sets are refused before memory is
    /// allocated.
    pub memory_max: Bytes,
    /// Alternative path for every pair of hosts, and the rule that chooses between the two paths.
    /// Requires `form = "source"`. Default: one path for every pair.
    pub alternative: Option<AlternativePaths>,
    /// Adaptive routing: at every switch, packets choose among all channels on a shortest path.
    /// Requires `form = "table"`. By default packets follow only the paths of the algorithm.
    #[schemars(extend("x-needs" = "five-stages"))]
    pub adaptive: Option<AdaptiveRouting>,
    /// File with the forwarding tables of a subnet manager, used instead of an algorithm: output of
    /// dump_lfts or dump_fts, opensm-lfts.dump or opensm.fdbs. The path is relative to the
    /// scenario.
    pub tables: Option<FileName>,
    /// File with tables that map service levels to lanes, used instead of `traffic.*.lanes`:
    /// opensm-sl2vl.dump, output of smpquery sl2vl, or opensm.conf.
    #[schemars(extend("x-needs" = "lanes"))]
    pub lane_tables: Option<FileName>,
    /// File with the service level of each pair of hosts: lines of source_lid,destination_lid,sl,
    /// or output of saquery -p. Default: level 0 for all pairs.
    #[schemars(extend("x-needs" = "lanes"))]
    pub service_levels: Option<FileName>,
}

/// Adaptive routing. In a tree, packets ascend to a nearest common ancestor, at random or by least
/// load; on a mesh or torus, routing uses escape lanes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveRouting {
    /// How a packet chooses among the permitted outputs.
    pub select: Select,
    /// When a packet that waits for a lane chooses its output again. Default: `never` with
    /// `random`, because random routing means one draw per switch, and `every-cycle` otherwise.
    pub reselect: Option<Reselect>,
    /// Number of escape lanes: the lowest lanes of every class, reserved for packets on the path of
    /// the algorithm (Duato 1993). Default: under dimension-order routing, the number that this
    /// algorithm needs (1 on a mesh, 2 with rings of four or more switches); 0 under other
    /// algorithms.
    pub escape_lanes: Option<i64>,
}

/// Alternative path for every pair of hosts, and the rule that chooses between the two paths (Flich
/// et al. 2001, section III).
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AlternativePaths {
    /// Routing algorithm of the alternative paths.
    #[schemars(required)]
    pub algorithm: Option<Algorithm>,
    /// Which packets take the alternative path.
    #[schemars(required)]
    pub choose: Option<Choose>,
}

impl AdaptiveRouting {
    pub(crate) fn reselect(&self) -> Reselect {
        let usual =
            if self.select == Select::Random { Reselect::Never } else { Reselect::EveryCycle };
        self.reselect.unwrap_or(usual)
    }
}

impl Default for Routing {
    fn default() -> Self {
        let algorithm = Algorithm::UpDown(UpDown::default());
        Self {
            algorithm,
            form: None,
            memory_max: Bytes(ROUTE_BYTES_MAX),
            alternative: None,
            adaptive: None,
            tables: None,
            lane_tables: None,
            service_levels: None,
        }
    }
}
