//! Selection of strict or free order, and the features that follow from it.

use super::{Markers, Order, Quanta, Reception, Repair, Scenario, Scheduler, Tells};

impl Scenario {
    /// Returns the order; the default is strict if a feature requires it, otherwise free.
    pub fn order(&self) -> Order {
        self.stripe.order.unwrap_or_else(|| {
            let is_bound = self.stripe.guaranteed || self.stripe.window;
            if is_bound || self.bound_by().is_some() { Order::Strict } else { Order::Free }
        })
    }

    /// Returns the first configured key that only has an effect in strict order.
    pub(crate) fn bound_by(&self) -> Option<String> {
        let stripe = &self.stripe;
        let Markers { send, every_rounds, before_channel, tells, .. } = stripe.markers;
        let usual = Markers::default();
        let asked = [
            ("stripe.scheduler", stripe.scheduler != Scheduler::SurplusRoundRobin),
            ("stripe.quanta", stripe.quanta == Quanta::Follow),
            ("stripe.reception", stripe.reception != Reception::Logical),
            ("stripe.markers.send", !send),
            ("stripe.markers.tells", tells != Tells::Number),
            ("stripe.markers.every_rounds", every_rounds != usual.every_rounds),
            ("stripe.markers.before_channel", before_channel != usual.before_channel),
        ];
        let of_stripe = asked.iter().find(|(_, asked)| *asked).map(|(key, _)| (*key).to_owned());
        of_stripe.or_else(|| {
            self.channel.iter().enumerate().find_map(|(index, channel)| {
                let key = match (channel.quantum, channel.quanta.is_empty()) {
                    (Some(_), _) => "quantum",
                    (None, false) => "quanta",
                    (None, true) => return None,
                };
                Some(format!("channel.{index}.{key}"))
            })
        })
    }

    /// Returns the retransmission parameters, with defaults in free order; `None` if disabled.
    pub fn repair(&self) -> Option<Repair> {
        let by_order = (self.order() == Order::Free).then(Repair::default);
        self.stripe.repair.or(by_order).filter(|repair| repair.tries > 0)
    }

    pub(crate) fn has_tags(&self) -> bool {
        self.stripe.guaranteed || self.order() == Order::Free
    }

    pub(crate) fn has_windows(&self) -> bool {
        let stripe = &self.stripe;
        stripe.window || stripe.quanta == Quanta::Follow || self.order() == Order::Free
    }

    pub(crate) fn is_held_back(&self) -> bool {
        self.has_windows() || self.stripe.credits
    }

    pub(crate) fn sees_queues(&self) -> bool {
        self.stripe.backpressure.unwrap_or_else(|| !self.has_windows())
    }
}
