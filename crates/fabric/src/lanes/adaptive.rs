//! Routing where heads may take any of several outputs ([`gingham_model::Select`]).
//!
//! ```text
//!   head there at h ── routing ──► from h + 1 + R on, each tick: withdraw, choose among what could be granted now, request
//!                                                                     └► granted: it waits no longer
//! ```
//!
//! What a head chooses changes with every lane that is released and every credit that comes, so that
//! all heads that wait choose anew in every tick, against the state at the start of VC allocation. A
//! head for which no output could do requests none. While heads wait no tick is skipped. Where heads
//! choose for good, that is what is left to them: what they chose, or else the escape lanes on their path.

use crate::bits::Bits;
use crate::lanes::context::Context;
use crate::lanes::layout::{NONE, SHIFT, lanes_of, number_of};
use crate::lanes::links::TO_HOST;
use crate::lanes::network::Network;
use gingham_model::{HeadPlace, OutputChoice, PipelinePlan, Plan, Selector};
use gingham_topology::{ChannelId, PortRef};

/// Heads that choose.
#[derive(Clone, Debug)]
pub(crate) struct AdaptiveHeads {
    selector: Selector,
    /// Input lanes whose heads were granted no lane so far.
    waiting: Bits,
    /// By input lane: the port that its head requests, if it does.
    requested: Vec<Option<u32>>,
    /// By input lane: the output that its head chose for good.
    chosen: Vec<Option<ChannelId>>,
    open: Open,
}

/// The outputs among which a head chooses.
#[derive(Clone, Debug, Default)]
struct Open {
    /// Each with the lanes that the head may take there.
    ports: Vec<(usize, u16)>,
    /// Credits of each output, on the lanes that indicate its load.
    credits: Vec<u64>,
}

impl AdaptiveHeads {
    /// Those of a run, if heads choose in it, among so many lanes.
    pub(crate) fn new(plan: &Plan, lanes: &PipelinePlan, lane_count: usize) -> Option<Box<Self>> {
        let selector = Selector::new(plan, lanes)?;
        let waiting = Bits::new(lane_count);
        let requested = vec![None; lane_count];
        let chosen = vec![None; lane_count];
        Some(Box::new(Self { selector, waiting, requested, chosen, open: Open::default() }))
    }

    /// The head of an input lane was granted a lane.
    pub(crate) fn on_granted(&mut self, lane: usize) {
        self.waiting.words[lane / 64] &= !(1 << (lane % 64));
        self.requested[lane] = None;
        self.chosen[lane] = None;
    }

    /// The output that the head of an input lane chose for good.
    pub(crate) fn chosen(&self, lane: usize) -> Option<ChannelId> {
        self.chosen[lane]
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
        let AdaptiveHeads { selector, waiting, requested, chosen, open } = &mut *heads;
        if selector.is_for_good() {
            for lane in due.iter().map(|lane| *lane as usize) {
                self.gather(open, lane, None, |_, _| true, context);
                let place = selector.choose(Self::place_of(lane, context), tick, &open.credits);
                chosen[lane] = Some(context.layout.channel(open.ports[place].0));
            }
        }
        for lane in waiting.iter() {
            requested[lane] =
                self.choose_output(lane, (selector, chosen[lane], open), context, tick);
        }
        self.adaptive = Some(heads);
    }

    /// The outputs that the head of an input lane may take, those of them that are open.
    fn gather(
        &self,
        open: &mut Open,
        lane: usize,
        chosen: Option<ChannelId>,
        is_open: impl Fn(usize, u16) -> bool,
        context: &Context,
    ) {
        open.ports.clear();
        open.credits.clear();
        for OutputChoice { output, lanes, judged } in self.choices(lane, chosen, context) {
            let port = context.layout.port(output);
            if is_open(port, lanes.bits()) {
                open.ports.push((port, lanes.bits()));
                open.credits.push(self.credits_of(port, judged.bits(), &context.lanes));
            }
        }
    }

    /// Where the head of an input lane stands.
    fn place_of(lane: usize, context: &Context) -> HeadPlace {
        let input = context.layout.channel_into(lane >> SHIFT);
        let PortRef { node: switch, port } = context.plan.ends(input).target;
        let lane = u8::try_from(number_of(lane)).expect("lanes are few");
        HeadPlace { switch, port, lane }
    }

    /// The head of an input lane requests an output that could grant it a lane, if one could: which
    /// port.
    fn choose_output(
        &mut self,
        lane: usize,
        (selector, chosen, open): (&Selector, Option<ChannelId>, &mut Open),
        context: &Context,
        tick: u64,
    ) -> Option<u32> {
        let flits = self.buffers.lane(lane).left;
        let could_grant = |port, lanes| self.could_grant(port, lanes, flits, &context.lanes) != 0;
        self.gather(open, lane, chosen, could_grant, context);
        if open.ports.is_empty() {
            return None;
        }
        let place = if let Some(chosen) = chosen {
            // Else the escape lanes on its path.
            let chosen = context.layout.port(chosen);
            open.ports.iter().position(|(port, _)| *port == chosen).unwrap_or(0)
        } else {
            selector.choose(Self::place_of(lane, context), tick, &open.credits)
        };
        let (port, lanes) = open.ports[place];
        let packet = &context.worms.get(self.buffers.worm(lane)).packet;
        let level = context.lanes.arbitration.level(packet.priority);
        let base = self.switches.port(lane >> SHIFT).base as usize;
        self.requests.insert(port, lane - base, lane, lanes, level);
        self.switches.allocating.insert(port);
        Some(u32::try_from(port).expect("ports have 32 bits"))
    }

    /// The outputs that the head of an input lane may take, with its lanes there: what is left to it, if
    /// it chose for good.
    pub(crate) fn choices<'a>(
        &self,
        lane: usize,
        chosen: Option<ChannelId>,
        context: &'a Context,
    ) -> impl Iterator<Item = OutputChoice> + use<'a> {
        debug_assert_eq!(self.buffers.lane(lane).out, NONE, "a head that waits holds nothing");
        let Context { plan, layout, worms, .. } = context;
        let packet = &worms.get(self.buffers.worm(lane)).packet;
        let switch = plan.ends(layout.channel_into(lane >> SHIFT)).target.node;
        plan.outputs(switch, packet.destination, packet.vc_class, chosen)
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
