//! Who waits for whom: the evidence for a deadlock.
//!
//! In a wormhole network an input waits for at most one other: its request is held by that input's
//! worm, or its output is stopped by that input's full buffer, and the STOP is announced, heard and
//! still wanted. The graph is a forest with circles, and nothing on a circle can ever move: a held
//! output is released only by its holder's tail, and a stopped one goes on only when the buffer behind
//! it drains.

use gingham_topology::ChannelId;

/// How far a run has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// There is more to do.
    Running,
    /// The end of the plan was reached, by time or by number of messages.
    Finished,
    /// Nothing is left to happen, and every message was delivered.
    Drained,
    /// Worms wait for each other for good.
    Deadlocked(WaitCycle),
}

/// A circle of inputs, each waiting for the next and the last for the first, named by the channels
/// that end there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitCycle {
    /// The channels, from the lowest id on.
    pub channels: Vec<ChannelId>,
}

impl WaitCycle {
    /// A circle among the inputs of `count` channels, if there is one; `waits_for` names what an
    /// input waits for.
    pub fn find(count: usize, waits_for: impl Fn(ChannelId) -> Option<ChannelId>) -> Option<Self> {
        // 0: not visited; otherwise the number of the walk that came by.
        let mut visited = vec![0_usize; count];
        for start in ChannelId::first(count) {
            let walk = start.index() + 1;
            let mut next = Some(start);
            while let Some(channel) = next {
                if visited[channel.index()] == walk {
                    return Some(Self::through(channel, &waits_for));
                }
                if visited[channel.index()] != 0 {
                    break;
                }
                visited[channel.index()] = walk;
                next = waits_for(channel);
            }
        }
        None
    }

    fn through(member: ChannelId, waits_for: impl Fn(ChannelId) -> Option<ChannelId>) -> Self {
        let onward = |channel| waits_for(channel).expect("a member of a circle waits");
        let mut channels = vec![member];
        let mut next = onward(member);
        while next != member {
            channels.push(next);
            next = onward(next);
        }
        let lowest = (0..channels.len()).min_by_key(|place| channels[*place]).unwrap_or(0);
        channels.rotate_left(lowest);
        Self { channels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(waits: &[Option<usize>]) -> Option<Vec<usize>> {
        let waits_for = |channel: ChannelId| waits[channel.index()].map(ChannelId::new);
        let found = WaitCycle::find(waits.len(), waits_for)?;
        Some(found.channels.into_iter().map(ChannelId::index).collect())
    }

    #[test]
    fn a_chain_is_no_circle() {
        assert_eq!(cycle(&[Some(1), Some(2), None, Some(2)]), None);
    }

    #[test]
    fn a_circle_is_found_behind_a_chain_and_named_from_its_lowest() {
        assert_eq!(
            cycle(&[Some(4), None, Some(3), Some(5), Some(3), Some(2)]),
            Some(vec![2, 3, 5])
        );
    }
}
