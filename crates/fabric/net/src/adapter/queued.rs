//! Packets at the front of an adapter's queues, for the measurement of congestion trees.
//!
//! Packets that wait for tokens are included; packets that wait for an acknowledgement or their
//! rate limit are not.

use super::Adapter;
use crate::FlowKey;
use crate::MessageSlot;
use crate::congestion::Queued;
use crate::flows::Flows;
use crate::messages::Messages;
use gingham_kernel::Time;

impl Adapter {
    pub(crate) fn queued(&self, flows: &Flows, messages: &Messages, now: Time) -> Vec<Queued> {
        let mut found = Vec::new();
        let levels = usize::from(self.levels);
        for (place, shared) in self.shared.iter().enumerate() {
            let group = place / levels;
            let mut first = |slot: MessageSlot| {
                let message = messages.message(slot);
                let (class, source, destination) =
                    (message.class, message.source, message.destination);
                let flow = FlowKey { class, source, destination, stream: None };
                found.push(Queued { group, flow, payload_bytes: messages.next_bytes(slot) });
            };
            if let Some(slot) = shared.front() {
                first(slot);
            }
            let Some(turns) = self.beside.as_ref().and_then(|beside| beside.turns.get(place))
            else {
                continue;
            };
            let (ordered, of_flows) = turns.firsts(flows, now);
            of_flows.filter_map(|flow| flow.queue.front()).for_each(first);
            found.extend(ordered.map(|packet| Queued {
                group,
                flow: packet.into(),
                payload_bytes: packet.payload_bytes,
            }));
        }
        found
    }
}
