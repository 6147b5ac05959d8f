//! Errors of parameters.

/// Error of a channel's parameters.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum ParameterError {
    /// Not a probability.
    #[error("a probability lies from 0 to 1, not at {value}")]
    Probability {
        /// Value given.
        value: f64,
    },
    /// Text that is not a queue bound.
    #[error(
        "expected a number of bytes or a time, each with its unit, such as \"64 kB\" or \"20 ms\""
    )]
    NoBound,
    /// Queue without space.
    #[error("a queue of 0 bytes lets nothing through: give it room for a packet at least")]
    NoQueue,
    /// Queue with a maximum wait of 0.
    #[error("a queue of 0 s lets nothing wait: give it the time of a packet at least")]
    NoWait,
    /// Queue with too many bytes to count.
    #[error("at its rate a queue of {span_ps} ps holds more bytes than can be counted: shorten it")]
    EndlessQueue {
        /// Maximum wait, in ps.
        span_ps: u64,
    },
    /// Policer that passes nothing.
    #[error("a burst of 0 bytes lets nothing through: give it room for a packet at least")]
    NoBurst,
    /// Competing packets without bytes.
    #[error("competing packets of 0 bytes take no time: give them a byte at least")]
    NoCompetingBytes,
    /// Competing traffic with an empty interval.
    #[error(
        "competing traffic that begins at {from_ps} ps ends at {until_ps} ps: its end must be later"
    )]
    NoCompetingTime {
        /// Start of the interval, in ps.
        from_ps: u64,
        /// End of the interval, exclusive, in ps.
        until_ps: u64,
    },
    /// Bad state that never ends.
    #[error("to_good is 0: a bad state that never ends is an outage, give it as one")]
    EndlessBurst,
    /// Packets held back for no time.
    #[error("packets are held back for a span of 0: it must be longer, or their probability 0")]
    NoSpan,
    /// Outage with an empty interval.
    #[error("the outage that begins at {from_ps} ps ends at {until_ps} ps: its end must be later")]
    EmptyOutage {
        /// Start of the outage, in ps.
        from_ps: u64,
        /// End of the outage, exclusive, in ps.
        until_ps: u64,
    },
    /// Outage that begins before the end of the previous one.
    #[error(
        "an outage begins at {from_ps} ps, when the one before it lasts until {until_ps} ps: \
             give them in the order of time, apart from each other"
    )]
    OutageOrder {
        /// Start of the second outage, in ps.
        from_ps: u64,
        /// End of the first outage, exclusive, in ps.
        until_ps: u64,
    },
    /// Channel so slow that the times of packets could exceed the range of time.
    #[error(
        "a packet could be on the way for {longest_s} s, through a full queue, with delay, jitter and being held \
             back: a day is the most"
    )]
    TooSlow {
        /// Longest transit time, in s.
        longest_s: u128,
    },
}
