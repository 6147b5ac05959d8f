//! What others call the alternatives of a scenario: whoever writes such a name is told ours.

/// Names of BookSim, OpenSM and the literature, and ours for the same.
#[rustfmt::skip]
pub const OTHER_NAMES: [(&str, &str); 25] = [
    ("dor", "dimension-order"),
    ("xy", "dimension-order"),
    ("dim-order", "dimension-order"),
    ("dim-order-torus", "dimension-order"),
    ("dim-order-bal-torus", "dimension-order"),
    ("dor-mesh", "dimension-order"),
    ("dor-torus", "dimension-order"),
    ("e-cube", "dimension-order"),
    ("ecube", "dimension-order"),
    ("min", "shortest-path"),
    ("minhop", "shortest-path"),
    ("min-hop", "shortest-path"),
    ("minimal", "shortest-path"),
    ("min-anynet", "shortest-path"),
    ("updn", "up-down"),
    ("up*/down*", "up-down"),
    ("itb", "in-transit"),
    ("bitcomp", "bit-complement"),
    ("bitrev", "bit-reversal"),
    ("randperm", "random-permutation"),
    ("clos", "folded-clos"),
    ("leaf-spine", "folded-clos"),
    ("spine-leaf", "folded-clos"),
    ("age", "oldest-first"),
    ("age-based", "oldest-first"),
];
