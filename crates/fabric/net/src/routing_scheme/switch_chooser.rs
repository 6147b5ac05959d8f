//! Output selection for packets with several permitted outputs.
//!
//! ```text
//!   to t, at s0:   east   lanes 1 2     a lane can be granted, 7 credits   ─┐
//!                  north  lanes 0 1 2   no lane can be granted              ├─► one output, by [`Select`]
//!                  up     lanes 1 2     a lane can be granted, 9 credits   ─┘
//! ```
//!
//! At every tick until it is granted a lane, a head requests one output. Unless [`Reselect::Never`]
//! is set, it chooses anew among the outputs that could grant it a lane at the start of VC
//! allocation; if none could, it makes no request.
//!
//! Random draws are indexed by tick, so that a run does not depend on the order of evaluation.

use super::SwitchDecision;
use crate::Plan;
use gingham_kernel::{Counted, Purpose};
use gingham_topology::routing::{LaneSet, Routes, VcClass};
use gingham_topology::{ChannelId, EndpointId, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Selection among several outputs of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// The output with the lowest port number.
    #[schemars(extend("x-source" = "textbook"))]
    First,
    /// A random output, all with equal probability.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 10.2 (random ascent in trees)"))]
    Random,
    /// The output with the most credits on the adaptive lanes that the packet may take there. Ties
    /// are broken at random with equal probability. Escape lanes count only if no lane is adaptive.
    #[default]
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 10.1; credits stand for queue lengths"))]
    LeastLoaded,
}

/// How often a packet head that waits for a lane selects its output again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reselect {
    /// In every cycle, among the outputs that can grant the head a lane in that cycle.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    EveryCycle,
    /// Never: when its routing is complete, the head chooses among all its outputs, and waits for
    /// the chosen output. It may also take the escape lanes on its path, if any.
    #[schemars(extend("x-source" = "BookSim 2, src/routers/iq_router.cpp; escape lanes beside the choice are ours"))]
    Never,
}

/// An output that a packet may take, with the permitted lanes there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutputChoice {
    /// Output channel.
    pub output: ChannelId,
    /// Permitted lanes, at least one.
    pub lanes: LaneSet,
    /// Lanes whose credits indicate the load of the output: the adaptive lanes, or all lanes if
    /// none is adaptive. Escape lanes exist at only one output, and would make that output look
    /// less loaded.
    pub judged: LaneSet,
}

impl Plan {
    /// Returns the outputs that a VC class may take at a switch towards `to`, in port order, under
    /// adaptive routing. With a `chosen` output, returns only that output and the escape lanes on
    /// the path of the table.
    pub fn outputs(
        &self,
        switch: NodeId,
        to: EndpointId,
        vc_class: VcClass,
        chosen: Option<ChannelId>,
    ) -> impl Iterator<Item = OutputChoice> {
        let Routes::Table(tables) = &self.routing.paths[0] else {
            unreachable!("packets that choose follow tables")
        };
        tables.onward(&self.fabric, switch, to).filter_map(move |(output, is_by_table)| {
            let of = |is_by_table| {
                self.lanes.allowed.chosen(&self.fabric, vc_class, (output, is_by_table), to)
            };
            let is_open = chosen.is_none_or(|chosen| chosen == output);
            let lanes = if is_open { of(is_by_table) } else { of(is_by_table).without(of(false)) };
            let judged = self.lanes.allowed.judged(vc_class, lanes);
            (!lanes.is_empty()).then_some(OutputChoice { output, lanes, judged })
        })
    }
}

/// Position of a head at a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeadPlace {
    /// Switch.
    pub switch: NodeId,
    /// Input port.
    pub port: u16,
    /// Lane of the input port.
    pub lane: u8,
}

/// Output selection at all switches.
#[derive(Clone, Debug)]
pub struct SwitchChooser {
    decision: SwitchDecision,
    draws: Vec<Counted>,
}

impl SwitchChooser {
    /// Creates the chooser of a run; returns `None` without adaptive routing.
    pub fn new(plan: &Plan) -> Option<Self> {
        let decision = plan.routing.decision.at_switches()?;
        let draws = |switch| {
            let name = plan.fabric.node(switch).stable_name();
            Counted::new(plan.seed, &name, Purpose::Output)
        };
        let draws = plan.fabric.switches().map(draws).collect();
        Some(Self { decision, draws })
    }

    /// Returns whether a head keeps the first output that it chose.
    pub fn is_for_good(&self) -> bool {
        self.decision.reselect == Reselect::Never
    }

    /// Chooses an output for a head at a tick. Returns an index into `credits`, which contains the
    /// credits on each output's judged lanes ([`OutputChoice::judged`]) and must not be empty.
    pub fn choose(&self, head: HeadPlace, tick: u64, credits: &[u64]) -> usize {
        let draw = |among: usize| {
            let lane = u64::from(head.port) << 8 | u64::from(head.lane);
            let draws = self.draws[head.switch.index()].of(lane);
            usize::try_from(draws.below(tick, among as u64)).expect("outputs are few")
        };
        let most = credits.iter().max().expect("there is an output to choose");
        let with_most = || (0..credits.len()).filter(|place| credits[*place] == *most);
        match self.decision.select {
            Select::First => 0,
            Select::Random => draw(credits.len()),
            Select::LeastLoaded => {
                with_most().nth(draw(with_most().count())).expect("one of those with the most")
            }
        }
    }
}
