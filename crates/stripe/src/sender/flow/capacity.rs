//! What a channel carries: bytes a second, from what the receiver accounts for.
//!
//! ```text
//!   bytes accounted for                    .-'    slope = bytes / time, by the receiver's clock
//!                                      .-'
//!                      ...........--'       full:   the channel was never idle, the slope is what it carries
//!                 .--''                     not:    it may have been, and carries at least that
//!           __.-''
//!           |<------- sample ------->|
//! ```
//!
//! Between two arrivals on a channel that was busy all along lies exactly what it carries in that
//! time, to the byte. It was busy if its flight window was full from a round trip before the first
//! of them on. Otherwise the slope only ever raises the estimate: a source that sends little
//! changes nothing. What was lost behind the bottleneck counts, for it took its time there.
//!
//! Source: delivery rate samples are those of BBR (Cardwell et al. 2016), which takes their
//! maximum; that a full flight window tells a measurement from a bound, so that no maximum is
//! needed, is ours.

use super::units::rate;

/// How many points are kept.
const POINTS: usize = 32;
/// The least distance of two points is the sample divided by this, so they reach back four samples.
const POINTS_A_SAMPLE: u64 = 8;
/// The sample is so many times the variation at least: it may move either end.
const SAMPLE_VARIATIONS: u64 = 16;

/// What was accounted for when something came.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    came_at_ns: u64,
    bytes: u64,
    received_bytes: u64,
    reported_at_ns: u64,
}

/// What a report adds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) now_ns: u64,
    /// By the receiver's clock.
    pub(super) came_at_ns: u64,
    pub(super) accounted_bytes: u64,
    /// Those that came, and would have with the usual loss made good.
    pub(super) received_bytes: u64,
    /// Whether the flight window was full when the report came.
    pub(super) is_full: bool,
    pub(super) round_trip_ns: u64,
    pub(super) variation_ns: u64,
    /// What the channel cannot carry more than.
    pub(super) bytes_per_second_max: u64,
}

/// What a channel carries, as far as is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    /// The shortest time over which a slope is believed.
    sample_ns: u64,
    points: [Point; POINTS],
    count: usize,
    /// The place of the next point.
    next: usize,
    bytes_per_second: Option<u64>,
    /// Since when the flight window has been full at each report.
    full_since_ns: Option<u64>,
}

impl Capacity {
    pub(super) fn new(sample_ns: u64) -> Self {
        Self {
            sample_ns,
            points: [Point::default(); POINTS],
            count: 0,
            next: 0,
            bytes_per_second: None,
            full_since_ns: None,
        }
    }

    pub(super) const fn bytes_per_second(&self) -> Option<u64> {
        self.bytes_per_second
    }

    /// It is known from elsewhere.
    pub(super) fn set(&mut self, bytes_per_second: u64) {
        self.bytes_per_second = Some(bytes_per_second.max(1));
    }

    /// Counts begin anew.
    pub(super) const fn restart(&mut self) {
        (self.count, self.next, self.full_since_ns) = (0, 0, None);
    }

    /// Points that are not there are forgotten.
    pub(super) const fn mend(&mut self) {
        if self.count > POINTS || self.next >= POINTS {
            self.restart();
        }
    }

    pub(super) fn take(&mut self, arrival: &Arrival) {
        if !arrival.is_full {
            self.full_since_ns = None;
        } else if self.full_since_ns.is_none() {
            self.full_since_ns = Some(arrival.now_ns);
        }
        if let Some(measured) = self.measured(arrival) {
            self.set(measured.min(arrival.bytes_per_second_max));
        } else if let Some(bound) = self.bound(arrival) {
            let bound = bound.min(arrival.bytes_per_second_max);
            self.set(bound.max(self.bytes_per_second.unwrap_or(0)));
        }
        self.push(arrival);
    }

    /// The slope over all that was full, a round trip after it became so.
    fn measured(&self, arrival: &Arrival) -> Option<u64> {
        let busy_from_ns = self.full_since_ns?.saturating_add(arrival.round_trip_ns);
        let busy = |point: &&Point| point.reported_at_ns >= busy_from_ns;
        let first = self.old_enough(arrival).filter(busy).min_by_key(|point| point.came_at_ns);
        slope(first?, arrival)
    }

    /// The slope over the last sample, of what came if that is less: an overflowing queue drops
    /// packets that took no time of the channel.
    fn bound(&self, arrival: &Arrival) -> Option<u64> {
        let first = self.old_enough(arrival).max_by_key(|point| point.came_at_ns)?;
        let came_bytes = arrival.received_bytes.checked_sub(first.received_bytes)?;
        let span_ns = arrival.came_at_ns.checked_sub(first.came_at_ns)?;
        Some(slope(first, arrival)?.min(rate(came_bytes, span_ns)))
    }

    fn old_enough(&self, arrival: &Arrival) -> impl Iterator<Item = &Point> {
        let sample_ns = self.sample_ns.max(arrival.variation_ns.saturating_mul(SAMPLE_VARIATIONS));
        let last_ns = arrival.came_at_ns.checked_sub(sample_ns);
        let old = move |point: &&Point| last_ns.is_some_and(|last_ns| point.came_at_ns <= last_ns);
        self.points[..self.count].iter().filter(old)
    }

    fn push(&mut self, arrival: &Arrival) {
        let last = self.points[(self.next + POINTS - 1) % POINTS];
        let distance_ns = arrival.came_at_ns.checked_sub(last.came_at_ns);
        if self.count > 0
            && distance_ns.is_some_and(|distance| distance < self.sample_ns / POINTS_A_SAMPLE)
        {
            return;
        }
        self.points[self.next] = Point {
            came_at_ns: arrival.came_at_ns,
            bytes: arrival.accounted_bytes,
            received_bytes: arrival.received_bytes,
            reported_at_ns: arrival.now_ns,
        };
        self.next = (self.next + 1) % POINTS;
        self.count = (self.count + 1).min(POINTS);
    }
}

fn slope(first: &Point, last: &Arrival) -> Option<u64> {
    let bytes = last.accounted_bytes.checked_sub(first.bytes)?;
    Some(rate(bytes, last.came_at_ns.checked_sub(first.came_at_ns)?))
}

#[cfg(test)]
impl Capacity {
    pub(super) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        let mut index = || crate::corruption::index(words);
        (self.count, self.next) = (index(), index());
        (self.bytes_per_second, self.full_since_ns) = (Some(words()), Some(words()));
        for point in &mut self.points {
            (point.came_at_ns, point.bytes) = (words(), words());
            (point.received_bytes, point.reported_at_ns) = (words(), words());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    /// Reports each 5 ms of so many bytes more, 10 ms after they came; a round trip of 20 ms,
    /// samples of 20.
    fn after(increments: &[(u64, bool)]) -> Capacity {
        let mut capacity = Capacity::new(20 * MILLISECOND);
        let (mut came_at_ns, mut accounted_bytes) = (0, 0);
        for &(bytes, is_full) in increments {
            came_at_ns += 5 * MILLISECOND;
            accounted_bytes += bytes;
            capacity.take(&Arrival {
                now_ns: came_at_ns + 10 * MILLISECOND,
                came_at_ns,
                accounted_bytes,
                received_bytes: accounted_bytes,
                is_full,
                round_trip_ns: 20 * MILLISECOND,
                variation_ns: 0,
                bytes_per_second_max: u64::MAX,
            });
        }
        capacity
    }

    /// 1,000 bytes each 5 ms are 200,000 a second, known once a sample lies between two reports:
    /// the fifth is 20 ms after the first.
    #[test]
    fn a_slope_needs_a_sample() {
        assert_eq!(after(&[(1_000, false); 4]).bytes_per_second(), None);
        assert_eq!(after(&[(1_000, false); 5]).bytes_per_second(), Some(200_000));
    }

    /// A source that sends little after having sent much leaves the estimate where it is.
    #[test]
    fn what_is_not_full_only_raises() {
        let mut increments = vec![(1_000, false); 5];
        increments.extend([(100, false); 50]);
        assert_eq!(after(&increments).bytes_per_second(), Some(200_000));
    }

    /// Full from the sixth report on, a round trip later from the tenth, and a sample later, at the
    /// 14th, it is measured: half of what it was.
    #[test]
    fn what_is_full_is_measured_a_round_trip_and_a_sample_later() {
        let mut increments = vec![(1_000, false); 5];
        increments.extend([(500, true); 8]);
        assert_eq!(after(&increments).bytes_per_second(), Some(200_000));
        increments.push((500, true));
        assert_eq!(after(&increments).bytes_per_second(), Some(100_000));
    }

    /// A variation of 2 ms asks for samples of 32.
    #[test]
    fn jitter_makes_samples_longer() {
        let mut capacity = Capacity::new(20 * MILLISECOND);
        for report in 1..=7 {
            let came_at_ns = 5 * MILLISECOND * report;
            capacity.take(&Arrival {
                now_ns: came_at_ns,
                came_at_ns,
                accounted_bytes: 1_000 * report,
                received_bytes: 1_000 * report,
                is_full: false,
                round_trip_ns: 0,
                variation_ns: 2 * MILLISECOND,
                bytes_per_second_max: u64::MAX,
            });
        }
        assert_eq!(capacity.bytes_per_second(), None);
    }
}
