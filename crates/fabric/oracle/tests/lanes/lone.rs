//! A lone packet: every stage takes the time given by the specification.

use crate::common::{DELAY, FLIT, cable_flit, chain, channel, deliveries, story};
use crate::{lane_plan, lanes, packets};
use gingham_kernel::Span;
use proptest::prelude::*;

#[test]
fn flits_without_a_switch_are_back_to_back() {
    let mut plan = lane_plan(chain(0), 2);
    packets(&mut plan, 0, 1, &[(7, 3)]);
    let found = deliveries(plan, 1);
    // Created at 7, first tick 10. Flits begin at 10, 20, 30; whole at 10 + 10 + 25 = 45 to 30 + 10
    // + 25 = 65.
    assert_eq!(story(&found[0]), (0, 10, 45, 65));
    assert_eq!((found[0].hops, found[0].wire_bytes, found[0].packets), (0, 48, 1));
}

#[test]
fn single_switch_takes_five_head_and_three_body_stages() {
    let mut plan = lane_plan(chain(1), 2);
    packets(&mut plan, 0, 1, &[(0, 3)]);
    let found = deliveries(plan, 1);
    // Head: on the cable at 0, there at 4, granted at 4 + 1 + R = 6, crosses at 7, on the link at
    // 8: whole at 80 + 10 + 25 = 115. Tail: on the cable at 2, there at 6, crosses behind two
    // others at 9, on the link at 10: whole at 135.
    assert_eq!(story(&found[0]), (0, 0, 115, 135));
    assert_eq!(found[0].hops, 1);
}

#[test]
fn every_switch_adds_equal_latency() {
    let mut plan = lane_plan(chain(2), 1);
    packets(&mut plan, 0, 1, &[(0, 1)]);
    let found = deliveries(plan, 1);
    // There at 4, on the second cable at 8, there at 12, on the third at 16: whole at 160 + 35.
    assert_eq!(story(&found[0]), (0, 0, 195, 195));
}

#[test]
fn type_and_trailer_bytes_count_towards_flits() {
    let mut plan = lane_plan(chain(0), 1);
    lanes(&mut plan, |lanes| lanes.overhead_bytes = 9);
    // 24 + 9 = 33 bytes are 3 flits.
    crate::common::scheduled(&mut plan, 0, 1, &[(0, 24)]);
    let found = deliveries(plan, 1);
    assert_eq!(story(&found[0]), (0, 0, 35, 55));
    assert_eq!(found[0].wire_bytes, 48);
}

#[test]
fn slow_input_channel_starts_flits_between_ticks() {
    let mut plan = lane_plan(chain(1), 1);
    let (h0, h1) = (channel(&plan.fabric, "h0", "s0"), channel(&plan.fabric, "s0", "h1"));
    assert_ne!(h0, h1);
    cable_flit(&mut plan, h0, 14);
    packets(&mut plan, 0, 1, &[(0, 4)]);
    let found = deliveries(plan, 1);
    // h0's cable is free at 0, 14, 28, 42; a flit is taken at tick t if free < 10 (t + 1): ticks 0,
    // 1, 2 (28 < 30), 4 (42 < 50). Whole at 14 + 25 = 39, 53, 67, 81, there at ticks 4, 6, 7, 9.
    // Head: granted at 6, crosses at 7, on the link at 8: whole at 80 + 35 = 115. The others cross
    // at 8, 9, 10; the last is on the link at 11, whole at 145.
    assert_eq!(story(&found[0]), (0, 0, 115, 145));
}

#[test]
fn slow_output_channel_starts_flits_between_ticks() {
    let mut plan = lane_plan(chain(1), 1);
    let out = channel(&plan.fabric, "s0", "h1");
    cable_flit(&mut plan, out, 14);
    packets(&mut plan, 0, 1, &[(0, 3)]);
    let found = deliveries(plan, 1);
    // On the link at tick 8: begins at 80, whole at 80 + 14 + 25 = 119. The next begin at 94 and
    // 108: whole at 108 + 39 = 147.
    assert_eq!(story(&found[0]), (0, 0, 119, 147));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Closed form of the specification, with lanes as deep as the round trip or the packet.
    #[test]
    fn times_match_the_closed_form(
        switches in 0_usize..5,
        flits in 1_u32..40,
        delay_ps in 0_u64..80,
        routing_cycles in 0_u32..4,
        pipeline_cycles in 0_u32..9,
        count in 1_u8..5,
        is_full in any::<bool>(),
        created in 0_u64..100,
    ) {
        let mut plan = lane_plan(chain(switches), count);
        for cable in &mut plan.channels {
            cable.delay = Span::from_ps(delay_ps);
        }
        let delay_cycles = u32::try_from(delay_ps.div_ceil(FLIT)).unwrap();
        lanes(&mut plan, |lanes| {
            lanes.pipeline_cycles = pipeline_cycles;
            lanes.routing_cycles = routing_cycles;
            lanes.depths_flits = [flits.min(2 * delay_cycles + pipeline_cycles + 3); 16];
            lanes.output_depths_flits = lanes.depths_flits;
            if is_full {
                lanes.crossbar = gingham_net::Crossbar::Full;
            }
        });
        packets(&mut plan, 0, 1, &[(created, flits)]);
        let found = deliveries(plan, 1);
        let entered = created.next_multiple_of(FLIT);
        let stages = switches as u64 * u64::from(4 + pipeline_cycles + routing_cycles + delay_cycles);
        let head = (stages + 1) * FLIT + delay_ps;
        let tail = (stages + u64::from(flits)) * FLIT + delay_ps;
        prop_assert_eq!(story(&found[0]), (0, entered, entered + head, entered + tail));
    }
}

#[test]
fn story_constants_match_the_comments() {
    assert_eq!((FLIT, DELAY.div_ceil(FLIT)), (10, 3));
}
