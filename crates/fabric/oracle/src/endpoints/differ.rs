//! Comparison of a decision of the shared machines with the one expected by the audit.

use gingham_kernel::Time;
use gingham_net::Packet;
use std::fmt::{Debug, Display};

/// Panics if a decision differs from the expected one.
#[track_caller]
pub(super) fn check<T: PartialEq + Debug>(
    now: Time,
    place: impl Display,
    what: &str,
    expected: &T,
    found: &T,
) {
    assert!(
        expected == found,
        "audit: at {} ps, {place}, {what}:\nexpected {expected:?}\nfound    {found:?}",
        now.as_ps()
    );
}

/// Panics if a packet differs from the expected one after a notice.
#[track_caller]
pub(super) fn check_packet(now: Time, what: &str, expected: Option<Packet>, found: &Packet) {
    if let Some(expected) = expected {
        let place = format_args!("endpoint {}", found.source.index());
        check(now, place, &format!("packet {what}"), &expected, found);
    }
}
