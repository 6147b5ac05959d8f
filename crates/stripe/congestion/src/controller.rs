//! What a controller is told and what it answers.

use crate::{Bbr, BbrParameters, Cubic, Told};

/// A packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When, in nanoseconds.
    pub now_ns: u64,
    /// Its length.
    pub bytes: u64,
    /// What was in flight before it.
    pub in_flight_bytes: u64,
    /// How many bytes have been delivered on the path (`C.delivered`).
    pub delivered_bytes: u64,
    /// Whether the path was idle: nothing was in flight, and nothing but the source held it up.
    pub was_idle: bool,
}

/// The rate at which something was delivered (draft-ietf-ccwg-bbr, delivery rate samples): that of
/// the last packet accounted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes that came while the packet was under way (`RS.delivered`).
    pub delivered_bytes: u64,
    /// In which time: the longer of that in which they were sent and that in which they came, the
    /// latter on the receiver's clock (`RS.interval`).
    pub interval_ns: u64,
    /// Bytes that had been delivered when the packet was sent (`RS.prior_delivered`).
    pub prior_delivered_bytes: u64,
    /// What was in flight when it was sent, itself included (`RS.tx_in_flight`).
    pub tx_in_flight_bytes: u64,
    /// Bytes that were lost while it was under way (`RS.lost`).
    pub lost_bytes: u64,
    /// Whether the source had nothing to send for a part of the time, so that the path may carry
    /// more (`RS.is_app_limited`).
    pub is_app_limited: bool,
}

impl RateSample {
    /// The rate; nothing where too little time passed to tell.
    pub fn bytes_per_second(&self) -> Option<u64> {
        (self.interval_ns > 0).then(|| crate::units::rate(self.delivered_bytes, self.interval_ns))
    }
}

/// An acknowledgement came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// When, in nanoseconds.
    pub now_ns: u64,
    /// Bytes that came, newly.
    pub acknowledged_bytes: u64,
    /// Bytes that did not, newly.
    pub lost_bytes: u64,
    /// What was in flight before the acknowledgement.
    pub prior_in_flight_bytes: u64,
    /// What is in flight after it.
    pub in_flight_bytes: u64,
    /// Bytes that have been delivered on the path in all (`C.delivered`).
    pub delivered_bytes: u64,
    /// The time there and back of the last packet that came, if it is known.
    pub round_trip_ns: Option<u64>,
    /// The least time there and back of the path's life, 0 before there is one.
    pub least_round_trip_ns: u64,
    /// The smoothed time there and back, 0 before there is one.
    pub smoothed_round_trip_ns: u64,
    /// The rate sample of the last packet accounted for, if there is one.
    pub rate: Option<RateSample>,
}

/// Says how much may be in flight on a path and how fast packets go.
///
/// Every method may be called at any time; what a controller is told is never later than what it is
/// told next.
pub trait Controller {
    /// A packet goes. Window and pace may change by that only where the path was idle.
    fn sent(&mut self, sent: &Sent);

    /// Packets are accounted for: some came, some are lost.
    fn acknowledged(&mut self, acknowledged: &Acknowledged);

    /// The most that may be in flight.
    fn window_bytes(&self) -> u64;

    /// How fast packets go; nothing where only the window says so.
    fn pace_bytes_per_second(&self) -> Option<u64>;

    /// What the path is taken to carry, if that is known.
    fn bytes_per_second(&self) -> Option<u64>;

    /// Whether it is still finding out what the path carries.
    fn is_starting(&self) -> bool {
        false
    }

    /// When it wants to be asked again though nothing happens.
    fn poll_timeout(&self) -> Option<u64> {
        None
    }

    /// The time for which it wanted to be asked has come.
    fn handle_timeout(&mut self, now_ns: u64) {
        let _ = now_ns;
    }
}

/// The controllers that there are.
#[derive(Clone, Debug)]
pub enum Control {
    /// A rate that somebody knows.
    Told(Told),
    /// A model of the path. It is large beside the others, and there is one a path.
    Bbr(Box<Bbr>),
    /// A window that losses cut.
    Cubic(Box<Cubic>),
}

impl Control {
    /// BBR with these parameters, for packets of at most this length.
    pub fn bbr(parameters: BbrParameters, longest_bytes: u64) -> Self {
        Self::Bbr(Box::new(Bbr::new(parameters, longest_bytes)))
    }

    /// CUBIC, for packets of at most this length.
    pub fn cubic(longest_bytes: u64) -> Self {
        Self::Cubic(Box::new(Cubic::new(longest_bytes)))
    }
}

/// Asks whichever controller there is, without a table of functions: some of this is for each packet.
macro_rules! each {
    ($control:expr, $one:ident => $what:expr) => {
        match $control {
            Self::Told($one) => $what,
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

    fn pace_bytes_per_second(&self) -> Option<u64> {
        each!(self, one => one.pace_bytes_per_second())
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
