//! Queue of a switch's choices, ordered by load.
//!
//! ```text
//!   choices of s0 and their loads               c7 40   c9 40   c3 41   c5 41
//!   c7 takes one more path and moves back           c9 40   c3 41   c5 41   c7 41
//! ```
//!
//! Loads are nearly equal, so the search for a selected channel's new position starts at the end.
//! Successive destination switches with the same choices reuse the queue.
//!
//! Invariant: the load of a queued channel changes only through the queue; any other change empties
//! the queue.

use super::assignment::Load;
use super::choices::Choice;
use crate::ChannelId;
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(super) struct Queue {
    choices: Vec<Choice>,
    waiting: VecDeque<(u64, Choice)>,
}

impl Queue {
    /// Assigns bundles of `paths[i]` paths, one bundle at a time, to the least loaded choice; ties
    /// go to the lowest-numbered channel.
    pub(super) fn lay(
        &mut self,
        choices: &[Choice],
        paths: &[u64],
        load: &mut Load,
        mut record: impl FnMut(usize, Choice),
    ) {
        if let [only] = choices {
            self.leave_out(only.channel);
            load.lay(&[only.channel], paths.iter().sum());
            (0..paths.len()).for_each(|place| record(place, *only));
            return;
        }
        self.hold(choices, load);
        for (place, &paths) in paths.iter().enumerate() {
            let &(_, choice) = self.waiting.front().expect("a state with hops left has a way on");
            if paths > 0 {
                load.lay(&[choice.channel], paths);
                self.reload_first(load.on(choice.channel));
            }
            record(place, choice);
        }
    }

    fn reload_first(&mut self, load: u64) {
        let Some((_, choice)) = self.waiting.pop_front() else { return };
        let comes_after =
            |other: &(u64, Choice)| (other.0, other.1.channel) > (load, choice.channel);
        let after = self.waiting.iter().rev().take_while(|other| comes_after(other)).count();
        self.waiting.insert(self.waiting.len() - after, (load, choice));
    }

    fn hold(&mut self, choices: &[Choice], load: &Load) {
        if self.choices == choices {
            return;
        }
        self.choices.clear();
        self.choices.extend_from_slice(choices);
        self.waiting.clear();
        self.waiting.extend(choices.iter().map(|choice| (load.on(choice.channel), *choice)));
        let queue = self.waiting.make_contiguous();
        queue.sort_unstable_by_key(|(load, choice)| (*load, choice.channel));
    }

    fn leave_out(&mut self, channel: ChannelId) {
        if self.choices.iter().any(|choice| choice.channel == channel) {
            self.choices.clear();
        }
    }
}
