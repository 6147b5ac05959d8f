//! Path of a packet (timing.md, paths and legs; Flich et al. 2001, section III).

use gingham_kernel::{Purpose, Span, Stream};
use gingham_net::{ContentionPlan, Decision, PathId, Plan};
use gingham_topology::EndpointId;

#[derive(Clone, Debug)]
pub(super) struct SourceChooser {
    decision: Decision,
    draws: Stream,
    /// Number of intermediate switches, and the random stream that selects one.
    vias: (usize, Stream),
    /// For each packet of this host that has left: the time that it took, and the time of its flits
    /// alone.
    left: Vec<(Span, Span)>,
}

impl SourceChooser {
    pub(super) fn new(plan: &Plan, endpoint: EndpointId) -> Self {
        let name = plan.fabric.endpoint_name(endpoint);
        let stream = |name: &str| Stream::new(plan.seed, name, Purpose::PathChoice);
        let vias = (plan.routing.vias.len(), stream(&format!("{name}, over switches")));
        Self { decision: plan.routing.decision, draws: stream(&name), vias, left: Vec::new() }
    }

    pub(super) fn packet_left(&mut self, took: Span, flits: Span) {
        self.left.push((took, flits));
    }

    /// Path of a packet that starts; its message has `message_bytes` bytes.
    pub(super) fn choose(&mut self, message_bytes: u32) -> PathId {
        let is_alternative = match &self.decision {
            Decision::ByPair | Decision::AtSwitches(_) => false,
            Decision::ByLength { below_bytes } => message_bytes >= *below_bytes,
            Decision::AtRandom { alternative } => self.draws.unit() < *alternative,
            Decision::ByContention(plan) => uses_alternative(plan, &self.left),
        };
        let (vias, draws) = &mut self.vias;
        match (is_alternative, *vias) {
            (false, _) => PathId::PRIMARY,
            (true, 0) => PathId::ALTERNATIVE,
            (true, vias) => {
                let via = draws.below(vias as u64);
                PathId::over(usize::try_from(via).expect("intermediate switches are few"))
            }
        }
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
