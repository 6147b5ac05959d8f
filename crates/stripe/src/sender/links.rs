//! What whoever holds the links below the channels knows of them, and reports do not say.
//!
//! | a link | then |
//! |---|---|
//! | takes nothing just now, since a queue of ours below it is full | packets and copies go on other channels, or wait where the choice is not free |
//! | is there again, or is another one | the channel is asked at once: its next probe, or the end of a rest, may be seconds ahead |
//!
//! Source: ours.
//!
//! Invariant: both are hints. What is said of a link that is not so delays, and nothing else.

use super::Sender;
use crate::Numbered;

impl<S: Numbered> Sender<S> {
    /// These channels, a bit each from the lowest, take nothing just now, and all others do. Messages
    /// are given out for them as ever.
    pub const fn set_blocked(&mut self, channels: u64) {
        self.blocked = channels;
    }

    /// A channel has a link again, or another one: a marker, or while resetting a reset, is to go on
    /// it now.
    pub fn ask_channel(&mut self, channel: usize) {
        if self.is_there(channel) {
            self.due |= 1 << channel;
        }
    }

    pub(super) const fn is_blocked(&self, channel: usize) -> bool {
        self.blocked & 1 << channel != 0
    }
}

#[cfg(test)]
mod tests {
    use gingham_fairq::SurplusRoundRobin;

    use crate::{ControlPlan, Epoch, Instant, Kind, Order, SendError, Sender, SenderOptions};

    const NOW: Instant = Instant::from_nanoseconds(50_000_000);

    fn sender(order: Order) -> Sender<SurplusRoundRobin<2>> {
        let scheduler = SurplusRoundRobin::new(1_000, &[1_000, 1_000]).expect("quanta");
        let control = Some(ControlPlan::default());
        let options = SenderOptions { order, control, ..SenderOptions::default() };
        Sender::synchronised(scheduler, options, Epoch::new(1), NOW).expect("options")
    }

    #[test]
    fn packets_go_past_a_blocked_channel_where_the_choice_is_free() {
        for blocked in 0..2 {
            let mut sender = sender(Order::Free);
            sender.set_blocked(1 << blocked);
            assert_eq!(sender.handle_packet(NOW, 1_000), Ok(1 - blocked));
        }
    }

    #[test]
    fn packets_wait_for_a_blocked_channel_where_it_is_not() {
        let mut sender = sender(Order::Strict);
        sender.set_blocked(0b10);
        assert_eq!(sender.handle_packet(NOW, 1_000), Ok(0));
        assert_eq!(sender.poll_transmit(NOW), None);
        let full = Err(SendError::FlightFull { channel: 1 });
        assert_eq!(sender.handle_packet(NOW, 1_000), full);
        sender.set_blocked(0);
        assert_eq!(sender.handle_packet(NOW, 1_000), Ok(1));
    }

    #[test]
    fn a_channel_that_is_asked_has_a_message_at_once() {
        let mut sender = sender(Order::Free);
        while sender.poll_message(NOW).is_some() {}
        sender.ask_channel(1);
        assert_eq!(sender.poll_timeout(), NOW);
        let (channel, message) = sender.poll_message(NOW).expect("it was asked for");
        assert!(channel == 1 && matches!(message.kind, Kind::Marker(_)), "{message:?}");
        assert_eq!(sender.poll_message(NOW), None);
        let scheduler = SurplusRoundRobin::<2>::new(1_000, &[1_000, 1_000]).expect("quanta");
        let options = SenderOptions::default();
        let mut sender = Sender::new(scheduler, options, Epoch::new(1), NOW).expect("options");
        while sender.poll_message(NOW).is_some() {}
        sender.ask_channel(0);
        let (_, message) = sender.poll_message(NOW).expect("it was asked for");
        assert!(matches!(message.kind, Kind::Reset { .. }), "{message:?}");
    }
}
