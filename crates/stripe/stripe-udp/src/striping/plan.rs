//! Protocol parameters, with presets for free and strict order.

use std::time::Duration;

use gingham_stripe::{
    ChannelOrder, Charge, ControlPlan, Controlled, Guarantee, MESSAGE_BYTES_MAX, OptionsError,
    Order, OrderOptions, ReceiverOptions, RepairPlan, RepairRequests, ReportPlan, SenderOptions,
    SharePlan, SizePlan, TAG_BYTES, TAG_BYTES_MAX,
};

use gingham_stripe_crypt::PublicKey;

use super::{Packet, bytes};

/// Reorder buffers for channels that reorder packets: 20 ms, and at most the number of 1,400-byte
/// packets that 1 Gbit/s delivers in that time.
const RESTORE: OrderOptions =
    OrderOptions { wait: Duration::from_millis(20), packets_max: 2_048, adapts: true };

/// Protocol parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripingPlan {
    /// Longest packet in bytes.
    pub longest_bytes: u32,
    /// Sender options.
    pub sender: SenderOptions,
    /// Receiver options.
    pub receiver: ReceiverOptions,
    /// Reorder buffers for tagged packets; if `None`, late packets are lost.
    pub restore: Option<OrderOptions>,
}

impl StripingPlan {
    /// Returns parameters for free order with BBR; probes discover the maximum datagram size of
    /// each channel.
    pub fn free(longest_bytes: u32) -> Self {
        let sender = SenderOptions {
            order: Order::Free,
            control: Some(ControlPlan::default()),
            sizes: Some(SizePlan { max: u32::MAX, ..SizePlan::default() }),
            ..SenderOptions::default()
        };
        let receiver = ReceiverOptions {
            order: Order::Free,
            guaranteed: Some(Guarantee::default()),
            reports: Some(ReportPlan::default()),
            ..ReceiverOptions::default()
        };
        Self { longest_bytes, sender, receiver, restore: Some(RESTORE) }
    }

    /// Returns parameters for strict order, with quanta that follow the rates measured by BBR.
    pub fn strict(longest_bytes: u32) -> Self {
        let mut plan = Self::free(longest_bytes);
        (plan.sender.order, plan.receiver.order) = (Order::Strict, Order::Strict);
        plan.sender.shares = Some(SharePlan::default());
        plan
    }

    /// Returns parameters for strict order as published: unmodified packets, fixed quanta, and
    /// markers with credits every sixteenth round (Adiseshu et al. 1996, sections 5 and 6.3).
    pub fn quasi_fifo(longest_bytes: u32) -> Self {
        let credits = Some(Charge::BYTES);
        let mut sender = SenderOptions { credits, ..SenderOptions::default() };
        // With the default of four rounds, markers of 80 bytes on the wire would use up to 2 % of
        // two links of 10 and 20 Mbit/s.
        sender.markers.every_rounds = 16;
        let receiver =
            ReceiverOptions { reports: Some(ReportPlan::default()), ..ReceiverOptions::default() };
        Self { longest_bytes, sender, receiver, restore: None }
    }

    pub(crate) const fn has_tags(&self) -> bool {
        self.receiver.guaranteed.is_some()
    }

    /// Enables retransmission of lost packets.
    #[must_use]
    pub fn repaired(mut self) -> Self {
        self.sender.repair = Some(RepairPlan::default());
        if let Some(guarantee) = &mut self.receiver.guaranteed {
            guarantee.repair = Some(RepairRequests::default());
        }
        self
    }

    /// Mixes both keys into BBR's seed, so that ends with a common bottleneck do not probe
    /// simultaneously.
    #[must_use]
    pub(crate) fn between(mut self, ours: &PublicKey, theirs: &PublicKey) -> Self {
        let word = |key: &PublicKey| {
            u64::from_le_bytes(*key.as_bytes().first_chunk().expect("a key has 32 bytes"))
        };
        if let Some(Controlled::Bbr(plan)) = self.sender.control.as_mut().map(|plan| &mut plan.by) {
            plan.seed ^= word(ours).rotate_left(1) ^ word(theirs);
        }
        self
    }

    pub(super) fn sizes(&self, header_bytes: u32) -> Option<SizePlan> {
        let sizes = self.sender.sizes?;
        let tag_bytes = if self.sender.repair.is_some() { TAG_BYTES_MAX } else { TAG_BYTES };
        let frame_bytes = (self.longest_bytes as usize + tag_bytes).max(MESSAGE_BYTES_MAX);
        let max = sizes.max.min(bytes(frame_bytes));
        Some(SizePlan { base: sizes.base.min(max), max, headers: header_bytes, ..sizes })
    }

    pub(super) fn order(&self) -> Result<Option<OrderOptions>, OptionsError> {
        let restore = self.restore.filter(|_| self.has_tags());
        let check = |options| ChannelOrder::<Packet>::new(options).map(|_| options);
        restore.map(check).transpose()
    }
}
