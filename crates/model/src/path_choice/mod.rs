//! Path choice: which of the two paths to its destination a packet takes.
//!
//! ```text
//!   by length          message of less than `below` ── primary set      else ── alternative
//!   at random          a coin of its host ──────────── primary set │ `percent` %: alternative
//!   by contention      the coefficient of its host ─── low: primary set   high ── alternative
//!                            ▲
//!                            └── how long each local packet took to leave (`contention`)
//! ```
//!
//! Source: Flich, Malumbres, López and Duato 2001, section III: A (by length), B (at random; `percent` is its
//! MAXLO) and C (by contention).
//!
//! Invariants: the choice is made when the first flit of a packet goes, from what its host alone knows; by length
//! all packets of a message take the same path; both sets join the same pairs; coins are drawn from a stream of the host's own, one a packet.
//!
//! The types without `Plan` in their name are what a scenario writes.

mod contention;

pub use contention::{Contention, ContentionPlan};

use crate::Plan;
use crate::traffic::accept_bare_names;
use gingham_kernel::{Bytes, Purpose, Span, Stream, Time};
use gingham_topology::EndpointId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the path sets of a plan: a path for every pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum PathSet {
    /// The only one, or the first of two.
    #[default]
    Primary,
    /// The alternative.
    Alternative,
}

impl PathSet {
    /// Its place in [`Plan::path_sets`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Which of its two paths a packet takes, as a scenario names it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum Choose {
    /// Messages shorter than a limit take the primary path, all others the alternative one.
    #[schemars(extend("x-source" = "Flich et al. 2001, section III-A"))]
    #[schemars(extend("x-example" = r#"{ by-length = { below = "128 B" } }"#))]
    ByLength(ByLength),
    /// Each packet takes the alternative path with a given probability, independent of all others.
    #[schemars(extend("x-source" = "Flich et al. 2001, section III-B"))]
    #[schemars(extend("x-example" = "{ at-random = { percent = 25 } }"))]
    AtRandom(AtRandom),
    /// Packets of a host take the alternative path while its contention coefficient is high: an average of how many
    /// times longer its packets took to leave it than without contention.
    #[schemars(extend("x-source" = "Flich et al. 2001, section III-C"))]
    ByContention(ByContention),
}

/// Parameters of `by-length`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ByLength {
    /// Messages with less payload than this take the primary path.
    pub below: Bytes,
}

/// Parameters of `at-random`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AtRandom {
    /// Packets out of a hundred that take the alternative path, on average, from 0 to 100: the MAXLO of Flich et al.
    pub percent: f64,
}

/// Parameters of `by-contention`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ByContention {
    /// Weight of the past where a packet met more contention than the coefficient says, at least 0 and below 1.
    pub alpha: f64,
    /// Weight of the past where it met no more, at least 0 and below 1.
    pub beta: f64,
    /// A host whose coefficient exceeds this begins to use alternative paths; at least `below`.
    pub above: f64,
    /// A host whose coefficient falls below this goes back to primary paths; at least 1.
    pub below: f64,
}

impl Default for ByLength {
    fn default() -> Self {
        Self { below: Bytes(64) }
    }
}

impl Default for AtRandom {
    fn default() -> Self {
        Self { percent: 50.0 }
    }
}

impl Default for ByContention {
    fn default() -> Self {
        Self { alpha: 0.7, beta: 0.95, above: 1.5, below: 1.1 }
    }
}

/// Which path set a packet takes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum PathChoice {
    /// There is but one.
    #[default]
    Only,
    /// The alternative for messages of so much payload or more.
    ByLength {
        /// The least payload of a message that takes the alternative.
        below_bytes: u32,
    },
    /// The alternative with this probability.
    AtRandom {
        /// From 0 to 1.
        alternative: f64,
    },
    /// The alternative while the host's contention coefficient is high.
    ByContention(ContentionPlan),
}

/// The choice as one endpoint makes it.
#[derive(Clone, Debug, Default)]
pub struct PathChooser {
    state: State,
}

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Only,
    ByLength {
        below_bytes: u32,
    },
    AtRandom {
        alternative: f64,
        stream: Box<Stream>,
    },
    ByContention {
        plan: ContentionPlan,
        now: Contention,
    },
}

impl PathChooser {
    /// The chooser of an endpoint, before it has sent anything.
    pub fn new(plan: &Plan, endpoint: EndpointId) -> Self {
        let state = match plan.path_choice {
            PathChoice::Only => State::Only,
            PathChoice::ByLength { below_bytes } => State::ByLength { below_bytes },
            PathChoice::AtRandom { alternative } => {
                let name = plan.fabric.endpoint_name(endpoint);
                let stream = Stream::new(plan.seed, &name, Purpose::PathChoice);
                State::AtRandom { alternative, stream: Box::new(stream) }
            }
            PathChoice::ByContention(plan) => {
                State::ByContention { plan, now: Contention::default() }
            }
        };
        Self { state }
    }

    /// The path set of a packet that starts now, of a message with so much payload.
    pub fn choose(&mut self, message_bytes: u32) -> PathSet {
        let takes_alternative = match &mut self.state {
            State::Only => false,
            State::ByLength { below_bytes } => message_bytes >= *below_bytes,
            State::AtRandom { alternative, stream } => stream.unit() < *alternative,
            State::ByContention { now, .. } => return now.path_set,
        };
        if takes_alternative { PathSet::Alternative } else { PathSet::Primary }
    }

    /// A local packet of so many flits has left the host; what that made of the contention coefficient, if there is one.
    pub fn on_left(
        &mut self,
        started: Time,
        left: Time,
        flits: u64,
        flit: Span,
    ) -> Option<Contention> {
        let State::ByContention { plan, now } = &mut self.state else { return None };
        now.on_left(plan, left.since(started), flit * flits);
        Some(*now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chooser(state: State) -> PathChooser {
        PathChooser { state }
    }

    #[test]
    fn the_length_of_the_message_decides_from_the_limit_on() {
        let mut chooser = chooser(State::ByLength { below_bytes: 64 });
        let of = [1, 63, 64, 65].map(|bytes| chooser.choose(bytes));
        assert_eq!(
            of,
            [PathSet::Primary, PathSet::Primary, PathSet::Alternative, PathSet::Alternative]
        );
    }

    #[test]
    fn without_an_alternative_set_there_is_nothing_to_choose() {
        let mut only = PathChooser::default();
        assert_eq!([1, 4_096].map(|bytes| only.choose(bytes)), [PathSet::Primary; 2]);
        let left = only.on_left(Time::ZERO, Time::from_ps(100), 1, Span::from_ps(1));
        assert_eq!(left, None, "nobody asks how long a packet took");
    }

    fn alternatives(alternative: f64, name: &str, packets: u32) -> u32 {
        let stream = Box::new(Stream::new(1, name, Purpose::PathChoice));
        let mut chooser = chooser(State::AtRandom { alternative, stream });
        let drawn = (0..packets).filter(|_| chooser.choose(32) == PathSet::Alternative).count();
        u32::try_from(drawn).unwrap()
    }

    #[test]
    fn the_alternative_set_is_drawn_as_often_as_asked() {
        for (alternative, name) in [(0.5, "h0"), (0.5, "h1"), (0.1, "h0"), (0.99, "h7")] {
            let (packets, drawn) = (40_000, f64::from(alternatives(alternative, name, 40_000)));
            // Four standard deviations of the binomial distribution: one seed in 16,000 lies beyond.
            let (mean, deviation) = (
                alternative * f64::from(packets),
                (f64::from(packets) * alternative * (1.0 - alternative)).sqrt(),
            );
            assert!(
                (drawn - mean).abs() < 4.0 * deviation,
                "{drawn} of {packets} at {alternative}"
            );
        }
        assert_ne!(
            alternatives(0.5, "h0", 40_000),
            alternatives(0.5, "h1", 40_000),
            "coins of one host"
        );
    }

    #[test]
    fn none_and_all_are_exact() {
        assert_eq!([alternatives(0.0, "h0", 10_000), alternatives(1.0, "h0", 10_000)], [0, 10_000]);
    }
}
