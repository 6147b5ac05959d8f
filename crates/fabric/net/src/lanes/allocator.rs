//! Switch allocation (crossbar inputs to outputs) and VC allocation (heads to output lanes).
//!
//! Sources: McKeown 1999, section III (iSLIP); Dally and Towles 2004, section 19.3 (separable
//! allocators). Exact specification: `docs/concepts/routers.md`.

use crate::bare_names::accept_bare_names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Allocator that matches inputs with outputs of a multiplexed crossbar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum Allocator {
    /// Outputs grant inputs, and each input chooses among its granted lanes, until no match can be
    /// added.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1; until nothing is left is ours"))]
    Maximal,
    /// iSLIP: outputs grant inputs, and inputs accept outputs, both by round robin. Pointers move
    /// only for matches of the first iteration, so they diverge under load.
    #[schemars(extend("x-source" = "McKeown 1999, section III"))]
    #[schemars(extend("x-example" = "{ islip = { iterations = 2 } }"))]
    Islip(Islip),
    /// Each input requests one output, and each output accepts one input, in a single iteration.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 19.3"))]
    SeparableInputFirst,
    /// Each output grants one input, and each input accepts one output, as in a single iteration of
    /// iSLIP.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 19.3"))]
    SeparableOutputFirst,
}

/// Parameters of `islip`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Islip {
    /// Number of grant-and-accept iterations per cycle.
    pub iterations: u32,
}

impl Default for Islip {
    fn default() -> Self {
        Self { iterations: 1 }
    }
}

/// Allocator that matches heads with free lanes of their output in each cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum VcAllocator {
    /// Heads are granted free lanes, both in round-robin order, until no grant is possible.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1; until nothing is left is ours"))]
    Maximal,
    /// iSLIP over lanes: each free lane grants a head, and heads accept lanes, both by round robin.
    /// Two lanes may grant the same head while another head gets none. Pointers move only for
    /// matches of the first iteration.
    #[schemars(extend("x-source" = "McKeown 1999, section III; over lanes: BookSim 2, src/allocators/islip.cpp and src/routers/iq_router.cpp"))]
    #[schemars(extend("x-example" = "{ islip = { iterations = 2 } }"))]
    Islip(Islip),
}

impl Allocator {
    /// Returns the maximum number of iterations per cycle.
    pub const fn iterations(self) -> u32 {
        match self {
            Self::Maximal => u32::MAX,
            Self::Islip(Islip { iterations }) => iterations,
            Self::SeparableInputFirst | Self::SeparableOutputFirst => 1,
        }
    }

    /// Returns whether matches of an iteration, counted from 0, move round-robin pointers.
    pub const fn moves_in(self, iteration: u32) -> bool {
        matches!(self, Self::Maximal) || iteration == 0
    }

    /// Returns whether inputs propose and outputs accept.
    pub const fn is_input_first(self) -> bool {
        matches!(self, Self::SeparableInputFirst)
    }

    /// Returns whether an input first chooses an output by round robin, and then a lane with a flit
    /// for that output.
    pub const fn takes_outputs_in_turn(self) -> bool {
        !matches!(self, Self::Maximal)
    }
}
