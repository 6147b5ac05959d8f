//! Reading markers, where they come to the head of a buffer.
//!
//! ```text
//!   the marker says                          believed until the next one
//!   in, more to come from round r            more from round r on
//!   in, less to come, or to go out           as it is: the marker of that round will say so
//!   out, to come in at round r               in, its first packet of round r; out if r was missed
//!   out                                      out
//! ```
//!
//! So a channel is never believed to be further than it is. What grows has been acknowledged before
//! it does; what shrinks and is missed costs a wait at most, and a change that is put off nothing.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5; what is done with changes, late and far
//! markers is ours.

use gingham_fairq::{Number, Standing};

use super::Receiver;
use crate::{Discard, Numbered};

impl<S: Numbered, P> Receiver<S, P> {
    /// A marker has come to the head of a buffer.
    pub(super) fn read_marker(&mut self, channel: usize, said: Standing) {
        let standing = self.believed(channel, said);
        let ahead = standing.next.round.ahead_of(self.scheduler.round());
        if standing.is_in() && ahead.unsigned_abs() > self.options.far_rounds_max {
            self.reception.discards.add(Discard::FarMarker, 1);
            self.epochs.request(channel);
            return;
        }
        let (expected, turn) = (self.scheduler.standing(channel), self.scheduler.current());
        if self.scheduler.set_standing(channel, standing).is_err() {
            self.reception.discards.add(Discard::BadNumber, 1);
            return;
        }
        self.reception.markers += 1;
        let turn_is_over = ahead == 0 && channel < turn;
        if standing.is_in() && (ahead < 0 || turn_is_over) {
            self.count_late(channel);
        } else {
            self.late_in_a_row[channel] = 0;
            let both_in = standing.is_in() && expected.is_in();
            let is_ahead = both_in && is_before(&expected, &standing);
            self.reception.ahead += u64::from(is_ahead);
        }
    }

    /// What is believed of a channel of which a marker says this.
    fn believed(&self, channel: usize, said: Standing) -> Standing {
        let said_now = Standing { coming: None, ..said };
        match said.coming {
            Some(change) if !said.is_in() && change.quantum_bytes != 0 => {
                let comes_in = Standing::beginning(change.from, change.quantum_bytes);
                // Where it is read in the round for which it was announced, it is put off already.
                let is_missed = !change.from.is_after(self.scheduler.round());
                let is_known = self.scheduler.standing(channel) == comes_in;
                if is_missed && !is_known { said_now } else { comes_in }
            }
            Some(change) if change.quantum_bytes > said.quantum_bytes => said,
            _ => said_now,
        }
    }

    fn count_late(&mut self, channel: usize) {
        self.reception.late += 1;
        let late_in_a_row = &mut self.late_in_a_row[channel];
        *late_in_a_row = late_in_a_row.saturating_add(1);
        // The scheduler only guesses where numbers confirm.
        if self.confirmed.is_none() && self.late_in_a_row[channel] >= self.options.late_in_a_row_max
        {
            self.late_in_a_row[channel] = 0;
            self.epochs.request(channel);
        }
    }
}

/// Of two numbers of a channel, whether the first comes before the second. Where its quantum has
/// changed, deficits of one round do not compare.
fn is_before(first: &Standing, second: &Standing) -> bool {
    let (Number { round, deficit_bytes }, next) = (first.next, second.next);
    let same_turn = round == next.round && first.quantum_bytes == second.quantum_bytes;
    next.round.is_after(round) || (same_turn && deficit_bytes > next.deficit_bytes)
}
