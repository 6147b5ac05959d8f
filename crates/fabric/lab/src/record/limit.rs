//! Detection of the scenario key that limits a saturated class.
//!
//! ```text
//!   accepted payload = policing rate                        policing rate
//!   accepted payload = rate limit of the flows              rate limit
//!   neither, but windows were full half of the time         perhaps the window, or a slow network
//! ```
//!
//! Waiting alone does not prove a limit: without a rate limit, a waiting flow might wait for its
//! link instead.

use super::view::RunView;
use gingham_kernel::Span;
use gingham_net::measure::ClassReport;
use gingham_net::{ClassId, ClassPlan, Excess, Hold, Plan, REFILL_BYTES};
use gingham_results::real;
use gingham_topology::EndpointId;

/// Range of the tolerance for accepted payload that counts as having reached a limit. The tolerance
/// is the relative half-width of the accepted payload, clamped to this range.
const NEAR: [f64; 2] = [0.005, 0.02];
/// Share of time with full windows above which the window may be the limit.
const MUCH: f64 = 0.5;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Limit {
    Policing,
    FlowRate,
    /// Possible limit: with a window of `packets`, flows waited for acknowledgements during the
    /// fraction `held` of the time.
    Window {
        packets: u32,
        held: f64,
    },
}

impl Limit {
    /// Determines the limiting key; `None` if the network or the offered load is the limit.
    pub(super) fn of(view: &RunView<'_>, id: ClassId, of: &ClassReport) -> Option<Self> {
        let class = &view.plan().classes[id.index()];
        let accepted = of.accepted_bytes_per_ps?;
        let near = accepted.relative_width().unwrap_or(NEAR[1]).clamp(NEAR[0], NEAR[1]);
        let is_reached = |share: f64| share >= 1.0 - near;
        if share_of_rate(view.plan(), class, accepted.mean).is_some_and(is_reached) {
            return Some(Self::Policing);
        }
        if share_of_rate_limit(view, id).is_some_and(is_reached) {
            return Some(Self::FlowRate);
        }
        let held = view.report.class_flows(id)?.held.of(Hold::Window);
        let packets = class.window.as_ref()?.packets;
        (held >= MUCH).then_some(Self::Window { packets, held })
    }
}

/// Returns accepted payload as a fraction of the policed rate; `None` if policing delays no
/// packets.
fn share_of_rate(plan: &Plan, class: &ClassPlan, accepted_bytes_per_ps: f64) -> Option<f64> {
    let policing = class.policing.as_ref().filter(|policing| policing.excess == Excess::Delay)?;
    let sources = class.sources.iter().zip(&policing.refill);
    let slower = sources.filter(|(source, refill)| is_slower(plan, source.endpoint, **refill));
    let rates: Vec<f64> = slower.map(|(_, refill)| 1.0 / refill_byte_ps(*refill)).collect();
    (!rates.is_empty()).then(|| accepted_bytes_per_ps / rates.iter().sum::<f64>())
}

fn share_of_rate_limit(view: &RunView<'_>, id: ClassId) -> Option<f64> {
    let rate_limit = view.plan().classes[id.index()].rate_limit.as_ref()?;
    let refill = |source: EndpointId| rate_limit.refill[source.index()];
    let flows = view.report.flows().into_iter().filter(|flow| flow.key.class == id);
    let slower =
        flows.filter(|flow| is_slower(view.plan(), flow.key.source, refill(flow.key.source)));
    let shares = slower
        .map(|flow| flow.accepted_bytes_per_ps.mean * refill_byte_ps(refill(flow.key.source)));
    let shares: Vec<f64> = shares.collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / real(shares.len() as u128))
}

fn is_slower(plan: &Plan, endpoint: EndpointId, refill: Span) -> bool {
    let byte_ps = plan.byte_ps(plan.fabric.endpoint_channel(endpoint));
    real(refill.as_ps().into()) > byte_ps * real(REFILL_BYTES.into()) + 1.0
}

fn refill_byte_ps(refill: Span) -> f64 {
    real(refill.as_ps().into()) / real(REFILL_BYTES.into())
}
