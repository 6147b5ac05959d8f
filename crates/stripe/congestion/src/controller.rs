//! Interface of congestion controllers.

use crate::{Bbr, BbrParameters, Cubic, FixedRate};

/// Event: a packet was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Present time, in nanoseconds.
    pub now_ns: u64,
    /// Packet length.
    pub bytes: u64,
    /// Bytes in flight before the packet.
    pub in_flight_bytes: u64,
    /// Total bytes delivered on the path so far (`C.delivered`).
    pub delivered_bytes: u64,
    /// Whether the path was idle: without data in flight, because the source had none to send.
    pub was_idle: bool,
}

/// Delivery rate sample over the flight of the last packet accounted for (draft-ietf-ccwg-bbr).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered during the sample (`RS.delivered`).
    pub delivered_bytes: u64,
    /// Duration of the sample: the longer of the sending span and the arrival span, which is
    /// measured by the receiver (`RS.interval`).
    pub interval_ns: u64,
    /// Bytes delivered before the packet was sent (`RS.prior_delivered`).
    pub prior_delivered_bytes: u64,
    /// Bytes in flight when the packet was sent, including the packet (`RS.tx_in_flight`).
    pub tx_in_flight_bytes: u64,
    /// Bytes lost during the sample (`RS.lost`).
    pub lost_bytes: u64,
    /// Whether the source had nothing to send during part of the sample.
    pub is_app_limited: bool,
}

impl RateSample {
    /// Returns the delivery rate; `None` if the interval is zero.
    pub fn bytes_per_second(&self) -> Option<u64> {
        (self.interval_ns > 0).then(|| crate::units::rate(self.delivered_bytes, self.interval_ns))
    }
}

/// Event: an acknowledgement was received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// Present time, in nanoseconds.
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
    /// RTT of the last packet received; `None` if unknown.
    pub round_trip_ns: Option<u64>,
    /// Minimum RTT; 0 before the first sample.
    pub least_round_trip_ns: u64,
    /// Smoothed RTT; 0 before the first sample.
    pub smoothed_round_trip_ns: u64,
    /// Rate sample of the last packet accounted for; `None` if the packet has no record.
    pub rate: Option<RateSample>,
}

/// Congestion controller of a path; event times must not decrease.
pub trait Controller {
    /// Handles a sent packet. Window and pacing rate may change only if the path was idle before.
    fn sent(&mut self, sent: &Sent);

    /// Handles an acknowledgement of received or lost packets.
    fn acknowledged(&mut self, acknowledged: &Acknowledged);

    /// Returns the congestion window.
    fn window_bytes(&self) -> u64;

    /// Returns the pacing rate; `None` if only the window limits sending.
    fn pacing_rate_bytes_per_second(&self) -> Option<u64>;

    /// Returns the estimated bandwidth; `None` if unknown.
    fn bytes_per_second(&self) -> Option<u64>;

    /// Returns whether the controller is still searching for the bandwidth.
    fn is_starting(&self) -> bool {
        false
    }

    /// Returns the time of the next timeout, in nanoseconds.
    fn poll_timeout(&self) -> Option<u64> {
        None
    }

    /// Handles a due timeout.
    fn handle_timeout(&mut self, now_ns: u64) {
        let _ = now_ns;
    }
}

/// Congestion controller, selected at run time.
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
    /// Creates a BBR controller for packets of at most `longest_bytes` bytes.
    pub fn bbr(parameters: BbrParameters, longest_bytes: u64) -> Self {
        Self::Bbr(Box::new(Bbr::new(parameters, longest_bytes)))
    }

    /// Creates a CUBIC controller for packets of at most `longest_bytes` bytes.
    pub fn cubic(longest_bytes: u64) -> Self {
        Self::Cubic(Box::new(Cubic::new(longest_bytes)))
    }
}

/// Dispatches statically, because some methods are called for each packet.
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
