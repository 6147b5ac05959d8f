//! The plan of a run: what a scenario means, in integers, ids and closed enums.

use gingham_entry::FqCodelPlan;
use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{Loss, Parameters};
use gingham_stripe::{Class, OrderOptions, ReceiverOptions, SenderOptions};

/// What a scenario means.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Root of all random streams.
    pub seed: u64,
    /// The channels, by id.
    pub links: Vec<LinkPlan>,
    /// What chooses channels.
    pub spread: Spread,
    /// How the order is found again.
    pub reception: Reception,
    /// The longest packet.
    pub longest_bytes: u32,
    /// Options of the sending end.
    pub sender: SenderOptions,
    /// Options of the receiving end.
    pub receiver: ReceiverOptions,
    /// Whether markers tell the sender's round and nothing else.
    pub round_alone: bool,
    /// Whether packets carry tags with numbers.
    pub tagged: bool,
    /// How channels that reorder are put in order, if they are.
    pub restore: Option<OrderOptions>,
    /// When both ends are started anew, in the order of time.
    pub resets: Vec<Time>,
    /// The queue before the sender.
    pub entry: EntryPlan,
    /// Whether the sender sees its channels' queues.
    pub backpressure: bool,
    /// How fast what arrives is read; at once if there is nothing here.
    pub reader: Option<Rate>,
    /// What is sent, by id.
    pub sources: Vec<SourcePlan>,
    /// The window begins.
    pub warm_up: Time,
    /// Sources stop and the window ends.
    pub stop: Time,
    /// The run ends at the latest.
    pub end: Time,
    /// Width of a step of the series.
    pub step: Span,
    /// Rows of the table of events at the most.
    pub events_max: usize,
    /// Rows of the table of packets at the most.
    pub packets_max: usize,
    /// Percentiles of the delay that are asked for.
    pub percentiles: Vec<f64>,
    /// Steps at one instant after which the run fails: simulated time stands still.
    pub steps_max: u64,
}

/// The queue before the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryPlan {
    /// One queue; what finds no room is refused.
    Fifo {
        /// What waits at the most.
        limit_bytes: u64,
    },
    /// A queue for each flow.
    FqCodel {
        /// Its parameters.
        plan: FqCodelPlan,
        /// The times that are derived from the round trip of the longest channel.
        follows: Follows,
    },
}

/// Times of CoDel that are derived from the round trip of the longest channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follows {
    /// Whether the target is derived.
    pub target: bool,
    /// Whether the interval is derived.
    pub interval: bool,
}

impl EntryPlan {
    /// What waits at the most.
    pub const fn limit_bytes(&self) -> u64 {
        match self {
            Self::Fifo { limit_bytes } => *limit_bytes,
            Self::FqCodel { plan, .. } => plan.limit_bytes,
        }
    }
}

/// A channel.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Its name.
    pub name: String,
    /// The way forth.
    pub forth: Parameters,
    /// The way back.
    pub back: Parameters,
    /// What it may send in a round.
    pub quantum_bytes: u32,
    /// Packets go on channels of 0 before those of 1.
    pub priority: u8,
    /// What the sender sends on it at most.
    pub cap: Option<Rate>,
    /// Numbers of packets of data that are lost, ascending, from 1.
    pub lose: Vec<u64>,
    /// Numbers of markers that are lost, likewise.
    pub lose_markers: Vec<u64>,
    /// What changes on the way forth, in the order of time.
    pub changes: Vec<(Time, Change)>,
}

/// What changes on a channel while a run goes on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// Its rate.
    Rate(Rate),
    /// What it loses.
    Loss(Loss),
    /// The longest frame that crosses.
    Mtu(u32),
    /// The quantum that it is to have; 0 where it is to go out.
    Quantum(u32),
}

/// What chooses channels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Spread {
    /// Surplus round robin, with the quanta of the channels.
    Surplus,
    /// So many packets a turn.
    Packets(Vec<u32>),
    /// Draws.
    Randomised,
    /// The channel whose queue is emptied first.
    ShortestQueue,
    /// The channel that the source hashes to.
    AddressHash,
}

/// How the order is found again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// By the whole protocol.
    Logical,
    /// By the sender's scheduler alone: without markers, so that nothing is put right.
    Unmarked,
    /// Not at all.
    None,
    /// By numbers that packets carry.
    SequenceNumbers,
}

/// A source.
#[derive(Clone, Debug)]
pub struct SourcePlan {
    /// Its name.
    pub name: String,
    /// When it sends.
    pub kind: SourceKind,
    /// How long its packets are.
    pub lengths: Lengths,
    /// How they go over the channels.
    pub class: Class,
    /// Its first instant.
    pub start: Time,
    /// The first instant at which it sends nothing more.
    pub stop: Time,
}

/// When a source sends.
#[derive(Clone, PartialEq, Debug)]
pub enum SourceKind {
    /// Always.
    Backlogged,
    /// At a rate.
    Constant(Rate),
    /// At a rate in the mean.
    Poisson(Rate),
    /// At a rate while it is on.
    OnOff {
        /// The rate.
        rate: Rate,
        /// Mean length of an on period.
        on: Span,
        /// Mean length of an off period.
        off: Span,
    },
    /// As the network lets it.
    Transport {
        /// How its window grows and shrinks.
        rule: WindowRule,
        /// From a delivery to its acknowledgement at the source.
        ack_delay: Span,
        /// Bytes under way at the most.
        window_bytes: u64,
        /// Whether it reads marks.
        ecn: bool,
    },
    /// A frame an interval.
    Frames {
        /// The length of each.
        lengths: Vec<u64>,
        /// From one to the next.
        interval: Span,
        /// The longest packet of a frame.
        packet_bytes: u32,
        /// Whether the film is repeated when it ends.
        again: bool,
    },
    /// The packets that its lengths give in one turn, once.
    List {
        /// From one to the next.
        interval: Span,
    },
}

/// How the window of a transport grows and shrinks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowRule {
    /// By a segment a round trip, and to a half (RFC 5681).
    Reno,
    /// By a cubic function of time, and to seven tenths (RFC 9438).
    Cubic,
}

/// How long packets are.
#[derive(Clone, PartialEq, Debug)]
pub enum Lengths {
    /// These one after the other.
    InTurn(Vec<u32>),
    /// Drawn among these, each with the sum of its weight and those before it as a part of 1.
    Mixture(Vec<(u32, f64)>),
    /// Drawn between these, both included.
    Uniform(u32, u32),
}

impl Lengths {
    /// Length of the shortest packet.
    pub fn shortest_bytes(&self) -> u32 {
        match self {
            Self::InTurn(lengths) => lengths.iter().copied().min().unwrap_or_default(),
            Self::Mixture(parts) => parts.iter().map(|(length, _)| *length).min().unwrap_or(0),
            Self::Uniform(from, _) => *from,
        }
    }

    /// The longest.
    pub fn longest_bytes(&self) -> u32 {
        match self {
            Self::InTurn(lengths) => lengths.iter().copied().max().unwrap_or_default(),
            Self::Mixture(parts) => parts.iter().map(|(length, _)| *length).max().unwrap_or(0),
            Self::Uniform(_, to) => *to,
        }
    }
}
