//! Large pieces of work shared among the cores, with results that do not depend on how many there
//! are.
//!
//! ```text
//!   part 0 ──► ┐
//!   part 1 ──► ┼─► results by part
//!   part 2 ──► ┘
//! ```
//!
//! Invariant: a thread ends before the call that started it returns; results come in an order that
//! the caller gave, and never in that of their making.

use std::num::NonZero;
use std::thread;

/// Steps that are worth a thread of their own: some milliseconds, of which its start takes a
/// hundredth.
const STEPS_PER_THREAD: u64 = 1 << 20;

/// How many threads share a piece of work, the caller's among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Threads(NonZero<usize>);

/// One of the parts of a piece of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    number: usize,
    count: usize,
}

impl Threads {
    /// As many as there are cores, as far as each has enough of so many small steps.
    pub(crate) fn for_steps(steps: u64) -> Self {
        let worth = usize::try_from(steps / STEPS_PER_THREAD).unwrap_or(usize::MAX);
        // The cores are asked for only where it matters.
        let count = if worth < 2 { 1 } else { worth.min(cores()) };
        Self::exactly(count)
    }

    /// So many, at least one.
    pub(crate) fn exactly(count: usize) -> Self {
        Self(NonZero::new(count).unwrap_or(NonZero::<usize>::MIN))
    }

    /// The results of all parts, in their order.
    #[expect(clippy::disallowed_methods, reason = "this is where threads are started")]
    pub(crate) fn share<T: Send>(self, work: impl Fn(Part) -> T + Sync) -> Vec<T> {
        let count = self.0.get();
        let work = &work;
        thread::scope(|scope| {
            let others: Vec<_> = (1..count)
                .map(|number| scope.spawn(move || work(Part { number, count })))
                .collect();
            let mut results = vec![work(Part { number: 0, count })];
            results.extend(others.into_iter().map(|other| joined(other.join())));
            results
        })
    }
}

impl Part {
    /// The items of this part: every so manyth.
    pub(crate) fn of<I: Iterator>(self, items: I) -> impl Iterator<Item = I::Item> {
        items.skip(self.number).step_by(self.count)
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// What a thread gave; a panic of it goes on here.
fn joined<T>(result: thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_their_order_and_hold_everything_once() {
        for threads in 1..=4 {
            let parts = Threads::exactly(threads).share(|part| part.of(0..10).collect::<Vec<_>>());
            assert_eq!(parts.len(), threads);
            for (number, part) in parts.iter().enumerate() {
                assert!(part.iter().all(|item| item % threads == number), "{parts:?}");
            }
            assert_eq!(parts.concat().len(), 10);
        }
    }

    #[test]
    fn small_work_takes_one_thread() {
        assert_eq!(Threads::for_steps(2 * STEPS_PER_THREAD - 1), Threads::exactly(1));
        assert_eq!(Threads::for_steps(u64::MAX), Threads::exactly(cores()));
        assert_eq!(Threads::exactly(0), Threads::exactly(1));
    }
}
