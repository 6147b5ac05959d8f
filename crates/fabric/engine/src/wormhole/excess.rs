//! Search for the time when the fill level of a buffer crosses its STOP or GO threshold.
//!
//! The fill level (arrived minus departed flits) rises above STOP with an arrival, and falls below
//! GO with a departure. In both cases, one flit sequence (the leader) has then started a given
//! number of flits more than the other sequence (the follower). While each sequence is within one
//! run, the difference is monotonic, and bisection finds the crossing.
//!
//! ```text
//!   leader    |  |  |  |  |  |  |        period p       p < q: the lead grows
//!   follower  |     |     |     |        period q       p >= q: the lead does not grow
//! ```

use crate::wormhole::run::Run;

/// Returns the start time, in ps, of the flit that gives `leader` a lead of `lead` flits (at least
/// 1) over `follower`. Follower flits that start at the same time reduce the lead.
pub(crate) fn first_lead(
    leader: impl Iterator<Item = Run>,
    follower: impl Iterator<Item = Run>,
    lead: u64,
) -> Option<u64> {
    debug_assert!(lead > 0, "a lead of no flits always exists");
    let mut race = Race { follower, behind: None, wanted: signed(lead) };
    race.behind = race.follower.next();
    leader.into_iter().find_map(|piece| race.over(piece))
}

struct Race<F> {
    follower: F,
    /// Current run of the follower, without the flits that were already subtracted.
    behind: Option<Run>,
    wanted: i64,
}

impl<F: Iterator<Item = Run>> Race<F> {
    /// Searches a run in parts. Within a part, the follower is inside one run or between two runs.
    fn over(&mut self, mut piece: Run) -> Option<u64> {
        loop {
            self.catch_up(piece.time);
            let part =
                self.behind.map_or(piece.count, |behind| match piece.time.cmp(&behind.time) {
                    std::cmp::Ordering::Less => piece.started_by(behind.time - 1),
                    // Part of the leader's run that starts before the last flit of the follower's
                    // run.
                    _ => piece.started_by(behind.last_start() - 1).max(1),
                });
            if let Some(time) = self.part(&piece, part) {
                return Some(time);
            }
            if part == piece.count {
                return None;
            }
            piece = after(&piece, part);
        }
    }

    fn catch_up(&mut self, time: u64) {
        while let Some(behind) = self.behind.filter(|behind| behind.last_start() <= time) {
            self.wanted += signed(behind.count);
            self.behind = self.follower.next();
        }
    }

    /// Returns the start time of the flit that reaches the required lead, if it is among the first
    /// `part` flits of the leader's run `piece`; otherwise adds these flits to the lead.
    fn part(&mut self, piece: &Run, part: u64) -> Option<u64> {
        let followed = |index: u64| {
            let time = piece.time + index * piece.period;
            self.behind.map_or(0, |behind| behind.started_by(time))
        };
        let leads = |index: u64| signed(index + 1) - signed(followed(index)) >= self.wanted;
        if leads(0) {
            return Some(piece.time);
        }
        if leads(part - 1) {
            let index = bisect(0, part - 1, leads);
            return Some(piece.time + index * piece.period);
        }
        let gone = followed(part - 1);
        self.wanted -= signed(part) - signed(gone);
        self.behind = self.behind.and_then(|behind| match gone {
            0 => Some(behind),
            gone if gone == behind.count => self.follower.next(),
            gone => Some(after(&behind, gone)),
        });
        None
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).expect("a buffer holds few flits")
}

fn after(run: &Run, count: u64) -> Run {
    Run {
        first: run.first + count,
        count: run.count - count,
        time: run.time + count * run.period,
        period: run.period,
    }
}

fn bisect(mut no: u64, mut yes: u64, leads: impl Fn(u64) -> bool) -> u64 {
    while yes - no > 1 {
        let middle = no + (yes - no) / 2;
        if leads(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::{Purpose, Stream};

    fn by_counting(leader: &[Run], follower: &[Run], lead: u64) -> Option<u64> {
        let times = |runs: &[Run]| -> Vec<u64> {
            runs.iter().flat_map(|run| (run.first..run.end()).map(|n| run.start_of(n))).collect()
        };
        let (leader, follower) = (times(leader), times(follower));
        leader.iter().enumerate().find_map(|(index, time)| {
            let passed = follower.iter().filter(|other| *other <= time).count();
            (index + 1 >= passed + usize::try_from(lead).unwrap()).then_some(*time)
        })
    }

    fn random_runs(stream: &mut Stream) -> Vec<Run> {
        let mut time = stream.below(40);
        let mut first = 0;
        (0..stream.below(5))
            .map(|_| {
                let (count, period) = (1 + stream.below(12), 1 + stream.below(9));
                let run = Run { first, count, time, period };
                first += count;
                time = run.last_start() + 1 + stream.below(30);
                run
            })
            .collect()
    }

    #[test]
    fn first_lead_matches_counting_flit_by_flit() {
        let mut stream = Stream::new(1, "leads", Purpose::Shuffle);
        let mut found = 0;
        for _ in 0..20_000 {
            let (leader, follower) = (random_runs(&mut stream), random_runs(&mut stream));
            let lead = 1 + stream.below(12);
            let fast = first_lead(leader.iter().copied(), follower.iter().copied(), lead);
            assert_eq!(
                fast,
                by_counting(&leader, &follower, lead),
                "{leader:?} {follower:?} {lead}"
            );
            found += u32::from(fast.is_some());
        }
        assert!(found > 2_000, "only {found} cases had an answer");
    }
}
