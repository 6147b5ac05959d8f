//! Driver of a run: processes the events of a network, and the checkpoints of its endpoints in
//! between.

use crate::congestion::Waiter;
use crate::measure::ChannelCount;
use crate::{
    Due, Endpoints, NetworkEvent, Notice, Simulation, Status, Stepping, WaitCycle, WaitForGraph,
};
use gingham_kernel::Time;
use std::fmt::Debug;

/// A network of one switching kind, with its endpoints.
///
/// All actions at a given time, except [`Self::wait_for_graph`], precede any other event of that
/// time.
pub trait Network: Debug + Send + Sync {
    /// Returns the current simulated time.
    fn now(&self) -> Time;

    /// Returns the number of events handled so far.
    fn events(&self) -> u64;

    /// Returns the endpoints of the network.
    fn endpoints(&self) -> &Endpoints;

    /// Returns mutable access to the endpoints.
    fn endpoints_mut(&mut self) -> &mut Endpoints;

    /// Handles the next event if it precedes the endpoints' next checkpoint. Otherwise changes
    /// nothing and returns the time of the next event, or `None` if no event remains.
    fn step(&mut self) -> Result<(), Option<Time>>;

    /// Advances the clock to the end of the run.
    fn finish(&mut self, at: Time);

    /// Returns the packets waiting at time `at`.
    fn waiters(&mut self, at: Time) -> Vec<Waiter>;

    /// Returns the wait-for graph after all events of time `at`. A knot in the graph is a deadlock.
    fn wait_for_graph(&mut self, at: Time) -> WaitForGraph;

    /// Returns the counters of the followed channels at time `end`.
    fn followed_counts(&mut self, end: Time) -> Vec<ChannelCount>;

    /// Ends a section of the run at time `end`.
    fn end_section(&mut self, end: Time);

    /// Handles a network event that is due.
    fn apply(&mut self, event: NetworkEvent) {
        event.apply(self.endpoints_mut());
    }

    /// Returns the number of packets in the network, including packets at in-transit hosts.
    fn packets_in_flight(&self) -> usize;

    /// Returns the counters of all channels from time zero until now.
    fn channel_counts(&self) -> Vec<ChannelCount>;

    /// Returns the stepper of virtual-lane switches; `None` for networks without lanes.
    fn stepping(&self) -> Option<Stepping> {
        None
    }

    /// Checks the network's invariants; slow, for tests.
    fn assert_invariants(&self);
}

/// A run over a network.
#[derive(Debug)]
pub struct Run<N>(N);

impl<N: Network> Run<N> {
    /// Creates a run at time zero.
    pub const fn new(network: N) -> Self {
        Self(network)
    }

    /// Returns the network.
    pub const fn network(&self) -> &N {
        &self.0
    }

    /// Returns mutable access to the network.
    pub const fn network_mut(&mut self) -> &mut N {
        &mut self.0
    }

    #[inline(never)]
    fn checkpoint(&mut self, next: Option<Time>) {
        let network = &mut self.0;
        match network.endpoints().due(next) {
            Due::Event => unreachable!("a network returns no event before the checkpoint"),
            Due::StepEnd(end) => {
                let counts = network.followed_counts(end);
                network.endpoints_mut().notify(end, Notice::Sampled { counts: &counts });
            }
            Due::TreeSample(at) => {
                let waiters = network.waiters(at);
                network.endpoints_mut().notify(at, Notice::TreesSampled { waiters: &waiters });
            }
            Due::SectionEnd(end) => network.end_section(end),
            Due::NetworkEvent => {
                let event = network.endpoints_mut().take_network_event();
                network.apply(event);
            }
            Due::DeadlockCheck(at) => {
                let cycle = WaitCycle::find(&network.wait_for_graph(at));
                network.endpoints_mut().check_deadlock(at, cycle, next.is_some());
                if !network.endpoints().is_running() {
                    network.finish(at);
                    network.endpoints().conservation().assert_holds(network.packets_in_flight());
                }
            }
        }
    }
}

impl<N: Network> Simulation for Run<N> {
    fn advance(&mut self, events: u64) -> &Status {
        let end = self.0.events().saturating_add(events);
        while self.0.events() < end && self.0.endpoints().is_running() {
            if let Err(next) = self.0.step() {
                self.checkpoint(next);
            }
        }
        self.status()
    }

    fn now(&self) -> Time {
        self.0.now()
    }

    fn events(&self) -> u64 {
        self.0.events()
    }

    fn endpoints(&self) -> &Endpoints {
        self.0.endpoints()
    }

    fn endpoints_mut(&mut self) -> &mut Endpoints {
        self.0.endpoints_mut()
    }

    fn channel_counts(&self) -> Vec<ChannelCount> {
        self.0.channel_counts()
    }

    fn stepping(&self) -> Option<Stepping> {
        self.0.stepping()
    }

    fn assert_invariants(&self) {
        self.0.endpoints().conservation().assert_holds(self.0.packets_in_flight());
        self.0.assert_invariants();
    }
}
