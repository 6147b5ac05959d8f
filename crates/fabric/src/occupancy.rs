//! Occupancy: fill times time of a buffer, from the runs that come in and go out.
//!
//! ```text
//!   fill       ┌──┐  ┌─────┐                 a flit that arrives at a and leaves at d adds d - a, one that
//!          ────┘  └──┘     └───► time        is still there at t adds t - a
//! ```
//!
//! The area up to `t` is therefore the sum of the departures, less the sum of the arrivals, plus `t` for every flit
//! that is in the buffer. Both sums come run by run, whatever the length of a run; what is
//! forgotten of a schedule is kept as one number. A worm costs two additions at a switch, and the rest is computed when
//! somebody asks.

use crate::simulation::Simulation;
use crate::state::Head;
use gingham_topology::ChannelId;

impl Simulation {
    /// Fill times time of the buffer at the end of `channel` from the start of the run to `time`, in
    /// flits times picoseconds; 0 where a host consumes. `time` is not before the present, and nothing is to happen
    /// before it.
    pub(crate) fn occupancy_flit_ps(&self, channel: ChannelId, time: u64) -> u128 {
        let Some(input) = &self.inputs[channel.index()] else { return 0 };
        let sender = &self.senders[channel.index()];
        let started = time.checked_sub(sender.latency);
        let arrived = started.map_or(0, |started| sender.schedule.started_by(started));
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
