//! Waits for credits before the output lanes of a switch: heads at VC allocation, and flits at the
//! crossbar if they take their credits there. Waits of flits in output lanes are in
//! [`crate::lanes::links`].

use crate::bits::Bits;
use crate::lanes::context::Context;
use crate::lanes::layout::{SHIFT, lanes_of};
use crate::lanes::network::Network;
use gingham_model::{OutputChoice, PipelinePlan};

impl Network {
    /// Records whether VC allocation left a head that requests a port without a lane for want of credits
    /// alone.
    pub(crate) fn note_short(&mut self, port: usize, plan: &PipelinePlan) {
        let base = self.switches.port(port).base as usize;
        let is_short = self.requests.of_port(port).any(|input| {
            let lanes = self.requests.lanes_of(base + input);
            self.is_short(port, lanes, self.buffers.lane(base + input).left, plan)
        });
        self.links.set_short(port, is_short);
    }

    /// Records the heads without a lane for all ports if heads choose among outputs. A waiting head
    /// counts for each of its outputs.
    #[inline(never)]
    pub(crate) fn note_short_choices(&mut self, context: &Context) {
        let Some(heads) = &self.adaptive else { return };
        let mut short = Bits::new(context.layout.first_host);
        for lane in heads.waiting() {
            let flits = self.buffers.lane(lane).left;
            for choice in self.choices(lane, heads.chosen(lane), context) {
                let OutputChoice { output, lanes, .. } = choice;
                let port = context.layout.port(output);
                if self.is_short(port, lanes.bits(), flits, &context.lanes) {
                    short.insert(port);
                }
            }
        }
        for port in 0..context.layout.first_host {
            let is_short = short.words[port / 64] >> (port % 64) & 1 == 1;
            self.links.set_short(port, is_short);
        }
    }

    /// Whether a packet of `flits` flits can get none of `lanes` of an output for lack of credits
    /// alone.
    fn is_short(&self, port: usize, lanes: u16, flits: u32, plan: &PipelinePlan) -> bool {
        let free = lanes & !self.links.port(port).held;
        lanes_of(free).any(|lane| self.links.is_released(port, lane))
            && self.could_grant(port, lanes, flits, plan) == 0
    }

    /// Gathers the outputs that flits may cross to, before any flit crosses.
    #[inline(never)]
    pub(crate) fn gather_unpaid(&mut self) {
        let Self { links, switches, buffers, .. } = self;
        for port in switches.crossing.iter() {
            let state = switches.port(port);
            for lane in lanes_of(state.sendable) {
                let to = state.base as usize + usize::from(buffers.lane(port << SHIFT | lane).out);
                links.unpaid.insert(to >> SHIFT);
            }
        }
    }

    /// Records the gathered outputs that flits could have crossed to with more credits.
    #[inline(never)]
    pub(crate) fn note_unpaid(&mut self) {
        for word in 0..self.links.unpaid.words.len() {
            for bit in crate::bits::members(self.links.unpaid.take(word)) {
                let port = word * 64 + bit;
                let is_unpaid = self.is_port_unpaid(port);
                self.links.set_unpaid(port, is_unpaid);
            }
        }
    }

    /// Whether flits can cross to an output with no flit, but for credits.
    fn is_port_unpaid(&self, port: usize) -> bool {
        let link = self.links.port(port);
        let base = self.switches.port(port).base as usize;
        let is_ready = |lane: &usize| {
            let holder = base + usize::from(self.links.lane(port << SHIFT | lane).holder);
            self.switches.port(holder >> SHIFT).sendable >> (holder % (1 << SHIFT)) & 1 == 1
        };
        let ready = lanes_of(link.held).filter(is_ready).fold(0, |lanes, lane| lanes | 1 << lane);
        link.filled == 0 && ready != 0 && ready & link.credited == 0
    }
}
