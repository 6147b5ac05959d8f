//! Interface of congestion controllers.

use crate::{Bbr, BbrParameters, Cubic, FixedRate};

/// Event: a packet is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Time in nanoseconds.
    pub now_ns: u64,
    /// Length of the packet in bytes.
    pub bytes: u64,
    /// Bytes in flight before the packet.
    pub in_flight_bytes: u64,
    /// Total bytes delivered on the path so far (`C.delivered`).
    pub delivered_bytes: u64,
    /// Whether nothing was in flight because the source had nothing to send.
    pub was_idle: bool,
}

/// Delivery rate sample, taken over the flight of the last packet accounted for
/// (draft-ietf-ccwg-bbr).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered during the sample (`RS.delivered`).
    pub delivered_bytes: u64,
    /// Duration of the sample: the longer of sending and arrival time, the latter on the receiver's
    /// clock (`RS.interval`).
    pub interval_ns: u64,
    /// Bytes delivered before the packet was sent (`RS.prior_delivered`).
    pub prior_delivered_bytes: u64,
    /// Bytes in flight when the packet was sent, including it (`RS.tx_in_flight`).
    pub tx_in_flight_bytes: u64,
    /// Bytes lost during the sample (`RS.lost`).
    pub lost_bytes: u64,
    /// Whether the source had nothing to send during part of the sample.
    pub is_app_limited: bool,
}

impl RateSample {
    /// Returns the delivery rate; `None` if the interval is too short.
    pub fn bytes_per_second(&self) -> Option<u64> {
        (self.interval_ns > 0).then(|| crate::units::rate(self.delivered_bytes, self.interval_ns))
    }
}

/// Event: an acknowledgement is received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// Time in nanoseconds.
    pub now_ns: u64,
    /// Bytes newly acknowledged as received.
    pub acknowledged_bytes: u64,
    /// Bytes newly reported lost.
    pub lost_bytes: u64,
    /// Bytes in flight before the acknowledgement.
    pub prior_in_flight_bytes: u64,
    /// Bytes in flight after the acknowledgement.
    pub in_flight_bytes: u64,
    /// Total bytes delivered on the path so far (`C.delivered`).
    pub delivered_bytes: u64,
    /// RTT of the last packet received, if known.
    pub round_trip_ns: Option<u64>,
    /// Minimum RTT, 0 before the first sample.
    pub least_round_trip_ns: u64,
    /// Smoothed RTT, 0 before the first sample.
    pub smoothed_round_trip_ns: u64,
    /// Rate sample of the last packet accounted for, if any.
    pub rate: Option<RateSample>,
}

/// Congestion controller of a path; event times must not decrease.
pub trait Controller {
    /// Notes a sent packet. Only one sent after idleness may change window and pacing rate.
    fn sent(&mut self, sent: &Sent);

    /// Handles an acknowledgement that packets were received or lost.
    fn acknowledged(&mut self, acknowledged: &Acknowledged);

    /// Returns the congestion window.
    fn window_bytes(&self) -> u64;

    /// Returns the pacing rate, or `None` if only the window limits sending.
    fn pacing_rate_bytes_per_second(&self) -> Option<u64>;

    /// Returns the estimated bandwidth, if known.
    fn bytes_per_second(&self) -> Option<u64>;

    /// Whether the controller is still searching for the bandwidth.
    fn is_starting(&self) -> bool {
        false
    }

    /// Returns the time of the next timeout, if any.
    fn poll_timeout(&self) -> Option<u64> {
        None
    }

    /// Handles a timeout that is due.
    fn handle_timeout(&mut self, now_ns: u64) {
        let _ = now_ns;
    }
}

/// Congestion controller in use.
#[derive(Clone, Debug)]
pub enum Control {
    /// Fixed rate.
    FixedRate(FixedRate),
    /// BBR; boxed because it is large.
    Bbr(Box<Bbr>),
    /// CUBIC.
    Cubic(Box<Cubic>),
}

impl Control {
    /// Creates BBR for packets of at most `longest_bytes` bytes.
    pub fn bbr(parameters: BbrParameters, longest_bytes: u64) -> Self {
        Self::Bbr(Box::new(Bbr::new(parameters, longest_bytes)))
    }

    /// Creates CUBIC for packets of at most `longest_bytes` bytes.
    pub fn cubic(longest_bytes: u64) -> Self {
        Self::Cubic(Box::new(Cubic::new(longest_bytes)))
    }
}

/// Calls the controller without dynamic dispatch, because some calls occur for each packet.
macro_rules! each {
    ($control:expr, $one:ident => $what:expr) => {
        match $control {
            Self::FixedRate($one) => $what,
            Self::Bbr($one) => $what,
            Self::Cubic($one) => $what,
        }
    };
}

impl Controller for Control {
    #[inline]
    fn sent(&mut self, sent: &Sent) {
        each!(self, one => one.sent(sent));
    }

    fn acknowledged(&mut self, acknowledged: &Acknowledged) {
        each!(self, one => one.acknowledged(acknowledged));
    }

    fn window_bytes(&self) -> u64 {
        each!(self, one => one.window_bytes())
    }

    fn pacing_rate_bytes_per_second(&self) -> Option<u64> {
        each!(self, one => one.pacing_rate_bytes_per_second())
    }

    fn bytes_per_second(&self) -> Option<u64> {
        each!(self, one => one.bytes_per_second())
    }

    fn is_starting(&self) -> bool {
        each!(self, one => one.is_starting())
    }

    fn poll_timeout(&self) -> Option<u64> {
        each!(self, one => one.poll_timeout())
    }

    fn handle_timeout(&mut self, now_ns: u64) {
        each!(self, one => one.handle_timeout(now_ns));
    }
}
