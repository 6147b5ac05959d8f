//! Reading markers, where they come to the head of a buffer.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5; what is done with late and far ones is ours.

use gingham_fairq::{Number, Standing};

use super::Receiver;
use crate::{Discard, Numbered};

impl<S: Numbered, P> Receiver<S, P> {
    /// A marker has come to the head of a buffer.
    pub(super) fn read_marker(&mut self, channel: usize, standing: Standing) {
        let number = standing.next;
        let ahead = number.round.ahead_of(self.scheduler.round());
        if ahead.unsigned_abs() > self.options.far_rounds_max {
            self.reception.discards.add(Discard::FarMarker, 1);
            self.epochs.request(channel);
            return;
        }
        let (expected, turn) = (self.scheduler.number(channel), self.scheduler.current());
        if self.scheduler.set_number(channel, number).is_err() {
            self.reception.discards.add(Discard::BadNumber, 1);
            return;
        }
        self.reception.markers += 1;
        let turn_is_over = ahead == 0 && channel < turn;
        if ahead < 0 || turn_is_over {
            self.count_late(channel);
        } else {
            self.late_in_a_row[channel] = 0;
            self.reception.ahead += u64::from(is_before(expected, number));
        }
    }

    fn count_late(&mut self, channel: usize) {
        self.reception.late += 1;
        self.late_in_a_row[channel] += 1;
        if self.late_in_a_row[channel] == self.options.late_in_a_row_max {
            self.late_in_a_row[channel] = 0;
            self.epochs.request(channel);
        }
    }
}

/// Of two numbers of a channel, whether the first comes before the second.
fn is_before(first: Number, second: Number) -> bool {
    second.round.is_after(first.round)
        || (first.round == second.round && first.deficit_bytes > second.deficit_bytes)
}
