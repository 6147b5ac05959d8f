//! What a stream sends, as plans say it.

use crate::traffic::ticks::whole_ps;
use crate::traffic::{LaterPlan, PeriodPlan};
use gingham_kernel::Span;
use gingham_topology::EndpointId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// One stream.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamPlan {
    /// Where it goes.
    pub destination: EndpointId,
    /// Its number among those of its host in its class, by which its random streams are called.
    pub number: u32,
    /// What it sends, the same for all streams of a class.
    pub data: Arc<DataPlan>,
    /// How much later than its class it starts.
    pub later: LaterPlan,
    /// How long it lasts; as long as its class sends if not given.
    pub lifetime: Option<Span>,
    /// The rate that it solicits, as a multiple of its mean rate.
    pub solicits: f64,
    /// How likely its application is to crash: it sends no more from an instant within its time on, and
    /// does not say that it was the last.
    pub crashes: f64,
}

impl StreamPlan {
    /// The rate that it solicits, in bytes of payload a picosecond.
    pub fn solicited_bytes_per_ps(&self) -> f64 {
        self.solicits * self.data.bytes_per_ps()
    }

    /// The same in whole bytes a second, rounded up.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is beyond all rates saturates, and is refused"
    )]
    pub fn solicited_bytes_per_s(&self) -> u64 {
        // A whole number but for the last digits is that number.
        libm::ceil(self.solicited_bytes_per_ps() * 1e12 * (1.0 - 1e-12)) as u64
    }
}

/// What a stream sends.
#[derive(Clone, PartialEq, Debug)]
pub enum DataPlan {
    /// Frame after frame.
    Frames(FramePlan),
    /// Messages within on periods.
    OnOff(OnOffStream),
}

/// Frames of a stream.
#[derive(Clone, PartialEq, Debug)]
pub struct FramePlan {
    /// How large they are.
    pub sizes: FrameSizes,
    /// From one to the next, not zero.
    pub interval: Span,
    /// The most payload of a message, not zero.
    pub message_bytes: u32,
    /// When the messages of a frame are created.
    pub spread: Spread,
    /// What of their delivery is measured.
    pub deadlines: DeadlinePlan,
}

/// How large frames are.
#[derive(Clone, PartialEq, Debug)]
pub enum FrameSizes {
    /// Those of a trace in turn, from a first one on and from the beginning again.
    Trace {
        /// In bytes, at least 1 each; not empty.
        bytes: Arc<[u32]>,
        /// Where a stream begins.
        first: FirstFrame,
    },
    /// Drawn from a normal law, rounded, and 1 B where that is less.
    Normal {
        /// Mean in bytes.
        mean: f64,
        /// Standard deviation in bytes.
        deviation: f64,
    },
}

/// Where in a trace a stream begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstFrame {
    /// At a frame drawn by each stream.
    Drawn,
    /// At this one, from 0.
    At(usize),
}

/// When the messages of a frame are created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// All as the frame begins.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 5.2 (our reading)"))]
    AtOnce,
    /// Evenly over the frame's interval, the first as it begins.
    #[schemars(extend("x-source" = "Yum, Kim and Das 2000 (MediaWorm)"))]
    Even,
}

/// Messages within on periods.
#[derive(Clone, PartialEq, Debug)]
pub struct OnOffStream {
    /// The periods.
    pub periods: PeriodPlan,
    /// From one message to the next within an on period, in picoseconds.
    pub interval_ps: f64,
    /// Payload of each.
    pub message_bytes: u32,
}

/// What is measured of frames against their deadlines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeadlinePlan {
    /// The first frames of each stream that are not counted.
    pub warm_up_frames: u32,
    /// By how much a frame may be later than a fixed clock says.
    pub slack: Span,
}

impl DataPlan {
    /// Payload of its messages, but for the last one of a frame.
    pub fn message_bytes(&self) -> u32 {
        match self {
            Self::Frames(frames) => frames.message_bytes,
            Self::OnOff(bursts) => bursts.message_bytes,
        }
    }

    /// For how long it sends nothing as a rule, between messages: from a frame at once to the next, the
    /// mean from one message of a spread frame to the next, a mean off period.
    pub fn silence(&self) -> Span {
        match self {
            Self::Frames(frames) if frames.spread == Spread::AtOnce => frames.interval,
            Self::Frames(_) => Span::from_ps(whole_ps(1.0 / self.messages_per_ps())),
            Self::OnOff(bursts) => bursts.periods.off_mean,
        }
    }

    /// Mean rate in bytes of payload a picosecond.
    pub fn bytes_per_ps(&self) -> f64 {
        match self {
            Self::Frames(frames) => frames.sizes.mean_bytes() / real_ps(frames.interval),
            Self::OnOff(OnOffStream { periods, interval_ps, message_bytes }) => {
                f64::from(*message_bytes) / interval_ps * periods.share_on()
            }
        }
    }

    /// Messages a picosecond, on average; the last of a frame is taken for as long as the others
    /// where sizes are drawn.
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

    /// The least and the most payload of a message.
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

    /// Its frames, if it has any.
    pub fn frames(&self) -> Option<&FramePlan> {
        match self {
            Self::Frames(frames) => Some(frames),
            Self::OnOff(_) => None,
        }
    }
}

impl FrameSizes {
    /// Mean size in bytes.
    pub fn mean_bytes(&self) -> f64 {
        match self {
            Self::Trace { bytes, .. } => mean_of(bytes, f64::from),
            Self::Normal { mean, deviation } => at_least_one(*mean, *deviation),
        }
    }
}

/// The mean of what a normal law gives, where less than 1 counts as 1.
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
