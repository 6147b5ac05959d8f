//! A lone flow with a window of W packets sends `min(1, W p / RTT)` of the capacity of its path.

use crate::common::lanes::{lane_plan, lanes};
use crate::common::{FLIT, backlogged, chain, quiet_plan, stop_at, wormhole};
use crate::support::window;
use gingham_kernel::{Span, Time};
use gingham_net::{Plan, Simulation, SlackBuffer};
use std::sync::Arc;

const PAYLOADS: [u32; 3] = [1, 16, 100];
const WINDOWS: [u32; 4] = [1, 2, 5, 12];
const DELAYS: [u64; 3] = [0, 25, 403];
const ANSWER: u32 = 20;
const OVERHEAD: u32 = 3;

struct Way {
    plan: Plan,
    /// Time until the packet released by the acknowledgement starts, in ps.
    round_trip: u64,
    /// Time between starts without a limit, in ps.
    spacing: u64,
}

/// Worms: `A lone worm` of `docs/concepts/timing.md`.
fn worms(switches: usize, payload: u32, delay: u64) -> Way {
    let mut plan = quiet_plan(chain(switches));
    wormhole(&mut plan, |wormhole| wormhole.overhead_bytes = OVERHEAD);
    for channel in &mut plan.channels {
        channel.delay = Span::from_ps(delay);
        let deep = SlackBuffer { capacity: 10_000, stop: 8_000, go: 1_000 };
        channel.slack = channel.slack.map(|_| deep);
    }
    let n = switches as u64;
    let one_way = |bytes: u32| {
        (u64::from(bytes + OVERHEAD) + n) * FLIT + (n + 1) * delay + n * crate::common::SETUP
    };
    let round_trip = one_way(payload) + one_way(ANSWER);
    // In both directions a switch needs its set-up in addition to a worm; acknowledgements may be
    // longer.
    let set_up = if n > 0 { crate::common::SETUP } else { 0 };
    let longest = u64::from(payload.max(ANSWER) + OVERHEAD);
    Way { plan, round_trip, spacing: longest * FLIT + set_up }
}

/// Packets: `A lone packet` of `docs/concepts/timing.md`, from a tick on.
fn packets(switches: usize, payload: u32, delay: u64) -> Way {
    let mut plan = lane_plan(chain(switches), 1);
    lanes(&mut plan, |lanes| {
        lanes.overhead_bytes = OVERHEAD;
        lanes.depths_flits = [1_000; 16];
        lanes.output_depths_flits = [1_000; 16];
    });
    for channel in &mut plan.channels {
        channel.delay = Span::from_ps(delay);
    }
    let n = switches as u64;
    let flits = |bytes: u32| u64::from((bytes + OVERHEAD).div_ceil(16));
    let one_way = |bytes: u32| {
        let cycles = n * (4 + 1 + delay.div_ceil(FLIT)) + flits(bytes);
        (cycles * FLIT + delay).next_multiple_of(FLIT)
    };
    let round_trip = one_way(payload) + one_way(ANSWER);
    // The head behind a tail crosses three cycles after it.
    let behind = if n > 0 { 2 } else { 0 };
    Way { plan, round_trip, spacing: (flits(payload.max(ANSWER)) + behind) * FLIT }
}

fn arrivals(plan: &Plan, end: u64) -> Vec<Time> {
    let plan = Arc::new(Plan { stop: stop_at(end), ..plan.clone() });
    let of = |mut simulation: Box<dyn Simulation>| -> Vec<Time> {
        simulation.advance(u64::MAX);
        simulation.take_messages().iter().map(|delivery| delivery.delivered).collect()
    };
    let engine = of(gingham_engine::start(Arc::clone(&plan)));
    assert_eq!(of(gingham_oracle::start(plan)), engine, "oracle, engine");
    engine
}

#[test]
fn throughput_equals_window_per_round_trip() {
    let (mut held, mut free) = (0, 0);
    for way in [worms, packets] {
        for (switches, delay) in (0..3).flat_map(|n| DELAYS.map(|delay| (n, delay))) {
            for (payload, count) in PAYLOADS.iter().flat_map(|p| WINDOWS.map(|w| (*p, w))) {
                let Way { mut plan, round_trip, spacing } = way(switches, payload, delay);
                backlogged(&mut plan, 0, 1, payload);
                plan.classes[0].window = Some(window(count, ANSWER));
                // In the long run `count` packets take exactly this cycle.
                let cycle = round_trip.max(u64::from(count) * spacing);
                let cycles = 4 + 24 / u64::from(count);
                let arrived = arrivals(&plan, round_trip + cycle * (cycles + 1));
                let count = count as usize;
                let last = arrived.len() - 1;
                let took = arrived[last].since(arrived[last - count]).as_ps();
                let case = format!("{switches} {delay} {payload} {count}");
                assert!(last > 2 * count, "{case}");
                assert_eq!(took, cycle, "{case}");
                *if cycle == round_trip { &mut held } else { &mut free } += 1;
            }
        }
    }
    assert!(held > 50 && free > 50, "{held} {free}");
}
