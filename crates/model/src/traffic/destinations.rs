//! Where messages go.

use gingham_kernel::Stream;
use gingham_topology::EndpointId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The destination pattern of a class, as a scenario names it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Destinations {
    /// Every other host that can be reached, with equal probability; of a host with several ports, each.
    Uniform,
    /// Always this host, by name; one port of a host with several as `name[port]`.
    Host(String),
}

/// The destinations of one source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DestinationPlan {
    /// Uniform among endpoints, but for those of the source's own host.
    Uniform {
        /// The endpoints, in ascending order.
        among: Arc<[EndpointId]>,
        /// The places of the source's own host among them; empty if it is not there.
        own: Range<usize>,
    },
    /// Always the same endpoint.
    Fixed(EndpointId),
}

impl DestinationPlan {
    /// Whether there is anywhere to send to from `source`.
    pub fn has_any(&self, source: EndpointId) -> bool {
        match self {
            Self::Uniform { among, own } => among.len() > own.len(),
            Self::Fixed(destination) => *destination != source,
        }
    }

    /// A destination. Panics if there is none.
    pub(super) fn draw(&self, stream: &mut Stream) -> EndpointId {
        match self {
            Self::Fixed(destination) => *destination,
            Self::Uniform { among, own } => {
                let others = among.len() - own.len();
                let drawn = usize::try_from(stream.below(others as u64)).expect("below a length");
                among[if drawn < own.start { drawn } else { drawn + own.len() }]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Purpose;

    #[test]
    fn uniform_reaches_every_other_endpoint_equally_and_never_its_own_host() {
        let among: Arc<[EndpointId]> = EndpointId::first(5).collect();
        let plan = DestinationPlan::Uniform { among, own: 1..3 };
        let mut stream = Stream::new(1, "uniform", Purpose::Destination);
        let mut count = [0_u32; 5];
        for _ in 0..40_000 {
            count[plan.draw(&mut stream).index()] += 1;
        }
        assert_eq!((count[1], count[2]), (0, 0));
        // 13,333 expected, standard deviation 94.
        for other in [0, 3, 4] {
            assert!(count[other].abs_diff(13_333) < 470, "{count:?}");
        }
    }
}
