//! What a person is told of a channel on which nothing goes just now: why not.
//!
//! Source: ours.
//!
//! Invariant: it is asked by who shows it, and decides nothing.

use super::presence::Life;
use super::{Order, Sender, SizeState};
use crate::{Instant, Numbered};

/// Why no packet goes on a channel just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// There is no such channel.
    Absent,
    /// The other end has not acknowledged the epoch yet.
    Resetting,
    /// It is out: nothing is heard of it, and it is probed.
    Silent,
    /// It is out: frames as long as they are to be do not pass.
    Size,
    /// It is out by plan.
    Planned,
    /// It is to come in, and the other end does not know of that yet.
    Announced,
    /// Its link takes nothing just now.
    Link,
    /// The other end has no room for more of it.
    Credit,
    /// The packet that waits is longer than what it passes.
    Length,
    /// As much is in flight as may be.
    Window,
    /// Its pace lets the next one go later.
    Pace,
    /// It is another one's turn.
    Turn,
}

impl<S: Numbered> Sender<S> {
    /// Why no packet goes on a channel just now, if none does.
    pub fn wait_of(&self, now: Instant, channel: usize) -> Option<Wait> {
        if !self.is_there(channel) {
            Some(Wait::Absent)
        } else if !self.is_open() {
            Some(Wait::Resetting)
        } else if !self.carries(channel) {
            Some(self.wait_of_one_that_is_out(channel))
        } else if self.is_blocked(channel) {
            Some(Wait::Link)
        } else if !self.has_credit(channel, 0) {
            Some(Wait::Credit)
        } else if !self.sizes.fits_waiting(channel) {
            Some(Wait::Length)
        } else if self.options.order == Order::Strict && self.scheduler.current() != channel {
            Some(Wait::Turn)
        } else {
            let path = self.paths.as_ref()?.on(channel);
            let now_ns = now.nanoseconds();
            let paced = (!path.admits(now_ns)).then_some(Wait::Pace);
            if path.has_room(now_ns) { paced } else { Some(Wait::Window) }
        }
    }

    fn wait_of_one_that_is_out(&self, channel: usize) -> Wait {
        if self.presence.is(channel, Life::Dead) {
            let is_long = self.size(channel).state == SizeState::Error;
            if is_long { Wait::Size } else { Wait::Silent }
        } else if self.target_quantum(channel) == 0 {
            Wait::Planned
        } else {
            Wait::Announced
        }
    }
}

#[cfg(test)]
mod tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{ControlPlan, Epoch, SenderOptions};

    const NOW: Instant = Instant::from_nanoseconds(50_000_000);

    fn sender(order: Order) -> Sender<SurplusRoundRobin<2>> {
        let scheduler = SurplusRoundRobin::new(1_000, &[1_000, 1_000]).expect("quanta");
        let control = Some(ControlPlan::default());
        let options = SenderOptions { order, control, ..SenderOptions::default() };
        Sender::synchronised(scheduler, options, Epoch::new(1), NOW).expect("options")
    }

    #[test]
    fn what_holds_a_channel_back_is_told() {
        let mut sender = sender(Order::Free);
        assert_eq!(
            [0, 1, 2].map(|channel| sender.wait_of(NOW, channel)),
            [None, None, Some(Wait::Absent)]
        );
        sender.set_blocked(0b10);
        assert_eq!(sender.wait_of(NOW, 1), Some(Wait::Link));
        while sender.handle_packet(NOW, 1_000).is_ok() {}
        let held = sender.wait_of(NOW, 0);
        assert!(matches!(held, Some(Wait::Pace | Wait::Window)), "{held:?}");
        sender.set_blocked(0);
        assert!(sender.lose_channel(NOW, 1));
        assert_eq!(sender.wait_of(NOW, 1), Some(Wait::Silent));
        sender.remove_channel(NOW, 1).expect("it is there");
        assert_eq!(sender.wait_of(NOW, 1), Some(Wait::Absent));
        sender.reset(NOW);
        assert_eq!(sender.wait_of(NOW, 0), Some(Wait::Resetting));
    }

    #[test]
    fn a_channel_is_out_by_plan_or_waits_for_its_turn() {
        let mut free = sender(Order::Free);
        free.lose_channel(NOW, 1);
        free.change_quanta(&[1_000, 0]).expect("one stays");
        free.revive(NOW, 1);
        assert_eq!(free.wait_of(NOW, 1), Some(Wait::Planned));
        free.change_quanta(&[1_000, 1_000]).expect("both");
        assert_eq!(free.wait_of(NOW, 1), Some(Wait::Announced));
        let strict = sender(Order::Strict);
        assert_eq!([0, 1].map(|one| strict.wait_of(NOW, one)), [None, Some(Wait::Turn)]);
    }
}
