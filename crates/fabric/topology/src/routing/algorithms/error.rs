//! Why a fabric cannot be routed as asked.

use super::memory::{Rounded, RouteMemory};
use super::rule::Form;
use crate::GridError;

/// Why a fabric cannot be routed as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// The fabric has no node with the name of the root.
    #[error("the root \"{name}\" is no node of this fabric{}", suggestion(nearest.as_deref()))]
    UnknownRoot {
        /// The name asked for.
        name: String,
        /// The switch whose name is nearest, if one is near.
        nearest: Option<String>,
    },
    /// The node with the name of the root forwards nothing.
    #[error("the root \"{name}\" is not a switch")]
    RootIsNoSwitch {
        /// The name asked for.
        name: String,
    },
    /// A depth-first search that should begin at two switches of an island.
    #[error(
        "a depth-first tree has one root, and cables join \"{first}\" and \"{second}\": name one of them, \
         or take the tree \"breadth-first\""
    )]
    TwoRootsDepthFirst {
        /// One of the roots.
        first: String,
        /// Another.
        second: String,
    },
    /// Dimension order on something that is neither mesh nor torus.
    #[error("dimension order needs a mesh or torus: {0}")]
    NotAGrid(#[from] GridError),
    /// Tables asked of an algorithm whose paths depend on where they begin.
    #[error(
        "{algorithm} gives source routes only, no tables, because its paths depend on where they begin: \
         take the form \"source\""
    )]
    SourceFormOnly {
        /// The name of the algorithm.
        algorithm: &'static str,
    },
    /// The same where packets choose at every switch.
    #[error(
        "packets that choose at every switch follow tables, and {algorithm} gives source routes only: choose \
         \"shortest-path\" or, on a mesh or torus, \"dimension-order\""
    )]
    NoTablesToChoose {
        /// The name of the algorithm.
        algorithm: &'static str,
    },
    /// A weight that makes no costs.
    #[error("the weight of simple-routes is {given}; expected a number from 0 to 100")]
    Weight {
        /// As given.
        given: String,
    },
    /// The weight `latency` requires a length of every cable between switches.
    #[error(
        "the weight \"latency\" needs the length of every cable between switches, and {unknown} of {cables} have none \
         (the first joins {} and {}): add them, such as length = \"5 m\" of a [[cable]] in a TOML file, or take the \
         weight \"hops\"",
        first[0], first[1]
    )]
    UnknownLengths {
        /// Number of cables between switches without a length.
        unknown: usize,
        /// Number of all cables between switches.
        cables: usize,
        /// The ports that the first of them joins.
        first: [String; 2],
    },
    /// `hop_length` requires the weight `latency`.
    #[error(
        "hop_length has no effect on the weight \"hops\": leave it out, or take the weight \"latency\""
    )]
    HopLengthOfHops,
    /// The weight `latency` is incompatible with adaptive routing.
    #[error(
        "packets that choose at every switch take the fewest channels: leave the weight \"latency\" out, or let packets \
         follow one path"
    )]
    LatencyToChoose,
    /// Smart routing on more switches than its search is for.
    #[error(
        "smart takes at most {switches_max} switches, this fabric has {switches}; in-transit and simple-routes \
         take more"
    )]
    TooManySwitches {
        /// Number of switches.
        switches: usize,
        /// The most that it takes.
        switches_max: usize,
    },
    /// Smart routing where cables cross in more ways than its search is for.
    #[error(
        "smart takes fabrics of at most {turns_max} turns at switches, from cable to cable, this one has {turns}; \
         in-transit and simple-routes take more"
    )]
    TooManyTurns {
        /// Number of turns between channels that join switches.
        turns: usize,
        /// The most that it takes.
        turns_max: usize,
    },
    /// More routes than the memory allowed would hold.
    #[error(
        "these routes would take {needed}, and may take {}: allow more (memory_max){}",
        Rounded(*bytes_max),
        match form { Form::Source => ", or take the form \"table\"", Form::Table => "" }
    )]
    TooLarge {
        /// What they would take.
        needed: RouteMemory,
        /// What they may take.
        bytes_max: u64,
        /// The form asked for.
        form: Form,
    },
}

impl RouteError {
    /// The parameter of the algorithm that is to blame, with the algorithm's name; `None` if it is
    /// the algorithm itself or the fabric.
    pub const fn parameter(&self) -> Option<&'static str> {
        match self {
            Self::UnknownLengths { .. } | Self::LatencyToChoose => Some("shortest-path.weight"),
            Self::HopLengthOfHops => Some("shortest-path.hop_length"),
            Self::Weight { .. } => Some("simple-routes.weight"),
            _ => None,
        }
    }

    /// The same where packets choose at every switch, so that another form is no cure.
    #[must_use]
    pub fn of_choosing(self) -> Self {
        match self {
            Self::SourceFormOnly { algorithm } => Self::NoTablesToChoose { algorithm },
            other => other,
        }
    }
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}
