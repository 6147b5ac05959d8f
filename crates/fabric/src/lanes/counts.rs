//! Counts: what every channel carried, and how full lane buffers were.
//!
//! A flit that is there from tick a to tick d, in which it crosses, adds d - a cycles to the occupancy of its channel; one that
//! is still there the time since a. The sum of the d less that of the a is kept as flits come and go.

use crate::lanes::simulation::Simulation;
use crate::lanes::state::{SHIFT, SLOW};
use gingham_kernel::Time;
use gingham_model::measure::ChannelCount;
use gingham_topology::ChannelId;

impl Simulation {
    /// Counts by channel since time zero, this instant included.
    pub fn channel_counts(&self) -> Vec<ChannelCount> {
        let count = |channel| self.count(channel, self.now + 1, self.now);
        ChannelId::first(self.plan.channels.len()).map(count).collect()
    }

    /// A section ends at `time`, and nothing more is to happen before: tells the collector.
    #[inline(never)] // `benches/bench.py` finds it by its name.
    pub(crate) fn end_section(&mut self, time: u64) {
        let mut counts = std::mem::take(&mut self.counts);
        for (channel, count) in ChannelId::first(counts.len()).zip(&mut counts) {
            *count = self.count(channel, time, time);
        }
        self.endpoints.end_section(&counts);
        self.counts = counts;
        debug_assert!(
            self.endpoints.checkpoint() > Time::from_ps(time) || !self.endpoints.is_running(),
            "sections go on"
        );
    }

    /// Counts of a channel: of what began before `begin_end`, with what lasts counted up to `end`.
    fn count(&self, channel: ChannelId, begin_end: u64, end: u64) -> ChannelCount {
        let port = self.layout.port_of[channel.index()] as usize;
        let sender = &self.ports[port];
        let mut data_flits = sender.flits;
        if sender.is(SLOW) && data_flits > 0 {
            let began = self.free_ps[port] - self.plan.channel(channel).flit.as_ps();
            data_flits -= u64::from(began >= begin_end);
        }
        ChannelCount {
            data_flits,
            occupancy_flit_ps: self.occupancy_flit_ps(sender.peer as usize, end),
            ..ChannelCount::default()
        }
    }

    fn occupancy_flit_ps(&self, port: usize, end: u64) -> u128 {
        if port >= self.layout.first_host && !self.transits.stops {
            return 0;
        }
        let lanes =
            &self.inputs[port << SHIFT..(port << SHIFT) + usize::from(self.plan.lanes.count)];
        let present: i128 = lanes.iter().map(|lane| i128::from(lane.present)).sum();
        let cycles = i128::from(self.ports[port].occupancy.cast_signed());
        let area = cycles * i128::from(self.cycle_ps) + present * i128::from(end);
        u128::try_from(area).expect("a flit leaves after it came")
    }
}
