//! What flight windows and the quanta that follow rates are told.

use core::time::Duration;

use crate::OptionsError;

/// How much of a channel may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlightPlan {
    /// Packets that may be in flight before anything is known of the channel.
    pub first_packets: u32,
    /// The queue that is let stand in the channel, so that it is never idle; one and a half quanta
    /// at least.
    pub queue: Duration,
    /// How long a least round trip is believed; twice in that time the queue is let run empty.
    pub least_span: Duration,
    /// The shortest time over which a rate is measured.
    pub sample: Duration,
}

impl Default for FlightPlan {
    /// 10 packets, the initial window of RFC 6928; a queue of 2 ms; 10 s, as in BBR; samples of 20
    /// ms, which is longer than what coalescing of interrupts and frames moves arrivals by.
    fn default() -> Self {
        Self {
            first_packets: 10,
            queue: Duration::from_millis(2),
            least_span: Duration::from_secs(10),
            sample: Duration::from_millis(20),
        }
    }
}

impl FlightPlan {
    pub(in crate::sender) fn check(&self) -> Result<(), OptionsError> {
        let zero = |option| Err(OptionsError::Zero { option });
        if self.first_packets == 0 {
            zero("flight.first_packets")
        } else if self.queue.is_zero() {
            zero("flight.queue")
        } else if self.least_span.is_zero() {
            zero("flight.least_span")
        } else if self.sample.is_zero() {
            zero("flight.sample")
        } else {
            Ok(())
        }
    }
}

/// How quanta follow the rates of their channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharePlan {
    /// How long a round is to take: what a channel sends at once. The slowest channel's longest
    /// packet may make it longer.
    pub round: Duration,
    /// The largest quantum.
    pub quantum_bytes_max: u32,
}

impl Default for SharePlan {
    /// 1.5 ms, so that what is sent at once is long enough for the segmentation of a network card
    /// and too short to be felt as delay; a mebibyte, a thousand packets.
    fn default() -> Self {
        Self { round: Duration::from_micros(1_500), quantum_bytes_max: 1 << 20 }
    }
}

impl SharePlan {
    pub(in crate::sender) fn check(&self) -> Result<(), OptionsError> {
        if self.round.is_zero() {
            Err(OptionsError::Zero { option: "shares.round" })
        } else if self.quantum_bytes_max == 0 {
            Err(OptionsError::Zero { option: "shares.quantum_bytes_max" })
        } else {
            Ok(())
        }
    }
}

/// A span in nanoseconds; the longest that there are for what is longer.
pub(super) fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
