//! The least loaded of the channels by which a switch may go on, asked for again and again.
//!
//! ```text
//!   choices of s0, the lightest first         c7 40   c9 40   c3 41   c5 41
//!   one path more, on c7: back to its place   c9 40   c3 41   c5 41   c7 41
//! ```
//!
//! Where paths are balanced all loads are nearly alike, so that a channel which has been taken comes
//! in near the end: it is looked for from there, and little is looked at. Destination switches that
//! leave a switch the same choices find its queue as the last of them left it.
//!
//! Invariant: whatever loads a channel of the queue does so by the queue, or empties it.

use super::assignment::Load;
use super::choices::Choice;
use crate::ChannelId;
use std::collections::VecDeque;

/// The choices of one switch by load, then by channel.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// What is in the queue, in the order in which the choices were given.
    choices: Vec<Choice>,
    waiting: VecDeque<(u64, Choice)>,
}

impl Queue {
    /// Lays paths by these choices, so many at a time: each by the lightest, of equals by the
    /// lowest channel. Tells which each of them takes, by its place.
    pub(super) fn lay(
        &mut self,
        choices: &[Choice],
        paths: &[u64],
        load: &mut Load,
        mut tell: impl FnMut(usize, Choice),
    ) {
        if let [only] = choices {
            self.leave_out(only.channel);
            load.lay(&[only.channel], paths.iter().sum());
            (0..paths.len()).for_each(|place| tell(place, *only));
            return;
        }
        self.hold(choices, load);
        for (place, &paths) in paths.iter().enumerate() {
            let &(_, choice) = self.waiting.front().expect("a state with hops left has a way on");
            if paths > 0 {
                load.lay(&[choice.channel], paths);
                self.reload_first(load.on(choice.channel));
            }
            tell(place, choice);
        }
    }

    /// The first carries so much now.
    fn reload_first(&mut self, load: u64) {
        let Some((_, choice)) = self.waiting.pop_front() else { return };
        let comes_after =
            |other: &(u64, Choice)| (other.0, other.1.channel) > (load, choice.channel);
        let after = self.waiting.iter().rev().take_while(|other| comes_after(other)).count();
        self.waiting.insert(self.waiting.len() - after, (load, choice));
    }

    /// Queues these choices, unless they are.
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

    /// Empties the queue if this channel is in it.
    fn leave_out(&mut self, channel: ChannelId) {
        if self.choices.iter().any(|choice| choice.channel == channel) {
            self.choices.clear();
        }
    }
}
