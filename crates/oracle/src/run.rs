//! The course of a run, whatever the kind of switch: one event at a time, and between them what
//! endpoints and whoever looks at the network want to know.

use crate::timeline::Timeline;
use gingham_kernel::Time;
use gingham_model::congestion::Waiter;
use gingham_model::measure::ChannelCount;
use gingham_model::{Due, Endpoints, Notice, Plan, Status, WaitCycle};
use gingham_topology::ChannelId;
use std::fmt::Debug;

/// A network of one kind of switch.
pub(crate) trait Network: Debug + Send + Sync {
    type Event: Ord + Debug;

    /// What it runs, its time, and the endpoints at its ends.
    fn parts(&self) -> (&Plan, &Timeline<Self::Event>, &Endpoints);

    fn parts_mut(&mut self) -> (&mut Timeline<Self::Event>, &mut Endpoints);

    /// An event happens.
    fn handle(&mut self, event: Self::Event);

    /// Counts by channel of all that has happened, with what lasts still counted up to `end`.
    fn counts_until(&self, end: Time) -> Vec<ChannelCount>;

    /// The same of all that has happened before `end`, of which nothing has happened.
    fn counts_before(&self, end: Time) -> Vec<ChannelCount> {
        self.counts_until(end)
    }

    /// Who waits for whom before anything of `now` happens.
    fn waiters(&self, now: Time) -> Vec<Waiter>;

    /// A knot of waits before anything of `now` happens, if there is one.
    fn find_cycle(&self, now: Time) -> Option<WaitCycle>;

    /// Checks conservation and order; for tests, after any event. Slow.
    fn assert_invariants(&self);
}

/// A run over a network.
#[derive(Debug)]
pub(crate) struct Run<N>(pub(crate) N);

impl<N: Network> Run<N> {
    fn step(&mut self) {
        let network = &mut self.0;
        let (timeline, endpoints) = network.parts_mut();
        let next_time = timeline.next_time();
        match endpoints.due(next_time) {
            Due::Event => {
                let event = timeline.next();
                network.handle(event);
                network.parts_mut().0.schedule_caused();
            }
            Due::StepEnd(end) => self.sample(end),
            Due::Look(end) => {
                let waiters = network.waiters(end);
                network.parts_mut().1.tell(end, Notice::Looked { waiters: &waiters });
            }
            Due::SectionEnd(end) => {
                let counts = network.counts_before(end);
                let counts: Vec<_> = ChannelId::first(counts.len()).zip(counts).collect();
                network.parts_mut().1.end_section(&counts);
            }
            Due::DeadlockCheck(time) => {
                let cycle = network.find_cycle(time);
                let (timeline, endpoints) = network.parts_mut();
                endpoints.check_deadlock(time, cycle, next_time.is_some());
                if !endpoints.is_running() {
                    timeline.now = time;
                }
            }
        }
    }

    /// A step of what is followed ends at `end`, before anything of that instant happens.
    fn sample(&mut self, end: Time) {
        let counts = self.0.counts_before(end);
        let followed = self.0.parts().0.follow.channels.iter();
        let counts: Vec<_> = followed.map(|channel| counts[channel.index()]).collect();
        self.0.parts_mut().1.tell(end, Notice::Sampled { counts: &counts });
    }
}

impl<N: Network> gingham_model::Simulation for Run<N> {
    fn advance(&mut self, events: u64) -> &Status {
        let end = self.events().saturating_add(events);
        while self.events() < end && self.endpoints().is_running() {
            self.step();
        }
        self.status()
    }

    fn now(&self) -> Time {
        self.0.parts().1.now
    }

    fn events(&self) -> u64 {
        self.0.parts().1.events()
    }

    fn endpoints(&self) -> &Endpoints {
        self.0.parts().2
    }

    fn endpoints_mut(&mut self) -> &mut Endpoints {
        self.0.parts_mut().1
    }

    fn channel_counts(&self) -> Vec<ChannelCount> {
        self.0.counts_until(self.now())
    }

    fn assert_invariants(&self) {
        self.0.assert_invariants();
    }
}

impl<N: Network> crate::Simulation for Run<N> {
    fn next_time(&self) -> Option<Time> {
        self.0.parts().1.next_time()
    }

    fn shuffle_scheduling(&mut self, seed: u64) {
        self.0.parts_mut().0.shuffle(seed);
    }
}
