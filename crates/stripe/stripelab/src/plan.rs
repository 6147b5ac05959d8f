//! Plan of a run: a scenario compiled to integers, ids and enums.

use gingham_entry::FqCodelPlan;
use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{Loss, Parameters};
use gingham_stripe::{Class, OrderOptions, ReceiverOptions, SenderOptions};

/// Plan of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Root seed of all random streams.
    pub seed: u64,
    /// Channels, indexed by id.
    pub links: Vec<LinkPlan>,
    /// Channel selection.
    pub spread: Spread,
    /// Receiver's method of restoring the order.
    pub reception: Reception,
    /// Longest packet, in bytes.
    pub longest_bytes: u32,
    /// Protocol options of the sender.
    pub sender: SenderOptions,
    /// Protocol options of the receiver.
    pub receiver: ReceiverOptions,
    /// Whether markers carry only the sender's round.
    pub round_alone: bool,
    /// Whether packets carry tags with sequence numbers.
    pub tagged: bool,
    /// Options of the channels' reorder buffers; `None` without them.
    pub restore: Option<OrderOptions>,
    /// Times when both ends restart, in time order.
    pub resets: Vec<Time>,
    /// Entry queue, before the sender.
    pub entry: EntryPlan,
    /// Whether the sender sees its channels' queues and waits for space.
    pub backpressure: bool,
    /// Reading rate of the application; `None` if unlimited.
    pub reader: Option<Rate>,
    /// Traffic sources, indexed by id.
    pub sources: Vec<SourcePlan>,
    /// Start of the measurement window.
    pub warm_up: Time,
    /// End of the measurement window, when sources stop.
    pub stop: Time,
    /// Latest end of the run.
    pub end: Time,
    /// Step length of the time series.
    pub step: Span,
    /// Maximum rows of the event table.
    pub events_max: usize,
    /// Maximum rows of the packet table.
    pub packets_max: usize,
    /// Requested percentiles of the delay, in %.
    pub percentiles: Vec<f64>,
    /// Maximum number of steps at one simulated time; the run fails when it is reached.
    pub steps_max: u64,
}

/// Entry queue, before the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryPlan {
    /// Single queue that refuses packets when full.
    Fifo {
        /// Capacity in bytes.
        limit_bytes: u64,
    },
    /// One CoDel queue per flow.
    FqCodel {
        /// FQ-CoDel parameters.
        plan: FqCodelPlan,
        /// CoDel times that follow the measured round-trip time.
        follows: Follows,
    },
}

/// CoDel times that are derived from the longest round-trip time of the channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follows {
    /// Whether the CoDel target is derived.
    pub target: bool,
    /// Whether the CoDel interval is derived.
    pub interval: bool,
}

impl EntryPlan {
    /// Returns the capacity in bytes.
    pub const fn limit_bytes(&self) -> u64 {
        match self {
            Self::Fifo { limit_bytes } => *limit_bytes,
            Self::FqCodel { plan, .. } => plan.limit_bytes,
        }
    }
}

/// Plan of a channel.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Channel name in the scenario.
    pub name: String,
    /// Path from sender to receiver.
    pub forth: Parameters,
    /// Reverse path.
    pub back: Parameters,
    /// Quantum in bytes per round.
    pub quantum_bytes: u32,
    /// Priority level; channels with lower levels are used first.
    pub priority: u8,
    /// Maximum sending rate; `None` if the scenario sets no maximum.
    pub cap: Option<Rate>,
    /// Numbers of the data packets to lose, ascending; packets are numbered per channel, from 1.
    pub lose: Vec<u64>,
    /// Numbers of the markers and other messages to lose, ascending; messages are numbered per
    /// channel, from 1.
    pub lose_markers: Vec<u64>,
    /// Changes of the channel, in time order.
    pub changes: Vec<(Time, Change)>,
}

/// Scheduled change of a channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// New rate.
    Rate(Rate),
    /// New loss model.
    Loss(Loss),
    /// New MTU, in bytes.
    Mtu(u32),
    /// New target quantum in bytes; 0 removes the channel from use.
    Quantum(u32),
}

/// Channel selection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Spread {
    /// Surplus round robin.
    Surplus,
    /// Generalised round robin, with the packets per turn of each channel.
    Packets(Vec<u32>),
    /// Random channel.
    Randomised,
    /// Channel whose queue empties first.
    ShortestQueue,
    /// Channel given by a hash of the source.
    AddressHash,
}

/// Receiver's method of restoring the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// Logical reception with markers (Adiseshu et al. 1996).
    Logical,
    /// Logical reception without markers, which cannot recover from losses.
    Unmarked,
    /// None: packets are delivered on arrival.
    None,
    /// Sequence numbers in packets.
    SequenceNumbers,
}

/// Plan of a traffic source.
#[derive(Clone, Debug)]
pub struct SourcePlan {
    /// Source name in the scenario.
    pub name: String,
    /// Arrival process.
    pub kind: SourceKind,
    /// Packet lengths.
    pub lengths: Lengths,
    /// Traffic class, which determines the use of the channels.
    pub class: Class,
    /// Start time.
    pub start: Time,
    /// End time, exclusive.
    pub stop: Time,
}

/// Arrival process of a source.
#[derive(Clone, PartialEq, Debug)]
pub enum SourceKind {
    /// Source that always has a packet ready.
    Backlogged,
    /// Constant rate.
    Constant(Rate),
    /// Poisson arrivals with this mean rate.
    Poisson(Rate),
    /// Constant rate during on-periods.
    OnOff {
        /// Rate during on-periods.
        rate: Rate,
        /// Mean length of an on-period.
        on: Span,
        /// Mean length of an off-period.
        off: Span,
    },
    /// Window-controlled transport.
    Transport {
        /// Rule for the congestion window.
        rule: WindowRule,
        /// Time from a delivery to its acknowledgement at the source.
        ack_delay: Span,
        /// Receive window in bytes.
        window_bytes: u64,
        /// Whether the transport supports ECN.
        ecn: bool,
    },
    /// One frame per interval.
    Frames {
        /// Frame lengths, in bytes.
        lengths: Vec<u64>,
        /// Time between frames.
        interval: Span,
        /// Longest packet of a frame, in bytes.
        packet_bytes: u32,
        /// Whether the sequence repeats after its end.
        again: bool,
    },
    /// List of packets, sent once at a constant interval.
    List {
        /// Time between packets.
        interval: Span,
    },
}

/// Growth and reduction of a congestion window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowRule {
    /// Growth by one segment per round trip, and a reduction to one half after a loss (RFC 5681).
    Reno,
    /// Growth as a cubic function of time, and a reduction to 70 % after a loss (RFC 9438).
    Cubic,
}

/// Packet lengths of a source, in bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum Lengths {
    /// Fixed sequence of lengths, repeated.
    InTurn(Vec<u32>),
    /// Random lengths, each with its cumulative probability.
    Mixture(Vec<(u32, f64)>),
    /// Uniform distribution between two lengths, inclusive.
    Uniform(u32, u32),
}

impl Lengths {
    /// Returns the shortest packet length, in bytes.
    pub fn shortest_bytes(&self) -> u32 {
        match self {
            Self::InTurn(lengths) => lengths.iter().copied().min().unwrap_or_default(),
            Self::Mixture(parts) => parts.iter().map(|(length, _)| *length).min().unwrap_or(0),
            Self::Uniform(from, _) => *from,
        }
    }

    /// Returns the longest packet length, in bytes.
    pub fn longest_bytes(&self) -> u32 {
        match self {
            Self::InTurn(lengths) => lengths.iter().copied().max().unwrap_or_default(),
            Self::Mixture(parts) => parts.iter().map(|(length, _)| *length).max().unwrap_or(0),
            Self::Uniform(_, to) => *to,
        }
    }
}
