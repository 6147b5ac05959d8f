//! The table: one line a mechanism.
//!
//! ```text
//!   concept, name        as a scenario writes them
//!   source               paper and section, or "textbook"
//!   support             to each switching kind, in the order of `KINDS`
//!   example              keys of a scenario, as TOML; with the rest of any scenario they run
//! ```
//!
//! What an example leaves open is that of a 4x4 torus whose hosts send 64-byte messages
//! (`tests/test_catalogue.py`, which runs every example). Summary and parameters are
//! the doc comments of the mechanism's types and do not stand here.

use super::KINDS;
use super::support::Support::{self, Meaningless, Refused, Works};

/// What the catalogue knows of a mechanism beyond its type.
pub(super) struct Line {
    pub(super) concept: &'static str,
    pub(super) name: &'static str,
    pub(super) source: &'static str,
    pub(super) support: [Support; KINDS.len()],
    pub(super) example: &'static str,
}

const fn line(
    concept: &'static str,
    name: &'static str,
    source: &'static str,
    support: [Support; KINDS.len()],
    example: &'static str,
) -> Line {
    Line { concept, name, source, support, example }
}

/// Files that examples read, by the name under which they do: (name, content).
pub(super) const FILES: &[(&str, &str)] = &[
    (
        "schedule.csv",
        "\
created_ps,source,destination,payload_bytes
0,h0-0-0,h3-3-0,512
0,h1-0-0,h3-3-0,64
5000000,h0-0-0,h0-1-0,64
",
    ),
    (
        "lengths.csv",
        "\
payload_bytes,weight
64,7
512,2
4096,1
",
    ),
    (
        "demand.csv",
        "\
,h0-0-0,h1-0-0,h2-0-0
h0-0-0,0,1,0
h1-0-0,1,0,2
h2-0-0,0,0.5,0
",
    ),
];

/// What is of lanes, under the kind that has none.
const NEEDS_LANES: Support = Refused { reason: "belongs to networks of virtual lanes" };

/// Every mechanism, in the order in which help shows them.
#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    line("generator", "two-hosts", "Kwan et al. 1996, section 3.1", [Works, Works],
        "topology.generate.two-hosts = { switches = 2 }"),
    line("generator", "star", "textbook", [Works, Works],
        "topology.generate.star = { hosts = 3 }"),
    line("generator", "ring", "textbook", [Works, Works],
        "topology.generate.ring = { switches = 4 }"),
    line("generator", "mesh", "Dally and Towles 2004, chapter 5", [Works, Works],
        "topology.generate.mesh = { dimensions = [3, 2] }"),
    line("generator", "torus", "Dally and Towles 2004, chapter 5", [Works, Works],
        "topology.generate.torus = { dimensions = [3, 3], hosts_per_switch = 2 }"),
    line("generator", "hypercube", "Dally and Towles 2004, chapter 5", [Works, Works],
        "topology.generate.hypercube = { dimensions = 3 }"),
    line("generator", "k-ary-n-tree", "Petrini and Vanneschi 1997", [Works, Works],
        "topology.generate.k-ary-n-tree = { arity = 2, levels = 3 }"),
    line("generator", "folded-clos", "Leiserson 1985; Clos 1953", [Works, Works],
        "topology.generate.folded-clos = { leaves = 3, spines = 2, hosts_per_leaf = 2 }"),
    line("generator", "dragonfly", "Kim, Dally, Scott and Abts 2008", [Works, Works],
        "topology.generate.dragonfly = { switches_per_group = 2, global_cables_per_switch = 1 }"),
    line("generator", "irregular", "Flich et al. 2001, section IV-A; the drawing of links is ours", [Works, Works],
        "topology.generate.irregular = { switches = 5 }"),
    line("routing", "shortest-path", "textbook", [Works, Works],
        r#"topology.generate.star = { hosts = 3 }
routing.algorithm = "shortest-path""#),
    line("routing", "dimension-order", "Dally and Seitz 1987", [Works, Works],
        r#"topology.generate.mesh = { dimensions = [3, 2] }
routing.algorithm = "dimension-order""#),
    line("routing", "up-down", "Schroeder et al. 1991 (Autonet)", [Works, Works],
        r#"routing.algorithm = { up-down = { root = "smallest-distance" } }"#),
    line("routing", "simple-routes", "Flich et al. 2001, section IV-A; the weights are ours", [Works, Works],
        "routing.algorithm = { simple-routes = { weight = 0.5 } }"),
    line("routing", "in-transit", "Flich et al. 2001, section II; balance and choice of hosts are ours", [Works, Works],
        r#"routing.algorithm = { in-transit = { hosts = "fewest" } }"#),
    line("routing", "smart", "Cherkasova, Kotov and Rokicki 1995 (HPL-95-69); a reconstruction", [Works, Works],
        r#"routing.algorithm = "smart""#),
    line("path-choice", "by-length", "Flich et al. 2001, section III-A", [Works, Works],
        r#"routing.alternative = { algorithm = "up-down", choose = { by-length = { below = "128 B" } } }"#),
    line("path-choice", "at-random", "Flich et al. 2001, section III-B", [Works, Works],
        r#"routing.alternative = { algorithm = "up-down", choose = { at-random = { percent = 25 } } }"#),
    line("path-choice", "by-contention", "Flich et al. 2001, section III-C", [Works, Works],
        r#"routing.alternative = { algorithm = "up-down", choose = "by-contention" }"#),
    line("preset", "myrinet-640", "Kwan et al. 1996, section 2", [Works, Meaningless],
        r#"network.preset = "myrinet-640""#),
    line("preset", "myrinet-1280", "Flich et al. 2001, section IV-A", [Works, Meaningless],
        r#"network.preset = "myrinet-1280""#),
    line("preset", "yum-1600", "Yum et al. 2002, sections 3.1 and 4; cables of 10 m are ours", [Meaningless, Works],
        r#"network.preset = "yum-1600""#),
    line("arbitration", "round-robin", "Kwan et al. 1996, section 3.1; Flich et al. 2001, section IV-A", [Works, Works],
        r#"network.arbitration = "round-robin""#),
    line("arbitration", "strict-priority", "Kwan et al. 1996, section 4", [Works, Works],
        r#"network.arbitration = "strict-priority"
[[traffic]]
name = "urgent"
priority = 1
load = 0.05
length = { fixed = "64 B" }
[[traffic]]
load = 0.1
length = { fixed = "64 B" }"#),
    line("crossbar", "multiplexed", "Yum et al. 2002, section 3.1; matching until nothing is left is ours", [NEEDS_LANES, Works],
        r#"network.lanes.crossbar = "multiplexed""#),
    line("crossbar", "full", "Yum et al. 2002, section 3.1", [NEEDS_LANES, Works],
        r#"network.lanes.crossbar = "full""#),
    line("forwarding", "wormhole", "Dally and Seitz 1987", [NEEDS_LANES, Works],
        r#"network.lanes.forwarding = "wormhole""#),
    line("forwarding", "virtual-cut-through", "Kermani and Kleinrock 1979", [NEEDS_LANES, Works],
        r#"network.lanes.forwarding = "virtual-cut-through""#),
    line("lanes", "datelines", "Dally and Seitz 1987, section IV", [NEEDS_LANES, Works],
        r#"routing.algorithm = "dimension-order"
network.lanes.datelines = true"#),
    line("scheduler", "round-robin", "Yum et al. 2002, section 3.1", [NEEDS_LANES, Works],
        r#"network.lanes.count = 2
network.lanes.crossbar_input = "round-robin"
network.lanes.link_output = "round-robin"
network.lanes.adapter_port = "round-robin""#),
    line("scheduler", "weighted-round-robin", "Yum et al. 2002, section 3.1", [NEEDS_LANES, Works],
        "network.lanes.count = 2
network.lanes.crossbar_input = { weighted-round-robin = { weights = [1, 3] } }
network.lanes.link_output = { weighted-round-robin = { weights = [1, 3] } }
network.lanes.adapter_port = { weighted-round-robin = { weights = [1, 3] } }"),
    line("scheduler", "surplus-round-robin", "Adiseshu et al. 1996, section 3", [NEEDS_LANES, Works],
        r#"network.lanes.count = 2
network.lanes.crossbar_input = { surplus-round-robin = { quanta = ["64 B", "192 B"] } }
network.lanes.link_output = { surplus-round-robin = { quanta = ["64 B", "192 B"] } }
network.lanes.adapter_port = { surplus-round-robin = { quanta = ["64 B", "192 B"] } }"#),
    line("scheduler", "deficit-round-robin", "Shreedhar and Varghese 1995", [NEEDS_LANES, Works],
        r#"network.lanes.count = 2
network.lanes.crossbar_input = { deficit-round-robin = { quanta = ["64 B", "192 B"] } }
network.lanes.link_output = { deficit-round-robin = { quanta = ["64 B", "192 B"] } }
network.lanes.adapter_port = { deficit-round-robin = { quanta = ["64 B", "192 B"] } }"#),
    line("scheduler", "virtual-clock", "Zhang 1990; Yum et al. 2002, section 3.1", [NEEDS_LANES, Works],
        r#"network.lanes.count = 2
network.lanes.crossbar_input = { virtual-clock = { rates = ["50 MB/s", "best-effort"] } }
network.lanes.link_output = { virtual-clock = { rates = ["50 MB/s", "best-effort"] } }
network.lanes.adapter_port = { virtual-clock = { rates = ["50 MB/s", "best-effort"] } }"#),
    line("scheduler", "first-come-first-served", "Yum et al. 2002, section 3.1", [NEEDS_LANES, Works],
        r#"network.lanes.count = 2
network.lanes.crossbar_input = "first-come-first-served"
network.lanes.link_output = "first-come-first-served"
network.lanes.adapter_port = "first-come-first-served""#),
    line("scheduler", "strict-priority", "textbook", [NEEDS_LANES, Works],
        "network.lanes.count = 2
network.lanes.crossbar_input = { strict-priority = { levels = [0, 1] } }
network.lanes.link_output = { strict-priority = { levels = [0, 1] } }
network.lanes.adapter_port = { strict-priority = { levels = [0, 1] } }"),
    line("scheduler", "infiniband", "InfiniBand Architecture Specification, Volume 1, section 7.6.9", [NEEDS_LANES, Works],
        r#"network.lanes.count = 2
network.lanes.forwarding = "virtual-cut-through"
network.lanes.crossbar_input = { infiniband = { high = [{ lane = 1, weight = 4 }], low = [{ lane = 0, weight = 1 }], high_limit = 1 } }
network.lanes.link_output = { infiniband = { high = [{ lane = 1, weight = 4 }], low = [{ lane = 0, weight = 1 }], high_limit = 1 } }
network.lanes.adapter_port = { infiniband = { high = [{ lane = 1, weight = 4 }], low = [{ lane = 0, weight = 1 }], high_limit = 1 } }"#),
    line("arrivals", "poisson", "textbook", [Works, Works],
        r#"[[traffic]]
arrivals = "poisson"
load = 0.1
length = { fixed = "64 B" }"#),
    line("arrivals", "constant", "Flich et al. 2001, section IV-A", [Works, Works],
        r#"[[traffic]]
arrivals = "constant"
load = 0.1
length = { fixed = "64 B" }"#),
    line("arrivals", "on-off", "textbook", [Works, Works],
        r#"[[traffic]]
arrivals = { on-off = { on = "20 us", off = "80 us" } }
load = 0.1
length = { fixed = "64 B" }"#),
    line("arrivals", "on-off-pareto", "Willinger, Taqqu, Sherman and Wilson 1997", [Works, Works],
        r#"[[traffic]]
arrivals = { on-off-pareto = { on = "20 us", off = "80 us", shape = 1.5 } }
load = 0.1
length = { fixed = "64 B" }"#),
    line("arrivals", "backlogged", "Kwan et al. 1996, section 3.1", [Works, Works],
        r#"[[traffic]]
arrivals = "backlogged"
length = { fixed = "64 B" }"#),
    line("arrivals", "schedule", "ours", [Works, Works],
        r#"[[traffic]]
arrivals = { schedule = "schedule.csv" }"#),
    line("length", "fixed", "Flich et al. 2001, section IV-A", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }"#),
    line("length", "exponential", "Kwan et al. 1996, section 2; whole bytes are ours", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { exponential = "512 B" }"#),
    line("length", "uniform", "textbook", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { uniform = { from = "64 B", to = "1 KiB" } }"#),
    line("length", "bimodal", "textbook", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { bimodal = { short = "16 B", long = "1 KiB", long_share = 0.2 } }"#),
    line("length", "empirical", "textbook", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { empirical = "lengths.csv" }"#),
    line("destinations", "uniform", "Flich et al. 2001, section IV-A", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = "uniform""#),
    line("destinations", "host", "Kwan et al. 1996, section 3.1", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = { host = "h1-0-0" }"#),
    line("destinations", "hot-spot", "Pfister and Norton 1985", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = { hot-spot = { hosts = ["h1-1-0"], share = 0.1 } }"#),
    line("destinations", "pairs", "textbook", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = { pairs = { h0-0-0 = "h2-2-0", h1-0-0 = "h2-2-0" } }"#),
    line("destinations", "transpose", "Dally and Towles 2004, table 3.1", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = "transpose""#),
    line("destinations", "bit-complement", "Dally and Towles 2004, table 3.1", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = "bit-complement""#),
    line("destinations", "bit-reversal", "Dally and Towles 2004, table 3.1", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = "bit-reversal""#),
    line("destinations", "shuffle", "Dally and Towles 2004, table 3.1", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = "shuffle""#),
    line("destinations", "tornado", "Dally and Towles 2004, table 3.1", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = { tornado = { dimensions = [4, 4] } }"#),
    line("destinations", "neighbour", "Dally and Towles 2004, table 3.1", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = "neighbour""#),
    line("destinations", "random-permutation", "Dally and Towles 2004, section 3.2; that nobody sends to itself is ours", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = "random-permutation""#),
    line("destinations", "matrix", "Dally and Towles 2004, section 3.2", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = { matrix = "demand.csv" }"#),
    line("segmentation", "none", "Kwan et al. 1996, section 3.1", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "1000 B" }
segmentation = "none""#),
    line("segmentation", "fixed", "Kwan et al. 1996, section 3.1", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "1000 B" }
segmentation = { fixed = "100 B" }"#),
    line("segmentation", "adaptive", "Kwan et al. 1996, section 3.2", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "1000 B" }
segmentation = { adaptive = "80 B" }"#),
    line("segmentation", "by-hops", "Kwan et al. 1996, section 5; a list of sizes is ours", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "1000 B" }
segmentation = { by-hops = ["80 B", "160 B", "240 B"] }"#),
    line("policing", "delay", "Kwan et al. 1996, section 5; the bucket is that of ITU-T I.371", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
policing = { rate = 0.2, burst = "256 B", excess = "delay" }"#),
    line("policing", "drop", "Kwan et al. 1996, section 5; the bucket is that of ITU-T I.371", [Works, Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
policing = { rate = 0.2, burst = "256 B", excess = "drop" }"#),
    line("policing", "demote", "Kwan et al. 1996, section 5; the bucket is that of ITU-T I.371", [Works, Works],
        r#"[[traffic]]
name = "urgent"
priority = 1
load = 0.05
length = { fixed = "64 B" }
policing = { rate = 0.1, burst = "256 B", excess = { demote = "bulk" } }
[[traffic]]
name = "bulk"
load = 0.1
length = { fixed = "64 B" }"#),
];
