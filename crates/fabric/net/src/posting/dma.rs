//! The DMA engine of an adapter: which message it copies next, and until when.
//!
//! One message at a time, whole, by priority of its class and then in the order of acceptance; a
//! copy that has begun is never interrupted. Source: Yum et al. 2002, section 3.2 ("which QP to
//! service in FCFS order based on their priority"); that it is whole, and when it may leave, ours.

use super::DmaPlan;
use crate::{MessageSlot, Priority};
use gingham_kernel::Time;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A DMA engine at work.
#[derive(Clone, Debug, Default)]
pub(super) struct Dma {
    /// By priority and the order of acceptance: the message and its payload.
    waiting: BTreeMap<(Reverse<Priority>, u64), (MessageSlot, u32)>,
    copying: Option<MessageSlot>,
}

impl Dma {
    /// A message is to be copied, the `number`-th of all.
    pub(super) fn put(
        &mut self,
        slot: MessageSlot,
        payload_bytes: u32,
        priority: Priority,
        number: u64,
    ) {
        self.waiting.insert((Reverse(priority), number), (slot, payload_bytes));
    }

    /// Begins the next copy `now`, if none is under way and anything waits: when it is done.
    pub(super) fn begin(&mut self, plan: DmaPlan, now: Time) -> Option<Time> {
        if self.copying.is_some() {
            return None;
        }
        let (_, (slot, payload_bytes)) = self.waiting.pop_first()?;
        self.copying = Some(slot);
        Some(now + plan.time_of(payload_bytes))
    }

    /// The copy under way is done.
    pub(super) fn end(&mut self) -> MessageSlot {
        self.copying.take().expect("a copy was under way")
    }
}
