//! Comparison of the shared state machines' decisions with the audit's expectations.

use gingham_kernel::Time;
use gingham_net::Packet;
use std::fmt::{Debug, Display};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kind of decision that the audit compares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Audited {
    /// Packet that an endpoint starts, or the time when it may start a packet.
    Turn,
    /// Packet that a group would send next, before its lane is known.
    Candidate,
    /// Groups of VC classes, groups with waiting packets, and whether a group has a packet ready.
    Groups,
    /// Packets that wait at an endpoint, for congestion trees.
    Waiting,
    /// Order from the endpoints to the network.
    Order,
    /// Mark, signal and destination of a packet, after a switch has read it.
    Read,
    /// Mark of a packet that a switch forwards.
    Forwarded,
    /// Signal of a packet that an in-transit host forwards.
    SentOn,
    /// Destination of a reply message.
    Reply,
    /// Number of times that congestion control woke a host.
    Woken,
    /// Requests and reserved bandwidth of admission control.
    Admission,
    /// Output selected by a head under adaptive routing.
    Output,
    /// Ejection, order and pool space of packets at an in-transit host.
    InTransitHost,
}

impl Audited {
    /// All kinds of decisions.
    pub const ALL: [Self; 13] = [
        Self::Turn,
        Self::Candidate,
        Self::Groups,
        Self::Waiting,
        Self::Order,
        Self::Read,
        Self::Forwarded,
        Self::SentOn,
        Self::Reply,
        Self::Woken,
        Self::Admission,
        Self::Output,
        Self::InTransitHost,
    ];
}

/// Number of decisions of each kind that were compared and found equal; shared by all parts of a
/// network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(Arc<[AtomicU64; Audited::ALL.len()]>);

impl Tally {
    pub(super) fn count(&self, family: Audited) {
        self.0[family as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn of(&self, family: Audited) -> u64 {
        self.0[family as usize].load(Ordering::Relaxed)
    }

    /// Counts a decision. Panics if it differs from the expected decision.
    #[track_caller]
    pub(super) fn check<T: PartialEq + Debug>(
        &self,
        family: Audited,
        (now, place): (Time, impl Display),
        what: &str,
        expected: &T,
        found: &T,
    ) {
        assert!(
            expected == found,
            "audit: at {} ps, {place}, {what}:\nexpected {expected:?}\nfound    {found:?}",
            now.as_ps()
        );
        self.count(family);
    }

    #[track_caller]
    pub(super) fn check_packet(
        &self,
        family: Audited,
        now: Time,
        expected: Option<Packet>,
        found: &Packet,
    ) {
        if let Some(expected) = expected {
            let place = format_args!("endpoint {}", found.source.index());
            self.check(family, (now, place), "packet", &expected, found);
        }
    }
}
