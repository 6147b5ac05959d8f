//! Datagrams of equal length (the last may be shorter), sent on a channel in one call.

use crate::link::Payload;

/// Largest UDP payload over IPv4, in bytes.
pub(crate) const RUN_BYTES_MAX: usize = 65_535 - 20 - 8;

#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) channel: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) segment_bytes: usize,
    pub(crate) datagrams: usize,
    pub(crate) payload: Payload,
    pub(crate) class: u8,
}

impl Run {
    pub(crate) fn bytes_of(&self, from: usize, count: usize) -> usize {
        let end = |datagram: usize| self.bytes.len().min(datagram * self.segment_bytes);
        end(from + count) - end(from)
    }

    pub(crate) fn takes(
        &self,
        (channel, class): (usize, u8),
        length: usize,
        datagrams_max: usize,
    ) -> bool {
        let is_like = self.channel == channel
            && self.class == class
            && length <= self.segment_bytes
            && self.bytes.len() == self.datagrams * self.segment_bytes;
        let has_room = self.datagrams < datagrams_max && self.bytes.len() + length <= RUN_BYTES_MAX;
        self.datagrams == 0 || (is_like && has_room)
    }

    pub(crate) fn begin(&mut self, channel: usize, length: usize) {
        if self.datagrams == 0 {
            (self.channel, self.segment_bytes) = (channel, length);
        }
        self.datagrams += 1;
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        (self.datagrams, self.payload) = (0, Payload::Packets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(run: &mut Run, length: usize) {
        run.begin(0, length);
        run.bytes.resize(run.bytes.len() + length, 0);
    }

    #[test]
    fn run_has_equal_lengths_and_ends_with_a_shorter_one() {
        let mut run = Run::default();
        assert!(run.takes((0, 0), 1_000, 64));
        push(&mut run, 1_000);
        assert!(run.takes((0, 0), 1_000, 64) && run.takes((0, 0), 10, 64));
        assert!(!run.takes((0, 0), 1_001, 64) && !run.takes((0, 0), 1_000, 1));
        assert!(!run.takes((1, 0), 1_000, 64) && !run.takes((0, 2), 1_000, 64));
        push(&mut run, 1_000);
        push(&mut run, 999);
        assert!(!run.takes((0, 0), 999, 64));
        run.clear();
        assert!(run.takes((1, 2), 1_001, 64));
    }

    #[test]
    fn run_fits_in_one_ip_datagram() {
        let mut run = Run::default();
        (0..43).for_each(|_| push(&mut run, 1_500));
        assert_eq!((run.takes((0, 0), 1_007, 64), run.takes((0, 0), 1_008, 64)), (true, false));
    }
}
