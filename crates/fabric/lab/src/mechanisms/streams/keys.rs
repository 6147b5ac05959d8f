//! Scenario keys of streams.

use gingham_kernel::{Bytes, FileName, Rate, Span};
use gingham_net::accept_bare_names;
use gingham_net::traffic::Spread;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Streams; a host may send many. Each stream is a separate flow with one source and one
/// destination, and sends a sequence of frames or bursts.
///
/// ```text
///   load x link rate / mean rate of a stream ─► streams per host ─placement─► destination of each stream
///   frame ─── interval ─── frame ─── interval ─── ...          a frame is cut into messages
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// Data that a stream sends.
    pub data: StreamData,
    /// Number of streams of each host or pair, from 1 to 1,000,000. Default: `load` x link rate /
    /// mean rate of a stream, rounded; for pairs without `load`: 1. Set either `count` or `load`.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: Option<i64>,
    /// How destinations are assigned to streams.
    #[serde(default)]
    pub placement: Placement,
    /// Time from a frame of a stream to the next frame. Default: 1/30 s.
    pub interval: Option<Span>,
    /// Payload of a message. A frame is cut into messages of this payload, and the last message
    /// carries the remainder. Default: 40 flits of 128 bits (Yum et al. 2002, section 6.1).
    #[serde(default = "default_message")]
    pub message: Bytes,
    /// When the messages of a frame are created: all at the start of the frame, or evenly over its
    /// interval. Default: all at the start.
    pub spread: Option<Spread>,
    /// Time from the start of the class to the start of each stream. Default: drawn for each
    /// stream, less than the interval between frames. On-off streams start partway through a
    /// period.
    pub start: Option<Span>,
    /// Lifetime of each stream. A stream sends the frames whose intervals end within its lifetime.
    /// Default: until the class stops.
    pub lifetime: Option<Span>,
    /// Whether a stream requests admission before it sends, if admission control is on
    /// (`network.admission`).
    #[serde(default = "yes")]
    pub admission: bool,
    /// Rate that a stream requests from admission control, as a multiple of its mean rate; above 0.
    #[serde(default = "one")]
    pub solicits: f64,
    /// Fraction of streams whose application crashes, from 0 to 1, each at a random time of the
    /// stream's lifetime. A crashed stream stops sending and does not release its reservation.
    #[serde(default)]
    pub crashes: f64,
    /// How frames are compared with their deadlines. Not allowed for bursts.
    pub deadline: Option<Deadline>,
    /// Maximum memory of all streams of the class; scenarios that need more are refused.
    #[serde(default = "default_memory_max")]
    pub memory_max: Bytes,
}

impl Streams {
    pub(crate) fn interval(&self) -> Span {
        self.interval.unwrap_or(INTERVAL)
    }
}

/// 1/30 s, in whole picoseconds.
const INTERVAL: Span = Span::from_ps(33_333_333_333);

/// Data that a stream sends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum StreamData {
    /// Frames listed in a file, in order, repeated from the beginning. A line gives the size in
    /// bytes; or display index, time, type (`I`, `P` or `B`) and size, with frames in order of
    /// transmission. The path is relative to the scenario; gzip and xz are supported.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 6.2 (a film)"))]
    #[schemars(extend("x-example" = r#"{ trace = { file = "frames.txt" } }"#))]
    Trace(Trace),
    /// Synthetic MPEG-2 video: normally distributed frame sizes, at least 1 B each.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 5.2 (4 Mbit/s, 30 frames/s); deviation: Yum, Kim and Das 2000 (MediaWorm)"))]
    #[schemars(extend("x-example" = r#"{ mpeg2 = { mean = "640 B", deviation = "128 B" } }"#))]
    Mpeg2(Mpeg2),
    /// Bursts without frames: evenly spaced messages in on-periods, no messages in off-periods.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 5.2; periods: ours"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
streams = { data = { on-off = { rate = "8 MB/s", on = "20 us", off = "20 us" } }, message = "64 B", count = 2 }"#))]
    OnOff(OnOffData),
}

/// Parameters of `trace`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// File with the frame sizes.
    pub file: FileName,
    /// Index of the first frame of every stream, counted from 0. Default: drawn for each stream.
    #[schemars(range(min = 0))]
    pub first: Option<i64>,
}

/// Parameters of `mpeg2`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mpeg2 {
    /// Mean size of a frame. Default: 4 Mbit/s at 30 frames per second.
    pub mean: Bytes,
    /// Standard deviation of the frame size. Default: a fifth of the mean.
    pub deviation: Bytes,
}

impl Default for Mpeg2 {
    fn default() -> Self {
        Self { mean: Bytes(16_666), deviation: Bytes(3_333) }
    }
}

/// Parameters of `on-off`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OnOffData {
    /// Mean payload rate, over on-periods and off-periods.
    pub rate: Rate,
    /// Mean length of an on-period. Default: 1/30 s.
    pub on: Span,
    /// Mean length of an off-period. Default: 1/30 s.
    pub off: Span,
    /// Tail index of the Pareto distribution of period lengths, above 1. By default periods have an
    /// exponential distribution.
    pub shape: Option<f64>,
}

impl Default for OnOffData {
    fn default() -> Self {
        let rate = Rate::from_bytes_per_second(500_000);
        Self { rate, on: INTERVAL, off: INTERVAL, shape: None }
    }
}

/// How destinations are assigned to streams.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Evenly: if all hosts send the same number of streams, they also receive the same number. The
    /// streams of each host go to all other hosts in rotation, in a random order.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    Even,
    /// Uniformly at random: each stream goes to a random other host.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 6.2"))]
    Random,
    /// Between the hosts of listed pairs, such as `h0 -> h5`. A pair may be listed twice. Not
    /// allowed with `hosts` or `load`.
    #[schemars(extend("x-source" = "ours"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
streams = { data = { mpeg2 = { mean = "640 B", deviation = "0 B" } }, interval = "20 us", placement = { pairs = ["h0-0-0 -> h1-0-0"] } }"#))]
    Pairs(Vec<String>),
}

/// How frames are compared with their deadlines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Deadline {
    /// Number of frames at the start of each stream that are not counted, from 0 to 1,000,000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub warm_up_frames: i64,
    /// Time that a frame may be later than the fixed clock without a miss. The clock starts at the
    /// arrival of the first frame, and advances by one interval for each later frame.
    pub slack: Span,
}

impl Default for Deadline {
    fn default() -> Self {
        Self { warm_up_frames: 100, slack: Span::ZERO }
    }
}

const fn default_message() -> Bytes {
    Bytes(640)
}

const fn yes() -> bool {
    true
}

const fn one() -> f64 {
    1.0
}

const fn default_memory_max() -> Bytes {
    Bytes(1_000_000_000)
}
