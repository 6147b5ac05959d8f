//! The bound of a class, as results and notes report it.

use super::{BoundKind, ClassBound, TrafficBound};
use gingham_model::{ClassId, Plan};
use schemars::JsonSchema;
use serde::Serialize;

/// The bound of a class's traffic on its routes, worked out before the run.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct BoundSummary {
    /// Which channels the bound considers: all, those of hosts where packets choose their path by
    /// what they meet, or none where there are too many pairs of hosts.
    #[schemars(extend("x-unit" = ""))]
    pub bound_kind: BoundKind,
    /// Load at which the fullest channel of the class is full, if the loads of all classes change
    /// alike; of replies, the load of the class that they reply to. Saturation is at this load or
    /// below.
    #[schemars(extend("x-unit" = "1"))]
    pub bound_load: Option<f64>,
    /// What all classes put on that channel at the offered load, over its capacity; of a backlogged
    /// class, what the class would put on it at a load of 1.
    #[schemars(extend("x-unit" = "1"))]
    pub bound_share: Option<f64>,
    /// Name of that channel.
    #[schemars(extend("x-unit" = ""))]
    pub bound_channel: Option<String>,
    /// Flows of all classes that take that channel.
    #[schemars(extend("x-unit" = "flows"))]
    pub bound_flows: u64,
    /// The same share of the fullest channel into a destination.
    #[schemars(extend("x-unit" = "1"))]
    pub bound_host_share: Option<f64>,
    /// Name of that destination.
    #[schemars(extend("x-unit" = ""))]
    pub bound_host: Option<String>,
}

impl BoundSummary {
    pub(crate) fn of(plan: &Plan, bound: &ClassBound) -> Self {
        let fabric = &plan.fabric;
        Self {
            bound_kind: bound.kind,
            bound_load: bound.load,
            bound_share: bound.fullest.map(|it| it.share),
            bound_channel: bound.fullest.map(|it| fabric.channel_name(it.channel)),
            bound_flows: bound.flows,
            bound_host_share: bound.host.map(|(_, share)| share),
            bound_host: bound.host.map(|(host, _)| fabric.endpoint_name(host)),
        }
    }
}

/// Code of the note on a load above the bound.
const CODE: &str = "load-above-bound";

impl TrafficBound {
    /// A note for each class that offers more than a channel can carry.
    pub fn notes(&self, plan: &Plan) -> Vec<String> {
        let note = |id| {
            let bound = self.class(plan, id);
            let over = bound.over?;
            let class = &plan.classes[id.index()].name;
            let root = self.classes[id.index()].root.index();
            let offered = plan.offered_load(ClassId::new(root))?;
            let flows = self.flows(over.channel);
            let load = bound.load.unwrap_or(0.0);
            let channel = plan.fabric.channel_name(over.channel);
            let beyond = format!(
                "{channel} would carry {:.2} times its capacity ({flows} flows take it)",
                over.share
            );
            Some(if bound.over_alone.is_some() {
                format!(
                    "{CODE}: traffic.{root}.load = {offered} is above the bound of this traffic on these routes, \
                     {load:.3}: {beyond}; class `{class}` has no steady state"
                )
            } else {
                format!(
                    "{CODE}: traffic.{root}.load = {offered} together with other classes is above the bound of this \
                     traffic on these routes: {beyond}; not all of class `{class}` and the others can be delivered"
                )
            })
        };
        ClassId::first(plan.classes.len()).filter_map(note).collect()
    }
}
