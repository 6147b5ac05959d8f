//! Striping options of a scenario.

use super::control::{Control, Order};
use gingham_kernel::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Striping over the channels, and resequencing at the receiver.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stripe {
    /// Scheduler that selects the channel of each packet if `order` is "strict".
    pub scheduler: Scheduler,
    /// Channel selection. Default: "free", or "strict" if the scenario uses a feature of strict
    /// order: `scheduler`, `quanta` or quanta of channels, `reception`, rounds of `markers`,
    /// `window`, `guaranteed`.
    pub order: Option<Order>,
    /// Congestion controller, which limits data in flight. Used with `window`, with quanta that
    /// follow rates, and if `order` is "free".
    pub control: Control,
    /// Receiver's method of restoring the order.
    pub reception: Reception,
    /// Longest permitted packet; no quantum may be smaller.
    pub longest_packet: Bytes,
    /// Markers, which resynchronise the receiver after a loss.
    pub markers: Markers,
    /// Source of the quanta: fixed values, or rates measured by windows.
    pub quanta: Quanta,
    /// Whether `control` limits data in flight on each channel. Always enabled if quanta follow
    /// rates, or if `order` is "free".
    pub window: bool,
    /// Time without reports after which the sender takes a channel out of use; it still sends
    /// markers, and resumes on the next report. "0 s" disables the timeout, and is invalid with
    /// credits and windows, which depend on reports.
    pub silence: Span,
    /// Whether each packet needs a credit from the receiver, so that no receive buffer overflows
    /// (Adiseshu et al. 1996, section 6.3; Kung and Chapman 1993).
    pub credits: bool,
    /// Receiver reports between markers, required by credits. Default: enabled with credits and
    /// windows.
    pub reports: Option<Reports>,
    /// Whether each packet carries a 12-byte tag with sequence numbers, so that packets are never
    /// delivered out of order, even after losses. Always enabled if `order` is "free".
    pub guaranteed: bool,
    /// Retransmission of lost packets. Requires `guaranteed` or the order "free". Default: with the
    /// order "free", enabled with default parameters, as in the daemon; otherwise disabled.
    pub repair: Option<Repair>,
    /// Probing for the longest frame of each channel (RFC 8899). Packets that fit no channel are
    /// dropped before the sender. Default: no probing; the sender assumes that each channel passes
    /// the longest packet.
    pub sizes: Option<Sizes>,
    /// Reorder buffer of each channel, which sorts packets by their tags before the receiver
    /// processes them. Requires `guaranteed` or the order "free". Default: with the order "free",
    /// packets wait on a channel only after it has reordered packets, as in the daemon.
    pub restore: Option<Restore>,
    /// Times when the sender resets both ends, as after a crash.
    pub resets: Vec<Span>,
    /// Receive buffer shared by all channels; packets that do not fit are discarded. Each packet
    /// uses its length plus 112 bytes. Half of the buffer is divided among the channels and, if
    /// enabled, retransmissions.
    pub buffer: Bytes,
    /// Receive buffer in packets, shared by all channels, instead of `buffer`. Memory and credits
    /// then count packets, like the cells of Adiseshu et al. 1996, section 6.3.
    pub buffer_packets: Option<u64>,
    /// Time that the receiver waits for a silent channel while other channels have packets. It must
    /// exceed the skew, the difference in delay, jitter and queueing between channels; twice the
    /// skew is ample.
    pub wait: Span,
    /// Whether the sender sees its channels' queues, like those of local network interfaces, and
    /// waits for space; otherwise packets are lost at a full queue. Default: true without windows,
    /// which are for queues that the sender cannot see.
    pub backpressure: Option<bool>,
}

impl Default for Stripe {
    fn default() -> Self {
        Self {
            scheduler: Scheduler::SurplusRoundRobin,
            order: None,
            control: Control::default(),
            reception: Reception::Logical,
            longest_packet: Bytes(1_500),
            markers: Markers::default(),
            quanta: Quanta::Fixed,
            window: false,
            silence: Span::from_ps(200 * MS),
            credits: false,
            reports: None,
            guaranteed: false,
            repair: None,
            sizes: None,
            restore: None,
            resets: Vec::new(),
            buffer: Bytes(64 << 20),
            buffer_packets: None,
            wait: Span::from_ps(200 * MS),
            backpressure: None,
        }
    }
}

const MS: u64 = 1_000_000_000;

/// Source of the quanta.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quanta {
    /// Fixed quanta, as configured for the channels or proportional to their rates.
    #[default]
    Fixed,
    /// Quanta that follow the rates in reports. Initially each channel has its configured quantum,
    /// or the longest packet.
    Follow,
}

/// Scheduler that selects the channel of a packet.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// A quantum of bytes per turn; the last packet may overdraw it, which reduces the next
    /// quantum. Fair in bytes for any packet lengths (Adiseshu, Parulkar and Varghese 1996, section
    /// 3.5).
    #[default]
    SurplusRoundRobin,
    /// A number of packets per turn, of any length (Adiseshu et al. 1996, section 6.2).
    GeneralisedRoundRobin(Generalised),
    /// One packet per turn.
    RoundRobin,
    /// A pseudo-random channel for each packet, which the receiver could reproduce (Adiseshu et al.
    /// 1996, section 3.4).
    Randomised,
    /// The channel whose queue empties first. Not causal: the receiver cannot reproduce the choice,
    /// so logical reception is impossible.
    ShortestQueue,
    /// A hash of the packet's source, so that each source stays in order but is limited to one
    /// channel's rate. Not causal.
    AddressHash,
}

/// Parameters of generalised round robin.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Generalised {
    /// Packets per turn of each channel. Default: small integers with the ratio closest to that of
    /// the channel rates (Adiseshu et al. 1996, section 6.2).
    pub packets: Vec<u32>,
    /// Maximum packets per turn of the slowest channel in the default ratio. With 1, every other
    /// rate is rounded to a multiple of the slowest rate. The default of 8 is our choice; the paper
    /// gives no value.
    pub slowest_packets_max: u8,
}

impl Default for Generalised {
    fn default() -> Self {
        Self { packets: Vec::new(), slowest_packets_max: 8 }
    }
}

/// Receiver's method of restoring the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reception {
    /// Logical reception: the receiver runs the sender's scheduler, which determines the channel of
    /// each packet; packets are not modified (Adiseshu et al. 1996, section 4).
    #[default]
    Logical,
    /// None: packets are delivered on arrival.
    None,
    /// 4-byte sequence numbers in packets. A packet counts as lost when every channel has carried a
    /// later packet (RFC 1990, section 4.1), or after `wait`.
    SequenceNumbers,
}

/// Markers, which resynchronise the receiver after a loss.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Markers {
    /// Whether markers are sent.
    pub send: bool,
    /// Number of rounds between two sets of markers.
    pub every_rounds: u32,
    /// Number of a channel, from 1; markers are sent before its turn.
    pub before_channel: u64,
    /// Longest time between markers while sent packets are unacknowledged. If packets carry
    /// numbers, at most four markers are sent per round trip, but at least one within `silence`.
    pub interval: Span,
    /// Longest interval between markers while nothing is sent; the interval grows up to this value.
    pub idle_interval_max: Span,
    /// Contents of markers.
    pub tells: Tells,
}

/// Contents of markers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tells {
    /// Round and deficit of the channel's next packet (Adiseshu et al. 1996, section 5).
    #[default]
    Number,
    /// Only the sender's current round, as in figure 12 of Adiseshu et al. 1996: if the receiver
    /// expects an earlier round, it skips the channel until that round, which starts with a full
    /// quantum. Otherwise the marker has no effect.
    Round,
}

impl Default for Markers {
    fn default() -> Self {
        let interval = Span::from_ps(20 * MS);
        Self {
            send: true,
            every_rounds: 4,
            before_channel: 1,
            interval,
            idle_interval_max: Span::from_ps(10_000 * MS),
            tells: Tells::Number,
        }
    }
}

/// Receiver reports between markers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Reports {
    /// Longest time from a reception or delivery to its report.
    pub interval: Span,
}

impl Default for Reports {
    fn default() -> Self {
        Self { interval: Span::from_ps(5 * MS) }
    }
}

/// Retransmission of lost packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Repair {
    /// Time that the receiver waits for a retransmission after it detects a loss.
    pub wait: Span,
    /// Time after which a missing retransmission is requested again.
    pub again: Span,
    /// Maximum retransmissions per packet; 0 disables retransmission.
    pub tries: u8,
    /// Size of the retransmission buffer, in packets per channel.
    pub packets: u64,
}

impl Default for Repair {
    fn default() -> Self {
        Self {
            wait: Span::from_ps(200 * MS),
            again: Span::from_ps(50 * MS),
            tries: 3,
            packets: 4_096,
        }
    }
}

/// Probing for the longest frame of each channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sizes {
    /// Frame length that each channel must pass, including the packet header; other channels are
    /// taken out of use.
    pub base: Bytes,
    /// Time from the end of a search to the next search.
    pub raise: Span,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { base: Bytes(1_200), raise: Span::from_ps(600_000 * MS) }
    }
}

/// Reorder buffer of each channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Restore {
    /// Time that a packet waits for earlier packets. It must exceed the extra delay of reordered
    /// packets.
    pub wait: Span,
    /// Maximum packets waiting per channel.
    pub packets: u64,
}

impl Default for Restore {
    fn default() -> Self {
        Self { wait: Span::from_ps(20 * MS), packets: 256 }
    }
}

/// Application that reads the delivered packets.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Receiver {
    /// Reading rate. Default: unlimited. A slow reader fills the receive buffers.
    pub rate: Option<Rate>,
}
