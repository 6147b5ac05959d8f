//! Endpoints of the oracle: the state machines of `gingham-net`, shared by the oracle and the
//! engine, and a second implementation that predicts each of their decisions.
//!
//! ```text
//!   notice ──┬─► machines of gingham-net ─► packets, orders, marks ──┐
//!            └─► audit: history ─► decision from the whole history ──┴─► equal, or a panic
//! ```
//!
//! The [`Audit`] records lists of events instead of state, and computes each decision from these
//! lists by the rules of `docs/concepts/timing.md`. It receives only notices, uses separate copies
//! of sources and random streams, and shares no state with the state machines.
//!
//! The cost grows with the square of the history, so only the first [`AUDITED_EVENTS`] notices and
//! turns are checked.

mod admission;
mod audit;
mod bucket;
mod differ;
mod host;
mod in_transit;
mod lane_choice;
mod marking;
mod message;
mod orders;
mod posting;
mod probe;
mod queue;
mod receipts;
mod replies;
mod response;
mod source_chooser;
mod switch_chooser;
#[cfg(test)]
mod tests;
mod throttle;
mod weights;

pub use differ::Audited;
pub(crate) use differ::Tally;
pub(crate) use in_transit::InTransitHost;
pub(crate) use switch_chooser::SwitchChooser;

use audit::Audit;
use gingham_kernel::Time;
use gingham_net::congestion::Queued;
use gingham_net::measure::Collector;
use gingham_net::{Adapter, NetworkEvent, Next, Notice, Order, Packet, Plan, Turn, Wanted};
use gingham_topology::{ChannelId, EndpointId};
use std::sync::Arc;

/// Number of audited events; the audit takes a few seconds.
const AUDITED_EVENTS: u32 = 200_000;

#[derive(Debug)]
pub(crate) struct Endpoints {
    machines: gingham_net::Endpoints,
    audit: Option<Box<Audit>>,
    events_left: u32,
    tally: Tally,
}

impl Endpoints {
    pub(crate) fn new(plan: Arc<Plan>) -> Self {
        let tally = Tally::default();
        let audit = Some(Box::new(Audit::new(Arc::clone(&plan), tally.clone())));
        let machines = gingham_net::Endpoints::new(plan);
        Self { machines, audit, events_left: AUDITED_EVENTS, tally }
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(crate) fn audited(&self, family: Audited) -> u64 {
        self.tally.of(family)
    }

    pub(crate) fn machines(&self) -> &gingham_net::Endpoints {
        &self.machines
    }

    /// Returns the state machines, only for measurements and checkpoints: decisions must be
    /// audited.
    pub(crate) fn machines_mut(&mut self) -> &mut gingham_net::Endpoints {
        &mut self.machines
    }

    pub(crate) fn collector_mut(&mut self) -> &mut Collector {
        self.machines.collector_mut()
    }

    pub(crate) fn wanted(&self) -> Wanted {
        self.machines.wanted()
    }

    pub(crate) fn adapters(&self) -> &[Adapter] {
        self.machines.adapters()
    }

    pub(crate) fn adapter(&self, endpoint: EndpointId) -> &Adapter {
        let adapter = self.machines.adapter(endpoint);
        if let Some(audit) = &self.audit {
            audit.check_groups(endpoint, adapter);
        }
        adapter
    }

    /// Counts an event. Returns the audit while fewer than [`AUDITED_EVENTS`] events were counted.
    fn audit(&mut self) -> Option<&mut Audit> {
        match self.events_left.checked_sub(1) {
            Some(left) => self.events_left = left,
            None => self.audit = None,
        }
        self.audit.as_deref_mut()
    }

    pub(crate) fn notify(&mut self, now: Time, notice: Notice<'_>) {
        let expected = self.audit().and_then(|audit| audit.notice(now, &notice));
        match notice {
            Notice::Read { input, lane, waiting_flits, packet } => {
                let read = Notice::Read { input, lane, waiting_flits, packet: &mut *packet };
                self.machines.notify(now, read);
                self.tally.check_packet(Audited::Read, now, expected, packet);
            }
            Notice::Forwarded { stay, left, packet } => {
                let forwarded = Notice::Forwarded { stay, left, packet: &mut *packet };
                self.machines.notify(now, forwarded);
                self.tally.check_packet(Audited::Forwarded, now, expected, packet);
            }
            Notice::SentOn { endpoint, waited, packet } => {
                let sent_on = Notice::SentOn { endpoint, waited, packet: &mut *packet };
                self.machines.notify(now, sent_on);
                self.tally.check_packet(Audited::SentOn, now, expected, packet);
            }
            notice => self.machines.notify(now, notice),
        }
        if let Some(audit) = &self.audit {
            audit.check_reports(now, &self.machines);
        }
    }

    /// Reports that a switch has read a packet. Returns the channel to port 0 if the packet was
    /// diverted.
    pub(crate) fn read(
        &mut self,
        now: Time,
        (input, lane): (ChannelId, u8),
        waiting_flits: u64,
        packet: &mut Packet,
    ) -> Option<ChannelId> {
        let before = packet.destination;
        self.notify(now, Notice::Read { input, lane, waiting_flits, packet });
        (packet.destination != before).then(|| self.machines.plan().into_end(input, packet))
    }

    pub(crate) fn on_network_event(&mut self, event: NetworkEvent) {
        if let Some(audit) = &mut self.audit {
            audit.network_event(event);
        }
        event.apply(&mut self.machines);
    }

    /// Removes and returns the next order. The audit checks that the order was expected.
    pub(crate) fn next_order(&mut self) -> Option<Order> {
        let order = self.machines.next_order();
        if let Some(audit) = &mut self.audit {
            audit.carry_out(order);
        }
        order
    }

    pub(crate) fn turn(&mut self, endpoint: EndpointId, group: usize, begins: Time) -> Turn {
        let found = self.machines.turn(endpoint, group, begins);
        if let Some(audit) = self.audit() {
            audit.turn(endpoint, group, begins, found);
        }
        found
    }

    pub(crate) fn next(&mut self, endpoint: EndpointId, group: usize, begins: Time) -> Next {
        let found = self.machines.next(endpoint, group, begins);
        if let Some(audit) = self.audit() {
            audit.next(endpoint, group, begins, found);
        }
        found
    }

    pub(crate) fn has_ready(&self, endpoint: EndpointId, group: usize, now: Time) -> bool {
        let found = self.machines.has_ready(endpoint, group, now);
        if let Some(audit) = &self.audit {
            audit.check_ready(endpoint, group, now, found);
        }
        found
    }

    pub(crate) fn queued(&self, endpoint: EndpointId, now: Time) -> Vec<Queued> {
        let found = self.machines.queued(endpoint, now);
        if let Some(audit) = &self.audit {
            audit.check_queued(endpoint, now, &found);
        }
        found
    }
}
