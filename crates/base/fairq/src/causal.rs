//! Causal schedulers: what was sent decides where the next packet goes.
//!
//! ```text
//!   fair queueing                             load sharing, by the same f and g
//!   queue 0  ==\                                              /==> channel 0
//!   queue 1  ===> f(s) pulls p, s := g(s, p)   p ==> f(s) pushes, s := g(s, p)
//!   queue 2  ==/                                              \==> channel 2
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 3.1 to 3.4. The receiver of a striped
//! stream runs the scheduler too (section 4), so nothing that only the sender sees may matter: not
//! the length of the packet to come, not an arrival, not an empty queue.
//!
//! Invariants: `current` changes by `charge` alone; two states that are equal and are charged the
//! same lengths stay equal.

/// A scheduler that chooses by what it has been charged, and by nothing else.
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
/// What looks at arrivals, at the head's length or at who is idle does not compile in such a place:
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
    /// How many channels there are.
    fn channels(&self) -> usize;

    /// The paper's f: the channel of the next packet.
    fn current(&self) -> usize;

    /// The paper's g: a packet of this length went to the current channel.
    fn charge(&mut self, length_bytes: u32);
}

/// A causal scheduler that gives turns in rounds, so that one may leave its turn.
pub trait Rounds: Causal {
    /// The current channel has nothing to send: the turn goes on to the next.
    ///
    /// No striping end may do this, for the other cannot know; [`crate::PassingOver`] does.
    fn pass(&mut self);
}
