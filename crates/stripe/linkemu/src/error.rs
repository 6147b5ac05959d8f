//! Errors of parameters.

/// Invalid parameter.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum ParameterError {
    /// Probability outside 0 to 1.
    #[error("a probability lies from 0 to 1, not at {value}")]
    Probability {
        /// Value.
        value: f64,
    },
    /// Invalid text.
    #[error(
        "expected a number of bytes or a time, each with its unit, such as \"64 kB\" or \"20 ms\""
    )]
    NoBound,
    /// Queue without space.
    #[error("a queue of 0 bytes lets nothing through: give it room for a packet at least")]
    NoQueue,
    /// Queue without wait.
    #[error("a queue of 0 s lets nothing wait: give it the time of a packet at least")]
    NoWait,
    /// Queue of too many bytes.
    #[error("at its rate a queue of {span_ps} ps holds more bytes than can be counted: shorten it")]
    EndlessQueue {
        /// Maximum wait, in ps.
        span_ps: u64,
    },
    /// Policer that passes nothing.
    #[error("a burst of 0 bytes lets nothing through: give it room for a packet at least")]
    NoBurst,
    /// Empty competing packets.
    #[error("competing packets of 0 bytes take no time: give them a byte at least")]
    NoCompetingBytes,
    /// Empty interval.
    #[error(
        "competing traffic that begins at {from_ps} ps ends at {until_ps} ps: its end must be later"
    )]
    NoCompetingTime {
        /// Start.
        from_ps: u64,
        /// End, exclusive.
        until_ps: u64,
    },
    /// Endless bad state.
    #[error("to_good is 0: a bad state that never ends is an outage, give it as one")]
    EndlessBurst,
    /// Reordering without delay.
    #[error("packets are held back for a span of 0: it must be longer, or their probability 0")]
    NoSpan,
    /// Empty outage.
    #[error("the outage that begins at {from_ps} ps ends at {until_ps} ps: its end must be later")]
    EmptyOutage {
        /// Start.
        from_ps: u64,
        /// End, exclusive.
        until_ps: u64,
    },
    /// Overlapping outages.
    #[error(
        "an outage begins at {from_ps} ps, when the one before it lasts until {until_ps} ps: \
             give them in the order of time, apart from each other"
    )]
    OutageOrder {
        /// Start of the second.
        from_ps: u64,
        /// End of the first, exclusive.
        until_ps: u64,
    },
    /// Transit beyond the range of time.
    #[error(
        "a packet could be on the way for {longest_s} s, through a full queue, with delay, jitter and being held \
             back: a day is the most"
    )]
    TooSlow {
        /// Longest transit time.
        longest_s: u128,
    },
}
