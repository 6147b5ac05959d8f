//! State shared by hosts and switches: plan, clock, endpoints, and worms in flight.

use crate::lanes::clock::Clock;
use crate::lanes::layout::Layout;
use crate::lanes::worms::{WormId, Worms};
use gingham_kernel::Time;
use gingham_net::{Created, Endpoints, Notice, PipelinePlan, Plan};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) plan: Arc<Plan>,
    pub(crate) lanes: Arc<PipelinePlan>,
    pub(crate) layout: Layout,
    pub(crate) clock: Clock,
    pub(crate) endpoints: Endpoints,
    pub(crate) worms: Worms,
}

impl Context {
    /// Notifies the endpoints. The caller must carry out the resulting orders before anything else.
    #[inline]
    pub(crate) fn notify(&mut self, notice: Notice<'_>) {
        self.endpoints.notify(Time::from_ps(self.clock.now()), notice);
    }

    /// Creates a message. The caller must take the returned actions before it carries out any order
    /// of the endpoints.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(crate) fn create_next(&mut self, source: usize) -> Created {
        self.endpoints.create_next(source, Time::from_ps(self.clock.now()))
    }

    pub(crate) fn deliver(&mut self, worm: WormId) {
        let worm = self.worms.remove(worm);
        let arrival = worm.arrival(&self.lanes, self.clock.now());
        let notice = Notice::Received { packet: &worm.packet, arrival: &arrival };
        self.endpoints.notify(Time::from_ps(self.clock.now()), notice);
    }

    pub(crate) fn wire_bytes(&self, worm: WormId) -> u64 {
        self.lanes.wire_bytes(self.worms.get(worm).flits.into())
    }
}
