//! Conversion of bytes and rates to loads.
//!
//! A load is a fraction of the link capacity of a class's senders: if sender `i` needs `f_i`
//! picoseconds per byte, the class carries at most `sum 1 / f_i` bytes per picosecond.

use gingham_kernel::Span;
use gingham_net::{ClassId, Plan};
use gingham_topology::EndpointId;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Capacity {
    bytes_per_ps: f64,
}

impl Capacity {
    pub(super) fn of(plan: &Plan, class: ClassId) -> Self {
        let byte_ps = |endpoint| plan.byte_ps(plan.fabric.endpoint_channel(endpoint));
        let senders = plan.classes[class.index()].senders();
        let bytes_per_ps = senders.map(|endpoint| 1.0 / byte_ps(endpoint)).sum();
        Self { bytes_per_ps }
    }

    pub(super) fn of_endpoint(plan: &Plan, endpoint: EndpointId) -> Self {
        Self { bytes_per_ps: 1.0 / plan.byte_ps(plan.fabric.endpoint_channel(endpoint)) }
    }

    pub(super) fn load(self, bytes: u64, span: Span) -> f64 {
        self.load_of(bytes_per_ps(bytes, span))
    }

    pub(super) fn load_of(self, bytes_per_ps: f64) -> f64 {
        bytes_per_ps / self.bytes_per_ps
    }
}

#[expect(clippy::cast_precision_loss, reason = "loads need few digits")]
pub(super) fn bytes_per_ps(bytes: u64, span: Span) -> f64 {
    if span == Span::ZERO { 0.0 } else { bytes as f64 / span.as_ps() as f64 }
}
