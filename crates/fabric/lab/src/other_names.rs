//! Names that other programs use for scenario values. Errors suggest the equivalent name in
//! gingham, with any difference in meaning.
//!
//! Sources: BookSim 2, `src/routefunc.cpp` and `src/networks/anynet.cpp`; OpenSM, `opensm(8)`,
//! `osm_ucast_mgr.c`, `osm_ucast_updn.c`.

use gingham_input::OtherName;

const DOR: &str = "OpenSM's dor takes the numbers of ports for dimensions, and dimension-order goes by coordinates; BookSim's \
                   is the same";
const BAL: &str = "BookSim's gives each packet one half of the lanes for a whole ring, as network.lanes.datelines = \
                   \"by-wrap\" does; without it dimension-order changes lanes at the dateline";
const MIN: &str = "BookSim's min adds the latencies of an anynet file, as shortest-path does with weight = \"latency\"; \
                   without it shortest-path counts channels";
const MINHOP: &str = "OpenSM's minhop spreads LIDs over the ports of each switch, and shortest-path spreads paths over \
                      channels, so that tables and loads differ; `gingham opensm` runs OpenSM's own";
const UPDN: &str = "OpenSM's updn finds other roots and spreads LIDs over the ports of each switch, so that tables and loads \
                    differ; `gingham opensm` runs OpenSM's own";
const CLOS: &str = "a Clos network leads one way through its stages; folded, both ends of a path are at the leaves";

/// Names used by BookSim, OpenSM and the literature, each with the nearest equivalent in gingham.
#[rustfmt::skip]
pub const OTHER_NAMES: [OtherName; 25] = [
    OtherName::near("dor", "dimension-order", DOR),
    OtherName::same("xy", "dimension-order"),
    OtherName::same("dim-order", "dimension-order"),
    OtherName::same("dim-order-torus", "dimension-order"),
    OtherName::near("dim-order-bal-torus", "dimension-order", BAL),
    OtherName::same("dor-mesh", "dimension-order"),
    OtherName::same("dor-torus", "dimension-order"),
    OtherName::same("e-cube", "dimension-order"),
    OtherName::same("ecube", "dimension-order"),
    OtherName::near("min", "shortest-path", MIN),
    OtherName::near("minhop", "shortest-path", MINHOP),
    OtherName::near("min-hop", "shortest-path", MINHOP),
    OtherName::same("minimal", "shortest-path"),
    OtherName::near("min-anynet", "shortest-path", MIN),
    OtherName::near("updn", "up-down", UPDN),
    OtherName::same("up*/down*", "up-down"),
    OtherName::same("itb", "in-transit"),
    OtherName::same("bitcomp", "bit-complement"),
    OtherName::same("bitrev", "bit-reversal"),
    OtherName::same("randperm", "random-permutation"),
    OtherName::near("clos", "folded-clos", CLOS),
    OtherName::same("leaf-spine", "folded-clos"),
    OtherName::same("spine-leaf", "folded-clos"),
    OtherName::same("age", "oldest-first"),
    OtherName::same("age-based", "oldest-first"),
];
