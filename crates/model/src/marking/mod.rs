//! Marking policies: on which packets a switch sets the mark, as it reads their heads.
//!
//! ```text
//!   head read ──► policy: mark it? ──► the packet carries its mark to its destination
//!                                      the answer carries it back, where its flow has a window
//! ```
//!
//! A policy is a file that says what it takes and how it decides, and a line of `policies!` below. A
//! mark that is set stays.

mod periodic;
mod threshold;

pub use periodic::Periodic;
pub use threshold::Threshold;

use crate::Plan;
use gingham_topology::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a switch knows when it reads the head of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    /// The switch.
    pub(crate) switch: NodeId,
    /// Flits in the buffer from which it was read, its own among them.
    pub(crate) waiting_flits: u64,
}

/// A marking policy with its parameters.
pub(crate) trait Policy {
    /// What it remembers.
    type Memory: Mark;

    fn start(&self, plan: &Plan) -> Self::Memory;
}

/// A marking policy at work, for all switches.
pub(crate) trait Mark {
    /// Whether a packet whose head a switch has read is marked.
    fn marks(&mut self, reading: Reading) -> bool;
}

/// Makes [`Marking`] and [`Marker`] of the types of the policies.
macro_rules! policies {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// Which packets switches mark.
        #[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Marking {
            $($(#[$about])* $name($name),)*
        }

        impl Marking {
            /// The policy at time zero.
            pub(crate) fn start(&self, plan: &Plan) -> Marker {
                match self {
                    $(Self::$name(of) => Marker::$name(of.start(plan)),)*
                }
            }
        }

        /// A policy at work.
        #[derive(Clone, Debug)]
        pub(crate) enum Marker {
            $($name(<$name as Policy>::Memory),)*
        }

        impl Marker {
            /// Whether a packet whose head a switch has read is marked.
            pub(crate) fn marks(&mut self, reading: Reading) -> bool {
                match self {
                    $(Self::$name(of) => of.marks(reading),)*
                }
            }
        }
    };
}

policies! {
    /// Every so-manieth packet that a switch reads, whatever its queues: the null against which
    /// policies that look at queues are held.
    #[schemars(extend("x-source" = "ours"))]
    #[schemars(extend("x-example" = "{ periodic = { every = 10 } }"))]
    Periodic,
    /// Every packet whose head a switch reads while more than so much stands in the buffer that it
    /// stands in.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = r#"{ threshold = { above = "64 B" } }"#))]
    Threshold,
}
