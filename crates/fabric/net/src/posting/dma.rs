//! DMA engine of an adapter: copies messages one at a time.
//!
//! A copy is never interrupted. Classes with higher priority go first; within a priority, the order
//! of acceptance decides. Source: Yum et al. 2002, section 3.2; copying whole messages is our
//! assumption.

use super::DmaPlan;
use crate::{MessageSlot, Priority};
use gingham_kernel::Time;
use std::cmp::Reverse;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(super) struct Dma {
    waiting: BTreeMap<(Reverse<Priority>, u64), (MessageSlot, u32)>,
    copying: Option<MessageSlot>,
}

impl Dma {
    pub(super) fn put(
        &mut self,
        slot: MessageSlot,
        payload_bytes: u32,
        priority: Priority,
        number: u64,
    ) {
        self.waiting.insert((Reverse(priority), number), (slot, payload_bytes));
    }

    pub(super) fn begin(&mut self, plan: DmaPlan, now: Time) -> Option<Time> {
        if self.copying.is_some() {
            return None;
        }
        let (_, (slot, payload_bytes)) = self.waiting.pop_first()?;
        self.copying = Some(slot);
        Some(now + plan.time_of(payload_bytes))
    }

    pub(super) fn end(&mut self) -> MessageSlot {
        self.copying.take().expect("a copy was under way")
    }
}
