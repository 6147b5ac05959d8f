//! The driver of a run: events of a network, and between them the checkpoints of its endpoints.
//!
//! ```text
//!            next event before the checkpoint?
//!              │ yes                    │ no
//!              ▼                        ▼
//!        Network::step          Endpoints::due ─► end of a followed step:  followed_counts
//!                                               ─► congestion trees:       waiters
//!                                               ─► end of a section:       end_section
//!                                               ─► network event:          apply
//!                                               ─► deadlock check:         wait_for_graph
//! ```
//!
//! Engines and oracle implement [`Network`], each for every switching kind.

use crate::congestion::Waiter;
use crate::measure::ChannelCount;
use crate::{
    Due, Endpoints, NetworkEvent, Notice, Simulation, Status, Stepping, WaitCycle, WaitForGraph,
};
use gingham_kernel::Time;
use std::fmt::Debug;

/// A network of one switching kind, with its endpoints.
pub trait Network: Debug + Send + Sync {
    /// Current simulated time.
    fn now(&self) -> Time;

    /// Number of events handled.
    fn events(&self) -> u64;

    /// Endpoints of the network.
    fn endpoints(&self) -> &Endpoints;

    /// Mutable access to the endpoints of the network.
    fn endpoints_mut(&mut self) -> &mut Endpoints;

    /// Handles the next event before the checkpoint of the endpoints. If there is none, changes
    /// nothing and returns the time of the next event, if any.
    fn step(&mut self) -> Result<(), Option<Time>>;

    /// Advances the clock to the end of the run.
    fn finish(&mut self, at: Time);

    /// Packets that wait at `at`, before any event of that instant.
    fn waiters(&mut self, at: Time) -> Vec<Waiter>;

    /// Wait-for graph at `at`, before any event of that instant; a knot in it is a deadlock.
    fn wait_for_graph(&mut self, at: Time) -> WaitForGraph;

    /// Counts of the followed channels at `end`, before any event of that instant.
    fn followed_counts(&mut self, end: Time) -> Vec<ChannelCount>;

    /// Ends the section at the endpoints, with the counts at `end` before any event of that
    /// instant.
    fn end_section(&mut self, end: Time);

    /// Handles a network event before any other event of its instant. Networks override this if it
    /// affects their own state.
    fn apply(&mut self, event: NetworkEvent) {
        event.apply(self.endpoints_mut());
    }

    /// Number of packets in the network, including those at in-transit hosts.
    fn packets_in_flight(&self) -> usize;

    /// Counts of all channels since time zero, including the current instant.
    fn channel_counts(&self) -> Vec<ChannelCount>;

    /// Stepper of virtual-lane switches, with the reason for its choice, if the network has any.
    fn stepping(&self) -> Option<Stepping> {
        None
    }

    /// Checks invariants after any event, for tests; slow.
    fn assert_invariants(&self);
}

/// A run over a network.
#[derive(Debug)]
pub struct Run<N>(N);

impl<N: Network> Run<N> {
    /// Creates a run over a network at time zero.
    pub const fn new(network: N) -> Self {
        Self(network)
    }

    /// The network.
    pub const fn network(&self) -> &N {
        &self.0
    }

    /// Mutable access to the network.
    pub const fn network_mut(&mut self) -> &mut N {
        &mut self.0
    }

    /// Carries out the checkpoint that is due at the endpoints; `next` is the time of the next
    /// event.
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
