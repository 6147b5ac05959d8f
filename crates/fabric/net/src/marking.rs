//! Marking policies: on which packets a switch sets the mark, as it reads their heads.
//!
//! ```text
//!   head read ──► policy: mark it? ──► the packet carries its mark to its destination
//!                                      the answer carries it back, where its flow has a window
//! ```
//!
//! A policy is a file that says what it takes and how it decides, and a line of `policies!` below. A
//! mark that is set stays. Those that look at outputs mark a packet as a switch starts it, and live in
//! networks of whole packets:
//!
//! ```text
//!   queued ──► counts, by output and buffer ◄── settled: is the buffer full, do too many wait?
//!   forwarded ──► mark it?
//! ```

mod average;
mod congestion;
mod fecn;
mod input_output_triggered;
mod input_triggered;
mod naive;
mod output_triggered;
mod periodic;
mod red;
mod threshold;
mod triggers;
mod utilisation_triggered;
mod waiting;

pub use fecn::Fecn;
pub use input_output_triggered::InputOutputTriggered;
pub use input_triggered::InputTriggered;
pub use naive::Naive;
pub use output_triggered::OutputTriggered;
pub use periodic::Periodic;
pub use red::{Red, RedThresholds};
pub use threshold::Threshold;
pub use triggers::{Concerns, Scan, Triggers};
pub use utilisation_triggered::UtilisationTriggered;

use crate::bare_names::accept_bare_names;
use crate::{Plan, Stay};
use gingham_kernel::Time;
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

/// Why a packet is marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// The buffer of an input was full.
    Input,
    /// More than a threshold waited for an output.
    Output,
}

/// A marking policy with its parameters.
pub(crate) trait Policy {
    /// What it remembers.
    type Memory: Mark;

    /// Whether it looks at what waits for outputs, and marks packets as they start there.
    const LOOKS_AT_OUTPUTS: bool = false;

    /// When it marks what, where that is said in the terms of Santos et al.
    fn triggers(&self) -> Option<Triggers> {
        None
    }

    /// Refuses parameters that no switch can follow: the key, and why.
    fn check(&self) -> Result<(), (&'static str, String)> {
        self.triggers().map_or(Ok(()), |triggers| triggers.check())
    }

    /// Whether it wants to know of the space at the other end of outputs.
    fn looks_at_space(&self) -> bool {
        self.triggers().is_some_and(|triggers| triggers.spare_blocked.is_some())
    }

    fn start(&self, plan: &Plan) -> Self::Memory;
}

/// A marking policy at work, for all switches.
pub(crate) trait Mark {
    /// Whether a packet whose head a switch has read is marked.
    fn marks(&mut self, _reading: Reading) -> bool {
        false
    }

    /// The head of a packet was read.
    fn queued(&mut self, _stay: &Stay, _now: Time) {}

    /// All has happened of the instant at which the head of a packet was read.
    fn settled(&mut self, _stay: &Stay, _has_space: bool, _now: Time) {}

    /// Whether a packet is marked that starts on its output, and why.
    fn forwarded(&mut self, _stay: &Stay, _left: Time, _now: Time) -> Option<Trigger> {
        None
    }
}

/// Makes [`Marking`] and [`Marker`] of the types of the policies.
macro_rules! policies {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// Which packets switches mark.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schemars(transform = accept_bare_names)]
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

            /// When it marks what, where that is said in the terms of Santos et al.
            pub fn triggers(&self) -> Option<Triggers> {
                match self {
                    $(Self::$name(of) => of.triggers(),)*
                }
            }

            /// Refuses parameters that no switch can follow: the key, and why.
            pub fn check(&self) -> Result<(), (&'static str, String)> {
                match self {
                    $(Self::$name(of) => of.check(),)*
                }
            }

            /// Whether it wants to know of the space at the other end of outputs.
            pub(crate) fn looks_at_space(&self) -> bool {
                match self {
                    $(Self::$name(of) => of.looks_at_space(),)*
                }
            }

            /// Whether it looks at what waits for outputs, which networks of whole packets tell.
            pub const fn looks_at_outputs(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$name as Policy>::LOOKS_AT_OUTPUTS,)*
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

            /// The head of a packet was read.
            pub(crate) fn queued(&mut self, stay: &Stay, now: Time) {
                match self {
                    $(Self::$name(of) => of.queued(stay, now),)*
                }
            }

            /// All has happened of the instant at which the head of a packet was read.
            pub(crate) fn settled(&mut self, stay: &Stay, has_space: bool, now: Time) {
                match self {
                    $(Self::$name(of) => of.settled(stay, has_space, now),)*
                }
            }

            /// Whether a packet is marked that starts on its output, and why.
            pub(crate) fn forwarded(
                &mut self,
                stay: &Stay,
                left: Time,
                now: Time,
            ) -> Option<Trigger> {
                match self {
                    $(Self::$name(of) => of.forwarded(stay, left, now),)*
                }
            }
        }
    };
}

policies! {
    /// One packet in so many that a switch reads, whatever its queues: the null against which
    /// policies that look at queues are compared.
    #[schemars(extend("x-source" = "ours"))]
    #[schemars(extend("x-example" = "{ periodic = { every = 10 } }"))]
    Periodic,
    /// Every packet whose head a switch reads while more than a threshold is in its buffer.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = r#"{ threshold = { above = "64 B" } }"#))]
    Threshold,
    /// All packets in the buffer of an input and lane that has become full.
    #[schemars(extend("x-source" = "Santos et al. 2002, section IV.A"))]
    #[schemars(extend("x-needs" = "output-queues"))]
    Naive,
    /// When a buffer becomes full: for each output that one of its packets waits for, as many
    /// packets as the switch has for it, as they start there.
    #[schemars(extend("x-source" = "Santos et al. 2002, section IV.B"))]
    #[schemars(extend("x-needs" = "output-queues"))]
    InputTriggered,
    /// The same, and also where more than a threshold wait for an output.
    #[schemars(extend("x-source" = "Santos et al. 2002, section IV.C"))]
    #[schemars(extend("x-example" = "{ input-output-triggered = { threshold = 8 } }"))]
    #[schemars(extend("x-needs" = "output-queues"))]
    InputOutputTriggered,
    /// Only where more than a threshold wait for an output. A buffer whose packets go to many
    /// outputs fills unnoticed.
    #[schemars(extend("x-source" = "Santos et al. 2002, section IV.C, which does not adopt it"))]
    #[schemars(extend("x-example" = "{ output-triggered = { threshold = 8 } }"))]
    #[schemars(extend("x-needs" = "output-queues"))]
    OutputTriggered,
    /// Where an output was busy for too large a fraction of the recent time.
    #[schemars(extend("x-source" = "Santos et al. 2002, footnote 5, which does not adopt it"))]
    #[schemars(extend("x-example" = r#"{ utilisation-triggered = { above = 0.95, average = "50 us" } }"#))]
    #[schemars(extend("x-needs" = "output-queues"))]
    UtilisationTriggered,
    /// InfiniBand's congestion control annex: FECN where more than a threshold waits for an output,
    /// at the root of congestion and not where it spreads.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, annex A10"))]
    #[schemars(extend("x-needs" = "output-queues"))]
    Fecn,
    /// Random early detection (ECN with `k_min`, `k_max`, `p_max`), as under DCQCN: the longer the
    /// queue of an output, the likelier.
    #[schemars(extend("x-source" = "Zhu et al. 2015, section 3.1; Floyd and Jacobson 1993"))]
    #[schemars(extend("x-needs" = "output-queues"))]
    Red,
}
