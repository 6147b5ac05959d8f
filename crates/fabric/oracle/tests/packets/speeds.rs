//! Cables of two speeds: no gaps, and no losses.

use crate::common::packets::{cable_byte, packets_plan, sends};
use crate::common::{chain, channel, deliveries, story};

#[test]
fn faster_output_delays_the_start_to_avoid_underrun() {
    let mut plan = packets_plan(chain(1), 1);
    let slow = channel(&plan.fabric, "h0", "s0");
    cable_byte(&mut plan, slow, 20);
    sends(&mut plan, 0, 0, &[(0, 1, 10)]);
    let found = deliveries(plan, 1);
    // There at 25, read at 125, whole at 25 + 200 = 225: its tenth byte starts then, its first at
    // 225 - 9 x 10 = 135.
    assert_eq!(story(&found[0]), (0, 0, 135 + 35, 135 + 25 + 100));
}

#[test]
fn slower_output_starts_when_the_head_is_read() {
    let mut plan = packets_plan(chain(1), 1);
    let slow = channel(&plan.fabric, "s0", "h1");
    cable_byte(&mut plan, slow, 20);
    sends(&mut plan, 0, 0, &[(0, 1, 10), (0, 1, 10)]);
    let found = deliveries(plan, 2);
    // At 125; the second, ready at 225, after the tail at 125 + 200.
    assert_eq!(story(&found[0]), (0, 0, 125 + 25 + 20, 125 + 25 + 200));
    assert_eq!(story(&found[1]), (0, 100, 325 + 45, 325 + 225));
}
