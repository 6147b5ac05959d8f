//! What goes on one channel in a row: what a network card takes in one go.

use super::Sender;
use crate::{Class, Instant, Numbered, Order};

/// Packets that may go on a channel one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The channel of the next packets.
    pub channel: usize,
    /// They go there until so many bytes have gone, of which there is at least one: the packet that
    /// reaches them is the last.
    pub bytes: u64,
    /// As long as none of them is longer than that: longer ones may go elsewhere.
    pub longest_bytes: u32,
}

impl<S: Numbered> Sender<S> {
    /// The next packets: at most the rest of the channel's turn, what its window has room for, and a
    /// millisecond at its pace. Each is then given by `handle_packet` or `handle_tagged`, which tells
    /// the same channel. Nothing while none may go: a reset is under way, or the channel whose turn
    /// it is has no credit, or as much in flight as it may have. Ask again after the next message of
    /// the receiver, and after `poll_message`, which takes dead channels out. To be asked where there
    /// is a packet to send: after a rest nothing goes until the markers are polled that it asks for.
    /// The next one is no longer than [`Sender::longest_bytes`].
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.poll_transmit_of(now, 0, Class::Spread)
    }

    /// The same for a next packet of so many bytes, which may be longer, and then goes where it
    /// fits, and of this class: packets of another one behind it may go elsewhere.
    pub fn poll_transmit_of(
        &mut self,
        now: Instant,
        length_bytes: u32,
        class: Class,
    ) -> Option<Transmit> {
        if self.wake(now) {
            return None;
        }
        let Some(channel) = self.next_channel(now, length_bytes, class) else {
            self.wait_with(length_bytes, class);
            return None;
        };
        let turn_bytes = match (self.options.order, &self.paths) {
            (Order::Free, Some(paths)) => paths.run_bytes(channel, now),
            _ => u64::from(self.scheduler.standing(channel).next.deficit_bytes),
        };
        let ready_bytes =
            self.paths.as_ref().map_or(u64::MAX, |paths| paths.ready_bytes(channel, now));
        let longest_bytes = self.size(channel).longest_bytes;
        Some(Transmit { channel, bytes: turn_bytes.min(ready_bytes), longest_bytes })
    }
}

#[cfg(test)]
mod tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{ControlPlan, Controlled, Epoch, SenderOptions};

    fn sender(order: Order, control: Option<ControlPlan>) -> Sender<SurplusRoundRobin<2>> {
        let scheduler = SurplusRoundRobin::new(1_000, &[3_000, 2_000]).expect("quanta");
        let options = SenderOptions { order, control, ..SenderOptions::default() };
        Sender::synchronised(scheduler, options, Epoch::new(1), Instant::ORIGIN).expect("options")
    }

    /// Turns of 3,000 and 2,000 bytes, of which a packet takes its part.
    #[test]
    fn a_turn_goes_at_once() {
        let (mut sender, now) = (sender(Order::Strict, None), Instant::ORIGIN);
        let run = |channel, bytes| Some(Transmit { channel, bytes, longest_bytes: 1_000 });
        assert_eq!(sender.poll_transmit(now), run(0, 3_000));
        sender.handle_packet(now, 800).expect("open");
        assert_eq!(sender.poll_transmit(now), run(0, 2_200));
        (0..3).for_each(|_| assert_eq!(sender.handle_packet(now, 800), Ok(0)));
        assert_eq!(sender.poll_transmit(now), run(1, 2_000));
    }

    /// 4 MB/s told: a millisecond is 4,000 bytes, after which one more packet goes.
    #[test]
    fn a_free_run_is_a_millisecond_at_the_pace() {
        let control = ControlPlan { by: Controlled::Told(4_000_000), ..ControlPlan::default() };
        let mut sender = sender(Order::Free, Some(control));
        let now = Instant::from_nanoseconds(50_000_000);
        let run = sender.poll_transmit(now).expect("nothing is in flight");
        assert_eq!(run.bytes, 4_001);
        for _ in 0..5 {
            assert_eq!(sender.handle_packet(now, 1_000), Ok(run.channel));
        }
        let other = sender.poll_transmit(now).expect("the other channel is free");
        assert_ne!(other.channel, run.channel);
    }
}
