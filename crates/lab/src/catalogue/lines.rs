//! The table: one line a mechanism.
//!
//! ```text
//!   concept, name        as a scenario writes them
//!   source               paper and section, or "textbook"
//!   standing             to each switching kind, in the order of `KINDS`
//!   example              keys of a scenario, as TOML; with the rest of any scenario they run
//! ```
//!
//! What an example leaves open is that of a 4x4 torus whose hosts send 64-byte messages
//! (`tests/test_catalogue.py`, which runs every example). Summary and parameters are
//! the doc comments of the mechanism's types and do not stand here.

use super::KINDS;
use super::standing::Standing::{self, Works};

/// What the catalogue knows of a mechanism beyond its type.
pub(super) struct Line {
    pub(super) concept: &'static str,
    pub(super) name: &'static str,
    pub(super) source: &'static str,
    pub(super) standing: [Standing; KINDS.len()],
    pub(super) example: &'static str,
}

const fn line(
    concept: &'static str,
    name: &'static str,
    source: &'static str,
    standing: [Standing; KINDS.len()],
    example: &'static str,
) -> Line {
    Line { concept, name, source, standing, example }
}

/// Files that examples read, by the name under which they do: (name, content).
pub(super) const FILES: &[(&str, &str)] = &[];

/// Every mechanism, in the order in which help shows them.
#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    line("generator", "two-hosts", "Kwan et al. 1996, section 3.1", [Works],
        "topology.generate.two-hosts = { switches = 2 }"),
    line("generator", "star", "textbook", [Works],
        "topology.generate.star = { hosts = 3 }"),
    line("generator", "ring", "textbook", [Works],
        "topology.generate.ring = { switches = 4 }"),
    line("generator", "mesh", "Dally and Towles 2004, chapter 5", [Works],
        "topology.generate.mesh = { dimensions = [3, 2] }"),
    line("generator", "torus", "Dally and Towles 2004, chapter 5", [Works],
        "topology.generate.torus = { dimensions = [3, 3], hosts_per_switch = 2 }"),
    line("generator", "hypercube", "Dally and Towles 2004, chapter 5", [Works],
        "topology.generate.hypercube = { dimensions = 3 }"),
    line("generator", "k-ary-n-tree", "Petrini and Vanneschi 1997", [Works],
        "topology.generate.k-ary-n-tree = { arity = 2, levels = 3 }"),
    line("generator", "folded-clos", "Leiserson 1985; Clos 1953", [Works],
        "topology.generate.folded-clos = { leaves = 3, spines = 2, hosts_per_leaf = 2 }"),
    line("generator", "dragonfly", "Kim, Dally, Scott and Abts 2008", [Works],
        "topology.generate.dragonfly = { switches_per_group = 2, global_cables_per_switch = 1 }"),
    line("generator", "irregular", "Flich et al. 2001, section IV-A; the drawing of links is ours", [Works],
        "topology.generate.irregular = { switches = 5 }"),
    line("routing", "shortest-path", "textbook", [Works],
        r#"topology.generate.star = { hosts = 3 }
routing.algorithm = "shortest-path""#),
    line("routing", "dimension-order", "Dally and Seitz 1987", [Works],
        r#"topology.generate.mesh = { dimensions = [3, 2] }
routing.algorithm = "dimension-order""#),
    line("routing", "up-down", "Schroeder et al. 1991 (Autonet)", [Works],
        r#"routing.algorithm = { up-down = { root = "smallest-distance" } }"#),
    line("preset", "myrinet-640", "Kwan et al. 1996, section 2", [Works],
        r#"network.preset = "myrinet-640""#),
    line("preset", "myrinet-1280", "Flich et al. 2001, section IV-A", [Works],
        r#"network.preset = "myrinet-1280""#),
    line("arrivals", "poisson", "textbook", [Works],
        r#"[[traffic]]
arrivals = "poisson"
load = 0.1
length = { fixed = "64 B" }"#),
    line("arrivals", "backlogged", "Kwan et al. 1996, section 3.1", [Works],
        r#"[[traffic]]
arrivals = "backlogged"
length = { fixed = "64 B" }"#),
    line("length", "fixed", "Flich et al. 2001, section IV-A", [Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }"#),
    line("length", "exponential", "Kwan et al. 1996, section 2; whole bytes are ours", [Works],
        r#"[[traffic]]
load = 0.1
length = { exponential = "512 B" }"#),
    line("length", "uniform", "textbook", [Works],
        r#"[[traffic]]
load = 0.1
length = { uniform = { from = "64 B", to = "1 KiB" } }"#),
    line("length", "bimodal", "Dally and Towles 2004, section 24.2", [Works],
        r#"[[traffic]]
load = 0.1
length = { bimodal = { short = "16 B", long = "1 KiB", long_share = 0.2 } }"#),
    line("destinations", "uniform", "Flich et al. 2001, section IV-A", [Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = "uniform""#),
    line("destinations", "host", "Kwan et al. 1996, section 3.1", [Works],
        r#"[[traffic]]
load = 0.1
length = { fixed = "64 B" }
destinations = { host = "h1-0-0" }"#),
];
