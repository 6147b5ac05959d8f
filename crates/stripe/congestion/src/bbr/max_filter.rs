//! Maximum over a recent period: the current slot and the previous slot.
//!
//! For `max_bw`, a slot is a ProbeBW cycle, as in the draft; for `extra_acked`, half of the filter
//! length.

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
    fn maximum_expires_with_the_second_nonempty_slot() {
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
