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
    // h1 answers with a control worm of one byte, which the second switch that reads it diverts.
    let recording = Recording::of(with_ends(plan, 2));
    // A flit is at the other end 35 after it starts, and goes on 60 + 40 later: from the switches
    // at 135, 270 and 405, hence the first worm is whole at h1 at 405 + 35 + 3 x 10 = 470. The
    // control worm starts then, leaves s2 at 605, is at s1 at 640, requests at 700 and is diverted:
    // on the ideal cable at 740, whole at 750. The answer starts then, is at s1 at 760, requests at
    // 820, leaves at 860, and s2 at 995: whole at 1,030.
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
    // Each switch takes its route byte at 35 after that started, and sends the next 100 later. The
    // worm of 3 + 4 flits leaves s2 at 405 with 4, whole at 405 + 35 + 30 = 470. The control worm of
    // 3 + 1 starts then, leaves s2 at 605 with 3, and s1 at 740 with 2, one of them for s0: whole at
    // 740 + 2 x 10. The answer of 2 + 1 starts at 760, its first is at s1 at 770, it leaves that at
    // 870 and s2 at 1,005 with 1: whole at 1,040.
    assert_eq!(recording.received(), at(&[(470, "h1"), (760, "s1[0]"), (1_040, "h1")]));
}
