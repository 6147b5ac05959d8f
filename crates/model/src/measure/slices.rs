//! Sums over fixed slices of simulated time.
//!
//! A slice is 2^20 ps (about a microsecond) at first; when there are 1,024 of them neighbours
//! merge and the width doubles, so that a run of any length needs the same memory and a slice
//! end is always a multiple of the first width.

use gingham_kernel::{Span, Time};

const WIDTH_FIRST: Span = Span::from_ps(1 << 20);
const SLICES_MAX: usize = 1_024;

/// What happened in one slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slice {
    /// Payload bytes of messages created in the slice.
    pub created_bytes: u64,
    /// Payload bytes of messages delivered in the slice.
    pub delivered_bytes: u64,
    /// Messages created in the slice and delivered at any time.
    pub latency_count: u64,
    /// Sum of their latencies, in picoseconds.
    pub latency_sum_ps: u128,
}

impl Slice {
    fn merged(self, other: Self) -> Self {
        Self {
            created_bytes: self.created_bytes + other.created_bytes,
            delivered_bytes: self.delivered_bytes + other.delivered_bytes,
            latency_count: self.latency_count + other.latency_count,
            latency_sum_ps: self.latency_sum_ps + other.latency_sum_ps,
        }
    }
}

/// The slices of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slices {
    width: Span,
    slices: Vec<Slice>,
}

impl Default for Slices {
    fn default() -> Self {
        Self { width: WIDTH_FIRST, slices: Vec::new() }
    }
}

impl Slices {
    /// The slice that holds `time`.
    pub fn at(&mut self, time: Time) -> &mut Slice {
        while self.index(time) >= SLICES_MAX {
            self.double();
        }
        let index = self.index(time);
        if index >= self.slices.len() {
            self.slices.resize(index + 1, Slice::default());
        }
        &mut self.slices[index]
    }

    /// Width of every slice now.
    pub fn width(&self) -> Span {
        self.width
    }

    /// All slices from the start of the run.
    pub fn all(&self) -> &[Slice] {
        &self.slices
    }

    /// The slices that lie wholly between two instants.
    pub fn between(&self, from: Time, to: Time) -> &[Slice] {
        let first = from.since(Time::ZERO).div_ceil(self.width);
        let end = to.as_ps() / self.width.as_ps();
        let clamp =
            |index: u64| usize::try_from(index).unwrap_or(usize::MAX).min(self.slices.len());
        let (first, end) = (clamp(first), clamp(end));
        &self.slices[first.min(end)..end]
    }

    fn index(&self, time: Time) -> usize {
        usize::try_from(time.as_ps() / self.width.as_ps()).unwrap_or(usize::MAX)
    }

    fn double(&mut self) {
        self.width = self.width * 2;
        let merge = |pair: &[Slice]| pair.iter().copied().fold(Slice::default(), Slice::merged);
        self.slices = self.slices.chunks(2).map(merge).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_keeps_every_sum() {
        let mut slices = Slices::default();
        let step = WIDTH_FIRST.as_ps();
        for index in 0..5_000 {
            slices.at(Time::from_ps(index * step)).delivered_bytes += index;
        }
        assert!(slices.all().len() <= SLICES_MAX);
        assert_eq!(slices.width(), WIDTH_FIRST * 8);
        let total: u64 = slices.all().iter().map(|slice| slice.delivered_bytes).sum();
        assert_eq!(total, 4_999 * 5_000 / 2);
        // Slice 1 now covers the steps 8 to 15.
        assert_eq!(slices.all()[1].delivered_bytes, (8..16).sum::<u64>());
    }

    #[test]
    fn between_takes_whole_slices_only() {
        let mut slices = Slices::default();
        let width = WIDTH_FIRST.as_ps();
        for index in 0..10 {
            slices.at(Time::from_ps(index * width)).created_bytes = index;
        }
        let inside = slices.between(Time::from_ps(width + 1), Time::from_ps(5 * width + 1));
        let bytes: Vec<_> = inside.iter().map(|slice| slice.created_bytes).collect();
        assert_eq!(bytes, [2, 3, 4]);
    }
}
