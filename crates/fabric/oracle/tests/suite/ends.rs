//! Ends of switches: a worm that is diverted on its path, and the answer of the switch.

use crate::common::ends::{Recording, with_ends};
use crate::common::{chain, quiet_plan, scheduled, wormhole};
use gingham_kernel::Span;

fn at(list: &[(u64, &str)]) -> Vec<(u64, String)> {
    list.iter().map(|(ps, name)| (*ps, (*name).to_owned())).collect()
}

#[test]
fn worm_is_diverted_at_the_decoding_switch_which_responds() {
    let mut plan = quiet_plan(chain(3));
    wormhole(&mut plan, |wormhole| {
        (wormhole.routing_delay, wormhole.setup_delay) = (Span::from_ps(60), Span::from_ps(40));
    });
    scheduled(&mut plan, 0, 1, &[(0, 4)]);
    // h1 answers with a control worm of one byte, diverted by the second switch that reads it.
    let recording = Recording::of(with_ends(plan, 2));
    // A flit arrives 35 after its start, and goes on 60 + 40 later: at 135, 270 and 405; the first
    // worm is whole at h1 at 405 + 35 + 3 x 10 = 470. Control worm: starts at 470, leaves s2 at
    // 605, at s1 at 640, requests at 700; on the ideal cable at 740, whole at 750. Answer: starts
    // at 750, at s1 at 760, requests at 820, leaves at 860, and s2 at 995: whole at 1,030.
    assert_eq!(recording.received(), at(&[(470, "h1"), (750, "s1[0]"), (1_030, "h1")]));
    assert_eq!(recording.read("s1", "h1"), [700]);
    assert_eq!(recording.began("s1[0]"), [750]);
    assert_eq!(recording.read("s1", "s1[0]"), [820]);
}

#[test]
fn diverted_worm_keeps_its_remaining_route_bytes() {
    let mut plan = quiet_plan(chain(3));
    wormhole(&mut plan, |wormhole| wormhole.route_bytes = true);
    scheduled(&mut plan, 0, 1, &[(0, 4)]);
    let recording = Recording::of(with_ends(plan, 2));
    // Each switch takes its route byte 35 after the start, and sends the next 100 later. First
    // worm, 3 + 4 flits: leaves s2 at 405 with 4, whole at 405 + 35 + 30 = 470. Control worm, 3 +
    // 1: leaves s2 at 605 with 3, s1 at 740 with 2, one for s0: whole at 740 + 2 x 10. Answer, 2 +
    // 1: starts at 760, at s1 at 770, leaves at 870, and s2 at 1,005 with 1: whole at 1,040.
    assert_eq!(recording.received(), at(&[(470, "h1"), (760, "s1[0]"), (1_040, "h1")]));
}
