//! Which wishes make no sense.

/// Why parameters make no sense.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum ParameterError {
    /// A number that is no probability.
    #[error("a probability lies from 0 to 1, not at {value}")]
    Probability {
        /// The number.
        value: f64,
    },
    /// A text that bounds no queue.
    #[error(
        "expected a number of bytes or a time, each with its unit, such as \"64 kB\" or \"20 ms\""
    )]
    NoBound,
    /// A queue without room.
    #[error("a queue of 0 bytes lets nothing through: give it room for a packet at least")]
    NoQueue,
    /// A queue in which nothing may wait.
    #[error("a queue of 0 s lets nothing wait: give it the time of a packet at least")]
    NoWait,
    /// A queue that holds more bytes than can be counted.
    #[error("at its rate a queue of {span_ps} ps holds more bytes than can be counted: shorten it")]
    EndlessQueue {
        /// The longest wait.
        span_ps: u64,
    },
    /// A policer that lets nothing through.
    #[error("a burst of 0 bytes lets nothing through: give it room for a packet at least")]
    NoBurst,
    /// Competing traffic without bytes.
    #[error("competing packets of 0 bytes take no time: give them a byte at least")]
    NoCompetingBytes,
    /// Competing traffic that ends as or before it begins.
    #[error(
        "competing traffic that begins at {from_ps} ps ends at {until_ps} ps: its end must be later"
    )]
    NoCompetingTime {
        /// Its first instant.
        from_ps: u64,
        /// The first instant after it.
        until_ps: u64,
    },
    /// A bad state without an end.
    #[error("to_good is 0: a bad state that never ends is an outage, give it as one")]
    EndlessBurst,
    /// Packets held back for no time.
    #[error("packets are held back for a span of 0: it must be longer, or their probability 0")]
    NoSpan,
    /// An outage that ends as or before it begins.
    #[error("the outage that begins at {from_ps} ps ends at {until_ps} ps: its end must be later")]
    EmptyOutage {
        /// Its first instant.
        from_ps: u64,
        /// The first instant after it.
        until_ps: u64,
    },
    /// An outage that begins before the one given before it has ended.
    #[error(
        "an outage begins at {from_ps} ps, when the one before it lasts until {until_ps} ps: \
             give them in the order of time, apart from each other"
    )]
    OutageOrder {
        /// The first instant of the second.
        from_ps: u64,
        /// The first instant after the first.
        until_ps: u64,
    },
    /// A channel so slow that the instants of its packets could leave the range of time.
    #[error(
        "a packet could be on the way for {longest_s} s, through a full queue, with delay, jitter and being held \
             back: a day is the most"
    )]
    TooSlow {
        /// The longest way, in seconds.
        longest_s: u128,
    },
}
