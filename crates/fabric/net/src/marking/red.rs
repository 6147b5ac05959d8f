//! Random early detection: the marking probability of a packet grows with the queue of its output.
//!
//! ```text
//!   probability   1 ┤          ┌────
//!             p_max ┤        ╱
//!                 0 ┼──────╱───┬────  bytes that wait behind the packet for its output
//!                       k_min  k_max
//! ```
//!
//! Source: marking at switches under DCQCN, Zhu et al. 2015, section 3.1; Floyd and Jacobson 1993.
//! The queue is not averaged.

use super::waiting::Waiting;
use super::{Mark, Policy, Trigger};
use crate::{Plan, Stay};
use gingham_kernel::{ByteTime, Bytes, Purpose, Span, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `red`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Red {
    /// Queue length up to which no packet is marked (SONiC: `green_min_threshold`). Default: the
    /// bytes that the output's link sends in 1 us, 5 kB at 40 Gbit/s, and at most `k_max`.
    pub k_min: Option<Bytes>,
    /// Queue length from which every packet is marked (SONiC: `green_max_threshold`). Default: the
    /// bytes that the output's link sends in 40 us, 200 kB at 40 Gbit/s, and at least `k_min`.
    pub k_max: Option<Bytes>,
    /// Marking probability just below `k_max` (SONiC: `green_drop_probability`), from 0 to 1.
    /// Default: 0.01.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p_max: f64,
}

impl Default for Red {
    /// Returns the values of Zhu et al. 2015 for 40 Gb/s, quoted from memory. Thresholds scale with
    /// the port rate, as in the simulator of Li et al. 2019 (HPCC, `simulation/run.py`).
    fn default() -> Self {
        Self { k_min: None, k_max: None, p_max: 0.01 }
    }
}

const K_MIN_TIME: Span = Span::from_ps(1_000_000);
const K_MAX_TIME: Span = Span::from_ps(40_000_000);

/// Marking thresholds of one output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RedThresholds {
    /// Queue length up to which no packet is marked.
    pub k_min: Bytes,
    /// Queue length from which every packet is marked.
    pub k_max: Bytes,
}

impl Red {
    /// Returns the marking thresholds of an output whose link takes `link` per byte.
    pub fn thresholds(&self, link: ByteTime) -> RedThresholds {
        let default = |time| bytes_in(link, time);
        let k_max =
            self.k_max.unwrap_or_else(|| default(K_MAX_TIME).max(self.k_min.unwrap_or(Bytes(0))));
        let k_min = self.k_min.unwrap_or_else(|| default(K_MIN_TIME).min(k_max));
        RedThresholds { k_min, k_max }
    }

    #[expect(clippy::cast_precision_loss, reason = "bytes of a switch")]
    fn probability(&self, bytes: u64, thresholds: RedThresholds) -> f64 {
        let (p_max, RedThresholds { k_min, k_max }) = (self.p_max, thresholds);
        if bytes <= k_min.0 {
            0.0
        } else if bytes >= k_max.0 {
            1.0
        } else {
            p_max * (bytes - k_min.0) as f64 / (k_max.0 - k_min.0) as f64
        }
    }
}

fn bytes_in(link: ByteTime, time: Span) -> Bytes {
    const MANY_BYTES: u64 = 1 << 16;
    let many_ps = u128::from(link.of(MANY_BYTES).as_ps().max(1));
    let bytes = (u128::from(time.as_ps()) * u128::from(MANY_BYTES) + many_ps / 2) / many_ps;
    Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
}

impl Policy for Red {
    type Memory = Queues;

    fn check(&self) -> Result<(), (&'static str, String)> {
        if let (Some(k_min), Some(k_max)) = (self.k_min, self.k_max)
            && k_min > k_max
        {
            let message =
                format!("marking begins at {k_min} (`k_min`), which is above {k_max} (`k_max`)");
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
        let thresholds =
            plan.channels.iter().map(|channel| self.thresholds(channel.bytes)).collect();
        Queues { policy: *self, thresholds, waiting, seed: plan.seed, streams }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Queues {
    policy: Red,
    thresholds: Vec<RedThresholds>,
    waiting: Waiting,
    seed: u64,
    streams: Vec<Option<Box<Stream>>>,
}

impl Mark for Queues {
    fn queued(&mut self, stay: &Stay, _now: Time) {
        self.waiting.add(stay);
    }

    fn forwarded(&mut self, stay: &Stay, _left: Time, _now: Time) -> Option<Trigger> {
        self.waiting.remove(stay);
        let longest = self.waiting.places(stay).map(|place| self.waiting.bytes(place)).max();
        let probability =
            self.policy.probability(longest.unwrap_or(0), self.thresholds[stay.output.index()]);
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
    use gingham_kernel::Rate;

    #[test]
    fn marking_probability_is_linear_between_thresholds() {
        let between =
            |least, most| Red { k_min: Some(Bytes(least)), k_max: Some(Bytes(most)), p_max: 0.5 };
        let step = between(100, 100);
        let red = between(100, 300);
        let points = [(0, 0.0), (100, 0.0), (200, 0.25), (299, 0.4975), (300, 1.0)];
        let cases = points
            .map(|of| (&red, of))
            .into_iter()
            .chain([(&step, (100, 0.0)), (&step, (101, 1.0))]);
        let link = Rate::from_bytes_per_second(1).byte_time();
        for (policy, (bytes, expected)) in cases {
            let probability = policy.probability(bytes, policy.thresholds(link));
            assert!((probability - expected).abs() < 1e-12, "{bytes}: {probability}");
        }
    }

    #[test]
    fn red_thresholds_scale_with_the_link_rate() {
        let of = |gigabits: u64, red: Red| {
            let link = Rate::from_bytes_per_second(gigabits * 125_000_000).byte_time();
            let RedThresholds { k_min, k_max } = red.thresholds(link);
            [k_min.0, k_max.0]
        };
        let default = Red::default();
        assert_eq!(of(40, default), [5_000, 200_000]);
        assert_eq!(of(25, default), [3_125, 125_000]);
        assert_eq!(of(100, default), [12_500, 500_000]);
        assert_eq!(of(400, default), [50_000, 2_000_000]);
        assert_eq!(of(800, default), [100_000, 4_000_000]);
        // A configured threshold applies at every rate, and bounds the default of the other
        // threshold.
        let high = Red { k_min: Some(Bytes(300_000)), ..default };
        assert_eq!([of(40, high), of(400, high)], [[300_000, 300_000], [300_000, 2_000_000]]);
        let low = Red { k_max: Some(Bytes(4_000)), ..default };
        assert_eq!(of(40, low), [4_000, 4_000]);
    }
}
