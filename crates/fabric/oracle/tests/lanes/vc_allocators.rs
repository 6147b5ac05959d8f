//! VC allocation by iSLIP over lanes.

use crate::common::{channel, row, stop_at};
use crate::{lane_plan, lanes, packets, start};
use gingham_net::{Crossbar, Islip, VcAllocator};
use std::sync::Arc;

const FLITS: u32 = 8;

/// Packets of eight flits at once from `hosts` hosts to one more, over as many lanes, and again
/// when all have arrived. Every lane crosses by itself; flits leave once a lane is granted. Returns
/// by host the delay of both packets beyond an immediate grant, in ticks.
fn delays(hosts: usize, vc_allocator: VcAllocator) -> Vec<u128> {
    let mut plan = lane_plan(row(1, &vec![0; hosts + 1]), u8::try_from(hosts).unwrap());
    for host in 0..hosts {
        packets(&mut plan, host, hosts, &[(0, FLITS), (2_000, FLITS)]);
    }
    lanes(&mut plan, |lanes| {
        lanes.crossbar = Crossbar::Full;
        lanes.vc_allocator = vc_allocator;
    });
    plan.stop = stop_at(4_000);
    let into =
        (0..hosts).map(|host| channel(&plan.fabric, &format!("h{host}"), "s0")).collect::<Vec<_>>();
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    let counts = simulation.channel_counts();
    let flits = u128::from(FLITS);
    // A flit is there for three ticks at least.
    let delay = |ps: u128| (ps - 2 * 3 * 10 * flits) / (10 * flits);
    into.iter().map(|channel| delay(counts[channel.index()].occupancy_flit_ps)).collect()
}

fn islip(iterations: u32) -> VcAllocator {
    VcAllocator::Islip(Islip { iterations })
}

/// At 6 all heads request the output, all lanes are free, and all pointers are at head 0. Every
/// lane grants head 0, which accepts lane 0. At 7 the others grant head 1, and so on: head `k` is
/// granted lane `k` at `6 + k`. Then lane `k` points to head `k` on lane 1, behind head `k` on lane
/// 0: the next heads come there, as an adapter takes lanes in turn, and each lane grants another
/// head at once.
#[test]
fn single_iteration_lanes_may_grant_the_same_head() {
    for hosts in 2..=7 {
        assert_eq!(delays(hosts, VcAllocator::Maximal), vec![0; hosts], "{hosts} hosts");
        let expected: Vec<u128> = (0..hosts as u128).collect();
        assert_eq!(delays(hosts, islip(1)), expected, "{hosts} hosts");
    }
}

/// `n` iterations of a tick grant `n` heads, and the first grant moves pointers. Five heads:
///
/// ```text
///   first packets    6: 0 takes lane 0, then 1 takes lane 1     7: 2 takes 2, then 3 takes 3     8: 4 takes 4
///   pointers after   lane 0 at head 0     1 at 0     2 at 2     3 at 0     4 at 4     for the heads on lane 1
///   second packets   first: 0 of lanes 0, 1 and 3 takes 0, 2 takes 2, 4 takes 4
///                    then: lanes 1 and 3 grant 1, which takes 1; 3 takes lane 3 a tick later
/// ```
#[test]
fn further_iterations_match_more_heads_without_pointer_moves() {
    assert_eq!(delays(5, islip(2)), [0, 0, 1, 1 + 1, 2]);
    assert_eq!(delays(5, islip(5)), [0; 5]);
}
