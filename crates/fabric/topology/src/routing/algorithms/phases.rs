//! Legal moves and distances of up*/down*.
//!
//! ```text
//!            up                        a packet starts in "may go up"; once it has gone down it
//!   may go up ──► may go up            is in "down only", and may turn only where a host ejects
//!       │                              and re-injects it
//!  down │  ▲ up, if it may turn
//!       ▼  │
//!   down only ──► down only
//!             down
//! ```
//!
//! A state is a switch, together with the phase of a packet that arrives there.

use super::choices::{Choice, Choices, State};
use super::orientation::Orientation;
use crate::NodeId;
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use std::collections::VecDeque;

pub(super) const PHASES: usize = 2;
const MAY_GO_UP: usize = 0;
const DOWN_ONLY: usize = 1;

pub(crate) fn switch_of(state: State) -> NodeId {
    NodeId::new(state.index() / PHASES)
}

pub(crate) fn start(switch: NodeId) -> State {
    State::new(switch.index() * PHASES + MAY_GO_UP)
}

pub(super) fn is_turn(from: State, to: State) -> bool {
    from.index() % PHASES == DOWN_ONLY && to.index() % PHASES == MAY_GO_UP
}

pub(crate) fn moves<'a>(
    graph: &'a SwitchGraph,
    orientation: &'a Orientation,
    from: State,
    may_turn: bool,
) -> impl Iterator<Item = Choice> + 'a {
    graph.hops_from(switch_of(from)).iter().filter_map(move |step| {
        let phase = if orientation.is_up(step.channel) { MAY_GO_UP } else { DOWN_ONLY };
        let to = State::new(step.to.index() * PHASES + phase);
        (may_turn || !is_turn(from, to)).then_some(Choice { channel: step.channel, to })
    })
}

pub(super) fn toward(
    graph: &SwitchGraph,
    orientation: &Orientation,
    destination: NodeId,
    may_turn: impl Fn(NodeId) -> bool,
) -> Choices {
    let hops = hops(graph, orientation, destination, &may_turn);
    Choices::one_hop_nearer(PHASES, hops, |state| {
        moves(graph, orientation, state, may_turn(switch_of(state)))
    })
}

pub(crate) fn hops(
    graph: &SwitchGraph,
    orientation: &Orientation,
    destination: NodeId,
    may_turn: impl Fn(NodeId) -> bool,
) -> Vec<u32> {
    let mut hops = vec![UNREACHED; graph.switch_count() * PHASES];
    let mut queue = VecDeque::new();
    let arrived = destination.index() * PHASES;
    for state in [arrived + MAY_GO_UP, arrived + DOWN_ONLY] {
        hops[state] = 0;
        queue.push_back(state);
    }
    while let Some(state) = queue.pop_front() {
        for step in graph.hops_from(NodeId::new(state / PHASES)) {
            // The search runs backwards: the packet comes from `step.to`, and goes up if the step
            // goes down.
            let up = !orientation.is_up(step.channel);
            let before: &[usize] = match (up, state % PHASES) {
                (true, MAY_GO_UP) if may_turn(step.to) => &[MAY_GO_UP, DOWN_ONLY],
                (true, MAY_GO_UP) => &[MAY_GO_UP],
                (false, DOWN_ONLY) => &[MAY_GO_UP, DOWN_ONLY],
                _ => &[],
            };
            for phase in before {
                let previous = step.to.index() * PHASES + phase;
                if hops[previous] == UNREACHED {
                    hops[previous] = hops[state] + 1;
                    queue.push_back(previous);
                }
            }
        }
    }
    hops
}
