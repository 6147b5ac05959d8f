//! Causal schedulers: only the packets sent so far determine the next packet's channel.
//!
//! ```text
//!   fair queueing                             load sharing with the same f and g
//!   queue 0  ==\                                              /==> channel 0
//!   queue 1  ===> f(s) pulls p, s := g(s, p)   p ==> f(s) pushes, s := g(s, p)
//!   queue 2  ==/                                              \==> channel 2
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 3.1 to 3.4. The receiver of a striped
//! stream runs the same scheduler (section 4). The choice must therefore not depend on the next
//! packet's length, on arrivals or on empty queues, which the receiver cannot see.
//!
//! Invariant: schedulers in equal states remain in equal states after charging packets of equal
//! lengths.

/// Scheduler whose choices depend only on the lengths of earlier packets.
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
/// Schedulers that consider arrivals, head lengths or idle queues are not causal:
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
    /// Returns the number of channels.
    fn channels(&self) -> usize;

    /// Returns the channel of the next packet (function f in the paper).
    fn current(&self) -> usize;

    /// Charges a packet to the current channel (function g in the paper).
    fn charge(&mut self, length_bytes: u32);
}

/// Causal scheduler with rounds, in which a queue may skip its turn.
pub trait Rounds: Causal {
    /// Passes the turn to the next channel.
    ///
    /// The sender and receiver of a stripe must not call this, because the peer would not learn
    /// about it.
    fn pass(&mut self);
}
