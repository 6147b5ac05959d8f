//! Switch allocation at a multiplexed crossbar: which inputs are matched with which outputs in a
//! cycle. And VC allocation: which heads are matched with which lanes of an output.
//!
//! ```text
//!   one mechanism     first a side proposes, then the other accepts; again, with those not matched
//!   maximal           outputs propose, inputs accept     until nobody can be matched   who is matched moves its pointers
//!   iSLIP             outputs propose, inputs accept     n times                       in the first iteration alone
//!   separable         either side proposes               once
//! ```
//!
//! Sources: McKeown 1999, section III (iSLIP); Dally and Towles 2004, section 19.3 (separable
//! allocators). `docs/concepts/routers.md` says what each does to the last pointer.

use crate::bare_names::accept_bare_names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How inputs and outputs of a multiplexed crossbar are matched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum Allocator {
    /// Outputs grant inputs, and each input chooses among its lanes that were granted. This is
    /// repeated until nothing more can be matched.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1; until nothing is left is ours"))]
    Maximal,
    /// iSLIP: outputs grant inputs, and inputs accept outputs, by round robin. Pointers move only
    /// for matches of the first iteration, so they diverge under load.
    #[schemars(extend("x-source" = "McKeown 1999, section III"))]
    #[schemars(extend("x-example" = "{ islip = { iterations = 2 } }"))]
    Islip(Islip),
    /// Each input requests one output, and each output accepts one input; one iteration.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 19.3"))]
    SeparableInputFirst,
    /// Each output grants one input, and each input accepts one output; one iteration, as iSLIP
    /// with one.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 19.3"))]
    SeparableOutputFirst,
}

/// Parameters of `islip`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Islip {
    /// Iterations of grant and accept in a cycle.
    pub iterations: u32,
}

impl Default for Islip {
    fn default() -> Self {
        Self { iterations: 1 }
    }
}

/// How heads that request an output are matched with its lanes in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum VcAllocator {
    /// Heads in turn are granted one of the lanes that are free, in turn, until nothing more can be
    /// granted.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1; until nothing is left is ours"))]
    Maximal,
    /// iSLIP over lanes: each free lane grants a head, and heads accept lanes, by round robin. Two lanes
    /// may grant one head while another head goes without. Pointers move only for matches of the first
    /// iteration.
    #[schemars(extend("x-source" = "McKeown 1999, section III; over lanes: BookSim 2, src/allocators/islip.cpp and src/routers/iq_router.cpp"))]
    #[schemars(extend("x-example" = "{ islip = { iterations = 2 } }"))]
    Islip(Islip),
}

impl Allocator {
    /// The most iterations of a cycle.
    pub const fn iterations(self) -> u32 {
        match self {
            Self::Maximal => u32::MAX,
            Self::Islip(Islip { iterations }) => iterations,
            Self::SeparableInputFirst | Self::SeparableOutputFirst => 1,
        }
    }

    /// Whether pointers move for what is matched in an iteration, counted from 0.
    pub const fn moves_in(self, iteration: u32) -> bool {
        matches!(self, Self::Maximal) || iteration == 0
    }

    /// Whether inputs propose and outputs accept, and not the other way round.
    pub const fn is_input_first(self) -> bool {
        matches!(self, Self::SeparableInputFirst)
    }

    /// Whether an input chooses an output in turn, and then among its lanes there, and not at once
    /// among all its lanes that were granted.
    pub const fn takes_outputs_in_turn(self) -> bool {
        !matches!(self, Self::Maximal)
    }
}
