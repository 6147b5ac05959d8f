//! Plan of a run: a compiled scenario that contains only integers, ids and closed enums.

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
    /// Choice of the channel of a packet.
    pub spread: Spread,
    /// How the receiver restores the order.
    pub reception: Reception,
    /// Longest packet, in bytes.
    pub longest_bytes: u32,
    /// Sender options.
    pub sender: SenderOptions,
    /// Receiver options.
    pub receiver: ReceiverOptions,
    /// Whether markers carry only the sender's round.
    pub round_alone: bool,
    /// Whether packets carry tags with sequence numbers.
    pub tagged: bool,
    /// Options of the channels' reorder buffers.
    pub restore: Option<OrderOptions>,
    /// Times when both ends restart, ascending.
    pub resets: Vec<Time>,
    /// Queue before the sender.
    pub entry: EntryPlan,
    /// Whether the sender sees the queues of its channels.
    pub backpressure: bool,
    /// Reading rate of the application; `None` reads at once.
    pub reader: Option<Rate>,
    /// Traffic sources, indexed by id.
    pub sources: Vec<SourcePlan>,
    /// Start of the measurement window.
    pub warm_up: Time,
    /// End of the measurement window and of the sources.
    pub stop: Time,
    /// Latest end of the run.
    pub end: Time,
    /// Length of a step of the time series.
    pub step: Span,
    /// Maximum rows of the event table.
    pub events_max: usize,
    /// Maximum rows of the packet table.
    pub packets_max: usize,
    /// Percentiles of the delay.
    pub percentiles: Vec<f64>,
    /// Maximum number of steps at one instant; the run fails if it is reached.
    pub steps_max: u64,
}

/// Queue before the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryPlan {
    /// One queue that refuses packets when full.
    Fifo {
        /// Capacity, in bytes.
        limit_bytes: u64,
    },
    /// One queue per flow, each controlled by CoDel.
    FqCodel {
        /// FQ-CoDel parameters.
        plan: FqCodelPlan,
        /// Which CoDel times follow the measured round trip.
        follows: Follows,
    },
}

/// Which CoDel times are derived from the round trip of the longest channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follows {
    /// Whether the target is derived.
    pub target: bool,
    /// Whether the interval is derived.
    pub interval: bool,
}

impl EntryPlan {
    /// Capacity in bytes.
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
    /// Name in the scenario.
    pub name: String,
    /// Direction from sender to receiver.
    pub forth: Parameters,
    /// Reverse direction.
    pub back: Parameters,
    /// Quantum, in bytes per round.
    pub quantum_bytes: u32,
    /// Priority level: channels of lower levels are used first.
    pub priority: u8,
    /// Maximum sending rate.
    pub cap: Option<Rate>,
    /// Numbers of the data packets to lose, ascending, from 1.
    pub lose: Vec<u64>,
    /// Numbers of the markers to lose, ascending, from 1.
    pub lose_markers: Vec<u64>,
    /// Changes of the forward direction, in time order.
    pub changes: Vec<(Time, Change)>,
}

/// Scheduled change of a channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// New rate.
    Rate(Rate),
    /// New loss model.
    Loss(Loss),
    /// New maximum frame size, in bytes.
    Mtu(u32),
    /// New target quantum, in bytes; 0 takes the channel out of use.
    Quantum(u32),
}

/// Choice of the channel of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Spread {
    /// Surplus round robin.
    Surplus,
    /// Generalised round robin, with the packets per turn of each channel.
    Packets(Vec<u32>),
    /// A random channel.
    Randomised,
    /// The channel whose queue empties first.
    ShortestQueue,
    /// A channel chosen by a hash of the source.
    AddressHash,
}

/// How the receiver restores the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// Logical reception with markers.
    Logical,
    /// Logical reception without markers, which cannot recover from losses.
    Unmarked,
    /// No restoration: packets are delivered on arrival.
    None,
    /// Sequence numbers in packets.
    SequenceNumbers,
}

/// Plan of a traffic source.
#[derive(Clone, Debug)]
pub struct SourcePlan {
    /// Name in the scenario.
    pub name: String,
    /// Arrival process.
    pub kind: SourceKind,
    /// Packet lengths.
    pub lengths: Lengths,
    /// Traffic class, which decides how the channels are used.
    pub class: Class,
    /// Start time.
    pub start: Time,
    /// End time, exclusive.
    pub stop: Time,
}

/// Arrival process of a source.
#[derive(Clone, PartialEq, Debug)]
pub enum SourceKind {
    /// A packet is always ready to be sent.
    Backlogged,
    /// Constant rate.
    Constant(Rate),
    /// Poisson arrivals with this mean rate.
    Poisson(Rate),
    /// Constant rate during on periods.
    OnOff {
        /// Rate while on.
        rate: Rate,
        /// Mean length of an on period.
        on: Span,
        /// Mean length of an off period.
        off: Span,
    },
    /// Window-controlled transport.
    Transport {
        /// Congestion window rule.
        rule: WindowRule,
        /// Time from a delivery to its acknowledgement at the source.
        ack_delay: Span,
        /// Maximum bytes in flight.
        window_bytes: u64,
        /// Whether the transport reacts to ECN marks.
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
        /// Whether the sequence repeats.
        again: bool,
    },
    /// Packets of a list, each sent once, one per interval.
    List {
        /// Time between packets.
        interval: Span,
    },
}

/// Rule by which a congestion window grows and shrinks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowRule {
    /// Grows by one segment per round trip, and shrinks to a half after a loss (RFC 5681).
    Reno,
    /// Grows as a cubic function of time, and shrinks to seven tenths after a loss (RFC 9438).
    Cubic,
}

/// Packet lengths of a source, in bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum Lengths {
    /// These lengths in turn, repeated.
    InTurn(Vec<u32>),
    /// Random lengths, each with its cumulative probability.
    Mixture(Vec<(u32, f64)>),
    /// Uniform distribution, both bounds included.
    Uniform(u32, u32),
}

impl Lengths {
    /// Shortest packet length, in bytes.
    pub fn shortest_bytes(&self) -> u32 {
        match self {
            Self::InTurn(lengths) => lengths.iter().copied().min().unwrap_or_default(),
            Self::Mixture(parts) => parts.iter().map(|(length, _)| *length).min().unwrap_or(0),
            Self::Uniform(from, _) => *from,
        }
    }

    /// Longest packet length, in bytes.
    pub fn longest_bytes(&self) -> u32 {
        match self {
            Self::InTurn(lengths) => lengths.iter().copied().max().unwrap_or_default(),
            Self::Mixture(parts) => parts.iter().map(|(length, _)| *length).max().unwrap_or(0),
            Self::Uniform(_, to) => *to,
        }
    }
}
