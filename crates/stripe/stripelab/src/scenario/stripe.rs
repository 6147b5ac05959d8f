//! Striping options of a scenario.

use super::control::{Control, Order};
use gingham_kernel::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Striping over the channels, and restoration of the order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stripe {
    /// Scheduler that chooses the channel of a packet in strict order.
    pub scheduler: Scheduler,
    /// Choice of the channel of a packet. Default: "free", or "strict" if the scenario uses a
    /// feature of strict order: `scheduler`, `quanta` or quanta of channels, `reception`, rounds of
    /// `markers`, `window`, `guaranteed`.
    pub order: Option<Order>,
    /// Congestion controller, which limits data in flight. It applies with `window`, with quanta
    /// that follow, and in free order.
    pub control: Control,
    /// Restoration of the order at the receiver.
    pub reception: Reception,
    /// Longest packet that may be sent; no quantum may be below it.
    pub longest_packet: Bytes,
    /// Markers, which resynchronise the receiver after a loss.
    pub markers: Markers,
    /// Whether quanta stay as given or follow the rates that windows measure.
    pub quanta: Quanta,
    /// Whether `control` limits data in flight on each channel. Always the case if quanta follow,
    /// or in free order.
    pub window: bool,
    /// Time without reports after which the sender takes a channel out although it sends markers on
    /// it; the next report takes it in again. "0 s" disables the timeout, which credits and windows
    /// reject, since they wait for reports.
    pub silence: Span,
    /// Whether a packet is sent only with a credit of the receiver, so that no receive buffer
    /// overflows (section 6.3; Kung and Chapman 1993).
    pub credits: bool,
    /// Reports of the receiver between markers, which credits need. Default: enabled with credits
    /// and windows.
    pub reports: Option<Reports>,
    /// Whether each packet carries a tag of 12 bytes with sequence numbers that confirm the
    /// expected packet. Packets are then never delivered out of order, even after losses. In free
    /// order they always carry it.
    pub guaranteed: bool,
    /// Retransmission of lost packets, with these parameters. The order must be guaranteed.
    /// Default: enabled in free order with default parameters, as in the daemon; disabled in strict
    /// order.
    pub repair: Option<Repair>,
    /// Probing for the longest frame of each channel (RFC 8899). Default: none, and the sender
    /// assumes that each channel passes the longest packet. Packets that fit no channel are dropped
    /// before the sender.
    pub sizes: Option<Sizes>,
    /// Reorder buffer of each channel, which sorts packets by their tags before the receiver sees
    /// them. The order must be guaranteed. Default: in free order, packets wait on a channel only
    /// after it has reordered packets, as in the daemon.
    pub restore: Option<Restore>,
    /// Times of resets of both ends by the sender, as after a crash.
    pub resets: Vec<Span>,
    /// Receive buffer for all channels together. Packets that do not fit are discarded. A packet is
    /// charged its bytes and 112 for its slot. Half of the buffer is divided among the channels,
    /// and retransmissions if there are any.
    pub buffer: Bytes,
    /// Receive buffer in packets of all channels together, instead of `buffer`. Memory and credits
    /// then count packets, like the cells of section 6.3.
    pub buffer_packets: Option<u64>,
    /// How long the receiver waits for a silent channel while others have packets. It must exceed
    /// the skew: the difference of the channels in delay, jitter and queues. Twice that is ample.
    pub wait: Span,
    /// Whether the sender sees the queues of its channels, like those of its own network
    /// interfaces, and waits for space. Otherwise packets that find a queue full are lost. Default:
    /// true without windows, which are for queues that the sender cannot see.
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
    /// The scenario: given quanta, or quanta proportional to the rates of the channels.
    #[default]
    Fixed,
    /// The rates in reports. At the start each channel has its given quantum, or the longest
    /// packet.
    Follow,
}

/// Scheduler that chooses the channel of a packet.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// A quantum of bytes per turn; the last packet may overdraw it, which the next round pays
    /// back. Fair in bytes for all packet lengths (Adiseshu, Parulkar and Varghese 1996, section
    /// 3.5).
    #[default]
    SurplusRoundRobin,
    /// A number of packets per turn, of any length (section 6.2).
    GeneralisedRoundRobin(Generalised),
    /// One packet per turn.
    RoundRobin,
    /// A random channel for each packet, from a generator that the receiver could run as well
    /// (section 3.4).
    Randomised,
    /// The channel whose queue empties first. Not causal, so logical reception is not possible.
    ShortestQueue,
    /// A hash of the packet's source, so that each source keeps its order and is limited to the
    /// rate of one channel. Not causal.
    AddressHash,
}

/// Parameters of generalised round robin.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Generalised {
    /// Packets per turn of each channel. Default: the closest ratio of small whole numbers to the
    /// ratio of the rates (section 6.2).
    pub packets: Vec<u32>,
    /// Maximum number of packets per turn of the slowest channel in that ratio. With 1, every other
    /// rate is rounded to a multiple of the slowest. The paper gives no number; 8 is ours.
    pub slowest_packets_max: u8,
}

impl Default for Generalised {
    fn default() -> Self {
        Self { packets: Vec::new(), slowest_packets_max: 8 }
    }
}

/// Restoration of the order at the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reception {
    /// Logical reception: the receiver runs the sender's scheduler, which gives the channel of each
    /// packet; nothing is added to a packet (section 4).
    #[default]
    Logical,
    /// None: packets are delivered as they arrive.
    None,
    /// Sequence numbers of 4 bytes in packets. A packet counts as lost when every channel has
    /// carried a later one (RFC 1990, section 4.1), or after `wait`.
    SequenceNumbers,
}

/// Markers, which resynchronise the receiver after a loss.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Markers {
    /// Whether markers are sent.
    pub send: bool,
    /// Number of rounds from one set of markers to the next.
    pub every_rounds: u32,
    /// Channel before whose turn markers are sent, counted from 1.
    pub before_channel: u64,
    /// Longest time between markers, in any round, while sent packets are not accounted for. With
    /// numbers in packets, at most four markers go in a round trip, but at least one within
    /// `silence`.
    pub interval: Span,
    /// Longest interval between markers while nothing is sent; the interval grows up to it.
    pub idle_interval_max: Span,
    /// Contents of markers.
    pub tells: Tells,
}

/// Contents of markers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tells {
    /// Round and deficit of the channel's next packet (section 5).
    #[default]
    Number,
    /// The sender's current round only, as in the paper's figure 12: if the receiver expects an
    /// earlier round on the channel, it skips the channel until that round and then starts with a
    /// whole quantum. Otherwise the marker has no effect.
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

/// Reports of the receiver between markers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Reports {
    /// Longest time from a change to its report.
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
    /// How long the receiver waits for a retransmission after it detects a loss.
    pub wait: Span,
    /// Time after which a missing retransmission is requested again.
    pub again: Span,
    /// Maximum number of retransmissions of a packet; 0 disables retransmission.
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
    /// Frame that each channel must pass, with the header of a packet; other channels are
    /// taken out.
    pub base: Bytes,
    /// Time from the end of a search to the next.
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
    /// How long a packet waits for those before it. It must exceed the extra delay of reordered
    /// packets.
    pub wait: Span,
    /// Maximum number of packets held back per channel.
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
    /// Reading rate. Default: packets are read at once. A slow reader fills the receive buffers of
    /// the channels.
    pub rate: Option<Rate>,
}
