//! Events in time: the order in which anything happens, whatever the kind of switch.

use gingham_kernel::{EventQueue, Purpose, Stream, Time};

/// What has happened up to now, and what is to happen.
#[derive(Debug)]
pub(crate) struct Timeline<E> {
    /// The instant of the present event.
    pub(crate) now: Time,
    queue: EventQueue<E>,
    /// Events that have happened.
    events: u64,
    /// Events that the present one caused, scheduled together after it.
    caused: Vec<(Time, E)>,
    shuffle: Option<Stream>,
}

impl<E: Ord> Timeline<E> {
    /// Time zero, with nothing to happen.
    pub(crate) fn new() -> Self {
        Self {
            now: Time::ZERO,
            queue: EventQueue::new(),
            events: 0,
            caused: Vec::new(),
            shuffle: None,
        }
    }

    /// How many events have happened.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// When the next event happens.
    pub(crate) fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }

    /// What is to happen, in no particular order.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &E> {
        self.queue.iter()
    }

    /// The next event happens, which there is.
    pub(crate) fn next(&mut self) -> E {
        let (time, event) = self.queue.pop().expect("an event is pending");
        self.now = time;
        self.events += 1;
        event
    }

    /// The present event causes another.
    pub(crate) fn cause(&mut self, time: Time, event: E) {
        self.caused.push((time, event));
    }

    /// The present event is over.
    pub(crate) fn schedule_caused(&mut self) {
        if let Some(stream) = &mut self.shuffle {
            stream.shuffle(&mut self.caused);
        }
        for (time, event) in self.caused.drain(..) {
            self.queue.schedule(time, event);
        }
    }

    /// Schedules what an event causes in a random order from now on.
    pub(crate) fn shuffle(&mut self, seed: u64) {
        self.shuffle = Some(Stream::new(seed, "scheduling", Purpose::Shuffle));
    }
}
