//! Traffic: who sends when, how much, and where to.
//!
//! ```text
//!   class ── [start, stop) ── one Source an endpoint
//!                               ├ drawn: arrivals ── lengths ── destinations
//!                               │          a random stream a purpose
//!                               └ scheduled: (instant, destination, payload), as written
//! ```
//!
//! A [`Source`] is asked for the next arrival and the next message; it never knows the state
//! of the network. Streams are keyed by seed, class and the stable name of the host, so that one
//! more host changes nobody else's draws.
//!
//! The types without `Plan` in their name are what a scenario writes; their doc comments are
//! what users read as help.

mod arrivals;
mod destinations;
mod lengths;
mod on_off;
mod permutation;
mod source;
mod weighted;

pub use arrivals::{ArrivalPlan, Arrivals, Constant, OnOff, OnOffPareto};
pub use destinations::{DestinationPlan, Destinations, GridPlaces, HotSpot, OtherHosts};
pub use lengths::{Bimodal, LengthPlan, Lengths, Uniform};
pub use on_off::{PeriodLaw, PeriodPlan};
pub use permutation::{GridShift, Permutation, PlacesError, derangement};
pub use source::{Draft, DrawnPlan, MessagePlan, Scheduled, Source, SourcePlan};
pub use weighted::Weighted;

use schemars::Schema;

/// Adds the name alone for every variant whose parameters all have defaults: a bare name stands
/// for them.
pub(crate) fn accept_bare_names(schema: &mut Schema) {
    let Some(variants) = schema.get_mut("oneOf").and_then(|variants| variants.as_array_mut())
    else {
        return;
    };
    let bare: Vec<_> = variants
        .iter()
        .filter_map(|variant| {
            let name = variant.get("required")?.get(0)?.as_str()?;
            let parameters = &variant["properties"][name];
            let all_default =
                parameters.get("properties").is_some() && parameters.get("required").is_none();
            let help = variant.get("description").cloned().unwrap_or_default();
            let bare =
                schemars::json_schema!({ "type": "string", "const": name, "description": help });
            all_default.then(|| bare.to_value())
        })
        .collect();
    variants.extend(bare);
}
