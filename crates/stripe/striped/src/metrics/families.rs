//! Metric families, with names according to Prometheus conventions: base units, and counters that
//! only grow.
//!
//! Labels: `bundle`; `peer` for values of a peer; `peer` and `channel` for values of a channel.
//!
//! Source: prometheus.io/docs/practices/naming.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use crate::status::{ChannelState, ChannelStatus, PeerStatus, Status};

type Value<T> = fn(&T) -> Option<f64>;

struct Family<T: 'static> {
    name: &'static str,
    help: &'static str,
    unit: Option<Unit>,
    kind: MetricType,
    value: Value<T>,
}

type Text = &'static str;

const fn counter<T>(name: Text, help: Text, value: Value<T>) -> Family<T> {
    Family { name, help, unit: None, kind: MetricType::Counter, value }
}

const fn gauge<T>(name: Text, help: Text, value: Value<T>) -> Family<T> {
    Family { name, help, unit: None, kind: MetricType::Gauge, value }
}

fn counter_of<T>(unit: Unit, name: Text, help: Text, value: Value<T>) -> Family<T> {
    Family { unit: Some(unit), ..counter(name, help, value) }
}

fn gauge_of<T>(unit: Unit, name: Text, help: Text, value: Value<T>) -> Family<T> {
    Family { unit: Some(unit), ..gauge(name, help, value) }
}

#[expect(clippy::cast_precision_loss, reason = "what is lost is below a unit of 2^53")]
fn whole(count: impl Into<Option<u64>>) -> Option<f64> {
    count.into().map(|count| count as f64)
}

fn seconds(microseconds: Option<u64>) -> Option<f64> {
    whole(microseconds).map(|count| count / 1e6)
}

fn bytes_a_second(bits: u64) -> Option<f64> {
    whole(bits / 8)
}

fn of_bundles() -> [Family<Status>; 4] {
    [
        gauge_of(Unit::Seconds, "striped_up", "Time since the interface was created.", |one| {
            Some(one.up_seconds)
        }),
        counter_of(
            Unit::Seconds,
            "striped_cpu",
            "Processor time of the process that carries packets.",
            |one| Some(one.cpu_seconds),
        ),
        gauge_of(Unit::Bytes, "striped_mtu", "Longest packet that the interface accepts.", |one| {
            whole(u64::from(one.mtu))
        }),
        counter("striped_too_long_packets", "Packets too long for every channel.", |one| {
            whole(one.too_long)
        }),
    ]
}

fn of_peers() -> [Family<PeerStatus>; 14] {
    [
        counter("striped_peer_entry_packets", "Packets that entered the entry queue.", |one| {
            whole(one.entry.packets)
        }),
        gauge("striped_peer_entry_waiting_packets", "Packets waiting in the entry queue.", |one| {
            whole(u64::from(one.entry.waiting))
        }),
        counter(
            "striped_peer_entry_dropped_packets",
            "Packets that the entry queue dropped to stay short or because it was full.",
            |one| whole(one.entry.dropped_target + one.entry.dropped_limit),
        ),
        counter(
            "striped_peer_entry_marked_packets",
            "Packets that the entry queue marked.",
            |one| whole(one.entry.marked),
        ),
        gauge("striped_peer_open", "Whether the other end has replied.", |one| {
            whole(u64::from(one.is_open))
        }),
        counter("striped_peer_sent_packets", "Packets sent.", |one| whole(one.sent_packets)),
        counter_of(Unit::Bytes, "striped_peer_sent", "Bytes of packets sent.", |one| {
            whole(one.sent_bytes)
        }),
        counter("striped_peer_received_packets", "Packets received, in order.", |one| {
            whole(one.received_packets)
        }),
        counter("striped_peer_repair_packets", "Retransmissions of lost packets.", |one| {
            whole(one.repairs)
        }),
        counter("striped_peer_lost_packets", "Packets never received.", |one| whole(one.given_up)),
        counter("striped_peer_resets", "Resets, each beginning a new epoch.", |one| {
            whole(one.resets)
        }),
        counter("striped_peer_sessions", "Sessions established by handshakes.", |one| {
            one.handshakes.as_ref().and_then(|counts| whole(counts.sessions))
        }),
        counter(
            "striped_peer_discarded_datagrams",
            "Datagrams discarded: unauthenticated, of other versions, duplicate.",
            |one| whole(one.handshakes.as_ref()?.discards.values().sum::<u64>()),
        ),
        counter(
            "striped_peer_refused_packets",
            "Packets from source addresses that are not allowed.",
            |one| whole(one.refused_sources),
        ),
    ]
}

fn of_channels() -> [Family<ChannelStatus>; 9] {
    [
        gauge("striped_channel_in", "Whether packets are sent on the channel.", |one| {
            whole(u64::from(one.state == ChannelState::In))
        }),
        counter("striped_channel_sent_datagrams", "Datagrams sent.", |one| whole(one.sent)),
        counter_of(Unit::Bytes, "striped_channel_sent", "Their bytes.", |one| {
            whole(one.sent_bytes)
        }),
        counter("striped_channel_received_datagrams", "Datagrams received.", |one| whole(one.came)),
        counter_of(Unit::Bytes, "striped_channel_received", "Their bytes.", |one| {
            whole(one.came_bytes)
        }),
        counter("striped_channel_moved", "Changes of address of the other end.", |one| {
            whole(one.moved)
        }),
        counter("striped_channel_gone", "Times that its link was lost.", |one| whole(one.gone)),
        counter(
            "striped_channel_strange_datagrams",
            "Datagrams from other addresses or of other protocols.",
            |one| whole(one.strange),
        ),
        counter("striped_channel_refused_datagrams", "Datagrams refused on the path.", |one| {
            whole(one.refused)
        }),
    ]
}

fn of_channels_now() -> [Family<ChannelStatus>; 11] {
    [
        gauge(
            "striped_channel_sending_bytes_per_second",
            "Sending rate over the last one to two seconds.",
            |one| bytes_a_second(one.sending_bits_per_second),
        ),
        gauge(
            "striped_channel_receiving_bytes_per_second",
            "Receiving rate over the last one to two seconds.",
            |one| bytes_a_second(one.receiving_bits_per_second),
        ),
        gauge("striped_channel_capacity_bytes_per_second", "Measured capacity.", |one| {
            bytes_a_second(one.bits_per_second?)
        }),
        gauge_of(
            Unit::Ratios,
            "striped_channel_share",
            "Share of the traffic to the peer.",
            |one| Some(one.share),
        ),
        gauge_of(Unit::Ratios, "striped_channel_loss", "Measured loss.", |one| Some(one.loss)),
        gauge_of(Unit::Seconds, "striped_channel_round_trip", "Smoothed round-trip time.", |one| {
            seconds(one.round_trip_us)
        }),
        gauge_of(
            Unit::Seconds,
            "striped_channel_round_trip_min",
            "Minimum round-trip time.",
            |one| seconds(one.round_trip_us_min),
        ),
        gauge_of(Unit::Bytes, "striped_channel_queue", "Estimated queue on the path.", |one| {
            whole(one.queue_bytes)
        }),
        gauge_of(Unit::Bytes, "striped_channel_in_flight", "Bytes in flight.", |one| {
            whole(one.in_flight_bytes)
        }),
        gauge_of(Unit::Bytes, "striped_channel_window", "Bytes that may be in flight.", |one| {
            whole(one.window_bytes)
        }),
        gauge_of(
            Unit::Bytes,
            "striped_channel_longest_packet",
            "Longest packet that the channel passes.",
            |one| whole(u64::from(one.longest_bytes)),
        ),
    ]
}

#[derive(Debug)]
struct Collected(Status);

type Labels = Vec<(&'static str, String)>;

impl Collected {
    fn peers(&self) -> Vec<(Labels, &PeerStatus)> {
        let labels =
            |one: &PeerStatus| vec![("bundle", self.0.name.clone()), ("peer", one.name.clone())];
        self.0.peers.iter().map(|one| (labels(one), one)).collect()
    }

    fn channels(&self) -> Vec<(Labels, &ChannelStatus)> {
        let mut all = Vec::new();
        for (labels, peer) in self.peers() {
            for one in &peer.channels {
                let mut labels = labels.clone();
                labels.push(("channel", one.id.to_string()));
                all.push((labels, one));
            }
        }
        all
    }
}

impl Collector for Collected {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let bundle = vec![(vec![("bundle", self.0.name.clone())], &self.0)];
        encode(&mut encoder, &of_bundles(), &bundle)?;
        encode(&mut encoder, &of_peers(), &self.peers())?;
        encode(&mut encoder, &of_channels(), &self.channels())?;
        encode(&mut encoder, &of_channels_now(), &self.channels())
    }
}

fn encode<T>(
    encoder: &mut DescriptorEncoder<'_>,
    families: &[Family<T>],
    all: &[(Labels, &T)],
) -> Result<(), fmt::Error> {
    for family in families {
        let Family { name, help, unit, kind, value } = family;
        let mut descriptor = encoder.encode_descriptor(name, help, unit.as_ref(), *kind)?;
        for (labels, one) in all {
            let Some(value) = value(one) else { continue };
            let metric = descriptor.encode_family(labels)?;
            match kind {
                MetricType::Counter => ConstCounter::new(value).encode(metric)?,
                _ => ConstGauge::new(value).encode(metric)?,
            }
        }
    }
    Ok(())
}

pub(super) fn text_of(status: Status) -> String {
    let (mut registry, mut text) = (Registry::default(), String::new());
    registry.register_collector(Box::new(Collected(status)));
    text::encode(&mut text, &registry).expect("a text takes all");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_rendered_as_openmetrics_text() {
        let channel = ChannelStatus {
            id: 1,
            state: ChannelState::In,
            sent_bytes: 12_345,
            round_trip_us: Some(12_500),
            sending_bits_per_second: 8_000_000,
            ..ChannelStatus::default()
        };
        let peer =
            PeerStatus { name: "8f40".into(), channels: vec![channel], ..PeerStatus::default() };
        let status =
            Status { name: "bundle0".into(), mtu: 1_400, peers: vec![peer], ..Status::default() };
        let text = text_of(status);
        for line in [
            "# TYPE striped_channel_sent_bytes counter",
            "# UNIT striped_channel_sent_bytes bytes",
            "striped_mtu_bytes{bundle=\"bundle0\"} 1400.0",
            "striped_channel_sent_bytes_total{bundle=\"bundle0\",peer=\"8f40\",channel=\"1\"} 12345.0",
            "striped_channel_in{bundle=\"bundle0\",peer=\"8f40\",channel=\"1\"} 1.0",
            "striped_channel_round_trip_seconds{bundle=\"bundle0\",peer=\"8f40\",channel=\"1\"} 0.0125",
            "striped_channel_sending_bytes_per_second{bundle=\"bundle0\",peer=\"8f40\",channel=\"1\"} 1000000.0",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in {text}");
        }
        assert!(!text.contains("striped_channel_round_trip_min_seconds{"), "it is not known");
        assert!(text.ends_with("# EOF\n"));
    }
}
