//! Large pieces of work shared among the cores, with results that do not depend on how many there
//! are.
//!
//! ```text
//!   share        part 0 ──► ┐                    ahead    make 0, 2, 4 ──► ┐
//!                part 1 ──► ┼─► results by part           make 1, 3, 5 ──► ┴─► take 0, 1, 2, 3 ...
//!                part 2 ──► ┘
//! ```
//!
//! Two shapes are enough: parts that know nothing of each other ([`Threads::share`]), and one
//! worker who takes in order what others make ahead of him ([`Threads::ahead`]).
//!
//! Invariant: a thread ends before the call that started it returns; results come in an order that
//! the caller gave, and never in that of their making.

use std::num::NonZero;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Steps that are worth a thread of their own: some milliseconds, of which its start takes a
/// hundredth.
const STEPS_PER_THREAD: u64 = 1 << 20;

/// Things that one thread may make before anybody takes them.
const MADE_AHEAD_MAX: usize = 2;

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

    /// Makes something of each item, and takes what was made in the order of the items, on the
    /// thread of the caller.
    #[expect(clippy::disallowed_methods, reason = "this is where threads are started")]
    pub(crate) fn ahead<I: Copy + Sync, T: Send>(
        self,
        items: &[I],
        make: impl Fn(I) -> T + Sync,
        mut take: impl FnMut(I, T),
    ) {
        let makers = self.0.get() - 1;
        if makers == 0 {
            for item in items {
                take(*item, make(*item));
            }
            return;
        }
        let make = &make;
        thread::scope(|scope| {
            let queues: Vec<_> = (0..makers)
                .map(|number| {
                    let (sender, queue) = sync_channel(MADE_AHEAD_MAX);
                    let part = Part { number, count: makers };
                    scope.spawn(move || {
                        // Nobody takes any more only where the caller panics.
                        part.of(items.iter()).all(|item| sender.send(make(*item)).is_ok())
                    });
                    queue
                })
                .collect();
            for (item, queue) in items.iter().zip(queues.iter().cycle()) {
                // Whose maker is gone has panicked; the scope says so when it ends.
                let Ok(ready) = queue.recv() else { break };
                take(*item, ready);
            }
        });
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
    fn what_is_made_ahead_is_taken_in_order() {
        for threads in 1..=4 {
            for count in [0, 1, 2, 100] {
                let items: Vec<usize> = (0..count).collect();
                let mut taken = Vec::new();
                Threads::exactly(threads).ahead(
                    &items,
                    |item| item * item,
                    |item, square| taken.push((item, square)),
                );
                let expected: Vec<_> = items.iter().map(|item| (*item, item * item)).collect();
                assert_eq!(taken, expected, "{threads} threads");
            }
        }
    }

    #[test]
    fn small_work_takes_one_thread() {
        assert_eq!(Threads::for_steps(2 * STEPS_PER_THREAD - 1), Threads::exactly(1));
        assert_eq!(Threads::for_steps(u64::MAX), Threads::exactly(cores()));
        assert_eq!(Threads::exactly(0), Threads::exactly(1));
    }

    #[test]
    #[should_panic(expected = "of item 3")]
    fn a_panic_of_a_maker_is_the_callers() {
        let make = |item: i32| if item == 3 { panic!("of item {item}") } else { item };
        Threads::exactly(1).ahead(&[1, 2, 3], make, |_, _| {});
    }

    #[test]
    #[should_panic(expected = "thread panicked")]
    fn a_panic_of_a_maker_on_another_thread_ends_the_work() {
        let make = |item: i32| if item == 3 { panic!("of item {item}") } else { item };
        Threads::exactly(2).ahead(&[1, 2, 3, 4, 5, 6, 7, 8], make, |_, _| {});
    }
}
