//! Random early detection: the longer the queue of an output, the likelier a packet is marked.
//!
//! ```text
//!   probability   1 ┤          ┌────
//!             p_max ┤        ╱
//!                 0 ┼──────╱───┬────  bytes that wait behind it for its output
//!                       k_min  k_max
//! ```
//!
//! Source: what switches under DCQCN do, Zhu et al. 2015, section 3.1; Floyd and Jacobson 1993. The
//! queue is not averaged.

use super::waiting::Waiting;
use super::{Mark, Policy, Trigger};
use crate::{Plan, Stay};
use gingham_kernel::{Bytes, Purpose, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `red`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Red {
    /// No packet is marked with at most this much behind it. Default: 5 kB.
    pub k_min: Bytes,
    /// From this much on every packet is marked. Default: 200 kB.
    pub k_max: Bytes,
    /// The probability just below `k_max`, from 0 to 1. Default: .01.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p_max: f64,
}

impl Default for Red {
    /// Zhu et al. 2015, for 40 Gb/s, from memory of them.
    fn default() -> Self {
        Self { k_min: Bytes(5_000), k_max: Bytes(200_000), p_max: 0.01 }
    }
}

impl Red {
    /// The probability with which a packet is marked that leaves so much behind.
    #[expect(clippy::cast_precision_loss, reason = "bytes of a switch")]
    fn probability(&self, bytes: u64) -> f64 {
        let Self { k_min, k_max, p_max } = *self;
        if bytes <= k_min.0 {
            0.0
        } else if bytes >= k_max.0 {
            1.0
        } else {
            p_max * (bytes - k_min.0) as f64 / (k_max.0 - k_min.0) as f64
        }
    }
}

impl Policy for Red {
    type Memory = Queues;

    const LOOKS_AT_OUTPUTS: bool = true;

    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.k_min > self.k_max {
            let message = format!(
                "marking begins at {} (`k_min`), which is above {} (`k_max`)",
                self.k_min, self.k_max
            );
            return Err(("k_min", message));
        }
        if !(0.0..=1.0).contains(&self.p_max) {
            return Err(("p_max", format!("a probability is from 0 to 1, not {}", self.p_max)));
        }
        Ok(())
    }

    fn start(&self, plan: &Plan) -> Queues {
        let waiting = Waiting::new(plan);
        let streams = vec![None; plan.channels.len()];
        Queues { policy: *self, waiting, seed: plan.seed, streams }
    }
}

/// All outputs.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    policy: Red,
    waiting: Waiting,
    seed: u64,
    /// By channel, once it drew.
    streams: Vec<Option<Box<Stream>>>,
}

impl Mark for Queues {
    fn queued(&mut self, stay: &Stay, _now: Time) {
        self.waiting.add(stay);
    }

    fn forwarded(&mut self, stay: &Stay, _left: Time, _now: Time) -> Option<Trigger> {
        self.waiting.remove(stay);
        let longest = self.waiting.places(stay).map(|place| self.waiting.bytes(place)).max();
        let probability = self.policy.probability(longest.unwrap_or(0));
        if probability <= 0.0 {
            return None;
        }
        let (seed, channel) = (self.seed, stay.output.index());
        let new = || {
            let name = format!("channel {channel}");
            Box::new(Stream::new(seed, &name, Purpose::Mark))
        };
        let stream = self.streams[channel].get_or_insert_with(new);
        (stream.unit() < probability).then_some(Trigger::Output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_is_a_line_between_two_queues() {
        let red = Red { k_min: Bytes(100), k_max: Bytes(300), p_max: 0.5 };
        // A step: no line between them.
        let step = Red { k_min: Bytes(100), k_max: Bytes(100), p_max: 0.5 };
        let line = [(0, 0.0), (100, 0.0), (200, 0.25), (299, 0.4975), (300, 1.0)];
        let cases =
            line.map(|of| (&red, of)).into_iter().chain([(&step, (100, 0.0)), (&step, (101, 1.0))]);
        for (policy, (bytes, expected)) in cases {
            let probability = policy.probability(bytes);
            assert!((probability - expected).abs() < 1e-12, "{bytes}: {probability}");
        }
    }
}
