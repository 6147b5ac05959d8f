//! The most there was lately: a slot for the time that runs, one for that before it.
//!
//! ```text
//!   | forgotten |   before   |  current ...     the answer is the higher of the two
//!                        advance ^
//! ```
//!
//! For `max_bw` a slot is a cycle of ProbeBW, as the draft says (tracking time for the max filter).
//! For `extra_acked` it is half of the filter's length: between that and the whole is remembered.

/// The most of the slot that runs and of that before it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MaxFilter {
    before: u64,
    current: u64,
}

impl MaxFilter {
    pub(crate) fn take(&mut self, value: u64) {
        self.current = self.current.max(value);
    }

    pub(crate) fn get(&self) -> u64 {
        self.before.max(self.current)
    }

    /// A slot ends. One in which nothing was taken goes on, lest all be forgotten.
    pub(crate) fn advance(&mut self) {
        if self.current > 0 {
            (self.before, self.current) = (self.current, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_highest_is_forgotten_with_the_second_slot_after() {
        let mut filter = MaxFilter::default();
        filter.take(9);
        filter.take(8);
        filter.advance();
        filter.advance();
        assert_eq!(filter.get(), 9, "an empty slot does not end");
        filter.take(5);
        assert_eq!(filter.get(), 9);
        filter.advance();
        assert_eq!(filter.get(), 5);
    }
}
