//! Distribution of work over threads, with results that do not depend on the number of threads.
//!
//! Invariant: a call returns only after all threads that it started have ended.

use std::num::NonZero;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Minimum number of steps per thread: a few milliseconds of work; starting a thread costs about 1
/// % of that time.
const STEPS_PER_THREAD: u64 = 1 << 20;

const MADE_AHEAD_MAX: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Threads(NonZero<usize>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    number: usize,
    count: usize,
}

impl Threads {
    pub(crate) fn for_steps(steps: u64) -> Self {
        let worth = usize::try_from(steps / STEPS_PER_THREAD).unwrap_or(usize::MAX);
        let count = if worth < 2 { 1 } else { worth.min(cores()) };
        Self::exactly(count)
    }

    pub(crate) fn exactly(count: usize) -> Self {
        Self(NonZero::new(count).unwrap_or(NonZero::<usize>::MIN))
    }

    /// Runs `work` once per thread; returns the results in order of the parts.
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

    /// Runs `make` on other threads, and `take` on the calling thread in item order.
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
                        // Sending fails only if the calling thread panicked.
                        part.of(items.iter()).all(|item| sender.send(make(*item)).is_ok())
                    });
                    queue
                })
                .collect();
            for (item, queue) in items.iter().zip(queues.iter().cycle()) {
                // The producer panicked; the scope propagates the panic.
                let Ok(ready) = queue.recv() else { break };
                take(*item, ready);
            }
        });
    }
}

impl Part {
    /// Selects every `count`-th item from `number` on.
    pub(crate) fn of<I: Iterator>(self, items: I) -> impl Iterator<Item = I::Item> {
        items.skip(self.number).step_by(self.count)
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

fn joined<T>(result: thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_ordered_and_cover_each_item_once() {
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
    fn items_made_ahead_are_consumed_in_order() {
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
    fn small_work_uses_one_thread() {
        assert_eq!(Threads::for_steps(2 * STEPS_PER_THREAD - 1), Threads::exactly(1));
        assert_eq!(Threads::for_steps(u64::MAX), Threads::exactly(cores()));
        assert_eq!(Threads::exactly(0), Threads::exactly(1));
    }

    #[test]
    #[should_panic(expected = "of item 3")]
    fn maker_panic_propagates_to_the_caller() {
        let make = |item: i32| if item == 3 { panic!("of item {item}") } else { item };
        Threads::exactly(1).ahead(&[1, 2, 3], make, |_, _| {});
    }

    #[test]
    #[should_panic(expected = "thread panicked")]
    fn maker_panic_on_another_thread_ends_the_work() {
        let make = |item: i32| if item == 3 { panic!("of item {item}") } else { item };
        Threads::exactly(2).ahead(&[1, 2, 3, 4, 5, 6, 7, 8], make, |_, _| {});
    }
}
