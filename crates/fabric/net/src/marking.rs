//! Marking policies, which select the packets that a switch marks.
//!
//! ```text
//!   head read ──► policy: mark it? ──► the packet carries its mark to its destination
//!                                      its ACK carries the mark back, if its flow has a window
//! ```
//!
//! A mark is never removed. Policies that use output queues mark a packet when it starts on its
//! output, and require whole-packet switching.

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

pub use red::RedThresholds;
pub use triggers::{Concerns, Scan, Triggers};

use crate::bare_names::accept_bare_names;
use crate::{Plan, Stay};
use gingham_kernel::Time;
use gingham_topology::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    pub(crate) switch: NodeId,
    /// Number of flits in the head's buffer, including flits of its own packet.
    pub(crate) waiting_flits: u64,
}

/// Reason for a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// An input buffer was full.
    Input,
    /// The number of packets waiting for an output exceeded a threshold.
    Output,
}

pub(crate) trait Policy {
    type Memory: Mark;

    fn triggers(&self) -> Option<Triggers> {
        None
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        self.triggers().map_or(Ok(()), |triggers| triggers.check())
    }

    fn needs_space(&self) -> bool {
        self.triggers().is_some_and(|triggers| triggers.spare_blocked.is_some())
    }

    fn start(&self, plan: &Plan) -> Self::Memory;
}

pub(crate) trait Mark {
    fn marks(&mut self, _reading: Reading) -> bool {
        false
    }

    fn queued(&mut self, _stay: &Stay, _now: Time) {}

    /// Evaluates the triggers after all events at the current time, if a head was read.
    fn settled(&mut self, _stay: &Stay, _has_space: bool, _now: Time) {}

    /// Returns the trigger that marks a packet when its transmission on the output channel starts;
    /// `None` leaves the packet unmarked.
    fn forwarded(&mut self, _stay: &Stay, _left: Time, _now: Time) -> Option<Trigger> {
        None
    }
}

const OUTPUT_QUEUES: &str = "output-queues";

macro_rules! policies {
    ($($(#[$about:meta])* $module:ident::$name:ident $(needs $feature:literal)?,)*) => {
        $(pub use $module::$name;)*

        /// Marking policy of the switches.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schemars(transform = accept_bare_names)]
        pub enum Marking {
            $($(#[$about])* $(#[schemars(extend("x-needs" = $feature))])? $name($name),)*
        }

        impl Marking {
            pub(crate) fn start(&self, plan: &Plan) -> Marker {
                match self {
                    $(Self::$name(of) => Marker::$name(of.start(plan)),)*
                }
            }

            /// Returns the triggers of the policy; `None` unless the policy is from Santos et al.
            pub fn triggers(&self) -> Option<Triggers> {
                match self {
                    $(Self::$name(of) => of.triggers(),)*
                }
            }

            /// Checks the parameters. An error contains the key of an invalid parameter and the
            /// reason.
            pub fn check(&self) -> Result<(), (&'static str, String)> {
                match self {
                    $(Self::$name(of) => of.check(),)*
                }
            }

            pub(crate) fn needs_space(&self) -> bool {
                match self {
                    $(Self::$name(of) => of.needs_space(),)*
                }
            }

            /// Returns whether the policy marks packets when they start on an output, which
            /// requires whole-packet switching.
            pub fn uses_outputs(&self) -> bool {
                let needed: &[&str] = match self {
                    $(Self::$name(_) => &[$($feature)?],)*
                };
                needed.contains(&OUTPUT_QUEUES)
            }
        }

        #[derive(Clone, Debug)]
        pub(crate) enum Marker {
            $($name(<$name as Policy>::Memory),)*
        }

        impl Marker {
            pub(crate) fn marks(&mut self, reading: Reading) -> bool {
                match self {
                    $(Self::$name(of) => of.marks(reading),)*
                }
            }

            pub(crate) fn queued(&mut self, stay: &Stay, now: Time) {
                match self {
                    $(Self::$name(of) => of.queued(stay, now),)*
                }
            }

            pub(crate) fn settled(&mut self, stay: &Stay, has_space: bool, now: Time) {
                match self {
                    $(Self::$name(of) => of.settled(stay, has_space, now),)*
                }
            }

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
    /// Marks one packet in `every` packets that a switch reads, regardless of its queues: a
    /// baseline for policies that use queues.
    #[schemars(extend("x-source" = "ours"))]
    #[schemars(extend("x-example" = "{ periodic = { every = 10 } }"))]
    periodic::Periodic,
    /// Marks every packet whose head is read while the fill level of its buffer exceeds a
    /// threshold.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = r#"{ threshold = { above = "64 B" } }"#))]
    threshold::Threshold,
    /// Marks all packets in a buffer (of one input and lane) when it becomes full.
    #[schemars(extend("x-source" = "Santos et al. 2002, section IV.A"))]
    naive::Naive needs "output-queues",
    /// Marks packets when a buffer becomes full. For each output that a packet in the buffer waits
    /// for, marks the next n packets to start on it, where n is the number of packets in the switch
    /// that wait for this output.
    #[schemars(extend("x-source" = "Santos et al. 2002, section IV.B"))]
    input_triggered::InputTriggered needs "output-queues",
    /// Like `input-triggered`, but also marks packets if the queue of their output exceeds a
    /// threshold.
    #[schemars(extend("x-source" = "Santos et al. 2002, section IV.C"))]
    #[schemars(extend("x-example" = "{ input-output-triggered = { threshold = 8 } }"))]
    input_output_triggered::InputOutputTriggered needs "output-queues",
    /// Marks packets only if the queue of their output exceeds a threshold. A buffer whose packets
    /// go to many outputs may fill unnoticed.
    #[schemars(extend("x-source" = "Santos et al. 2002, section IV.C, which does not adopt it"))]
    #[schemars(extend("x-example" = "{ output-triggered = { threshold = 8 } }"))]
    output_triggered::OutputTriggered needs "output-queues",
    /// Marks packets if their output has recently been busy for too large a fraction of time.
    #[schemars(extend("x-source" = "Santos et al. 2002, footnote 5, which does not adopt it"))]
    #[schemars(extend("x-example" = r#"{ utilisation-triggered = { above = 0.95, average = "50 us" } }"#))]
    utilisation_triggered::UtilisationTriggered needs "output-queues",
    /// InfiniBand's congestion control annex: sets FECN if the queue of an output exceeds a
    /// threshold, and the output is the root of congestion, not a victim.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, annex A10"))]
    fecn::Fecn needs "output-queues",
    /// Random early detection (ECN with `k_min`, `k_max`, `p_max`), as under DCQCN: the marking
    /// probability grows with the queue of the output.
    #[schemars(extend("x-source" = "Zhu et al. 2015, section 3.1; Floyd and Jacobson 1993"))]
    red::Red needs "output-queues",
}
