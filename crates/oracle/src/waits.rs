//! Who waits for whom.
//!
//! An input waits for another input in two ways: its request is held by that input's worm, or its
//! output is stopped by that input's full buffer, and the STOP is announced, heard and still wanted.
//! Each input waits for at most one other, so that the graph is a forest with circles, and nothing
//! on a circle can ever move: a held output is released only by its holder's tail, and a
//! stopped one goes on only when the buffer behind it drains.

use crate::Simulation;
use crate::event::Symbol;
use crate::input::Head;
use gingham_topology::ChannelId;

/// A circle of inputs, each waiting for the next and the last for the first, named by the channels
/// that end there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitCycle {
    /// The channels, from the lowest id on.
    pub channels: Vec<ChannelId>,
}

/// The input that the one at the end of `channel` waits for, if any.
fn waits_for(simulation: &Simulation, channel: ChannelId) -> Option<ChannelId> {
    match simulation.inputs[channel.index()].as_ref()?.head {
        Head::Idle | Head::Routing { .. } => None,
        Head::Waiting { output } => simulation.outputs[output.index()].owner,
        Head::Connected { output } => {
            let blocker = simulation.inputs[output.index()].as_ref()?;
            let stopped = simulation.outputs[output.index()].stopped_since.is_some();
            let lasting = blocker.wanted == Symbol::Stop && blocker.announced == Symbol::Stop;
            (stopped && lasting).then_some(output)
        }
    }
}

/// A circle of waits, if there is one.
pub(crate) fn find_cycle(simulation: &Simulation) -> Option<WaitCycle> {
    let count = simulation.inputs.len();
    // 0: not visited; otherwise the number of the walk that came by.
    let mut visited = vec![0_usize; count];
    for start in ChannelId::first(count) {
        let walk = start.index() + 1;
        let mut next = Some(start);
        while let Some(channel) = next {
            if visited[channel.index()] == walk {
                return Some(cycle_through(simulation, channel));
            }
            if visited[channel.index()] != 0 {
                break;
            }
            visited[channel.index()] = walk;
            next = waits_for(simulation, channel);
        }
    }
    None
}

fn cycle_through(simulation: &Simulation, member: ChannelId) -> WaitCycle {
    let mut channels = vec![member];
    let mut next = waits_for(simulation, member).expect("a member of a circle waits");
    while next != member {
        channels.push(next);
        next = waits_for(simulation, next).expect("a member of a circle waits");
    }
    let lowest = (0..channels.len()).min_by_key(|place| channels[*place]).unwrap_or(0);
    channels.rotate_left(lowest);
    WaitCycle { channels }
}
