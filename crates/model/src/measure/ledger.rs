//! The ledger: counts of a run, by class.

use super::records::{RECORDS_MAX, Records};
use super::{Estimate, Slice, Slices};
use crate::{Delivery, Message, Plan};
use gingham_kernel::Time;

/// Messages and their payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Number of messages.
    pub messages: u64,
    /// Their payload bytes.
    pub bytes: u64,
}

impl Count {
    fn add(&mut self, message: &Message) {
        self.messages += 1;
        self.bytes += u64::from(message.payload_bytes);
    }
}

/// What one channel carried within the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChannelCount {
    /// Data flits that started.
    pub data_flits: u64,
    /// Control flits that started.
    pub control_flits: u64,
    /// STOPs that reached the sender.
    pub stops: u64,
    /// Picoseconds for which the sender was stopped.
    pub stopped_ps: u64,
}

/// The counts of one class.
#[derive(Clone, Debug, Default)]
pub struct ClassLedger {
    /// Created in the whole run.
    pub created: Count,
    /// Delivered in the whole run.
    pub delivered: Count,
    /// Created in the window.
    pub window_created: Count,
    /// Created in the window, and delivered.
    pub window_followed: Count,
    /// Delivered in the window, whenever created.
    pub window_delivered: Count,
    /// Sums by slices of time.
    pub slices: Slices,
}

impl ClassLedger {
    /// The slices of the window that ends at `end`.
    pub fn window(&self, warm_up: Time, end: Time) -> &[Slice] {
        self.slices.between(warm_up, end)
    }

    /// Mean latency in picoseconds of messages created in the window.
    pub fn latency_ps(&self, warm_up: Time, end: Time) -> Option<Estimate> {
        Estimate::latency_ps(self.window(warm_up, end))
    }
}

/// All counts of a run.
#[derive(Clone, Debug)]
pub struct Ledger {
    warm_up: Time,
    classes: Vec<ClassLedger>,
    records: Records,
}

impl Ledger {
    /// An empty ledger for a plan.
    pub fn new(plan: &Plan) -> Self {
        Self {
            warm_up: plan.warm_up,
            classes: vec![ClassLedger::default(); plan.classes.len()],
            records: Records::new(plan.seed, RECORDS_MAX),
        }
    }

    /// A message was created.
    pub fn on_created(&mut self, message: &Message) {
        let class = &mut self.classes[message.class.index()];
        class.created.add(message);
        class.slices.at(message.created).created_bytes += u64::from(message.payload_bytes);
        if message.created >= self.warm_up {
            class.window_created.add(message);
        }
    }

    /// A message was delivered.
    pub fn on_delivered(&mut self, delivery: &Delivery) {
        let message = &delivery.message;
        let class = &mut self.classes[message.class.index()];
        class.delivered.add(message);
        let bytes = u64::from(message.payload_bytes);
        class.slices.at(delivery.delivered).delivered_bytes += bytes;
        if delivery.delivered >= self.warm_up {
            class.window_delivered.add(message);
        }
        let slice = class.slices.at(message.created);
        slice.latency_count += 1;
        slice.latency_sum_ps += u128::from(delivery.latency().as_ps());
        if message.created >= self.warm_up {
            class.window_followed.add(message);
            self.records.offer(*delivery);
        }
    }

    /// Counts by class.
    pub fn classes(&self) -> &[ClassLedger] {
        &self.classes
    }

    /// The sample of deliveries of the window.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Messages created in the window and delivered, over all classes.
    pub fn followed_messages(&self) -> u64 {
        self.classes.iter().map(|class| class.window_followed.messages).sum()
    }

    /// Messages created at any time and not delivered yet, over all classes.
    pub fn in_flight_messages(&self) -> u64 {
        let created: u64 = self.classes.iter().map(|class| class.created.messages).sum();
        let delivered: u64 = self.classes.iter().map(|class| class.delivered.messages).sum();
        created - delivered
    }
}
