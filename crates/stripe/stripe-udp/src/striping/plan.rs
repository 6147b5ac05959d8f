//! What both ends of the protocol are told, with presets for each order.

use std::time::Duration;

use gingham_stripe::{
    ChannelOrder, Charge, ControlPlan, Controlled, Guarantee, MESSAGE_BYTES_MAX, OptionsError,
    Order, OrderOptions, ReceiverOptions, RepairPlan, RepairRequests, ReportPlan, SenderOptions,
    SharePlan, SizePlan, TAG_BYTES, TAG_BYTES_MAX,
};

use gingham_stripe_crypt::PublicKey;

use super::{Packet, bytes};

/// Where channels reorder, and only there, what is missing is waited for, 20 ms at most; as many
/// packets may be behind it as 1 Gbit/s brings meanwhile, of 1,400 bytes.
const RESTORE: OrderOptions =
    OrderOptions { wait: Duration::from_millis(20), packets_max: 2_048, adapts: true };

/// What both ends of the protocol are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripingPlan {
    /// The longest packet, in bytes: none longer is taken.
    pub longest_bytes: u32,
    /// The sender of this end.
    pub sender: SenderOptions,
    /// Its receiver.
    pub receiver: ReceiverOptions,
    /// How channels that reorder are put in order before it, where packets have tags; where they are
    /// not, a datagram that was overtaken is lost.
    pub restore: Option<OrderOptions>,
}

impl StripingPlan {
    /// The free order, under BBR, for packets of at most this length; what each channel passes of
    /// them is found by probes.
    pub fn free(longest_bytes: u32) -> Self {
        let sender = SenderOptions {
            order: Order::Free,
            control: Some(ControlPlan::default()),
            // As long as the longest packet is: see `Self::sizes`.
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

    /// The strict order, with quanta that follow the rates that BBR finds.
    pub fn strict(longest_bytes: u32) -> Self {
        let mut plan = Self::free(longest_bytes);
        (plan.sender.order, plan.receiver.order) = (Order::Strict, Order::Strict);
        plan.sender.shares = Some(SharePlan::default());
        plan
    }

    /// The order of the paper, by markers alone: packets are untouched, quanta are told, and credits
    /// go on markers (Adiseshu et al. 1996, sections 5 and 6.3). Markers go at the beginning of every
    /// sixteenth round.
    pub fn quasi_fifo(longest_bytes: u32) -> Self {
        let credits = Some(Charge::BYTES);
        let mut sender = SenderOptions { credits, ..SenderOptions::default() };
        // Four rounds, as there are otherwise, are six packets and two markers of 80 bytes each on
        // the way: two in a hundred of two links of 10 and 20 Mbit/s.
        sender.markers.every_rounds = 16;
        let receiver =
            ReceiverOptions { reports: Some(ReportPlan::default()), ..ReceiverOptions::default() };
        Self { longest_bytes, sender, receiver, restore: None }
    }

    /// Whether a tag is before each packet.
    pub(crate) const fn has_tags(&self) -> bool {
        self.receiver.guaranteed.is_some()
    }

    /// Lost packets are sent again.
    #[must_use]
    pub fn repaired(mut self) -> Self {
        self.sender.repair = Some(RepairPlan::default());
        if let Some(guarantee) = &mut self.receiver.guaranteed {
            guarantee.repair = Some(RepairRequests::default());
        }
        self
    }

    /// BBR draws random waits of a seed that is of these two ends and this direction, beside what is told:
    /// those who share a way do not probe it after the same waits.
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

    /// How sizes are found, behind so many bytes of headers: up to what the longest packet needs,
    /// or its copy.
    pub(super) fn sizes(&self, header_bytes: u32) -> Option<SizePlan> {
        let sizes = self.sender.sizes?;
        let tag_bytes = if self.sender.repair.is_some() { TAG_BYTES_MAX } else { TAG_BYTES };
        let frame_bytes = (self.longest_bytes as usize + tag_bytes).max(MESSAGE_BYTES_MAX);
        let max = sizes.max.min(bytes(frame_bytes));
        Some(SizePlan { base: sizes.base.min(max), max, headers: header_bytes, ..sizes })
    }

    /// How channels are put in order, if they are and can be so.
    pub(super) fn order(&self) -> Result<Option<OrderOptions>, OptionsError> {
        let restore = self.restore.filter(|_| self.has_tags());
        // What is told of one channel is told of all.
        let check = |options| ChannelOrder::<Packet>::new(options).map(|_| options);
        restore.map(check).transpose()
    }
}
