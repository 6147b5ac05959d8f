//! Orders that the audit expects until the network carries them out.

use gingham_kernel::Time;
use gingham_net::{Order, Weighing};
use gingham_topology::EndpointId;

#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    expected: Vec<Order>,
    /// Requested wake-ups that are still due. A second order for the same endpoint and time is
    /// optional.
    wakes: Vec<(EndpointId, Time)>,
    free_weights: u64,
}

impl Orders {
    pub(super) fn send(&mut self, endpoint: EndpointId) {
        self.expected.push(Order::Send { endpoint });
    }

    pub(super) fn create_at(&mut self, source: usize, at: Time) {
        self.expected.push(Order::CreateAt { source, at });
    }

    pub(super) fn wake_at(&mut self, endpoint: EndpointId, at: Time) {
        if !self.wakes.contains(&(endpoint, at)) {
            self.wakes.push((endpoint, at));
            self.expected.push(Order::WakeAt { endpoint, at });
        }
    }

    pub(super) fn gather(&mut self) {
        self.expected.push(Order::Gather);
    }

    /// Expects an order to set a lane's weight, which replaces a pending order for the lane.
    pub(super) fn weigh(&mut self, weighing: Weighing) {
        let lane = |of: Weighing| (of.channel, of.place, of.lane);
        self.expected.retain(
            |order| !matches!(order, Order::Weigh(other) if lane(*other) == lane(weighing)),
        );
        self.expected.push(Order::Weigh(weighing));
    }

    pub(super) fn weigh_freely(&mut self) {
        self.free_weights += 1;
    }

    pub(super) fn woken(&mut self, endpoint: EndpointId, now: Time) {
        self.wakes.retain(|(of, at)| *of != endpoint || *at > now);
    }

    /// Checks an order that the network carries out. `None` means that no order is left after a
    /// notice.
    pub(super) fn carry_out(&mut self, now: Time, order: Option<Order>) {
        let at = now.as_ps();
        let Some(order) = order else {
            assert!(
                self.expected.is_empty(),
                "audit: at {at} ps, not ordered: {:?}",
                self.expected
            );
            self.free_weights = 0;
            return;
        };
        if let Some(place) = self.expected.iter().position(|expected| *expected == order) {
            self.expected.remove(place);
            return;
        }
        let is_permitted = match order {
            Order::WakeAt { endpoint, at } => self.wakes.contains(&(endpoint, at)),
            Order::Weigh(_) if self.free_weights > 0 => {
                self.free_weights -= 1;
                true
            }
            _ => false,
        };
        assert!(is_permitted, "audit: at {at} ps, ordered {order:?}, expected {:?}", self.expected);
    }
}
