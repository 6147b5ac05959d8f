//! Ends of switches: a packet that is diverted on its path, and the answer of the switch.

use crate::common::ends::{Recording, with_ends};
use crate::common::packets::{cable_byte, packets_plan, sends};
use crate::common::{chain, channel, row};

fn at(list: &[(u64, &str)]) -> Vec<(u64, String)> {
    list.iter().map(|(ps, name)| (*ps, (*name).to_owned())).collect()
}

#[test]
fn packet_is_diverted_at_the_reading_switch_which_responds() {
    let mut plan = packets_plan(chain(3), 1);
    sends(&mut plan, 0, 0, &[(0, 1, 10), (10_000, 1, 10)]);
    // h1 answers both with a control packet, diverted by the second switch that reads it.
    let recording = Recording::of(with_ends(plan, 2));
    // Packet: starts at 0, 125, 250, 375, whole at 500. Control packet: starts at 500, and at s2 at
    // 625; read and diverted at s1 at 750: at once on the ideal cable, whole at 760. Answer: starts
    // at 760, read at 860, at s2 at 985: whole at 985 + 35.
    let first = [(500, "h1"), (760, "s1[0]"), (1_020, "h1")];
    // As above, but one packet goes on to h0: it starts behind the answer at 10,770, is read at
    // 10,870, and at s0 at 10,995: whole at 10,995 + 35.
    let second = [(10_500, "h1"), (10_760, "s1[0]"), (11_020, "h1"), (11_030, "h0")];
    assert_eq!(recording.received(), at(&[&first[..], &second[..]].concat()));
    assert_eq!(recording.began("h1"), [500, 10_500]);
    assert_eq!(recording.read("s1", "h1"), [750, 10_750]);
    assert_eq!(recording.began("s1[0]"), [760, 10_760, 10_770]);
    assert_eq!(recording.read("s1", "s1[0]"), [860, 10_860, 10_870]);
}

#[test]
fn ideal_cable_has_the_fastest_rate_and_no_underrun() {
    // Cables between switches are half as fast as those of hosts; s1 has one of the latter.
    let mut plan = packets_plan(row(3, &[0, 2, 1]), 1);
    for (from, to) in [("s0", "s1"), ("s1", "s2")] {
        let slow = channel(&plan.fabric, from, to);
        cable_byte(&mut plan, slow, 20);
    }
    sends(&mut plan, 0, 0, &[(0, 1, 10)]);
    let mut plan = with_ends(plan, 2);
    plan.probe.as_mut().unwrap().control_bytes = 10;
    let recording = Recording::of(plan);
    // Packet: starts at 0, 125, 250, and on the fast cable of h1 at 275 + 200 - 90 = 385: whole at
    // 510. Control packet: starts at 510, at s2 at 635; at s1 at 660, read and diverted at 760, but
    // would run dry before 660 + 200 - 90 = 770: whole at 870. Answer: starts at 870, read at 970,
    // onto the slow cable; from s2 at 995 + 110 = 1,105: whole at 1,230.
    assert_eq!(recording.read("s1", "h1"), [760]);
    assert_eq!(recording.received(), at(&[(510, "h1"), (870, "s1[0]"), (1_230, "h1")]));
}
