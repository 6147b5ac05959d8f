//! Runs of flits: a few numbers describe the start times of many flits.
//!
//! ```text
//!   number   7     8     9     10            11    12
//!   start    |  p  |  p  |  p  |             |  p  |
//!            └──── a run: first 7, count 4   └── the next run: first 11, count 2
//!                  (time, period)                after a gap for a control flit or a STOP
//! ```
//!
//! The flits of a channel are numbered from 0. A [`Schedule`] contains the runs of flits that are
//! in flight, in the buffer at the end of the channel, or predicted. Predictions may be revoked at
//! any time; flits that have started are never revoked.
//!
//! Invariants: runs are in order and do not overlap; numbers are contiguous.

use std::cmp::Ordering;

/// Consecutive flits with equally spaced start times; times in ps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub(crate) first: u64,
    /// Number of flits, at least 1.
    pub(crate) count: u64,
    pub(crate) time: u64,
    pub(crate) period: u64,
}

impl Run {
    pub(crate) const fn end(&self) -> u64 {
        self.first + self.count
    }

    pub(crate) const fn start_of(&self, number: u64) -> u64 {
        self.time + (number - self.first) * self.period
    }

    pub(crate) const fn last_start(&self) -> u64 {
        self.time + (self.count - 1) * self.period
    }

    /// Returns the sum of the start times, in ps, of flits `first` to `end` (exclusive), a nonempty
    /// range.
    #[inline]
    const fn sum_of_starts(&self, first: u64, end: u64) -> i128 {
        let (time, span) = (self.start_of(first), (end - first - 1) * self.period);
        // On average, the flits start midway between the first and last starts.
        let count = (end - first) as i128;
        count * time as i128 + ((count * span as i128) >> 1)
    }

    pub(crate) fn started_by(&self, time: u64) -> u64 {
        if time < self.time {
            0
        } else if time >= self.last_start() {
            self.count
        } else {
            (time - self.time) / self.period + 1
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// Runs in order; runs before index `begin` are forgotten.
    runs: Vec<Run>,
    begin: usize,
    /// Number of flits scheduled so far, which is the sequence number of the next flit.
    end: u64,
    /// Sum of the start times, in ps, of all flits before number `summed`. All these flits have
    /// started.
    sum: i128,
    summed: u64,
}

impl Schedule {
    const RUNS_EXPECTED: usize = 8;

    pub(crate) fn new() -> Self {
        Self { runs: Vec::with_capacity(2 * Self::RUNS_EXPECTED), ..Self::default() }
    }

    #[inline]
    fn held(&self) -> &[Run] {
        &self.runs[self.begin..]
    }

    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn last_start(&self) -> Option<u64> {
        self.runs.last().map(Run::last_start)
    }

    pub(crate) fn last_run(&self) -> Option<&Run> {
        self.runs.last()
    }

    pub(crate) fn start_of(&self, number: u64) -> Option<u64> {
        let run = self.held().iter().rev().find(|run| run.first <= number)?;
        (number < run.end()).then(|| run.start_of(number))
    }

    /// Returns how many flits have started on the channel at or before `time`.
    #[expect(clippy::inline_always, reason = "nearly always it is the last run")]
    #[inline(always)]
    pub(crate) fn started_by(&self, time: u64) -> u64 {
        if let Some(last) = self.runs.last()
            && time >= last.time
        {
            return last.first + last.started_by(time);
        }
        self.started_before_last(time)
    }

    fn started_before_last(&self, time: u64) -> u64 {
        let held = self.held();
        match held.iter().rev().find(|run| run.time <= time) {
            Some(run) => run.first + run.started_by(time),
            None => held.first().map_or(self.end, |front| front.first),
        }
    }

    /// Returns the latest start time at or before `time`; `None` if the flit is forgotten or no
    /// flit has started.
    pub(crate) fn last_start_by(&self, time: u64) -> Option<u64> {
        let run = self.held().iter().rev().find(|run| run.time <= time)?;
        Some(run.start_of(run.first + run.started_by(time) - 1))
    }

    pub(crate) fn push(&mut self, time: u64, period: u64, count: u64) {
        debug_assert!(count > 0, "a run holds flits");
        let first = self.end;
        self.end += count;
        if let Some(last) = self.runs.last_mut() {
            let gap = time - last.last_start();
            let joins = (last.count == 1 || last.period == gap) && (count == 1 || period == gap);
            if joins {
                last.period = gap;
                last.count += count;
                return;
            }
        }
        self.runs.push(Run { first, count, time, period });
    }

    pub(crate) fn cut_from(&mut self, time: u64) -> u64 {
        let before = self.end;
        while self.runs.len() > self.begin {
            let run = self.runs.last_mut().expect("a run is held");
            if run.time >= time {
                self.end = run.first;
                self.runs.pop();
                continue;
            }
            run.count = run.started_by(time - 1);
            self.end = run.end();
            break;
        }
        before - self.end
    }

    /// Unschedules all flits from sequence number `number` on. Returns the number of these flits.
    pub(crate) fn cut_from_number(&mut self, number: u64) -> u64 {
        let before = self.end;
        while self.runs.len() > self.begin {
            let run = self.runs.last_mut().expect("a run is held");
            if run.first < number {
                run.count = run.count.min(number - run.first);
                self.end = run.end();
                break;
            }
            self.end = run.first;
            self.runs.pop();
        }
        before - self.end
    }

    /// Forgets past runs that end at or before flit `number`, except the last of them, which
    /// records when the channel was busy even if all predictions are revoked.
    pub(crate) fn forget_before(&mut self, number: u64) {
        debug_assert!(number <= self.summed, "removed runs stay in the sum");
        while self.begin + 1 < self.runs.len() && self.runs[self.begin + 1].end() <= number {
            self.begin += 1;
        }
        if self.begin >= Self::RUNS_EXPECTED {
            self.runs.drain(..self.begin);
            self.begin = 0;
        }
    }

    pub(crate) const fn sum(&self) -> i128 {
        self.sum
    }

    #[inline]
    pub(crate) fn sum_all(&mut self) -> i128 {
        match self.runs.last() {
            Some(last) if last.first <= self.summed && self.summed < self.end => {
                self.sum += last.sum_of_starts(self.summed, self.end);
                self.summed = self.end;
            }
            _ => self.sum_up_to(self.end),
        }
        self.sum
    }

    pub(crate) fn sum_up_to(&mut self, number: u64) {
        if number > self.summed {
            self.sum += self.sum_between(self.summed, number);
            self.summed = number;
        }
    }

    /// Returns the sum of the start times, in ps, of the flits before `number`. `number` must not
    /// precede the first flit that is still stored.
    pub(crate) fn sum_before(&self, number: u64) -> i128 {
        match number.cmp(&self.summed) {
            Ordering::Less => self.sum - self.sum_between(number, self.summed),
            Ordering::Equal => self.sum,
            Ordering::Greater => self.sum + self.sum_between(self.summed, number),
        }
    }

    fn sum_between(&self, first: u64, end: u64) -> i128 {
        let behind = self.held().iter().rev().take_while(|run| run.end() > first);
        let of_run = |run: &Run| run.sum_of_starts(run.first.max(first), run.end().min(end));
        behind.filter(|run| run.first < end).map(of_run).sum()
    }

    /// Returns the stored flits from `number` on as equally spaced pieces, with `delay` (ps) added
    /// to every start time.
    pub(crate) fn pieces_from(&self, number: u64, delay: u64) -> Pieces<'_> {
        let held = self.held();
        let skip = held.iter().rposition(|run| run.end() <= number).map_or(0, |last| last + 1);
        Pieces { runs: &held[skip..], number, delay }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Pieces<'a> {
    runs: &'a [Run],
    number: u64,
    delay: u64,
}

impl Iterator for Pieces<'_> {
    type Item = Run;

    #[inline]
    fn next(&mut self) -> Option<Run> {
        let (run, rest) = self.runs.split_first()?;
        self.runs = rest;
        let first = run.first.max(self.number);
        let time = run.start_of(first) + self.delay;
        Some(Run { first, count: run.end() - first, time, period: run.period })
    }
}

impl Pieces<'_> {
    pub(crate) fn only(&self) -> Option<Run> {
        if self.runs.len() == 1 { self.clone().next() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule() -> Schedule {
        let mut schedule = Schedule::new();
        schedule.push(100, 10, 4);
        schedule.push(150, 10, 2);
        schedule
    }

    #[test]
    fn schedule_reports_starts_and_counts() {
        let schedule = schedule();
        let starts: Vec<_> = (0..7).map(|number| schedule.start_of(number)).collect();
        let expected = [Some(100), Some(110), Some(120), Some(130), Some(150), Some(160), None];
        assert_eq!(starts, expected);
        let counts: Vec<_> =
            [99, 100, 109, 110, 149, 150, 999].map(|time| schedule.started_by(time)).into();
        assert_eq!(counts, [0, 1, 1, 2, 4, 5, 6]);
        assert_eq!(schedule.last_start_by(149), Some(130));
    }

    #[test]
    fn contiguous_runs_are_merged() {
        let mut schedule = Schedule::new();
        schedule.push(100, 10, 4);
        schedule.push(140, 10, 3);
        assert_eq!(schedule.runs.len(), 1);
        schedule.push(200, 7, 1);
        schedule.push(230, 30, 2);
        assert_eq!(schedule.runs.len(), 2, "a single flit takes the spacing that follows");
        assert_eq!(schedule.start_of(9), Some(260));
    }

    #[test]
    fn predicted_flits_can_be_cut() {
        let mut schedule = schedule();
        assert_eq!(schedule.clone().cut_from(150), 2);
        assert_eq!(schedule.clone().cut_from(120), 4);
        assert_eq!(schedule.clone().cut_from_number(1), 5);
        assert_eq!(schedule.cut_from(121), 3);
        assert_eq!((schedule.end(), schedule.last_start()), (3, Some(120)));
        schedule.push(500, 10, 1);
        assert_eq!(schedule.start_of(3), Some(500));
    }

    #[test]
    fn past_runs_can_be_dropped() {
        let mut schedule = schedule();
        schedule.push(300, 10, 3);
        schedule.sum_up_to(6);
        schedule.forget_before(6);
        assert_eq!((schedule.held().len(), schedule.started_by(140)), (2, 4));
        assert_eq!(schedule.cut_from(300), 3);
        assert_eq!(schedule.last_start(), Some(160));
        schedule.push(400, 10, 2);
        assert_eq!((schedule.start_of(6), schedule.started_by(405)), (Some(400), 7));
        schedule.cut_from(400);
        assert_eq!((schedule.last_start(), schedule.end()), (Some(160), 6));
        let piece = schedule.pieces_from(5, 1_000).next().unwrap();
        assert_eq!((piece.first, piece.count, piece.time), (5, 1, 1_160));
    }

    #[test]
    fn sums_match_the_individual_starts() {
        let mut schedule = schedule();
        let starts = [100, 110, 120, 130, 150, 160];
        let sum = |count: usize| starts[..count].iter().sum::<i128>();
        for kept in 0..=6 {
            schedule.sum_up_to(kept);
            assert_eq!(schedule.sum(), sum(usize::try_from(kept).unwrap()));
            for number in 0..=6_u8 {
                assert_eq!(schedule.sum_before(number.into()), sum(number.into()));
            }
        }
        schedule.push(300, 10, 1);
        schedule.sum_up_to(6);
        schedule.forget_before(6);
        assert_eq!(schedule.sum_before(7), sum(6) + 300);
        assert_eq!(schedule.sum_before(5), sum(5), "the last of the forgotten runs is still held");
        schedule.cut_from(300);
        schedule.push(u64::MAX / 2, 1_000, 1 << 40);
        let last = (1_i128 << 40) - 1;
        let expected =
            sum(6) + (last + 1) * i128::from(u64::MAX / 2) + 1_000 * last * (last + 1) / 2;
        schedule.sum_all();
        assert_eq!(schedule.sum(), expected);
    }
}
