//! Errors of the routing algorithms.

use super::memory::{Rounded, RouteMemory};
use super::rule::Form;
use crate::GridError;

/// Reason why a fabric cannot be routed as requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// Requested root that is not in the fabric.
    #[error("the root \"{name}\" is not a node of this fabric{}", suggestion(nearest.as_deref()))]
    UnknownRoot {
        /// Requested name.
        name: String,
        /// Switch with a similar name.
        nearest: Option<String>,
    },
    /// Requested root that is not a switch.
    #[error("the root \"{name}\" is not a switch")]
    RootIsNoSwitch {
        /// Requested name.
        name: String,
    },
    /// Several roots in one connected component for a depth-first search, which needs exactly one.
    #[error(
        "a depth-first tree has one root, and cables join \"{first}\" and \"{second}\": name one of them, \
         or take the tree \"breadth-first\""
    )]
    TwoRootsDepthFirst {
        /// First root.
        first: String,
        /// Second root.
        second: String,
    },
    /// Dimension-order routing on a fabric that is neither a mesh nor a torus.
    #[error("dimension order needs a mesh or torus: {0}")]
    NotAGrid(#[from] GridError),
    /// Tables requested for an algorithm with source routes only.
    #[error(
        "{algorithm} gives source routes only, no tables, because its paths depend on where they begin: \
         take the form \"source\""
    )]
    SourceFormOnly {
        /// Name of the algorithm.
        algorithm: &'static str,
    },
    /// Adaptive routing requested for an algorithm with source routes only.
    #[error(
        "packets that choose at every switch follow tables, and {algorithm} gives source routes only: choose \
         \"shortest-path\" or, on a mesh or torus, \"dimension-order\""
    )]
    NoTablesToChoose {
        /// Name of the algorithm.
        algorithm: &'static str,
    },
    /// Weight out of range.
    #[error("the weight of simple-routes is {given}; expected a number from 0 to 100")]
    Weight {
        /// Requested weight.
        given: String,
    },
    /// Weight `latency` on a fabric with cables of unknown length between switches.
    #[error(
        "the weight \"latency\" needs the length of every cable between switches, and {unknown} of {cables} have none \
         (the first joins {} and {}): add them, such as length = \"5 m\" of a [[cable]] in a TOML file, or take the \
         weight \"hops\"",
        first[0], first[1]
    )]
    UnknownLengths {
        /// Number of cables between switches without a length.
        unknown: usize,
        /// Total number of cables between switches.
        cables: usize,
        /// Both ports of the first cable without a length.
        first: [String; 2],
    },
    /// `hop_length` without the weight `latency`.
    #[error(
        "hop_length has no effect on the weight \"hops\": leave it out, or take the weight \"latency\""
    )]
    HopLengthOfHops,
    /// Weight `latency` with adaptive routing.
    #[error(
        "packets that choose at every switch take the fewest channels: leave the weight \"latency\" out, or let packets \
         follow one path"
    )]
    LatencyToChoose,
    /// Too many switches for smart routing.
    #[error(
        "smart takes at most {switches_max} switches, this fabric has {switches}; in-transit and simple-routes \
         take more"
    )]
    TooManySwitches {
        /// Number of switches.
        switches: usize,
        /// Maximum number of switches.
        switches_max: usize,
    },
    /// Too many turns for smart routing.
    #[error(
        "smart takes fabrics of at most {turns_max} turns at switches, from cable to cable, this one has {turns}; \
         in-transit and simple-routes take more"
    )]
    TooManyTurns {
        /// Number of turns between channels that join switches.
        turns: usize,
        /// Maximum number of turns.
        turns_max: usize,
    },
    /// Routes that need more memory than allowed.
    #[error(
        "these routes would take {needed}, and may take {}: allow more (memory_max){}",
        Rounded(*bytes_max),
        match form { Form::Source => ", or take the form \"table\"", Form::Table => "" }
    )]
    TooLarge {
        /// Memory needed by the routes.
        needed: RouteMemory,
        /// Memory limit in bytes.
        bytes_max: u64,
        /// Requested form.
        form: Form,
    },
}

impl RouteError {
    /// Returns the parameter at fault, as `algorithm.parameter`; `None` if the algorithm or the
    /// fabric is at fault.
    pub const fn parameter(&self) -> Option<&'static str> {
        match self {
            Self::UnknownLengths { .. } | Self::LatencyToChoose => Some("shortest-path.weight"),
            Self::HopLengthOfHops => Some("shortest-path.hop_length"),
            Self::Weight { .. } => Some("simple-routes.weight"),
            _ => None,
        }
    }

    /// Adapts the error to adaptive routing, which cannot use source routes instead of tables.
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
