//! Number of packets of an input port that leave at once.

use crate::common::packets::{cable_byte, packets, packets_plan, sends};
use crate::common::{channel, deliveries, row, story};
use gingham_net::{Plan, Read};

fn delivered(mut plan: Plan, read: Read, count: usize) -> Vec<(usize, u64)> {
    packets(&mut plan, |packets| packets.read = read);
    let found = deliveries(plan, count);
    let to = |delivery: &gingham_net::Delivery| delivery.message.destination.index();
    found.iter().map(|delivery| (to(delivery), story(delivery).3)).collect()
}

#[test]
fn packet_for_another_output_passes_a_leaving_one() {
    let mut plan = packets_plan(row(1, &[0, 0, 0]), 1);
    let slow = channel(&plan.fabric, "s0", "h1");
    cable_byte(&mut plan, slow, 20);
    sends(&mut plan, 0, 0, &[(0, 1, 10), (0, 2, 10)]);
    // To h1 from 125 to 325, there at 350. The other is ready at 225: it starts then, or at 325.
    assert_eq!(delivered(plan.clone(), Read::Any, 2), [(1, 350), (2, 350)]);
    assert_eq!(delivered(plan, Read::One, 2), [(1, 350), (2, 450)]);
}

#[test]
fn lower_channel_reads_first_at_one_instant() {
    let mut plan = packets_plan(row(1, &[0; 5]), 1);
    let [low, high] = ["h1", "h2"].map(|host| channel(&plan.fabric, "s0", host));
    assert!(low < high);
    // h3 and h4 keep both outputs busy from 125 to 425. Of h0's packets the older is for the higher
    // channel.
    sends(&mut plan, 3, 0, &[(0, 1, 30)]);
    sends(&mut plan, 4, 0, &[(0, 2, 30)]);
    sends(&mut plan, 0, 0, &[(10, 2, 10), (10, 1, 10)]);
    let both = delivered(plan.clone(), Read::Any, 4);
    assert_eq!(both[2..], [(1, 550), (2, 550)]);
    let one = delivered(plan, Read::One, 4);
    assert_eq!(one[2..], [(1, 550), (2, 650)]);
}
