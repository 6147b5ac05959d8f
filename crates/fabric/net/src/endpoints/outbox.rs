//! Outgoing side of all endpoints: adapters, orders to the network, and packets without a message.

use crate::{Adapter, Order, Packet, Plan, Weighing};
use gingham_kernel::Time;
use gingham_topology::EndpointId;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Outbox {
    adapters: Vec<Adapter>,
    orders: Vec<Order>,
    /// Number of packets without a message, waiting or in the network.
    in_flight: usize,
}

impl Outbox {
    pub(super) fn new(plan: &Arc<Plan>) -> Self {
        Self { adapters: Adapter::all(plan), orders: Vec::new(), in_flight: 0 }
    }

    pub(super) fn adapters(&self) -> &[Adapter] {
        &self.adapters
    }

    #[inline]
    pub(super) fn adapter(&mut self, endpoint: EndpointId) -> &mut Adapter {
        &mut self.adapters[endpoint.index()]
    }

    #[inline]
    pub(super) fn order(&mut self, order: Order) {
        self.orders.push(order);
    }

    #[inline]
    pub(super) fn order_send(&mut self, endpoint: EndpointId) {
        self.orders.push(Order::Send { endpoint });
    }

    /// Orders a lane weight change, which replaces any pending order for the same lane.
    pub(super) fn order_weight(&mut self, weighing: Weighing) {
        let is_same = |of: &Weighing| {
            (of.channel, of.place, of.lane) == (weighing.channel, weighing.place, weighing.lane)
        };
        self.orders.retain(|order| !matches!(order, Order::Weigh(of) if is_same(of)));
        self.orders.push(Order::Weigh(weighing));
    }

    pub(super) fn orders(&self) -> &[Order] {
        &self.orders
    }

    #[inline]
    pub(super) fn orders_mut(&mut self) -> &mut Vec<Order> {
        &mut self.orders
    }

    pub(super) fn send(&mut self, packet: Packet, now: Time) -> usize {
        self.in_flight += 1;
        self.order_send(packet.source);
        self.adapter(packet.source).order(packet, now)
    }

    pub(super) fn on_ended(&mut self) {
        self.in_flight -= 1;
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }
}
