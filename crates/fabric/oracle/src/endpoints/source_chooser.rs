//! Path selection at the source (`timing.md`, "Paths and legs"; Flich et al. 2001, section III).

use gingham_kernel::{Purpose, Span, Stream};
use gingham_net::{ContentionPlan, Decision, OutputLoad, PathId, Plan, Switching};
use gingham_topology::EndpointId;

#[derive(Clone, Debug)]
pub(super) struct SourceChooser {
    decision: Decision,
    draws: Stream,
    /// Number of intermediate switches, and the random stream that selects one of them.
    vias: (usize, Stream),
    /// Time that each of the host's packets took to leave, and the transmission time of its flits.
    left: Vec<(Span, Span)>,
    endpoint: EndpointId,
    /// Last reported loads of the outputs at the first switch.
    loads: Vec<OutputLoad>,
}

impl SourceChooser {
    pub(super) fn new(plan: &Plan, endpoint: EndpointId) -> Self {
        let name = plan.fabric.endpoint_name(endpoint);
        let stream = |name: &str| Stream::new(plan.seed, name, Purpose::PathChoice);
        let vias = (plan.routing.vias.len(), stream(&format!("{name}, over switches")));
        let (left, loads) = (Vec::new(), Vec::new());
        let (decision, draws) = (plan.routing.decision, stream(&name));
        Self { decision, draws, vias, left, endpoint, loads }
    }

    pub(super) fn packet_left(&mut self, took: Span, flits: Span) {
        self.left.push((took, flits));
    }

    pub(super) fn loads_shown(&mut self, loads: &[OutputLoad]) {
        self.loads = loads.to_vec();
    }

    pub(super) fn choose(&mut self, plan: &Plan, to: EndpointId, message_bytes: u32) -> PathId {
        let is_alternative = match &self.decision {
            Decision::ByPair | Decision::AtSwitches(_) => false,
            Decision::ByLength { below_bytes } => message_bytes >= *below_bytes,
            Decision::AtRandom { alternative } => self.draws.unit() < *alternative,
            Decision::ByContention(plan) => uses_alternative(plan, &self.left),
            Decision::ByLoad { .. } => true,
        };
        let (vias, draws) = &mut self.vias;
        let path = match (is_alternative, *vias) {
            (false, _) => PathId::PRIMARY,
            (true, 0) => PathId::ALTERNATIVE,
            (true, vias) => {
                let via = draws.below(vias as u64);
                PathId::over(usize::try_from(via).expect("intermediate switches are few"))
            }
        };
        let Decision::ByLoad { threshold_bytes } = self.decision else { return path };
        let load = |path| self.load_times_hops(plan, path, to);
        match (load(PathId::PRIMARY), load(path)) {
            (Some(direct), Some(other)) if direct > other && direct - other > threshold_bytes => {
                path
            }
            _ => PathId::PRIMARY,
        }
    }

    /// Returns the load, in bytes, of the path's output at its first switch, times the number of
    /// channels between switches on the path.
    fn load_times_hops(&self, plan: &Plan, path: PathId, to: EndpointId) -> Option<u64> {
        let channels = plan.path(path, self.endpoint, to)?.split_off(1);
        let first = channels.first()?;
        let port = plan.first_outputs(self.endpoint).position(|output| output == *first)?;
        let load = self.loads[port];
        let credit_bytes = match &plan.switching {
            Switching::Packets(_) => 64,
            Switching::VirtualLanes(pipeline) => u64::from(pipeline.flit_bytes),
            Switching::Wormhole(_) => panic!("outputs of wormhole switches have no credits"),
        };
        let bytes = load.credits_out * credit_bytes + load.waiting_bytes;
        Some(bytes * (plan.length_of(&channels).switches - 1) as u64)
    }
}

/// Returns whether a host uses the alternative paths after sending the packets in `left`. Their use
/// starts when the contention coefficient rises above one limit, and ends when it falls below
/// another limit.
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
