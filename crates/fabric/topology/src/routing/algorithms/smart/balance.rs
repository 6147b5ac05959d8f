//! Load balancing of cycle-free paths that keeps them cycle-free.
//!
//! Channels are numbered so that the numbers increase along every path; additional paths with
//! increasing numbers then form no cycle. Each round reassigns every demand to the least loaded of
//! the shortest increasing paths. Finally, demands on the busiest channel are moved to less loaded
//! detours.

use super::paths::Paths;
use super::search::LightestPaths;
use crate::ChannelId;
use crate::routing::proof::components::Components;
use std::cmp::Reverse;

const ROUNDS_MAX: usize = 8;

pub(super) fn balance(mut paths: Paths<'_>) -> Paths<'_> {
    for _ in 0..ROUNDS_MAX {
        let next = laid_anew(paths.clone());
        if next.burden() >= paths.burden() {
            break;
        }
        paths = next;
    }
    relieve(&mut paths);
    paths
}

fn numbers(paths: &Paths<'_>) -> Vec<Reverse<u32>> {
    // A component has a lower number than all components that lead to it.
    Components::new(&paths.dependencies()).of.into_iter().map(Reverse).collect()
}

fn laid_anew(mut paths: Paths<'_>) -> Paths<'_> {
    let numbers = numbers(&paths);
    let mut search = LightestPaths::new(paths.index.channel_count());
    for demand in paths.demands() {
        if paths.lift(demand).is_some() {
            let rises = |held: Option<ChannelId>, wanted: ChannelId| {
                held.is_none_or(|held| numbers[held.index()] < numbers[wanted.index()])
            };
            let path = paths.lightest(&mut search, demand, rises);
            paths.lay(demand, path.expect("its old way rises"));
        }
    }
    paths
}

/// Moves demands off the busiest channels without loading another channel as heavily.
fn relieve(paths: &mut Paths<'_>) {
    let numbers = numbers(paths);
    let mut search = LightestPaths::new(paths.index.channel_count());
    while relieve_busiest(paths, &numbers, &mut search) {}
}

fn relieve_busiest(
    paths: &mut Paths<'_>,
    numbers: &[Reverse<u32>],
    search: &mut LightestPaths,
) -> bool {
    let most = paths.burden().0;
    let is_busiest = |channel: &ChannelId| paths.load()[channel.index()] == most;
    let Some(busiest) = ChannelId::first(paths.load().len()).find(is_busiest) else { return false };
    let takers: Vec<_> = paths.takers(busiest).iter().copied().collect();
    for demand in takers {
        if paths.weight(demand) == 0 {
            continue;
        }
        let old = paths.lift(demand).expect("a taker has a way");
        let path = paths.lightest(search, demand, |held, wanted| {
            held.is_none_or(|held| numbers[held.index()] < numbers[wanted.index()])
                && paths.load()[wanted.index()] + paths.weight(demand) < most
        });
        let is_relieved = path.is_some();
        paths.lay(demand, path.unwrap_or(old));
        if is_relieved {
            return true;
        }
    }
    false
}
