//! In-transit hosts: adapters that re-inject packets of other hosts.

mod checks;
pub(crate) mod columns;
pub(crate) mod keys;
mod room;

pub(crate) use checks::{check_paths, of_keys, of_plan};

use crate::scenario::Parameters;
use gingham_net::WhenPoolFull;
use gingham_topology::routing::Ejection;

/// Returns the ejection rule for the deadlock proof: hosts that spill accept every packet.
pub(crate) fn ejection(parameters: &Parameters) -> Ejection {
    match parameters.in_transit.when_full {
        WhenPoolFull::Spill => Ejection::Always,
        WhenPoolFull::Stop => Ejection::UntilFull,
    }
}
