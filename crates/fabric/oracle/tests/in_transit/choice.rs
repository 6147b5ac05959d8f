//! Hosts that choose between a path over in-transit hosts and one without.

use super::common::{along, deliveries, scheduled, story};
use super::{measured, over_h1};
use gingham_net::{ContentionPlan, Decision, Plan, SegmentationPlan};

/// First paths to h2 are direct, second ones over h1.
fn direct_or_over_h1(path_choice: Decision) -> Plan {
    let mut plan = over_h1();
    let second = plan.routing.paths.clone();
    along(&mut plan, &[&["s0", "h2"]]);
    plan.routing.paths.extend(second);
    plan.routing.decision = path_choice;
    plan
}

#[test]
fn packets_take_the_path_of_their_message_length() {
    let mut plan = direct_or_over_h1(Decision::ByLength { below_bytes: 64 });
    scheduled(&mut plan, 0, 2, &[(0, 63), (10_000, 64), (20_000, 90)]);
    plan.classes[0].segmentation = SegmentationPlan::Fixed(32);
    let found = deliveries(plan.clone(), 3);
    // Packets are below 64 B; the first message goes directly, the others over h1 in two and three.
    assert_eq!(found.iter().map(|one| one.packets).collect::<Vec<_>>(), [2, 2, 3]);
    assert_eq!(found.iter().map(|one| one.in_transit_hosts).collect::<Vec<_>>(), [0, 1, 1]);
    assert_eq!(measured(plan, 1).reinjected_packets, 5);
}

#[test]
fn hosts_choose_random_paths_independently() {
    let mut plan = direct_or_over_h1(Decision::AtRandom { alternative: 0.5 });
    let messages: Vec<_> = (0..64).map(|number| (10_000 * number, 5)).collect();
    for host in [0, 3] {
        scheduled(&mut plan, host, 2, &messages);
    }
    let found = deliveries(plan, 128);
    let coins = |host: usize| {
        let mut own: Vec<_> = found.iter().filter(|one| story(one).0 == host).collect();
        own.sort_by_key(|one| one.message.id());
        own.iter().map(|one| one.in_transit_hosts).collect::<Vec<_>>()
    };
    // Equal coins have a probability of 2^-64.
    assert_ne!(coins(0), coins(3));
    assert!([0, 3].iter().all(|host| coins(*host).contains(&0) && coins(*host).contains(&1)));
}

#[test]
fn contention_moves_the_next_packet_to_the_alternative() {
    // A coefficient depends on the last packet alone.
    let contention = ContentionPlan { alpha: 0.0, beta: 0.0, above: 1.5, below: 1.1, start: 1.0 };
    let mut plan = direct_or_over_h1(Decision::ByContention(contention));
    scheduled(&mut plan, 3, 2, &[(0, 40)]);
    scheduled(&mut plan, 0, 2, &[(10, 30), (20, 5), (2_000, 5)]);
    // h3 is off s0 at 135 to 535, at h2 from 170 to 560. h0's worm of 10 is at s0 from 45 on, its
    // 17th flit at 205; STOP is received at 240: 23 flits wait. Granted at 535, they are off from
    // 635 on, the 16th at 785; GO is received at 820, and the other seven start at 820 to 880, in
    // time: at h2 from 670 to 960. The tail has left h0 at 890: 880 for 300 gives 2.93. The second
    // now goes over h1: read at s0 at 935, at h1 at 1,070, ready at 1,170, at h2 from 1,340 to
    // 1,380. It left without delay, and the third is direct: at s0 at 2,035, at h2 from 2,170 to
    // 2,210.
    let found = deliveries(plan, 4);
    let stories: Vec<_> = found.iter().map(story).collect();
    let expected =
        [(3, 0, 170, 560), (0, 10, 670, 960), (0, 890, 1_340, 1_380), (0, 2_000, 2_170, 2_210)];
    assert_eq!(stories, expected);
    let hosts: Vec<_> = found.iter().map(|delivery| delivery.in_transit_hosts).collect();
    assert_eq!(hosts, [0, 0, 1, 0]);
}
