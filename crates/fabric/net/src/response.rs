//! Responses: what a flow makes of the marks that answers bring back.
//!
//! ```text
//!   answer ──┬─ marked ──────► down ──┐
//!            └─ not marked ──► up ────┤
//!   a packet starts ─────────► sends ─┴──► window and pace of its flow, from now on
//! ```
//!
//! A response is a file that says what it takes, with its two functions, and a line of
//! `responses!` below. What time changes in one is worked out when it is asked, so that no timer keeps
//! a run alive.

mod aimd;
mod becn;
mod dcqcn;
mod fimd;
mod fixed;
mod lipd;
mod rate;
#[cfg(test)]
mod tests;

pub use aimd::Aimd;
pub use becn::{Becn, Delay};
pub use dcqcn::Dcqcn;
pub use fimd::Fimd;
pub use fixed::Fixed;
pub use lipd::Lipd;
pub(crate) use rate::Rate;

use crate::Pace;
use crate::bare_names::accept_bare_names;
use gingham_kernel::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What bounds a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// Packets that may be under way and not answered.
    pub(crate) window_packets: u32,
    /// How fast packets may start; as fast as they can if not given.
    pub(crate) pace: Option<Pace>,
}

/// A response with its parameters.
pub(crate) trait Respond {
    /// What a flow remembers.
    type Memory: Adapt;

    /// The lowest rate, as a share of the highest, if it changes rates.
    fn lowest(&self) -> Option<f64> {
        None
    }

    /// By how much a mark divides the rate, if it does that.
    fn factor(&self) -> Option<f64> {
        None
    }

    /// Time constant of the slowest timer-driven change of rate; `None` without one.
    fn settling(&self, _limits: &Limits) -> Option<Span> {
        None
    }

    /// Refuses parameters that no flow can have: the key, and why.
    fn check(&self) -> Result<(), (&'static str, String)> {
        Ok(())
    }

    /// That of a new flow with these limits.
    fn start(&self, limits: &Limits) -> Self::Memory;
}

/// A response at work, for one flow.
pub(crate) trait Adapt {
    /// An answer says that a packet was marked.
    fn down(&mut self, limits: &mut Limits, now: Time);

    /// An answer says that a packet was not.
    fn up(&mut self, limits: &mut Limits, now: Time);

    /// A packet with so much payload begins: what time has changed.
    fn sends(&mut self, _payload_bytes: u32, _limits: &mut Limits, _now: Time) {}
}

/// Makes [`Response`] and [`Responder`] of the types of the responses.
macro_rules! responses {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// What a flow makes of marks that come back.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schemars(transform = accept_bare_names)]
        pub enum Response {
            $($(#[$about])* $name($name),)*
        }

        impl Response {
            /// Whether it changes the pace of flows, which then have one.
            pub fn is_paced(&self) -> bool {
                self.lowest().is_some()
            }

            /// The lowest rate, as a share of the highest, if it changes rates.
            pub fn lowest(&self) -> Option<f64> {
                match self {
                    $(Self::$name(of) => of.lowest(),)*
                }
            }

            /// By how much a mark divides the rate, if it does that.
            pub fn factor(&self) -> Option<f64> {
                match self {
                    $(Self::$name(of) => of.factor(),)*
                }
            }

            /// Time constant of the slowest timer-driven change of rate for a flow with this
            /// highest rate; `None` if no timer changes its rate.
            pub fn settling(&self, highest: Pace) -> Option<Span> {
                let limits = Limits { window_packets: u32::MAX, pace: Some(highest) };
                match self {
                    $(Self::$name(of) => of.settling(&limits),)*
                }
            }

            /// Refuses parameters that no flow can have: the key, and why.
            pub fn check(&self) -> Result<(), (&'static str, String)> {
                match self {
                    $(Self::$name(of) => of.check(),)*
                }
            }

            /// That of a new flow.
            pub(crate) fn start(&self, limits: &Limits) -> Responder {
                match self {
                    $(Self::$name(of) => Responder::$name(of.start(limits)),)*
                }
            }
        }

        /// A response at work.
        #[derive(Clone, Debug)]
        pub(crate) enum Responder {
            $($name(<$name as Respond>::Memory),)*
        }

        impl Responder {
            /// An answer to a packet that was marked has come.
            pub(crate) fn down(&mut self, limits: &mut Limits, now: Time) {
                match self {
                    $(Self::$name(of) => of.down(limits, now),)*
                }
            }

            /// An answer to one that was not has come.
            pub(crate) fn up(&mut self, limits: &mut Limits, now: Time) {
                match self {
                    $(Self::$name(of) => of.up(limits, now),)*
                }
            }

            /// A packet with so much payload begins.
            #[inline]
            pub(crate) fn sends(&mut self, payload_bytes: u32, limits: &mut Limits, now: Time) {
                match self {
                    $(Self::$name(of) => of.sends(payload_bytes, limits, now),)*
                }
            }
        }
    };
}

responses! {
    /// Window and pace do not change.
    #[schemars(extend("x-source" = "textbook"))]
    Fixed,
    /// Linear inter-packet delay: a mark adds the time of a packet to that between packets.
    #[schemars(extend("x-source" = "Santos, Turner, Janakiraman, INFOCOM 2003"))]
    Lipd,
    /// Fast increase, multiplicative decrease: a mark divides the rate, and recovery takes the same
    /// time at every rate.
    #[schemars(extend("x-source" = "US patent 7,920,476, claims 1 to 3"))]
    Fimd,
    /// Additive increase, multiplicative decrease: a mark divides the rate, which then grows
    /// linearly.
    #[schemars(extend("x-source" = "Chiu and Jain 1989; the increase is reconstructed from Santos, Turner, Janakiraman, INFOCOM 2003"))]
    Aimd,
    /// InfiniBand's congestion control annex: a mark (BECN) walks a flow up a table of delays, a timer
    /// walks it down again.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, annex A10"))]
    Becn,
    /// DCQCN: a notification cuts the rate by `alpha`; a timer and a byte counter raise it.
    #[schemars(extend("x-source" = "Zhu et al. 2015, sections 3 and 5"))]
    Dcqcn,
}

impl Default for Response {
    fn default() -> Self {
        Self::Fixed(Fixed {})
    }
}
