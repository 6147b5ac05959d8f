//! Parameter errors.

/// Invalid parameter.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum ParameterError {
    /// Probability outside 0 to 1.
    #[error("a probability lies from 0 to 1, not at {value}")]
    Probability {
        /// Rejected value.
        value: f64,
    },
    /// Invalid queue limit.
    #[error(
        "expected a number of bytes or a time, each with its unit, such as \"64 kB\" or \"20 ms\""
    )]
    NoBound,
    /// Queue limit of zero bytes.
    #[error("a queue of 0 bytes lets nothing through: give it room for a packet at least")]
    NoQueue,
    /// Maximum wait of zero.
    #[error("a queue of 0 s lets nothing wait: give it the time of a packet at least")]
    NoWait,
    /// Maximum wait that corresponds to too many bytes at the channel's rate.
    #[error("at its rate a queue of {span_ps} ps holds more bytes than can be counted: shorten it")]
    EndlessQueue {
        /// Maximum wait, in ps.
        span_ps: u64,
    },
    /// Policer burst of zero bytes.
    #[error("a burst of 0 bytes lets nothing through: give it room for a packet at least")]
    NoBurst,
    /// Competing packet length of zero bytes.
    #[error("competing packets of 0 bytes take no time: give them a byte at least")]
    NoCompetingBytes,
    /// Competing traffic that ends before or at its start.
    #[error(
        "competing traffic that begins at {from_ps} ps ends at {until_ps} ps: its end must be later"
    )]
    NoCompetingTime {
        /// Start, in ps.
        from_ps: u64,
        /// End, in ps.
        until_ps: u64,
    },
    /// Burst loss that never leaves the bad state.
    #[error("to_good is 0: a bad state that never ends is an outage, give it as one")]
    EndlessBurst,
    /// Reordering with an extra delay of zero.
    #[error("packets are held back for a span of 0: it must be longer, or their probability 0")]
    NoSpan,
    /// Outage that ends before or at its start.
    #[error("the outage that begins at {from_ps} ps ends at {until_ps} ps: its end must be later")]
    EmptyOutage {
        /// Start, in ps.
        from_ps: u64,
        /// End, in ps.
        until_ps: u64,
    },
    /// Outages that overlap or are out of order.
    #[error(
        "an outage begins at {from_ps} ps, when the one before it lasts until {until_ps} ps: \
             give them in the order of time, apart from each other"
    )]
    OutageOrder {
        /// Start of the later outage in the list, in ps.
        from_ps: u64,
        /// End of the outage before it in the list, in ps.
        until_ps: u64,
    },
    /// Transit time that may exceed [`Parameters::WAY_PS_MAX`](crate::Parameters::WAY_PS_MAX).
    #[error(
        "a packet could be on the way for {longest_s} s, through a full queue, with delay, jitter and being held \
             back: a day is the most"
    )]
    TooSlow {
        /// Longest transit time, in seconds, rounded up.
        longest_s: u128,
    },
}
