//! What endpoints order: hosts that may send, what happens later, and weights of lanes.

use super::Hosts;
use crate::lanes::context::Context;
use crate::lanes::event::Event;
use crate::lanes::links::Links;
use crate::lanes::switches::Switches;
use gingham_model::{ArbiterPlace, Order, Weighing};
use gingham_topology::Fabric;

impl Hosts {
    /// Carries out what the endpoints order: hosts may send at the next tick.
    #[inline]
    pub(crate) fn carry_out(
        &mut self,
        links: &mut Links,
        switches: &mut Switches,
        context: &mut Context,
    ) {
        if context.endpoints.has_orders() {
            self.carry_out_some(links, switches, context);
        }
    }

    #[inline(never)]
    fn carry_out_some(
        &mut self,
        links: &mut Links,
        switches: &mut Switches,
        context: &mut Context,
    ) {
        while let Some(order) = context.endpoints.next_order() {
            match order {
                Order::Send { endpoint } => self.send_soon(endpoint, links, context),
                Order::CreateAt { source, at } => {
                    context.clock.schedule(at.as_ps(), Event::Create { source });
                }
                Order::WakeAt { endpoint, at } => {
                    context.clock.schedule(at.as_ps(), Event::WakeEndpoint { endpoint });
                }
                Order::Gather => self.is_to_gather = true,
                Order::Weigh(weighing) => self.weigh(weighing, links, switches, context),
            }
        }
    }

    /// A lane has another weight at one place of one port.
    fn weigh(
        &mut self,
        Weighing { channel, place, lane, weight }: Weighing,
        links: &mut Links,
        switches: &mut Switches,
        context: &Context,
    ) {
        let begins = context.layout.port(channel);
        let (port, arbiters) = match place {
            ArbiterPlace::CrossbarInput => {
                (context.layout.port(Fabric::reverse(channel)), &mut switches.arbiters)
            }
            ArbiterPlace::CrossbarOutput => {
                let outputs = switches.outputs.as_mut().expect("what is weighed has arbiters");
                (begins, &mut outputs.arbiters)
            }
            ArbiterPlace::LinkOutput => (begins, &mut links.arbiters),
            ArbiterPlace::AdapterPort => (begins - self.first_port, &mut self.arbiters),
        };
        arbiters.weigh(port, lane, weight);
    }
}
