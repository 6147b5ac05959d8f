//! Routing where heads may take any of several outputs ([`gingham_model::Select`]).
//!
//! ```text
//!   head there at h ── routing ──► from h + 1 + R on, each tick: withdraw, choose among what could be granted now, request
//!                                                                     └► granted: it waits no longer
//! ```
//!
//! What a head chooses changes with every lane that is released and every credit that comes, so that
//! all heads that wait choose anew in every tick, against the state at the start of VC allocation. A
//! head for which no output could do requests none. While heads wait no tick is skipped.

use crate::bits::Bits;
use crate::lanes::context::Context;
use crate::lanes::layout::{NONE, SHIFT, lanes_of, number_of};
use crate::lanes::links::TO_HOST;
use crate::lanes::network::Network;
use gingham_model::{HeadPlace, OutputChoice, PipelinePlan, Plan, Selector};
use gingham_topology::PortRef;

/// Heads that choose.
#[derive(Clone, Debug)]
pub(crate) struct AdaptiveHeads {
    selector: Selector,
    /// Input lanes whose heads were granted no lane so far.
    waiting: Bits,
    /// By input lane: the port that its head requests, if it does.
    requested: Vec<Option<u32>>,
    open: Open,
}

/// The outputs that could grant a lane to the head that is choosing.
#[derive(Clone, Debug, Default)]
struct Open {
    /// Each with the lanes that the head may take there.
    ports: Vec<(usize, u16)>,
    /// The credits of each.
    credits: Vec<u64>,
}

impl AdaptiveHeads {
    /// Those of a run, if heads choose in it, among so many lanes.
    pub(crate) fn new(plan: &Plan, lanes: &PipelinePlan, lane_count: usize) -> Option<Box<Self>> {
        let selector = Selector::new(plan, lanes.select)?;
        let waiting = Bits::new(lane_count);
        let requested = vec![None; lane_count];
        Some(Box::new(Self { selector, waiting, requested, open: Open::default() }))
    }

    /// The head of an input lane was granted a lane.
    pub(crate) fn on_granted(&mut self, lane: usize) {
        self.waiting.words[lane / 64] &= !(1 << (lane % 64));
        self.requested[lane] = None;
    }

    /// Whether no head waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The input lanes whose heads wait, in ascending order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = usize> {
        self.waiting.iter()
    }
}

impl Network {
    /// Heads whose routing is over at a tick choose, and those that wait do so anew.
    pub(crate) fn choose_outputs(&mut self, due: &[u32], context: &mut Context, tick: u64) {
        let Some(mut heads) = self.adaptive.take() else { return };
        for lane in due.iter().map(|lane| *lane as usize) {
            context.worms.get_mut(self.buffers.worm(lane)).position += 1;
            heads.waiting.insert(lane);
        }
        for lane in heads.waiting.iter() {
            if let Some(port) = heads.requested[lane].take() {
                let base = self.switches.port(lane >> SHIFT).base as usize;
                self.requests.withdraw(port as usize, lane - base);
            }
        }
        let AdaptiveHeads { selector, waiting, requested, open } = &mut *heads;
        for lane in waiting.iter() {
            requested[lane] = self.choose_output(lane, (selector, open), context, tick);
        }
        self.adaptive = Some(heads);
    }

    /// The head of an input lane requests an output that could grant it a lane, if one could: which
    /// port.
    fn choose_output(
        &mut self,
        lane: usize,
        (selector, open): (&Selector, &mut Open),
        context: &Context,
        tick: u64,
    ) -> Option<u32> {
        open.ports.clear();
        open.credits.clear();
        for OutputChoice { output, lanes } in self.choices(lane, context) {
            let port = context.layout.port(output);
            let flits = self.buffers.lane(lane).left;
            if self.could_grant(port, lanes.bits(), flits, &context.lanes) != 0 {
                open.ports.push((port, lanes.bits()));
                open.credits.push(self.credits_of(port, lanes.bits(), &context.lanes));
            }
        }
        if open.ports.is_empty() {
            return None;
        }
        let Context { plan, layout, lanes: lane_plan, .. } = context;
        let PortRef { node: switch, port } = plan.ends(layout.channel_into(lane >> SHIFT)).target;
        let number = u8::try_from(number_of(lane)).expect("lanes are few");
        let (port, lanes) = open.ports
            [selector.choose(HeadPlace { switch, port, lane: number }, tick, &open.credits)];
        let packet = &context.worms.get(self.buffers.worm(lane)).packet;
        let level = lane_plan.arbitration.level(packet.priority);
        let base = self.switches.port(lane >> SHIFT).base as usize;
        self.requests.insert(port, lane - base, lane, lanes, level);
        self.switches.allocating.insert(port);
        Some(u32::try_from(port).expect("ports have 32 bits"))
    }

    /// The outputs that the head of an input lane may take, with its lanes there.
    pub(crate) fn choices<'a>(
        &self,
        lane: usize,
        context: &'a Context,
    ) -> impl Iterator<Item = OutputChoice> + use<'a> {
        debug_assert_eq!(self.buffers.lane(lane).out, NONE, "a head that waits holds nothing");
        let Context { plan, layout, worms, .. } = context;
        let packet = &worms.get(self.buffers.worm(lane)).packet;
        let switch = plan.ends(layout.channel_into(lane >> SHIFT)).target.node;
        plan.outputs(switch, packet.destination, packet.vc_class)
    }

    /// The credits on some lanes of an output that no packet was promised.
    fn credits_of(&self, port: usize, lanes: u16, plan: &PipelinePlan) -> u64 {
        if self.links.port(port).is(TO_HOST) {
            return 0;
        }
        let of = |lane: usize| {
            let state = self.links.lane(port << SHIFT | lane);
            let is_cut_through = plan.cut_through.bits() >> lane & 1 == 1;
            u64::from(if is_cut_through { state.unpromised } else { state.credit })
        };
        lanes_of(lanes).map(of).sum()
    }
}
