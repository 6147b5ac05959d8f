//! Path of a packet (timing.md, paths and legs; Flich et al. 2001, section III).

use gingham_kernel::{Purpose, Span, Stream};
use gingham_net::{ContentionPlan, Decision, PathId, Plan};
use gingham_topology::EndpointId;

/// Path selection of one endpoint.
#[derive(Clone, Debug)]
pub(super) struct PathChooser {
    decision: Decision,
    draws: Stream,
    /// For each own packet that has left: the time that it took, and that of its flits.
    left: Vec<(Span, Span)>,
}

impl PathChooser {
    pub(super) fn new(plan: &Plan, endpoint: EndpointId) -> Self {
        let name = plan.fabric.endpoint_name(endpoint);
        let draws = Stream::new(plan.seed, &name, Purpose::PathChoice);
        Self { decision: plan.routing.decision, draws, left: Vec::new() }
    }

    pub(super) fn packet_left(&mut self, took: Span, flits: Span) {
        self.left.push((took, flits));
    }

    /// Returns the path of a packet that starts, of a message of `message_bytes`.
    pub(super) fn choose(&mut self, message_bytes: u32) -> PathId {
        let is_alternative = match &self.decision {
            Decision::ByPair | Decision::AtSwitches(_) => false,
            Decision::ByLength { below_bytes } => message_bytes >= *below_bytes,
            Decision::AtRandom { alternative } => self.draws.unit() < *alternative,
            Decision::ByContention(plan) => uses_alternative(plan, &self.left),
        };
        if is_alternative { PathId::ALTERNATIVE } else { PathId::PRIMARY }
    }
}

/// Whether a host uses the alternative paths after these packets: it begins when the contention
/// coefficient has risen above one limit, and ends when it has fallen below the other.
#[expect(clippy::cast_precision_loss, reason = "a packet leaves in far less than 2^53 ps")]
fn uses_alternative(plan: &ContentionPlan, left: &[(Span, Span)]) -> bool {
    let mut c = plan.start;
    let mut is_alternative = c > plan.above;
    for (took, flits) in left {
        let c_p = took.as_ps() as f64 / flits.as_ps() as f64;
        let weight = if c_p > c { plan.alpha } else { plan.beta };
        c = weight * c + (1.0 - weight) * c_p;
        is_alternative = c > plan.above || is_alternative && c >= plan.below;
    }
    is_alternative
}
