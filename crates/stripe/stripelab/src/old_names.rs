//! Names used by earlier versions.

use gingham_input::OldName;

/// Renamed values, columns and examples. An old name is rejected with a reference to its present
/// name.
pub const OLD_NAMES: [OldName; 8] = [
    OldName::value("stripe.control.by.told", "stripe.control.by.fixed"),
    OldName::value("stripe.quanta.told", "stripe.quanta.fixed"),
    OldName::column("pace_bytes_per_s", "pacing_rate_bytes_per_s"),
    OldName::column("found_bits_per_s", "estimated_bits_per_s"),
    OldName::column("round_trip_least_ns", "round_trip_min_ns"),
    OldName::column("marks_heeded", "ecn_reductions"),
    OldName::column("packets_twice", "packets_duplicated"),
    OldName { what: "example", old: "stripe-untold", new: "stripe-rate-changes" },
];
