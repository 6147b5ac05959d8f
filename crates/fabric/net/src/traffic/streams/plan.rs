//! Parameters of streams.

use crate::traffic::ticks::whole_ps;
use crate::traffic::{LaterPlan, PeriodPlan};
use gingham_kernel::Span;
use gingham_topology::EndpointId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Parameters of one stream.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamPlan {
    /// Destination endpoint.
    pub destination: EndpointId,
    /// Index of the stream among those of its host and class, also part of the names of its random
    /// number streams.
    pub number: u32,
    /// Traffic, shared by all streams of a class.
    pub data: Arc<DataPlan>,
    /// Delay of the start after the start of the class.
    pub later: LaterPlan,
    /// Lifetime; `None` if the stream sends as long as its class.
    pub lifetime: Option<Span>,
    /// Requested rate as a multiple of the mean rate.
    pub solicits: f64,
    /// Probability that the application crashes at a random time: it then stops sending, without
    /// marking a last message.
    pub crashes: f64,
}

impl StreamPlan {
    /// Returns the requested payload rate.
    pub fn solicited_bytes_per_ps(&self) -> f64 {
        self.solicits * self.data.bytes_per_ps()
    }

    /// Returns the requested rate in bytes per second, rounded up.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is beyond all rates saturates, and is refused"
    )]
    pub fn solicited_bytes_per_s(&self) -> u64 {
        // Ignores rounding errors just above a whole number.
        libm::ceil(self.solicited_bytes_per_ps() * 1e12 * (1.0 - 1e-12)) as u64
    }
}

/// Traffic of a stream.
#[derive(Clone, PartialEq, Debug)]
pub enum DataPlan {
    /// Frames, one after another.
    Frames(FramePlan),
    /// Messages sent only in on-periods.
    OnOff(OnOffStream),
}

/// Frames of a stream.
#[derive(Clone, PartialEq, Debug)]
pub struct FramePlan {
    /// Sizes of the frames.
    pub sizes: FrameSizes,
    /// Time between frame starts, not zero.
    pub interval: Span,
    /// Maximum payload of a message, not zero.
    pub message_bytes: u32,
    /// Creation times of a frame's messages.
    pub spread: Spread,
    /// Measurement of frame deadlines.
    pub deadlines: DeadlinePlan,
}

/// Sizes of frames.
#[derive(Clone, PartialEq, Debug)]
pub enum FrameSizes {
    /// Frames of a trace in order, with wrap-around.
    Trace {
        /// Sizes in bytes, at least 1 each; not empty.
        bytes: Arc<[u32]>,
        /// First frame of the stream.
        first: FirstFrame,
    },
    /// Normally distributed sizes, rounded to whole bytes, at least 1 B.
    Normal {
        /// Mean in bytes.
        mean: f64,
        /// Standard deviation in bytes.
        deviation: f64,
    },
}

/// First frame of a stream in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstFrame {
    /// Random frame for each stream.
    Drawn,
    /// Frame with this index, from 0.
    At(usize),
}

/// Creation times of a frame's messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// All messages at the start of the frame.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 5.2 (our reading)"))]
    AtOnce,
    /// Messages evenly spaced over the frame interval, the first at its start.
    #[schemars(extend("x-source" = "Yum, Kim and Das 2000 (MediaWorm)"))]
    Even,
}

/// Messages sent only in on-periods.
#[derive(Clone, PartialEq, Debug)]
pub struct OnOffStream {
    /// On- and off-periods.
    pub periods: PeriodPlan,
    /// Time between messages in an on-period.
    pub interval_ps: f64,
    /// Payload of each message.
    pub message_bytes: u32,
}

/// Measurement of frame deadlines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeadlinePlan {
    /// Number of initial frames of each stream that are not counted.
    pub warm_up_frames: u32,
    /// Permitted lateness relative to a fixed clock.
    pub slack: Span,
}

impl DataPlan {
    /// Returns the message payload; the last message of a frame may be shorter.
    pub fn message_bytes(&self) -> u32 {
        match self {
            Self::Frames(frames) => frames.message_bytes,
            Self::OnOff(bursts) => bursts.message_bytes,
        }
    }

    /// Returns the usual time without messages: the frame interval if a frame's messages are sent
    /// at once, the mean message interval if they are spread or, without frames, the mean
    /// off-period.
    pub fn silence(&self) -> Span {
        match self {
            Self::Frames(frames) if frames.spread == Spread::AtOnce => frames.interval,
            Self::Frames(_) => Span::from_ps(whole_ps(1.0 / self.messages_per_ps())),
            Self::OnOff(bursts) => bursts.periods.off_mean,
        }
    }

    /// Returns the mean payload rate.
    pub fn bytes_per_ps(&self) -> f64 {
        match self {
            Self::Frames(frames) => frames.sizes.mean_bytes() / real_ps(frames.interval),
            Self::OnOff(OnOffStream { periods, interval_ps, message_bytes }) => {
                f64::from(*message_bytes) / interval_ps * periods.share_on()
            }
        }
    }

    /// Returns the mean number of messages per ps. For random sizes, every frame counts as a frame
    /// of mean size.
    pub fn messages_per_ps(&self) -> f64 {
        match self {
            Self::Frames(frames) => {
                let of = |bytes: f64| libm::ceil(bytes / f64::from(frames.message_bytes));
                let mean = match &frames.sizes {
                    FrameSizes::Trace { bytes, .. } => mean_of(bytes, |bytes| of(f64::from(bytes))),
                    FrameSizes::Normal { .. } => of(frames.sizes.mean_bytes()),
                };
                mean / real_ps(frames.interval)
            }
            Self::OnOff(of) => of.periods.share_on() / of.interval_ps,
        }
    }

    /// Returns the range of possible message payloads.
    pub fn payload_bytes(&self) -> RangeInclusive<u32> {
        match self {
            Self::OnOff(of) => of.message_bytes..=of.message_bytes,
            Self::Frames(FramePlan { sizes: FrameSizes::Normal { .. }, message_bytes, .. }) => {
                1..=*message_bytes
            }
            Self::Frames(FramePlan {
                sizes: FrameSizes::Trace { bytes, .. },
                message_bytes,
                ..
            }) => {
                let left = |bytes: &u32| (bytes - 1) % message_bytes + 1;
                let shortest = bytes.iter().map(left).min().expect("a trace has frames");
                let longest = bytes.iter().max().expect("a trace has frames");
                shortest..=*longest.min(message_bytes)
            }
        }
    }

    /// Returns the frame parameters; `None` for a stream without frames.
    pub fn frames(&self) -> Option<&FramePlan> {
        match self {
            Self::Frames(frames) => Some(frames),
            Self::OnOff(_) => None,
        }
    }
}

impl FrameSizes {
    /// Returns the mean size in bytes.
    pub fn mean_bytes(&self) -> f64 {
        match self {
            Self::Trace { bytes, .. } => mean_of(bytes, f64::from),
            Self::Normal { mean, deviation } => at_least_one(*mean, *deviation),
        }
    }
}

/// Returns the mean of a normal distribution whose values below 1 are replaced by 1.
fn at_least_one(mean: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return mean.max(1.0);
    }
    let low = (1.0 - mean) / deviation;
    let below = libm::erfc(-low / std::f64::consts::SQRT_2) / 2.0;
    let density = libm::exp(-low * low / 2.0) / libm::sqrt(2.0 * std::f64::consts::PI);
    below + mean * (1.0 - below) + deviation * density
}

#[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
fn mean_of(bytes: &[u32], of: impl Fn(u32) -> f64) -> f64 {
    bytes.iter().map(|bytes| of(*bytes)).sum::<f64>() / bytes.len() as f64
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs few digits")]
fn real_ps(span: Span) -> f64 {
    span.as_ps() as f64
}
