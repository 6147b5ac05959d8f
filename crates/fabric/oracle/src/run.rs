//! Interface between an oracle network and the driver that runs it event by event.

use crate::endpoints::{Audited, Endpoints};
use crate::timeline::Timeline;
use gingham_kernel::Time;
use gingham_net::congestion::Waiter;
use gingham_net::measure::ChannelCount;
use gingham_net::{NetworkEvent, Plan, Run, WaitForGraph};
use gingham_topology::ChannelId;
use std::fmt::Debug;

pub(crate) trait Network: Debug + Send + Sync {
    type Event: Ord + Debug;

    fn parts(&self) -> (&Plan, &Timeline<Self::Event>, &Endpoints);

    fn parts_mut(&mut self) -> (&mut Timeline<Self::Event>, &mut Endpoints);

    fn handle(&mut self, event: Self::Event);

    /// Returns the counts of all channels. Waits and stops in progress count up to `end`.
    fn counts_until(&self, end: Time) -> Vec<ChannelCount>;

    fn counts_before(&self, end: Time) -> Vec<ChannelCount> {
        self.counts_until(end)
    }

    /// Handles a network event before all other simultaneous events. A network must override this
    /// method if the event changes the network's state.
    fn apply(&mut self, event: NetworkEvent) {
        self.parts_mut().1.on_network_event(event);
    }

    fn packets_in_flight(&self) -> usize;

    /// Returns all waiting packets before any event at `now`.
    fn waiters(&self, now: Time) -> Vec<Waiter>;

    /// Returns the wait-for graph before any event at `now`.
    fn wait_for_graph(&self, now: Time) -> WaitForGraph;

    /// Checks conservation and order after an event; slow, for tests.
    fn assert_invariants(&self);
}

#[derive(Debug)]
pub(crate) struct EventByEvent<N>(pub(crate) N);

impl<N: Network> gingham_net::Network for EventByEvent<N> {
    fn now(&self) -> Time {
        self.0.parts().1.now
    }

    fn events(&self) -> u64 {
        self.0.parts().1.events()
    }

    fn endpoints(&self) -> &gingham_net::Endpoints {
        self.0.parts().2.machines()
    }

    fn endpoints_mut(&mut self) -> &mut gingham_net::Endpoints {
        self.0.parts_mut().1.machines_mut()
    }

    fn step(&mut self) -> Result<(), Option<Time>> {
        let (timeline, endpoints) = self.0.parts_mut();
        let next = timeline.next_time();
        if next.is_none_or(|next| next >= endpoints.machines().checkpoint()) {
            return Err(next);
        }
        let event = timeline.next();
        self.0.handle(event);
        self.0.parts_mut().0.schedule_caused();
        Ok(())
    }

    fn apply(&mut self, event: NetworkEvent) {
        self.0.apply(event);
    }

    fn finish(&mut self, at: Time) {
        self.0.parts_mut().0.now = at;
    }

    fn waiters(&mut self, at: Time) -> Vec<Waiter> {
        self.0.waiters(at)
    }

    fn wait_for_graph(&mut self, at: Time) -> WaitForGraph {
        self.0.wait_for_graph(at)
    }

    fn followed_counts(&mut self, end: Time) -> Vec<ChannelCount> {
        let counts = self.0.counts_before(end);
        let followed = self.0.parts().0.follow.channels.iter();
        followed.map(|channel| counts[channel.index()]).collect()
    }

    fn end_section(&mut self, end: Time) {
        let counts = self.0.counts_before(end);
        let counts: Vec<_> = ChannelId::first(counts.len()).zip(counts).collect();
        self.endpoints_mut().end_section(&counts);
    }

    fn packets_in_flight(&self) -> usize {
        self.0.packets_in_flight()
    }

    fn channel_counts(&self) -> Vec<ChannelCount> {
        self.0.counts_until(self.now())
    }

    fn assert_invariants(&self) {
        self.0.assert_invariants();
    }
}

impl<N: Network> crate::Simulation for Run<EventByEvent<N>> {
    fn next_time(&self) -> Option<Time> {
        self.network().0.parts().1.next_time()
    }

    fn audited(&self, family: Audited) -> u64 {
        self.network().0.parts().2.audited(family)
    }

    fn shuffle_scheduling(&mut self, seed: u64) {
        self.network_mut().0.parts_mut().0.shuffle(seed);
    }
}
