//! Counts: what every channel carried up to an instant, from the runs of its flits.
//!
//! STOPs and control flits are counted as they come; flits are what a schedule says. Occupancy is fill times time:
//!
//! ```text
//!   fill       ┌──┐  ┌─────┐                 a flit that arrives at a and leaves at d adds d - a, one that
//!          ────┘  └──┘     └───► time        is still there at t adds t - a
//! ```
//!
//! The area up to `t` is therefore the sum of the departures, less the sum of the arrivals, plus `t` for every
//! flit that is in the buffer. Both sums come run by run, whatever the length of a run; what is forgotten of a
//! schedule is kept as one number. A worm costs one sum at a switch, and the rest is computed when somebody asks.
//!
//! Invariant: counts are cumulative since time zero and exact at any instant before which nothing is to happen.

use crate::simulation::Simulation;
use crate::state::{Head, Input, Sender};
use gingham_model::measure::ChannelCount;

impl Simulation {
    /// Counts by channel since time zero, this instant included, with a stop that lasts still counted up to now.
    pub fn channel_counts(&self) -> Vec<ChannelCount> {
        self.counts(Some(self.now), self.now)
    }

    /// Counts by channel of all that was before `time`, when nothing more is to happen before.
    pub(crate) fn counts_before(&self, time: u64) -> Vec<ChannelCount> {
        self.counts(time.checked_sub(1), time)
    }

    /// Counts of what started at `last_start` or before, with what lasts counted up to `end`.
    fn counts(&self, last_start: Option<u64>, end: u64) -> Vec<ChannelCount> {
        let ends = self.senders.iter().zip(&self.inputs);
        let count = |(counted, (sender, input)): (&ChannelCount, (&Sender, &Option<Input>))| {
            let (started, arrived) = if sender.is_silent_from(end) {
                (sender.schedule.end(), sender.schedule.end())
            } else {
                let started = last_start.map_or(0, |last| sender.schedule.started_by(last));
                (started, sender.arrived_by(end))
            };
            let occupancy = |input| self.occupancy_flit_ps(sender, input, arrived, end);
            ChannelCount {
                data_flits: started,
                stopped_ps: counted.stopped_ps
                    + sender.stopped_since.map_or(0, |since| end - since),
                occupancy_flit_ps: input.as_ref().map_or(0, occupancy),
                ..*counted
            }
        };
        self.counts.iter().zip(ends).map(count).collect()
    }

    /// Fill times time of a buffer from the start of the run to `time`, in flits times picoseconds, when
    /// so many flits have arrived from `sender`.
    fn occupancy_flit_ps(&self, sender: &Sender, input: &Input, arrived: u64, time: u64) -> u128 {
        let latencies = i128::from(arrived) * i128::from(sender.latency);
        let arrivals = sender.schedule.sum_before(arrived) + latencies;
        let (mut left, mut departures) = (input.taken, input.taken_sum);
        if let Head::Connected { output } = input.head {
            let output = &self.senders[output.index()];
            let end = output.schedule.started_by(time).max(output.worm_first);
            left += end - output.worm_first;
            departures += output.schedule.sum_before(end);
        }
        let present = i128::from(time) * i128::from(arrived - left);
        u128::try_from(departures - arrivals + present).expect("a flit leaves after it arrived")
    }
}
