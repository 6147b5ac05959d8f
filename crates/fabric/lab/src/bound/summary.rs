//! Load bound of a class, for results and notes.

use super::{BoundKind, ClassBound, TrafficBound};
use gingham_net::{ClassId, Plan};
use schemars::JsonSchema;
use serde::Serialize;

/// Load bound of a class's traffic on the routes of the run, computed before the run.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct BoundSummary {
    /// Channels that the bound considers: all channels, only host channels if packets choose their
    /// paths adaptively, or none if there are too many host pairs.
    #[schemars(extend("x-unit" = ""))]
    pub bound_kind: BoundKind,
    /// Load of the class at which its first channel is full, if the loads of all classes scale
    /// together. For replies, the load of the class that starts the chain of replies. The class
    /// saturates at or below this load.
    #[schemars(extend("x-unit" = "1"))]
    pub bound_load: Option<f64>,
    /// Expected load of the fullest channel at the offered load of all classes, as a fraction of
    /// the channel's capacity. A backlogged class is considered alone, at a load of 1.
    #[schemars(extend("x-unit" = "1"))]
    pub bound_share: Option<f64>,
    /// Name of the fullest channel of the class.
    #[schemars(extend("x-unit" = ""))]
    pub bound_channel: Option<String>,
    /// Number of flows of all classes that use the fullest channel.
    #[schemars(extend("x-unit" = "flows"))]
    pub bound_flows: u64,
    /// Expected load of the fullest ejection channel of the class, as a fraction of its capacity.
    #[schemars(extend("x-unit" = "1"))]
    pub bound_host_share: Option<f64>,
    /// Name of the destination with the fullest ejection channel.
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

const CODE: &str = "load-above-bound";

impl TrafficBound {
    /// Returns notes on classes with a channel whose offered traffic exceeds its capacity.
    pub fn notes(&self, plan: &Plan) -> Vec<String> {
        let note = |id| {
            let bound = self.class(plan, id);
            let over = bound.over?;
            let class = &plan.classes[id.index()].name;
            let root = self.classes[id.index()].root.index();
            let offered = plan.offered_load(ClassId::new(root))?;
            let flows = self.flows(over.channel);
            let load = bound.load?;
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
