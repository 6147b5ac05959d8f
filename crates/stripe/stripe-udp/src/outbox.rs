//! What is to go on a channel whose link is full: runs in their order, until it takes them.
//!
//! ```text
//!   | data, of which 3 of 7 went | marker | report |     what comes to be said goes behind
//! ```
//!
//! Where order is strict the pipe waits with it, so that no packet more is given to a full link; a
//! marker is, since it is to come behind the packets of which it tells.
//!
//! Invariants: what goes is in the order in which it came; nothing waits longer than [`WAIT`]; no
//! allocation once buffers are there.

use std::collections::VecDeque;
use std::time::Duration;

use gingham_stripe::Instant;

use crate::run::Run;

/// So many runs wait: messages of more than a second where none goes.
const RUNS_MAX: usize = 256;

/// What a link has not taken for so long is lost: whoever sent it has sent it again.
const WAIT: Duration = Duration::from_secs(1);

/// What is to go.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    runs: VecDeque<Run>,
    /// How many datagrams of the first run went.
    taken: usize,
    /// Since when the first run waits.
    since: Option<Instant>,
    spare: Vec<Run>,
}

impl Outbox {
    /// A run goes behind all others, and an empty one is in its place; how many datagrams are lost
    /// for want of room.
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

    /// Buffers that are empty are of no use.
    pub(crate) fn rest(&mut self) {
        self.spare = Vec::new();
    }

    /// What is to go next, and from which datagram on.
    pub(crate) fn first(&self) -> Option<(&Run, usize)> {
        self.runs.front().map(|run| (run, self.taken))
    }

    /// So many datagrams of it went.
    pub(crate) fn took(&mut self, datagrams: usize) {
        self.since = None;
        self.taken += datagrams;
        if self.first().is_some_and(|(run, taken)| taken >= run.datagrams) {
            self.drop_first();
        }
    }

    /// What of the first run did not go is over: how many datagrams.
    pub(crate) fn drop_first(&mut self) -> u64 {
        let Some(mut run) = self.runs.pop_front() else { return 0 };
        let left = run.datagrams.saturating_sub(self.taken) as u64;
        run.clear();
        self.spare.push(run);
        (self.taken, self.since) = (0, None);
        left
    }

    /// The link is full: whether what is first may wait any longer.
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
    fn what_waits_goes_in_its_order_and_is_counted_where_it_is_lost() {
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
    fn nothing_waits_longer_than_a_second_without_any_going() {
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
