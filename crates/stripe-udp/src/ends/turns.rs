//! Who sends first of several that have a turn: who was not first for longest.
//!
//! ```text
//!   turn of   0 1    1    0 1    1    0 1
//!   first     0      -    1      -    0      a count of turns, modulo two, would say 0 each time
//! ```
//!
//! Ends may leave by one uplink, and where its queue is full, who sends first finds the room.
//!
//! Source: least recently served first (Dally and Towles, "Principles and practices of
//! interconnection networks", section 18.5, a matrix arbiter).
//!
//! Invariant: nobody is first again before all that it meets were first, of whatever turn.

/// When each end was first of several, in turns; never is 0.
#[derive(Debug, Default)]
pub(super) struct Turns {
    count: u64,
    was_first: Vec<u64>,
}

impl Turns {
    /// Puts ends that have a turn in their order.
    pub(super) fn arrange(&mut self, ends: &mut [usize]) {
        if ends.len() < 2 {
            return;
        }
        let was_first = |end: usize| self.was_first.get(end).copied().unwrap_or(0);
        ends.sort_unstable_by_key(|end| (was_first(*end), *end));
        let first = ends[0];
        if self.was_first.len() <= first {
            self.was_first.resize(first + 1, 0);
        }
        self.count += 1;
        self.was_first[first] = self.count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who is first in each of these turns.
    fn firsts(turns: &[&[usize]]) -> Vec<usize> {
        let mut order = Turns::default();
        let first = |turn: &&[usize]| {
            let mut ends = turn.to_vec();
            order.arrange(&mut ends);
            ends[0]
        };
        turns.iter().map(first).collect()
    }

    #[test]
    fn all_that_always_send_are_first_in_turn() {
        assert_eq!(firsts(&[[2, 0, 1].as_slice(); 6]), [0, 1, 2, 0, 1, 2]);
    }

    /// Two that meet are first in turn, whatever happens between: the null is a count of all turns.
    #[test]
    fn turns_of_one_end_alone_change_nothing() {
        assert_eq!(firsts(&[&[0, 1], &[1], &[0, 1], &[1], &[0, 1]]), [0, 1, 1, 1, 0]);
    }

    /// The null is a place that goes on by one, from which the next is first: 0 before 1, and 1 before
    /// 2, each time.
    #[test]
    fn pairs_that_overlap_are_each_fair() {
        let turns: [&[usize]; 8] =
            [&[0, 1], &[1, 2], &[0, 1], &[1, 2], &[0, 1], &[1, 2], &[0, 1], &[1, 2]];
        assert_eq!(firsts(&turns), [0, 1, 0, 2, 1, 2, 0, 1]);
    }

    #[test]
    fn one_that_is_new_goes_before_those_that_were_first() {
        assert_eq!(firsts(&[&[0, 1], &[0, 1], &[0, 1, 300], &[0, 300]]), [0, 1, 300, 0]);
    }
}
