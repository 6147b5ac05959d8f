//! Causal schedulers: the packets sent so far determine the channel of the next one.
//!
//! ```text
//!   fair queueing                             load sharing, by the same f and g
//!   queue 0  ==\                                              /==> channel 0
//!   queue 1  ===> f(s) pulls p, s := g(s, p)   p ==> f(s) pushes, s := g(s, p)
//!   queue 2  ==/                                              \==> channel 2
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 3.1 to 3.4. The receiver of a striped
//! stream also runs the scheduler (section 4); a choice must not depend on the length of the next
//! packet, arrivals, or empty queues, which the receiver does not know.
//!
//! Invariant: two equal states that are charged equal lengths remain equal.

/// Scheduler that chooses only by the lengths of earlier packets.
///
/// ```
/// use gingham_fairq::{Causal, SurplusRoundRobin};
///
/// fn channel_of_each(mut scheduler: impl Causal, lengths: &[u32]) -> Vec<usize> {
///     let send = |&length| {
///         let channel = scheduler.current();
///         scheduler.charge(length);
///         channel
///     };
///     lengths.iter().map(send).collect()
/// }
///
/// let scheduler = SurplusRoundRobin::<2>::new(1_500, &[1_500, 1_500])?;
/// assert_eq!(channel_of_each(scheduler, &[1_000, 1_000, 1_000, 1_000]), [0, 0, 1, 1]);
/// # Ok::<(), gingham_fairq::SchedulerError>(())
/// ```
///
/// Schedulers that depend on arrivals, on the length of the head, or on idle queues are not causal:
///
/// ```compile_fail,E0277
/// use gingham_fairq::{Causal, VirtualClock};
/// fn stripe(_: &impl Causal) {}
/// fn not_causal(scheduler: &VirtualClock<2>) { stripe(scheduler) }
/// ```
///
/// ```compile_fail,E0277
/// use gingham_fairq::{Causal, FirstComeFirstServed};
/// fn stripe(_: &impl Causal) {}
/// fn not_causal(scheduler: &FirstComeFirstServed) { stripe(scheduler) }
/// ```
///
/// ```compile_fail,E0277
/// use gingham_fairq::{Causal, DeficitRoundRobin};
/// fn stripe(_: &impl Causal) {}
/// fn not_causal(scheduler: &DeficitRoundRobin<2>) { stripe(scheduler) }
/// ```
///
/// ```compile_fail,E0277
/// use gingham_fairq::{Causal, PassingOver, SurplusRoundRobin};
/// fn stripe(_: &impl Causal) {}
/// fn not_causal(scheduler: &PassingOver<SurplusRoundRobin<2>>) { stripe(scheduler) }
/// ```
pub trait Causal {
    /// Number of channels.
    fn channels(&self) -> usize;

    /// Function f of the paper: channel of the next packet.
    fn current(&self) -> usize;

    /// Function g of the paper: counts a packet on the current channel.
    fn charge(&mut self, length_bytes: u32);
}

/// Causal scheduler with rounds, in which a queue may skip its turn.
pub trait Rounds: Causal {
    /// Passes the turn to the next channel.
    ///
    /// An end of a stripe must not do this, as the other end cannot know.
    fn pass(&mut self);
}
