//! Metric families. Names follow the conventions of Prometheus: base units, and counters that only
//! grow.
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

/// Metric of a bundle, peer or channel.
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

/// Converts a count, which stays below 2^53 for thousands of years.
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
        gauge_of(Unit::Seconds, "striped_up", "Since the interface was made.", |one| {
            Some(one.up_seconds)
        }),
        counter_of(
            Unit::Seconds,
            "striped_cpu",
            "Processor time of the half that carries packets.",
            |one| Some(one.cpu_seconds),
        ),
        gauge_of(
            Unit::Bytes,
            "striped_mtu",
            "The longest packet that the interface takes.",
            |one| whole(u64::from(one.mtu)),
        ),
        counter("striped_too_long_packets", "Packets longer than any channel takes.", |one| {
            whole(one.too_long)
        }),
    ]
}

fn of_peers() -> [Family<PeerStatus>; 14] {
    [
        counter("striped_peer_entry_packets", "Packets that came into the entry queue.", |one| {
            whole(one.entry.packets)
        }),
        gauge("striped_peer_entry_waiting_packets", "Packets that wait there.", |one| {
            whole(u64::from(one.entry.waiting))
        }),
        counter(
            "striped_peer_entry_dropped_packets",
            "Packets that were dropped there, to hold it short or since it was full.",
            |one| whole(one.entry.dropped_target + one.entry.dropped_limit),
        ),
        counter("striped_peer_entry_marked_packets", "Packets that were marked there.", |one| {
            whole(one.entry.marked)
        }),
        gauge("striped_peer_open", "Whether the other end has answered.", |one| {
            whole(u64::from(one.is_open))
        }),
        counter("striped_peer_sent_packets", "Packets that went.", |one| whole(one.sent_packets)),
        counter_of(Unit::Bytes, "striped_peer_sent", "Bytes of packets that went.", |one| {
            whole(one.sent_bytes)
        }),
        counter("striped_peer_received_packets", "Packets that came, in order.", |one| {
            whole(one.received_packets)
        }),
        counter("striped_peer_repair_packets", "Lost packets that went again.", |one| {
            whole(one.repairs)
        }),
        counter("striped_peer_lost_packets", "Packets that never came.", |one| whole(one.given_up)),
        counter("striped_peer_resets", "Epochs that were begun anew.", |one| whole(one.resets)),
        counter("striped_peer_sessions", "Sessions of handshakes.", |one| {
            one.handshakes.as_ref().and_then(|counts| whole(counts.sessions))
        }),
        counter(
            "striped_peer_discarded_datagrams",
            "Datagrams that were not taken: of strangers, of other versions, twice.",
            |one| whole(one.handshakes.as_ref()?.discards.values().sum::<u64>()),
        ),
        counter(
            "striped_peer_refused_packets",
            "Packets from addresses that are not allowed.",
            |one| whole(one.refused_sources),
        ),
    ]
}

fn of_channels() -> [Family<ChannelStatus>; 9] {
    [
        gauge("striped_channel_in", "Whether packets go on the channel.", |one| {
            whole(u64::from(one.state == ChannelState::In))
        }),
        counter("striped_channel_sent_datagrams", "Datagrams that went.", |one| whole(one.sent)),
        counter_of(Unit::Bytes, "striped_channel_sent", "Their bytes.", |one| {
            whole(one.sent_bytes)
        }),
        counter("striped_channel_received_datagrams", "Datagrams that came.", |one| {
            whole(one.came)
        }),
        counter_of(Unit::Bytes, "striped_channel_received", "Their bytes.", |one| {
            whole(one.came_bytes)
        }),
        counter("striped_channel_moved", "Times that the other end moved.", |one| whole(one.moved)),
        counter("striped_channel_gone", "Times that its link was gone.", |one| whole(one.gone)),
        counter(
            "striped_channel_strange_datagrams",
            "Datagrams from elsewhere, or that were none of ours.",
            |one| whole(one.strange),
        ),
        counter("striped_channel_refused_datagrams", "Datagrams that were refused.", |one| {
            whole(one.refused)
        }),
    ]
}

fn of_channels_now() -> [Family<ChannelStatus>; 11] {
    [
        gauge(
            "striped_channel_sending_bytes_per_second",
            "What went in the last one to two seconds.",
            |one| bytes_a_second(one.sending_bits_per_second),
        ),
        gauge(
            "striped_channel_receiving_bytes_per_second",
            "What came in the last one to two seconds.",
            |one| bytes_a_second(one.receiving_bits_per_second),
        ),
        gauge(
            "striped_channel_capacity_bytes_per_second",
            "What the channel was found to carry.",
            |one| bytes_a_second(one.bits_per_second?),
        ),
        gauge_of(
            Unit::Ratios,
            "striped_channel_share",
            "Its part of what goes to the peer.",
            |one| Some(one.share),
        ),
        gauge_of(Unit::Ratios, "striped_channel_loss", "What of it was found lost.", |one| {
            Some(one.loss)
        }),
        gauge_of(
            Unit::Seconds,
            "striped_channel_round_trip",
            "Time there and back, smoothed.",
            |one| seconds(one.round_trip_us),
        ),
        gauge_of(
            Unit::Seconds,
            "striped_channel_round_trip_min",
            "The least time there and back.",
            |one| seconds(one.round_trip_us_min),
        ),
        gauge_of(Unit::Bytes, "striped_channel_queue", "What waits on the way.", |one| {
            whole(one.queue_bytes)
        }),
        gauge_of(Unit::Bytes, "striped_channel_in_flight", "What is in flight.", |one| {
            whole(one.in_flight_bytes)
        }),
        gauge_of(Unit::Bytes, "striped_channel_window", "What may be in flight.", |one| {
            whole(one.window_bytes)
        }),
        gauge_of(
            Unit::Bytes,
            "striped_channel_longest_packet",
            "The longest packet that goes.",
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
    fn a_status_is_a_text_of_open_metrics() {
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
