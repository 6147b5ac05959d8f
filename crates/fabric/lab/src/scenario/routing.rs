//! The routing section: one path set, or two and the rule that chooses between them.

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
    /// `source`, up to 16,777,216 pairs of a switch with hosts and a host.
    pub form: Option<Form>,
    /// Maximum memory of the routes of a path set. Larger path sets are refused before any memory
    /// is allocated.
    pub memory_max: Bytes,
    /// Alternative path for every pair of hosts, and the rule that chooses between the two paths.
    /// Requires `form = "source"`. Default: one path for every pair.
    pub alternative: Option<AlternativePaths>,
    /// Adaptive routing: packets choose at every switch among all channels on a shortest path.
    /// Requires `form = "table"`. By default packets follow the paths of the algorithm alone.
    #[schemars(extend("x-needs" = "five-stages"))]
    pub adaptive: Option<AdaptiveRouting>,
    /// Forwarding tables of a subnet manager, instead of an algorithm: a file from dump_lfts or
    /// dump_fts, opensm-lfts.dump or opensm.fdbs. The path is relative to the scenario.
    pub tables: Option<FileName>,
    /// Tables that map service levels to lanes, instead of `traffic.*.lanes`: opensm-sl2vl.dump, a
    /// file from smpquery sl2vl, or opensm.conf.
    #[schemars(extend("x-needs" = "lanes"))]
    pub lane_tables: Option<FileName>,
    /// Service level of each pair of hosts: lines of source_lid,destination_lid,sl, or a file from
    /// saquery -p. Default: level 0 for all.
    #[schemars(extend("x-needs" = "lanes"))]
    pub service_levels: Option<FileName>,
}

/// Adaptive routing. In a tree it is random or least-loaded ascent to a nearest common ancestor; on
/// a mesh or torus it uses escape lanes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveRouting {
    /// How a packet chooses among the outputs that it may request.
    pub select: Select,
    /// When a packet that waits for a lane chooses again. Default: `never` with `random`, because
    /// random routing means one draw per switch, and otherwise `every-cycle`.
    pub reselect: Option<Reselect>,
    /// Number of escape lanes: the lowest lanes of every class, reserved for the path of the
    /// algorithm alone (Duato 1993). Default: the number that dimension-order routing needs, 1 on a
    /// mesh and 2 if there are rings of four or more switches, and 0 under other algorithms.
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
    /// Packets that take the alternative paths.
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
