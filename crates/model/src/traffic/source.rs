//! One class at one endpoint.

use super::arrivals::exponential_interval;
use super::{ArrivalPlan, DestinationPlan};
use crate::{ClassId, Plan};
use gingham_kernel::{Purpose, Span, Stream};
use gingham_topology::EndpointId;

/// An endpoint that sends in a class, and where to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourcePlan {
    /// Where messages begin.
    pub endpoint: EndpointId,
    /// Where they may end.
    pub destinations: DestinationPlan,
}

/// A message about to be created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Draft {
    /// Where it goes.
    pub destination: EndpointId,
    /// Payload in bytes.
    pub payload_bytes: u32,
}

/// The random streams of one class at one endpoint.
#[derive(Clone, Debug)]
pub struct Source {
    class: ClassId,
    plan: SourcePlan,
    interval_mean_ps: Option<f64>,
    arrival: Stream,
    length: Stream,
    destination: Stream,
}

impl Source {
    /// The `index`-th source of a class.
    pub fn new(plan: &Plan, class: ClassId, index: usize) -> Self {
        let class_plan = &plan.classes[class.index()];
        let source = class_plan.sources[index].clone();
        let port = plan.fabric.endpoint(source.endpoint);
        let host = plan.fabric.node(port.node).stable_name();
        let name = format!("{host}[{}]/{}", port.port, class_plan.name);
        let flit = plan.channel(plan.fabric.endpoint_channel(source.endpoint)).flit;
        let payload_mean = class_plan.lengths.mean_bytes();
        let stream = |purpose| Stream::new(plan.seed, &name, purpose);
        Self {
            class,
            interval_mean_ps: class_plan.arrivals.interval_mean_ps(payload_mean, flit),
            plan: source,
            arrival: stream(Purpose::Arrival),
            length: stream(Purpose::Length),
            destination: stream(Purpose::Destination),
        }
    }

    /// All sources of a plan, by class and then in the order of the class.
    pub fn all(plan: &Plan) -> Vec<Self> {
        let of_class = |class: ClassId| {
            let count = plan.classes[class.index()].sources.len();
            (0..count).map(move |index| Self::new(plan, class, index))
        };
        ClassId::first(plan.classes.len()).flat_map(of_class).collect()
    }

    /// The class.
    pub fn class(&self) -> ClassId {
        self.class
    }

    /// The endpoint at which messages begin.
    pub fn endpoint(&self) -> EndpointId {
        self.plan.endpoint
    }

    /// The interval to the next message, or `None` for a backlogged class.
    pub fn next_interval(&mut self) -> Option<Span> {
        Some(exponential_interval(&mut self.arrival, self.interval_mean_ps?))
    }

    /// The next message.
    pub fn draw(&mut self, plan: &Plan) -> Draft {
        let lengths = plan.classes[self.class.index()].lengths;
        Draft {
            destination: self.plan.destinations.draw(&mut self.destination),
            payload_bytes: lengths.draw(&mut self.length),
        }
    }

    /// Whether the class is always backlogged.
    pub fn is_backlogged(&self, plan: &Plan) -> bool {
        matches!(plan.classes[self.class.index()].arrivals, ArrivalPlan::Backlogged)
    }
}
