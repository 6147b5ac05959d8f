//! `red`: random early detection, by the number of bytes that wait behind a packet (Zhu et al.
//! 2015, section 3.1).

use super::stays::Stays;
use gingham_kernel::{Purpose, Stream};
use gingham_net::{Plan, Red as Policy, RedThresholds, Stay};
use gingham_topology::ChannelId;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(in crate::endpoints) struct Red {
    plan: Arc<Plan>,
    policy: Policy,
    pub(super) stays: Stays,
    streams: BTreeMap<ChannelId, Stream>,
}

impl Red {
    pub(super) fn new(plan: &Arc<Plan>, policy: Policy) -> Self {
        let (stays, streams) = (Stays::default(), BTreeMap::new());
        Self { plan: Arc::clone(plan), policy, stays, streams }
    }

    /// Returns whether to mark a packet. Draws a random number unless the probability of a mark is
    /// 0.
    pub(super) fn forwarded(&mut self, stay: &Stay) -> bool {
        self.stays.started(stay);
        let on_lanes = stay.lanes.lanes().map(|lane| self.stays.bytes(stay.output, lane));
        let probability = self.probability(stay.output, on_lanes.max().unwrap_or(0));
        if probability <= 0.0 {
            return false;
        }
        let stream = self.streams.entry(stay.output).or_insert_with(|| {
            let name = format!("channel {}", stay.output.index());
            Stream::new(self.plan.seed, &name, Purpose::Mark)
        });
        stream.unit() < probability
    }

    /// Returns the marking probability: 0 up to `k_min` bytes, 1 from `k_max` bytes on, and `p_max
    /// (bytes - k_min) / (k_max - k_min)` in between.
    #[expect(clippy::cast_precision_loss, reason = "bytes of a switch")]
    fn probability(&self, output: ChannelId, bytes: u64) -> f64 {
        let link = self.plan.channel(output).bytes;
        let RedThresholds { k_min, k_max } = self.policy.thresholds(link);
        match bytes {
            _ if bytes <= k_min.0 => 0.0,
            _ if bytes >= k_max.0 => 1.0,
            _ => self.policy.p_max * (bytes - k_min.0) as f64 / (k_max.0 - k_min.0) as f64,
        }
    }
}
