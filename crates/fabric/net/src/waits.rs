//! Wait-for graph, and deadlock detection.
//!
//! ```text
//!   All: a ─► b, c    a advances once b and c have advanced      Any: a ─► b, c    once b or c has
//! ```
//!
//! The parties that never advance are the knot (Holt, "Some Deadlock Properties of Computer
//! Systems", ACM Computing Surveys 4(3), 1972). A cycle of waits is a deadlock only if no member
//! has an alternative that can advance.
//!
//! In a wormhole network a party is an input and waits for at most one other input. Its requested
//! output is held by the other input's worm, or stopped by the full buffer at the end of the
//! channel. With virtual lanes a party is an input lane, and waits for any one of the parties that
//! hold its permitted output lanes or fill their downstream buffers.

use gingham_topology::routing::Buffer;

/// Status of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// The run has more events to handle.
    Running,
    /// A stop rule has ended the run with traffic remaining.
    Ended,
    /// The run has ended after every source has finished and every message has been delivered.
    Finished,
    /// Packets are deadlocked: they wait in a cycle.
    Deadlocked(WaitCycle),
}

/// Cycle of inputs, each waiting for the next. An input is identified by its channel and lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitCycle {
    /// Inputs in cyclic order, starting with the lowest; lane 0 on channels with a single lane.
    pub buffers: Vec<Buffer>,
}

/// Waiting buffers in ascending order, each with its wait.
pub type WaitForGraph = Vec<(Buffer, Wait)>;

/// Condition that lets a waiting party advance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wait {
    /// All these parties have advanced; an empty list means no wait.
    All(Vec<Buffer>),
    /// At least one of these parties has advanced.
    Any(Vec<Buffer>),
}

impl Wait {
    /// No wait.
    pub const NONE: Self = Self::All(Vec::new());

    /// Returns a wait for one party.
    pub fn one(party: impl Into<Buffer>) -> Self {
        Self::All(vec![party.into()])
    }

    fn parties(&self) -> &[Buffer] {
        match self {
            Self::All(parties) | Self::Any(parties) => parties,
        }
    }

    fn needed(&self) -> usize {
        match self {
            Self::All(parties) => parties.len(),
            Self::Any(_) => 1,
        }
    }
}

impl WaitCycle {
    /// Finds a cycle within the knot of `waits`, if any. `waits` lists the waiting parties in
    /// ascending order; all other parties advance. Time and memory are O(n log n).
    pub fn find(waits: &[(Buffer, Wait)]) -> Option<Self> {
        let place = |party: Buffer| waits.binary_search_by_key(&party, |wait| wait.0).ok();
        let stuck = stuck(waits, place);
        let start = stuck.iter().position(|stuck| *stuck)?;
        let onward = |at: usize| {
            let mut parties = waits[at].1.parties().iter().filter_map(|party| place(*party));
            parties.find(|other| stuck[*other]).expect("a stuck party waits for one")
        };
        let mut visited = vec![false; waits.len()];
        let mut member = start;
        while !std::mem::replace(&mut visited[member], true) {
            member = onward(member);
        }
        let mut cycle = vec![member];
        let mut next = onward(member);
        while next != member {
            cycle.push(next);
            next = onward(next);
        }
        let lowest = (0..cycle.len()).min_by_key(|index| cycle[*index]).unwrap_or(0);
        cycle.rotate_left(lowest);
        Some(Self { buffers: cycle.into_iter().map(|at| waits[at].0).collect() })
    }
}

fn stuck(waits: &[(Buffer, Wait)], place: impl Fn(Buffer) -> Option<usize>) -> Vec<bool> {
    // For each waiting party: number of awaited parties that must still advance. Parties that do
    // not wait have advanced.
    let mut needed: Vec<usize> = vec![0; waits.len()];
    let mut waiters: Vec<Vec<usize>> = vec![Vec::new(); waits.len()];
    for (party, (_, wait)) in waits.iter().enumerate() {
        let blockers = wait.parties().iter().filter_map(|other| place(*other));
        let blockers: Vec<usize> = blockers.collect();
        let gone = wait.parties().len() - blockers.len();
        needed[party] = wait.needed().saturating_sub(gone);
        for other in blockers {
            waiters[other].push(party);
        }
    }
    let mut stuck: Vec<bool> = needed.iter().map(|needed| *needed > 0).collect();
    let mut free: Vec<usize> = (0..waits.len()).filter(|party| !stuck[*party]).collect();
    while let Some(party) = free.pop() {
        for &waiter in &waiters[party] {
            if !stuck[waiter] {
                continue;
            }
            needed[waiter] -= 1;
            if needed[waiter] == 0 {
                stuck[waiter] = false;
                free.push(waiter);
            }
        }
    }
    stuck
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_topology::ChannelId;

    fn id(party: usize) -> Buffer {
        let lane = u8::try_from(party % 3).expect("a small number");
        Buffer { channel: ChannelId::new(party / 3), lane }
    }

    fn ids(parties: &[usize]) -> Vec<Buffer> {
        parties.iter().copied().map(id).collect()
    }

    fn all(parties: &[usize]) -> Wait {
        Wait::All(ids(parties))
    }

    fn any(parties: &[usize]) -> Wait {
        Wait::Any(ids(parties))
    }

    fn cycle(waits: &[Wait]) -> Option<Vec<usize>> {
        let numbered = (0..).map(id).zip(waits.iter().cloned());
        let waiting: Vec<_> = numbered.filter(|(_, wait)| *wait != Wait::NONE).collect();
        let cycle = WaitCycle::find(&waiting)?.buffers;
        Some(cycle.iter().map(|at| 3 * at.channel.index() + usize::from(at.lane)).collect())
    }

    #[test]
    fn chain_of_waits_is_no_cycle() {
        assert_eq!(cycle(&[all(&[1]), all(&[2]), Wait::NONE, all(&[2])]), None);
    }

    #[test]
    fn cycle_behind_a_chain_starts_at_its_lowest_party() {
        let waits = [all(&[4]), Wait::NONE, all(&[3]), all(&[5]), all(&[3]), all(&[2])];
        assert_eq!(cycle(&waits), Some(vec![2, 3, 5]));
    }

    #[test]
    fn cycle_with_an_alternative_output_is_no_deadlock() {
        // The cycle is 0 -> 1 -> 2 -> 0, but 1 may also advance after 3, which does not wait.
        let with_way_out = [all(&[1]), any(&[2, 3]), all(&[0]), Wait::NONE];
        assert_eq!(cycle(&with_way_out), None);
        let needs_both = [all(&[1]), all(&[2, 3]), all(&[0]), Wait::NONE];
        assert_eq!(cycle(&needs_both), Some(vec![0, 1, 2]));
    }

    #[test]
    fn cycle_over_all_alternatives_is_a_knot() {
        // Party 1 may advance after 2 or 3, but both wait for 1, directly or indirectly.
        let waits = [all(&[1]), any(&[2, 3]), all(&[0]), all(&[4]), all(&[1])];
        assert_eq!(cycle(&waits), Some(vec![0, 1, 2]));
    }

    #[test]
    fn wait_for_any_of_an_empty_set_panics() {
        let result = std::panic::catch_unwind(|| cycle(&[any(&[])]));
        assert!(result.is_err());
    }
}
