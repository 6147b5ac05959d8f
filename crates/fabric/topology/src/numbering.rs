//! GUIDs and names of nodes identified by a number.
//!
//! ```text
//!   switch n   0x0000_5000_0000_0000 + n   named s{n}
//!   host n     0x0000_4000_0000_0000 + n   named h{n}
//! ```
//!
//! These GUIDs preserve the canonical order, random streams and names of a generated fabric that is
//! written as anynet and read again. No commercial adapter has a company id (upper 24 bits of the
//! EUI-64) in these ranges.

use crate::Guid;

/// GUID of switch 0.
pub const SWITCH_GUID_FIRST: Guid = Guid(0x0000_5000_0000_0000);

/// GUID of host 0.
pub const HOST_GUID_FIRST: Guid = Guid(0x0000_4000_0000_0000);

const COUNT: u64 = SWITCH_GUID_FIRST.0 - HOST_GUID_FIRST.0;

/// Highest switch or host number.
pub const NUMBER_MAX: u64 = COUNT - 1;

/// Returns the GUID of switch `n`. Panics if `n` is at least 2^44.
pub fn switch_guid(n: u64) -> Guid {
    assert!(n < COUNT, "a switch number fits its range");
    Guid(SWITCH_GUID_FIRST.0 + n)
}

/// Returns the GUID of host `n`. Panics if `n` is at least 2^44.
pub fn host_guid(n: u64) -> Guid {
    assert!(n < COUNT, "a host number fits its range");
    Guid(HOST_GUID_FIRST.0 + n)
}

/// Returns the number of a switch; `None` for GUIDs outside the range.
pub fn switch_number(guid: Guid) -> Option<u64> {
    guid.0.checked_sub(SWITCH_GUID_FIRST.0).filter(|n| *n < COUNT)
}

/// Returns the number of a host; `None` for GUIDs outside the range.
pub fn host_number(guid: Guid) -> Option<u64> {
    guid.0.checked_sub(HOST_GUID_FIRST.0).filter(|n| *n < COUNT)
}

/// Returns the name of switch `n`.
pub fn switch_name(n: u64) -> String {
    format!("s{n}")
}

/// Returns the name of host `n`.
pub fn host_name(n: u64) -> String {
    format!("h{n}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guid_numbering_round_trips_in_disjoint_ranges() {
        assert_eq!(switch_guid(7).to_string(), "0000500000000007");
        assert_eq!(host_guid(7).to_string(), "0000400000000007");
        for n in [0, 7, COUNT - 1] {
            assert_eq!(switch_number(switch_guid(n)), Some(n));
            assert_eq!(host_number(host_guid(n)), Some(n));
            assert_eq!(switch_number(host_guid(n)), None);
            assert_eq!(host_number(switch_guid(n)), None);
        }
    }
}
