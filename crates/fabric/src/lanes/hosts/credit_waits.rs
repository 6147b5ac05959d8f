//! Which channels of hosts wait for credits.

use super::{Group, Hosts};
use crate::lanes::context::Context;
use crate::lanes::in_transit::InTransit;
use crate::lanes::layout::lanes_of;
use crate::lanes::links::Links;
use gingham_kernel::Time;
use gingham_model::Injection;

impl Hosts {
    /// Whether the channel of a host, which takes no flit, would take one that begins at `began` if it had
    /// credits.
    #[inline(never)]
    pub(super) fn waits(
        &self,
        port: usize,
        began: u64,
        links: &mut Links,
        in_transit: &InTransit,
        context: &Context,
    ) -> bool {
        let is_there = |lane: usize| {
            let sender = &self.host(port).lanes[lane];
            !in_transit.exists()
                || sender.in_transit.is_none_or(|id| in_transit.has_flit(id, sender.left, context))
        };
        let link = links.port(port);
        let unpaid = link.unsent() & !link.credited;
        if lanes_of(unpaid).any(is_there) {
            return true;
        }
        link.is_open()
            && (self.is_short || self.has_unasked(port, began, links, in_transit, context))
    }

    /// Whether a queue that was not asked for its next packet, since none of its lanes in no packet has a
    /// credit, has one that neither window nor pace holds back.
    fn has_unasked(
        &self,
        port: usize,
        began: u64,
        links: &mut Links,
        in_transit: &InTransit,
        context: &Context,
    ) -> bool {
        let is_held = self.injection == Injection::OneAtATime && self.is_in_own(port, links);
        let waiting = self.waiting_groups(port, in_transit);
        let link = *links.port(port);
        let (now, began) = (Time::from_ps(context.clock.now()), Time::from_ps(began));
        let host = self.host(port);
        let is_unasked = |(group, Group { lanes, .. }): &(usize, &Group)| {
            let idle = lanes & !link.filled;
            waiting >> group & 1 == 1 && idle != 0 && idle & link.credited == 0
        };
        let mut unasked = host.groups.iter().enumerate().filter(is_unasked).peekable();
        if self.may_hold_back && unasked.peek().is_some() {
            // A pace lets a packet go, or a window shuts, without notice.
            links.ready.insert(port);
        }
        unasked.any(|(group, _)| {
            let has_transit = in_transit.exists()
                && in_transit.host(port).machine.next_ready(group, now).is_some();
            has_transit || !is_held && context.endpoints.has_ready(host.endpoint, group, began)
        })
    }
}
