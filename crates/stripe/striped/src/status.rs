//! Snapshot of a bundle's state, for report lines, `striped status` and metrics.
//!
//! Invariant: field names are stable, because scripts use them; new information gets new names.

mod wait;

use std::collections::BTreeMap;
use std::time::Duration;

use gingham_stripe::{Instant, Size, SizeState};
use gingham_stripe_crypt::{Counts, Discard, Discards};
use gingham_stripe_udp::{End, now};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

use crate::class::Marks;
use crate::config::{Channel, Config};
use crate::entry::Entry;
use crate::observer::Observer;
use crate::packet::IcmpErrors;
use crate::peers::{Peer, Peers};
pub(crate) use wait::WaitName;

/// Format version; a higher version may lack some field names.
pub(crate) const VERSION: u32 = 2;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Status {
    pub(crate) version: u32,
    pub(crate) name: String,
    pub(crate) up_seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) mtu: u16,
    /// Packets too long for every channel.
    pub(crate) too_long: u64,
    pub(crate) too_long_icmp_errors: u64,
    pub(crate) interface_refused: u64,
    /// Packets from the interface dropped because their destination belongs to no peer.
    pub(crate) refused_destinations: u64,
    pub(crate) unauthenticated: UnauthenticatedStatus,
    pub(crate) peers: Vec<PeerStatus>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct UnauthenticatedStatus {
    pub(crate) found: u64,
    pub(crate) untried: u64,
    pub(crate) cookies: u64,
    pub(crate) discards: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EntryStatus {
    pub(crate) packets: u64,
    pub(crate) waiting: u32,
    pub(crate) marked: u64,
    pub(crate) dropped_target: u64,
    pub(crate) dropped_limit: u64,
    pub(crate) sojourn_us_max: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PeerStatus {
    /// Configured name, or public key; over Ethernet, the interface name.
    pub(crate) name: String,
    /// Whether the peer has replied.
    pub(crate) is_open: bool,
    pub(crate) sent_packets: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) repairs: u64,
    pub(crate) redundant: u64,
    pub(crate) resets: u64,
    pub(crate) received_packets: u64,
    pub(crate) repaired: u64,
    pub(crate) given_up: u64,
    /// Packets from the pipe dropped because of their source address.
    pub(crate) refused_sources: u64,
    pub(crate) ecn: Marks,
    pub(crate) entry: EntryStatus,
    pub(crate) strange: u64,
    pub(crate) too_long: u64,
    pub(crate) handshakes: Option<HandshakeStatus>,
    pub(crate) channels: Vec<ChannelStatus>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HandshakeStatus {
    pub(crate) begun: u64,
    pub(crate) keys: u64,
    pub(crate) sessions: u64,
    pub(crate) cookies: u64,
    pub(crate) discards: BTreeMap<String, u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChannelState {
    In,
    #[default]
    Out,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ChannelStatus {
    pub(crate) id: usize,
    pub(crate) transport: String,
    pub(crate) interface: Option<String>,
    pub(crate) local: Option<String>,
    pub(crate) remote: Option<String>,
    pub(crate) state: ChannelState,
    pub(crate) state_seconds: f64,
    pub(crate) is_in: bool,
    pub(crate) waits: Option<WaitName>,
    pub(crate) link_error: Option<String>,
    pub(crate) bits_per_second: Option<u64>,
    /// Sending rate in the last one to two seconds, without IP and UDP headers, like the receiving
    /// rate.
    pub(crate) sending_bits_per_second: u64,
    pub(crate) receiving_bits_per_second: u64,
    /// Channel's fraction of the peer's sending rate, from 0 to 1.
    pub(crate) share: f64,
    /// Fraction of sent bytes that were lost in the last one to two seconds, from 0 to 1.
    pub(crate) loss: f64,
    pub(crate) round_trip_us: Option<u64>,
    pub(crate) round_trip_us_min: Option<u64>,
    /// Bytes in flight beyond the bandwidth-delay product: the estimated queue on the path.
    pub(crate) queue_bytes: u64,
    pub(crate) in_flight_bytes: u64,
    pub(crate) window_bytes: u64,
    /// State of path MTU discovery: `searching`, `found` or `too-small`.
    pub(crate) size: String,
    pub(crate) longest_bytes: u32,
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) sends: u64,
    pub(crate) full: u64,
    pub(crate) refused: u64,
    pub(crate) unsent: u64,
    pub(crate) came: u64,
    pub(crate) came_bytes: u64,
    pub(crate) marked: u64,
    pub(crate) strange: u64,
    pub(crate) moved: u64,
    pub(crate) gone: u64,
    pub(crate) reopened: u64,
    /// Bytes used in the quota's current period, including IP and UDP headers; `None` without a
    /// quota.
    pub(crate) quota_used_bytes: Option<u64>,
}

pub(crate) struct Parts<'a> {
    pub(crate) name: &'a str,
    pub(crate) config: &'a Config,
    pub(crate) peers: &'a Peers,
    pub(crate) icmp_errors: &'a IcmpErrors,
    pub(crate) began_at: Instant,
    pub(crate) interface_refused: u64,
    pub(crate) mtu: u16,
}

impl Status {
    pub(crate) fn of(parts: &Parts<'_>) -> Self {
        let Parts { config, peers, icmp_errors, .. } = parts;
        let unauthenticated = peers.ends.unauthenticated();
        let of_peer = |(number, peer, end)| PeerStatus::of(config, number, peer, end);
        let mut each: Vec<_> = peers.list().map(of_peer).collect();
        // If there is a single peer, datagrams from unknown addresses count as that peer's.
        if let ([one], Some((_, _, end))) = (&mut each[..], peers.list().next())
            && let (Some(handshakes), Some(counts)) = (&mut one.handshakes, end.handshakes())
        {
            handshakes.discards = discards(&counts.discards.with(&unauthenticated.discards));
        }
        let up_ns = now().nanoseconds().saturating_sub(parts.began_at.nanoseconds());
        Self {
            version: VERSION,
            name: parts.name.to_owned(),
            up_seconds: Duration::from_nanos(up_ns).as_secs_f64(),
            cpu_seconds: cpu_seconds(),
            mtu: parts.mtu,
            too_long: each.iter().map(|one| one.too_long).sum::<u64>() + icmp_errors.too_long,
            too_long_icmp_errors: icmp_errors.given,
            interface_refused: parts.interface_refused,
            refused_destinations: peers.refused_destinations,
            unauthenticated: UnauthenticatedStatus {
                found: unauthenticated.found,
                untried: unauthenticated.untried,
                cookies: unauthenticated.cookies,
                discards: discards(&unauthenticated.discards),
            },
            peers: each,
        }
    }
}

impl EntryStatus {
    fn of(entry: &Entry) -> Self {
        let queue = entry.counters();
        Self {
            packets: queue.enqueued_packets,
            waiting: entry.backlog_packets(),
            marked: queue.marked_packets,
            dropped_target: queue.dropped_target_packets,
            dropped_limit: queue.dropped_limit_packets,
            sojourn_us_max: queue.sojourn_max_ns / 1_000,
        }
    }
}

impl PeerStatus {
    fn of(config: &Config, number: usize, peer: &Peer, end: &End) -> Self {
        let (sending, reception) = (end.sending(), end.reception());
        let there = config.channels_of(number).enumerate().filter(|(id, _)| end.is_there(*id));
        let mut channels: Vec<_> =
            there.map(|(id, at)| ChannelStatus::of(end, id, at.channel, &peer.observer)).collect();
        let all: u64 = channels.iter().map(|one| one.sending_bits_per_second).sum();
        for one in &mut channels {
            one.share = part(one.sending_bits_per_second, all);
        }
        Self {
            name: peer.name.clone().unwrap_or_else(|| config.name.clone()),
            is_open: end.is_open(),
            sent_packets: sending.packets,
            sent_bytes: sending.bytes,
            repairs: sending.repairs,
            redundant: sending.redundant,
            resets: sending.resets,
            received_packets: reception.packets,
            repaired: reception.repaired,
            given_up: reception.given_up,
            refused_sources: peer.refused_sources,
            ecn: peer.marks,
            entry: EntryStatus::of(&peer.entry),
            strange: peer.entry.strange,
            too_long: end.too_long(),
            handshakes: end.handshakes().map(HandshakeStatus::of),
            channels,
        }
    }
}

fn discards(counts: &Discards) -> BTreeMap<String, u64> {
    let counted = Discard::ALL.into_iter().map(|one| (one.name().into(), counts.of(one)));
    counted.filter(|(_, count)| *count > 0).collect()
}

impl HandshakeStatus {
    fn of(counts: &Counts) -> Self {
        Self {
            begun: counts.begun,
            keys: counts.keys,
            sessions: counts.sessions,
            cookies: counts.cookies,
            discards: discards(&counts.discards),
        }
    }
}

impl ChannelStatus {
    fn of(end: &End, id: usize, channel: &Channel, observer: &Observer) -> Self {
        let (counts, flight) = (end.counts(id), end.flight(id).unwrap_or_default());
        let seen = observer.seen(end, id, now());
        let is_known = !flight.round_trip_least.is_zero();
        let micros = |span: Duration| u64::try_from(span.as_micros()).unwrap_or(0);
        let holds = flight
            .bytes_per_second
            .map(|rate| u128::from(rate) * flight.round_trip_least.as_nanos() / 1_000_000_000);
        let holds = holds.map_or(u64::MAX, |bytes| u64::try_from(bytes).unwrap_or(u64::MAX));
        let is_in = end.is_carrying(id);
        let Size { state, longest_bytes, .. } = end.size(id);
        Self {
            id,
            transport: channel.transport_name().into(),
            interface: channel.interface.clone().or_else(|| channel.ethernet.clone()),
            local: end.local(id).map(|address| address.to_string()),
            remote: end.remote(id).map(|address| address.to_string()),
            state: if is_in { ChannelState::In } else { ChannelState::Out },
            state_seconds: seen.state_seconds,
            is_in,
            waits: end.wait_of(id).map(WaitName::from),
            link_error: end.link_error(id).map(|error| error.to_string()),
            bits_per_second: flight.bytes_per_second.map(|rate| rate.saturating_mul(8)),
            sending_bits_per_second: seen.sending_bits_per_second,
            receiving_bits_per_second: seen.receiving_bits_per_second,
            share: 0.0,
            loss: seen.loss,
            round_trip_us: is_known.then(|| micros(flight.round_trip)),
            round_trip_us_min: is_known.then(|| micros(flight.round_trip_least)),
            queue_bytes: flight.in_flight_bytes.saturating_sub(holds),
            in_flight_bytes: flight.in_flight_bytes,
            window_bytes: flight.window_bytes,
            size: size_name(state).into(),
            longest_bytes,
            sent: counts.sent,
            sent_bytes: counts.sent_bytes,
            sends: counts.sends,
            full: counts.full,
            refused: counts.refused,
            unsent: counts.unsent,
            came: counts.came,
            came_bytes: counts.came_bytes,
            marked: counts.marked,
            strange: counts.strange,
            moved: counts.moved,
            gone: counts.gone,
            reopened: counts.reopened,
            quota_used_bytes: end.metered_bytes(id),
        }
    }
}

pub(crate) const fn size_name(state: SizeState) -> &'static str {
    match state {
        SizeState::Base | SizeState::Searching => "searching",
        SizeState::SearchComplete => "found",
        SizeState::Error => "too-small",
    }
}

pub(crate) fn part(one: u64, all: u64) -> f64 {
    let thousandths = (u128::from(one) * 1_000).checked_div(all.into()).unwrap_or(0);
    f64::from(u32::try_from(thousandths).unwrap_or(u32::MAX)) / 1_000.0
}

fn cpu_seconds() -> f64 {
    let seconds = |time: TimeVal| {
        let microseconds = u32::try_from(time.tv_usec()).unwrap_or(0);
        let seconds = u32::try_from(time.tv_sec()).unwrap_or(u32::MAX);
        f64::from(seconds) + f64::from(microseconds) / 1e6
    };
    getrusage(UsageWho::RUSAGE_SELF)
        .map_or(0.0, |usage| seconds(usage.user_time()) + seconds(usage.system_time()))
}
