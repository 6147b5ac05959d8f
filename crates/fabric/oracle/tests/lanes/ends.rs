//! Ends of switches: a packet that is diverted on its path, and the answer of the switch.

use crate::common::chain;
use crate::common::ends::{Recording, with_ends};
use crate::{lane_plan, packets};

fn at(list: &[(u64, &str)]) -> Vec<(u64, String)> {
    list.iter().map(|(ps, name)| (*ps, (*name).to_owned())).collect()
}

#[test]
fn packet_is_diverted_at_the_reading_switch_which_responds() {
    let mut plan = lane_plan(chain(3), 1);
    packets(&mut plan, 0, 1, &[(0, 1), (1_000, 1)]);
    // h1 answers both with a control packet, diverted by the second switch that reads it.
    let recording = Recording::of(with_ends(plan, 2));
    // First packet: at h1 at (3 x 8 + 1) 10 + 25 = 275. Control packet: begins at tick 28, on the
    // link at 36, read and diverted at s1 at 42, on the ideal cable at 44, whole at 440 + 10.
    // Answer: begins at 45, there at 46, read at 48, on links at 50 and 58: whole at 580 + 35.
    let first = [(275, "h1"), (450, "s1[0]"), (615, "h1")];
    // As above a microsecond later, but one packet goes on to h0: begins at 146, there at 147
    // behind the answer, which crosses at 149; read at 151, on links at 153 and 161: whole at 1,610
    // + 35.
    let second = [(1_275, "h1"), (1_450, "s1[0]"), (1_615, "h1"), (1_645, "h0")];
    assert_eq!(recording.received(), at(&[&first[..], &second[..]].concat()));
    assert_eq!(recording.began("h1"), [280, 1_280]);
    assert_eq!(recording.read("s1", "h1"), [420, 1_420]);
    assert_eq!(recording.began("s1[0]"), [450, 1_450, 1_460]);
    assert_eq!(recording.read("s1", "s1[0]"), [480, 1_480, 1_510]);
}

#[test]
fn ideal_cable_has_the_fastest_rate_of_its_switch() {
    let mut plan = lane_plan(chain(3), 1);
    // All cables but that of h0 are half as fast, also that to the end of s1.
    let fast = crate::common::channel(&plan.fabric, "h0", "s0");
    for channel in gingham_topology::ChannelId::first(plan.channels.len()) {
        if channel.index() / 2 != fast.index() / 2 {
            crate::common::cable_flit(&mut plan, channel, 20);
        }
    }
    packets(&mut plan, 0, 1, &[(0, 1)]);
    let recording = Recording::of(with_ends(plan, 2));
    // Packet: there at s0 at 4, on the link at 8, whole at 80 + 20 + 25 = 125, there at s1 at 13,
    // on the link at 17, whole at 215, there at s2 at 22, on the link at 26: at h1 at 305. Control
    // packet: begins at 31, whole at s2 at 355, on the link at 40, whole at 445, there at s1 at 45,
    // read at 47, on the ideal cable at 49, whole 20 ps later. Answer: begins at 51, there at 53,
    // read at 55, on the link at 57, whole at s2 at 615, there at 62, on the link at 66: whole at
    // 660 + 45.
    assert_eq!(recording.received(), at(&[(305, "h1"), (510, "s1[0]"), (705, "h1")]));
}
