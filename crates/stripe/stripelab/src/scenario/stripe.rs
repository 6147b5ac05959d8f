//! How packets are spread and put in order again, as a scenario writes it.

use super::control::{Control, Order};
use gingham_kernel::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How packets are striped over the channels and put in order again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stripe {
    /// What chooses the channel of a packet.
    pub scheduler: Scheduler,
    /// How the channel of a packet is chosen. Default: "free", or "strict" where the scenario uses
    /// what only that has: `scheduler`, `quanta` or quanta of channels, `reception`, turns of
    /// `markers`, `window`, `guaranteed`.
    pub order: Option<Order>,
    /// The congestion controller, which says how much may be in flight. It applies with `window`,
    /// with quanta that follow, and where the order is free.
    pub control: Control,
    /// How the receiver restores the order.
    pub reception: Reception,
    /// The longest packet that may be sent; no quantum may be below it.
    pub longest_packet: Bytes,
    /// Markers, which resynchronise the receiver after a loss.
    pub markers: Markers,
    /// Whether quanta stay as given, or follow the rates that windows find.
    pub quanta: Quanta,
    /// Whether `control` bounds what is in flight on each channel; where quanta follow or the order
    /// is free it does so in any case.
    pub window: bool,
    /// A channel is out if the sender hears nothing of it for this long although markers go on it,
    /// until it answers again. With "0 s" none ever is out. Credits and windows refuse that, since
    /// they wait for what is heard.
    pub silence: Span,
    /// Whether a packet goes only where the receiver has granted room, so that no buffer of the
    /// receiver overflows (section 6.3; Kung and Chapman 1993).
    pub credits: bool,
    /// Reports of the receiver between markers, which credits need. By default credits and windows
    /// have them, with the defaults.
    pub reports: Option<Reports>,
    /// Whether each packet carries a tag of 12 bytes with sequence numbers that confirm what the
    /// receiver expects. Packets are then never out of order, whatever is lost. Where the order is
    /// free they always carry it.
    pub guaranteed: bool,
    /// Retransmission of lost packets, with these parameters. The order must be guaranteed. Default:
    /// enabled in free order with default parameters, as in the daemon; disabled in strict order.
    pub repair: Option<Repair>,
    /// How the longest frame of each channel is found by probes (RFC 8899). By default the sender
    /// assumes that each passes the longest packet. What fits no channel is dropped before the
    /// sender.
    pub sizes: Option<Sizes>,
    /// For channels that reorder: each is put in order by the numbers of the tags before the
    /// receiver sees it. The order must be guaranteed. Default: in free order, packets wait on
    /// a channel only after it has reordered packets, as in the daemon.
    pub restore: Option<Restore>,
    /// Instants at which the sender resets both ends, as after a crash.
    pub resets: Vec<Span>,
    /// Memory of the receiver for all channels together; more is discarded. A packet counts its
    /// bytes and 112 for its slot. Half is divided among the channels, and among retransmissions
    /// where there are any.
    pub buffer: Bytes,
    /// Instead, this many packets of all channels together. Memory and credits then count packets,
    /// like the cells of section 6.3.
    pub buffer_packets: Option<u64>,
    /// How long the receiver waits for a channel that is silent while others have packets. It must
    /// exceed the skew: what the channels differ by in delay, jitter and queues. Twice that is
    /// ample.
    pub wait: Span,
    /// Whether the sender sees the queues of its channels, like those of its own network
    /// interfaces, and waits for room. Otherwise what finds a queue full is lost. Default: it does,
    /// unless it has windows, which are for queues that it cannot see.
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
            quanta: Quanta::Told,
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

/// Where quanta come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quanta {
    /// From the scenario: those of the channels, or in the ratio of their rates.
    #[default]
    Told,
    /// From what reports tell of the channels. At the start each channel has its own quantum, if it
    /// is given one, or the longest packet.
    Follow,
}

/// What chooses the channel of a packet.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// A quantum of bytes a turn, overdrawn by the last packet and paid back in the next round:
    /// fair in bytes whatever the lengths (Adiseshu, Parulkar and Varghese 1996, section 3.5).
    #[default]
    SurplusRoundRobin,
    /// So many packets a turn, whatever their length (section 6.2).
    GeneralisedRoundRobin(Generalised),
    /// A packet a turn.
    RoundRobin,
    /// A channel drawn for each packet, by a generator that the receiver could run as well (section
    /// 3.4).
    Randomised,
    /// The channel whose queue is emptied first. Not causal, so it has no logical reception.
    ShortestQueue,
    /// The channel that the packet's source hashes to, so that each source keeps its order and none
    /// is faster than a channel. Not causal.
    AddressHash,
}

/// Parameters of generalised round robin.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Generalised {
    /// Packets a turn of each channel. Default: the closest ratio of small whole numbers to that of
    /// the rates (section 6.2).
    pub packets: Vec<u32>,
    /// Most packets a turn of the slowest channel in that ratio. With 1 every other rate counts as
    /// a multiple of the slowest. The paper does not say how many; 8 is ours.
    pub slowest_packets_max: u8,
}

impl Default for Generalised {
    fn default() -> Self {
        Self { packets: Vec::new(), slowest_packets_max: 8 }
    }
}

/// How the receiver restores the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reception {
    /// The receiver runs the sender's scheduler and reads each packet from the channel on which it
    /// must come; nothing is added to a packet (section 4).
    #[default]
    Logical,
    /// Packets are delivered as they arrive.
    None,
    /// Each packet carries a sequence number of 4 bytes, and the receiver sorts; a packet is taken
    /// for lost when every channel has shown a later one (RFC 1990, section 4.1), or after the
    /// wait.
    SequenceNumbers,
}

/// Markers, which resynchronise the receiver after a loss.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Markers {
    /// Whether any are sent.
    pub send: bool,
    /// They go in one round out of this many.
    pub every_rounds: u32,
    /// They go before the turn of this channel, counted from 1.
    pub before_channel: u64,
    /// Longest time between markers, whatever the rounds, while anything sent is not accounted for.
    /// Where packets have numbers, at most four go in a round trip, but one within `silence`.
    pub interval: Span,
    /// While nothing is sent they become less frequent; this is the longest interval.
    pub idle_interval_max: Span,
    /// What they tell of a channel.
    pub tells: Tells,
}

/// What a marker says of its channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tells {
    /// Round and deficit of the channel's next packet (section 5).
    #[default]
    Number,
    /// The round that the sender is in, and nothing else, as in the paper's figure 12: a channel on
    /// which the receiver expects an earlier round is skipped until that one, which it then begins
    /// with a whole quantum; otherwise nothing follows from the marker.
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
    /// Longest time after a change.
    pub interval: Span,
}

impl Default for Reports {
    fn default() -> Self {
        Self { interval: Span::from_ps(5 * MS) }
    }
}

/// How lost packets are sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Repair {
    /// How long the receiver waits for a retransmission after it knows of a loss.
    pub wait: Span,
    /// What does not arrive is requested again after this time.
    pub again: Span,
    /// Maximum number of retransmissions of a packet; 0 disables retransmission.
    pub tries: u8,
    /// Size of the retransmission buffer: the last packets of each channel that are kept.
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

/// How the longest frame of each channel is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sizes {
    /// The frame that each channel must pass, with the header of a packet; one that does not is
    /// out.
    pub base: Bytes,
    /// Time from the end of a search to the next.
    pub raise: Span,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { base: Bytes(1_200), raise: Span::from_ps(600_000 * MS) }
    }
}

/// How a channel that reorders is put in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Restore {
    /// How long a packet waits for those before it. It must exceed the time for which the channel
    /// delays a packet.
    pub wait: Span,
    /// Most packets of a channel that are held back.
    pub packets: u64,
}

impl Default for Restore {
    fn default() -> Self {
        Self { wait: Span::from_ps(20 * MS), packets: 256 }
    }
}

/// Who reads what arrives.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Receiver {
    /// Its reading rate. By default it reads at once. A slow reader fills the buffers of the
    /// channels.
    pub rate: Option<Rate>,
}
