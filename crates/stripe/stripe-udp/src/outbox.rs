//! Send queue of a channel with a full link.
//!
//! In strict order, packets wait until the link has room; a marker is queued, because it must
//! follow the packets that it describes.
//!
//! Invariants: no datagram is queued for longer than [`WAIT`]; no allocation once buffers exist.

use std::collections::VecDeque;
use std::time::Duration;

use gingham_stripe::Instant;

use crate::run::Run;

/// Maximum number of queued runs; while the link is blocked, messages take more than a second to
/// fill the queue.
const RUNS_MAX: usize = 256;

/// Time without progress before a run is dropped; by then, the sender has repeated its contents.
const WAIT: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    runs: VecDeque<Run>,
    taken: usize,
    since: Option<Instant>,
    spare: Vec<Run>,
}

impl Outbox {
    pub(crate) fn push(&mut self, run: &mut Run) -> u64 {
        if self.runs.len() == RUNS_MAX {
            let lost = run.datagrams as u64;
            run.clear();
            return lost;
        }
        let empty = self.spare.pop().unwrap_or_default();
        self.runs.push_back(std::mem::replace(run, empty));
        0
    }

    pub(crate) fn rest(&mut self) {
        self.spare = Vec::new();
    }

    pub(crate) fn first(&self) -> Option<(&Run, usize)> {
        self.runs.front().map(|run| (run, self.taken))
    }

    pub(crate) fn took(&mut self, datagrams: usize) {
        self.since = None;
        self.taken += datagrams;
        if self.first().is_some_and(|(run, taken)| taken >= run.datagrams) {
            self.drop_first();
        }
    }

    pub(crate) fn drop_first(&mut self) -> u64 {
        let Some(mut run) = self.runs.pop_front() else { return 0 };
        let left = run.datagrams.saturating_sub(self.taken) as u64;
        run.clear();
        self.spare.push(run);
        (self.taken, self.since) = (0, None);
        left
    }

    pub(crate) fn may_wait(&mut self, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        now < since.after(WAIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u8, datagrams: usize) -> Run {
        let mut run = Run::default();
        for number in 0..datagrams {
            run.begin(0, 2);
            run.bytes.extend([first, u8::try_from(number).expect("few")]);
        }
        run
    }

    #[test]
    fn outbox_is_fifo_and_counts_drops() {
        let mut outbox = Outbox::default();
        let mut given = run(1, 7);
        assert_eq!((outbox.push(&mut given), given.datagrams), (0, 0));
        outbox.push(&mut run(2, 1));
        outbox.took(3);
        let first = outbox.first().map(|(run, from)| (run.bytes[0], from));
        assert_eq!(first, Some((1, 3)));
        assert_eq!(outbox.drop_first(), 4);
        let first = outbox.first().map(|(run, from)| (run.bytes[0], from));
        assert_eq!(first, Some((2, 0)));
        outbox.took(1);
        assert!(outbox.first().is_none());
    }

    #[test]
    fn outbox_times_out_after_one_second_without_progress() {
        let (mut outbox, at) = (Outbox::default(), Instant::ORIGIN);
        outbox.push(&mut run(1, 2));
        assert!(outbox.may_wait(at) && outbox.may_wait(at.after(WAIT / 2)));
        outbox.took(1);
        assert!(outbox.may_wait(at.after(WAIT)) && !outbox.may_wait(at.after(WAIT * 2)));
        (0..RUNS_MAX).for_each(|_| {
            outbox.push(&mut run(2, 1));
        });
        assert_eq!(outbox.push(&mut run(3, 5)), 5);
    }
}
