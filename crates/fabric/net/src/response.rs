//! Responses: reactions of a flow to congestion marks in its acknowledgements, or to its round-trip
//! times.
//!
//! ```text
//!   ACK ──┬─ marked ──────► down ──────┐
//!         ├─ not marked ──► up ────────┤
//!         └─ round trip ──► measured ──┤
//!   a packet starts ──────► sends ─────┴──► window and rate limit of its flow, from now on
//! ```
//!
//! Timers are evaluated only when a packet starts or an ACK arrives, so they do not prolong a run.
//! Round trips are measured only for responses that need them.

mod aimd;
mod becn;
mod dcqcn;
mod fimd;
mod fixed;
mod lipd;
mod rate;
mod round_trips;
mod swift;
#[cfg(test)]
mod tests;
mod timely;

pub use becn::Delay;
pub(crate) use rate::Rate;
pub(crate) use round_trips::{RoundTrip, RoundTrips};

use crate::RateLimit;
use crate::bare_names::accept_bare_names;
use gingham_kernel::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    pub(crate) window_packets: u32,
    pub(crate) rate_limit: Option<RateLimit>,
    /// Minimum time between the starts of two packets, regardless of their lengths.
    pub(crate) gap: Span,
}

pub(crate) trait Respond {
    type Memory: Adapt;

    fn marking(&self) -> Option<&'static str> {
        Some("input-triggered")
    }

    fn needs_round_trips(&self) -> bool {
        false
    }

    fn changes_window(&self) -> bool {
        false
    }

    fn lowest(&self) -> Option<f64> {
        None
    }

    fn factor(&self) -> Option<f64> {
        None
    }

    fn settling(&self, _limits: &Limits) -> Option<Span> {
        None
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        Ok(())
    }

    fn start(&self, limits: &Limits) -> Self::Memory;
}

pub(crate) trait Adapt {
    fn down(&mut self, _limits: &mut Limits, _now: Time) {}

    fn up(&mut self, _limits: &mut Limits, _now: Time) {}

    /// Reacts to a round trip, after the marks in its acknowledgement have been handled.
    fn measured(&mut self, _trip: RoundTrip, _limits: &mut Limits, _now: Time) {}

    /// Accounts for elapsed time and sent bytes when a packet starts.
    fn sends(&mut self, _payload_bytes: u32, _limits: &mut Limits, _now: Time) {}
}

macro_rules! responses {
    ($($(#[$about:meta])* $module:ident::$name:ident,)*) => {
        $(pub use $module::$name;)*

        /// Reaction of a flow to congestion marks in its acknowledgements, or to its round-trip
        /// times.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schemars(transform = accept_bare_names)]
        pub enum Response {
            $($(#[$about])* $name($name),)*
        }

        impl Response {
            /// Returns whether the response changes rate limits, which requires a rate limit for
            /// every flow.
            pub fn changes_rate(&self) -> bool {
                self.lowest().is_some()
            }

            /// Returns the marking policy that suits the response; `None` if marks have no effect.
            pub fn marking(&self) -> Option<&'static str> {
                match self {
                    $(Self::$name(of) => of.marking(),)*
                }
            }

            /// Returns whether the response reacts to round trips, which requires acknowledgements
            /// for all packets.
            pub fn needs_round_trips(&self) -> bool {
                match self {
                    $(Self::$name(of) => of.needs_round_trips(),)*
                }
            }

            /// Returns whether the response changes windows, which requires acknowledgements for
            /// all packets.
            pub fn changes_window(&self) -> bool {
                match self {
                    $(Self::$name(of) => of.changes_window(),)*
                }
            }

            /// Returns the lowest rate as a fraction of the highest; `None` if the response does
            /// not change rates.
            pub fn lowest(&self) -> Option<f64> {
                match self {
                    $(Self::$name(of) => of.lowest(),)*
                }
            }

            /// Returns the divisor of the rate at a mark; `None` if the divisor is not constant.
            pub fn factor(&self) -> Option<f64> {
                match self {
                    $(Self::$name(of) => of.factor(),)*
                }
            }

            /// Returns the time constant of the slowest timer-driven rate change at the highest
            /// rate `highest`; `None` without timers.
            pub fn settling(&self, highest: RateLimit) -> Option<Span> {
                let limits = Limits { window_packets: u32::MAX, rate_limit: Some(highest), gap: Span::ZERO };
                match self {
                    $(Self::$name(of) => of.settling(&limits),)*
                }
            }

            /// Checks the parameters. An error contains the key of an invalid parameter and the
            /// reason.
            pub fn check(&self) -> Result<(), (&'static str, String)> {
                match self {
                    $(Self::$name(of) => of.check(),)*
                }
            }

            pub(crate) fn start(&self, limits: &Limits) -> Responder {
                match self {
                    $(Self::$name(of) => Responder::$name(of.start(limits)),)*
                }
            }
        }

        #[derive(Clone, Debug)]
        pub(crate) enum Responder {
            $($name(<$name as Respond>::Memory),)*
        }

        impl Responder {
            pub(crate) fn down(&mut self, limits: &mut Limits, now: Time) {
                match self {
                    $(Self::$name(of) => of.down(limits, now),)*
                }
            }

            pub(crate) fn up(&mut self, limits: &mut Limits, now: Time) {
                match self {
                    $(Self::$name(of) => of.up(limits, now),)*
                }
            }

            pub(crate) fn measured(&mut self, trip: RoundTrip, limits: &mut Limits, now: Time) {
                match self {
                    $(Self::$name(of) => of.measured(trip, limits, now),)*
                }
            }

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
    /// Constant window and rate limit.
    #[schemars(extend("x-source" = "textbook"))]
    fixed::Fixed,
    /// Linear inter-packet delay: a mark adds one packet time to the time between packets.
    #[schemars(extend("x-source" = "Santos, Turner, Janakiraman, INFOCOM 2003"))]
    lipd::Lipd,
    /// Fast increase, multiplicative decrease: a mark divides the rate, and recovery takes equally
    /// long at every rate.
    #[schemars(extend("x-source" = "US patent 7,920,476, claims 1 to 3"))]
    fimd::Fimd,
    /// Additive increase, multiplicative decrease: a mark divides the rate, which then grows
    /// linearly.
    #[schemars(extend("x-source" = "Chiu and Jain 1989; the increase is reconstructed from Santos, Turner, Janakiraman, INFOCOM 2003"))]
    aimd::Aimd,
    /// InfiniBand's congestion control annex: a mark (BECN) raises a flow's index into a table of
    /// delays, and a timer lowers the index again.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, annex A10"))]
    becn::Becn,
    /// DCQCN: a notification cuts the rate by the fraction `alpha / 2`; a timer and a byte counter
    /// raise the rate.
    #[schemars(extend("x-source" = "Zhu et al. 2015, sections 3 and 5"))]
    dcqcn::Dcqcn,
    /// TIMELY: the gradient of round-trip times raises or lowers the rate; needs no marks.
    #[schemars(extend("x-source" = "Mittal et al. 2015, algorithm 1"))]
    timely::Timely,
    /// Swift: the difference between the round-trip time and a target changes the window; needs no
    /// marks.
    #[schemars(extend("x-source" = "Kumar et al. 2020, algorithm 1"))]
    swift::Swift,
}

impl Default for Response {
    fn default() -> Self {
        Self::Fixed(Fixed {})
    }
}
