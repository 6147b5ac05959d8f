//! Where messages go.

use gingham_kernel::Stream;
use gingham_topology::EndpointId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The destination pattern of a class, as a scenario names it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Destinations {
    /// Every other host that can be reached, with equal probability.
    Uniform,
    /// Always this host, by name.
    Host(String),
}

/// The destinations of one source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DestinationPlan {
    /// Uniform among these endpoints, in ascending order, but never oneself.
    Uniform(Arc<[EndpointId]>),
    /// Always the same endpoint.
    Fixed(EndpointId),
}

impl DestinationPlan {
    /// Whether there is anywhere to send to from `source`.
    pub fn has_any(&self, source: EndpointId) -> bool {
        match self {
            Self::Uniform(among) => among.iter().any(|endpoint| *endpoint != source),
            Self::Fixed(destination) => *destination != source,
        }
    }

    /// A destination for a message from `source`. Panics if there is none.
    pub(super) fn draw(&self, source: EndpointId, stream: &mut Stream) -> EndpointId {
        match self {
            Self::Fixed(destination) => *destination,
            Self::Uniform(among) => {
                let own = among.binary_search(&source);
                let others = among.len() - usize::from(own.is_ok());
                let drawn = usize::try_from(stream.below(others as u64)).expect("below a length");
                among[drawn + usize::from(own.is_ok_and(|own| drawn >= own))]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Purpose;

    #[test]
    fn uniform_reaches_every_other_endpoint_equally_and_never_itself() {
        let among: Arc<[EndpointId]> = EndpointId::first(5).collect();
        let plan = DestinationPlan::Uniform(among);
        let source = EndpointId::new(2);
        let mut stream = Stream::new(1, "uniform", Purpose::Destination);
        let mut count = [0_u32; 5];
        for _ in 0..40_000 {
            count[plan.draw(source, &mut stream).index()] += 1;
        }
        assert_eq!(count[2], 0);
        // 10,000 expected, standard deviation 87.
        for other in [0, 1, 3, 4] {
            assert!(count[other].abs_diff(10_000) < 450, "{count:?}");
        }
    }
}
