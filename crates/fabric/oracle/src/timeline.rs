//! Queue of future events in their total order, for all kinds of networks.

use gingham_kernel::{EventQueue, Purpose, Stream, Time};

#[derive(Debug)]
pub(crate) struct Timeline<E> {
    pub(crate) now: Time,
    queue: EventQueue<E>,
    events: u64,
    caused: Vec<(Time, E)>,
    shuffle: Option<Stream>,
}

impl<E: Ord> Timeline<E> {
    pub(crate) fn new() -> Self {
        Self {
            now: Time::ZERO,
            queue: EventQueue::new(),
            events: 0,
            caused: Vec::new(),
            shuffle: None,
        }
    }

    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    pub(crate) fn next_time(&self) -> Option<Time> {
        self.queue.next_time()
    }

    pub(crate) fn pending(&self) -> impl Iterator<Item = &E> {
        self.queue.iter()
    }

    pub(crate) fn next(&mut self) -> E {
        let (time, event) = self.queue.pop().expect("an event is pending");
        self.now = time;
        self.events += 1;
        event
    }

    pub(crate) fn cause(&mut self, time: Time, event: E) {
        self.caused.push((time, event));
    }

    pub(crate) fn schedule_caused(&mut self) {
        if let Some(stream) = &mut self.shuffle {
            stream.shuffle(&mut self.caused);
        }
        for (time, event) in self.caused.drain(..) {
            self.queue.schedule(time, event);
        }
    }

    pub(crate) fn shuffle(&mut self, seed: u64) {
        self.shuffle = Some(Stream::new(seed, "scheduling", Purpose::Shuffle));
    }
}
