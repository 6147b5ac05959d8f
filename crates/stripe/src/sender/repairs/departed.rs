//! Copies that were on their way on a channel that left.
//!
//! A try is a copy that its channel lost, or may have. One that went with its channel says nothing of
//! the next: were it a try, channels that come and go would use up all that a packet has, and the
//! receiver waits for what was on its way on those that left as long as copies of any of it come.
//!
//! Source: ours.

use super::{Repairs, Sender};
use crate::Numbered;
use crate::message::small;
use crate::tag::ahead;

impl Repairs {
    /// A channel has left, of which so many packets are accounted for: copies behind them were no tries.
    fn leave(&mut self, channel: usize, accounted_packets: u32) {
        for number in self.channels[channel].numbers() {
            if ahead(number, accounted_packets) < 0 {
                break;
            }
            let copy = self.at((small(channel), number)).filter(|sent| sent.is_copy);
            let lost = copy.map(|copy| copy.other);
            if let Some(sent) = lost.and_then(|place| self.at(place)) {
                sent.tries = sent.tries.saturating_sub(1);
            }
        }
    }
}

impl<S: Numbered> Sender<S> {
    /// A channel has left, with the copies on it that no report accounts for.
    pub(in crate::sender) fn see_copies_lost(&mut self, channel: usize) {
        let accounted = self.reported.on(channel).map_or(0, |one| one.report.accounted_packets);
        if let Some(repairs) = &mut self.repairs {
            repairs.leave(channel, accounted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LATER, OTHER, lost, next, repairs};

    /// Twice a copy was on its way on channel 1 when that left, and of a third it is not known to have come
    /// on channel 0: that is the one try. A copy that was accounted for is one in any case.
    #[test]
    fn a_copy_on_a_channel_that_left_is_no_try() {
        let mut repairs = repairs(4, 1);
        repairs.sent((0, 0), (7, 107), None);
        for number in 0..2 {
            repairs.ask(LATER, (0, 0), 1, lost);
            assert_eq!(next(&mut repairs, (1, number)), Some((0, 0, 7)));
            repairs.sent((1, number), (7, 107), Some((0, 0)));
            repairs.leave(1, number + 1);
            repairs.ask(LATER, (0, 0), 1, lost);
            assert_eq!(next(&mut repairs, OTHER), None, "it was accounted for");
            repairs.leave(1, number);
        }
        repairs.ask(LATER, (0, 0), 1, lost);
        assert_eq!(next(&mut repairs, (0, 1)), Some((0, 0, 7)));
        repairs.sent((0, 1), (7, 107), Some((0, 0)));
        repairs.leave(1, 2);
        repairs.ask(LATER, (0, 0), 1, lost);
        assert_eq!(next(&mut repairs, OTHER), None);
    }
}
