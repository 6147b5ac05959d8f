//! A single flow with windows of one, two, three and enough packets.

use crate::common::lanes::lane_plan;
use crate::common::{backlogged, chain, quiet_plan, scheduled, stop_at};
use crate::support::{Kind, Run, rate_limit, run, window};
use gingham_net::{Plan, SegmentationPlan};

/// Returns the first starts and arrivals of data and of acknowledgements, in ps.
fn instants(run: &Run, count: usize) -> [Vec<u64>; 4] {
    let data = [run.began(0, Kind::Data), run.received(1, Kind::Data)];
    let acks = [run.began(1, Kind::Ack), run.received(0, Kind::Ack)];
    let [[a, b], [c, d]] = [data, acks];
    [a, b, c, d].map(|instants| instants[..count].to_vec())
}

fn lone(mut plan: Plan, packets: u32, [data, ack]: [u32; 2]) -> Run {
    backlogged(&mut plan, 0, 1, data);
    plan.classes[0].window = Some(window(packets, ack));
    plan.stop = stop_at(3_000);
    run(&plan)
}

fn worms(switches: usize, packets: u32) -> Run {
    lone(quiet_plan(chain(switches)), packets, [3, 2])
}

#[test]
fn worms_over_one_cable() {
    // Three flits take 30 + 25 = 55 ps, two 20 + 25 = 45: an acknowledgement arrives 100 after its
    // data began. Four packets fill the cable.
    let begins = [
        (1, [0, 100, 200, 300, 400, 500]),
        (2, [0, 30, 100, 130, 200, 230]),
        (3, [0, 30, 60, 100, 130, 160]),
        (4, [0, 30, 60, 90, 120, 150]),
    ];
    for (packets, begins) in begins {
        let after = |ps: u64| begins.map(|begin| begin + ps).to_vec();
        let expected = [after(0), after(55), after(55), after(100)];
        assert_eq!(instants(&worms(0, packets), 6), expected, "{packets}");
    }
}

#[test]
fn worms_over_one_switch() {
    // Data takes (3 + 1) 10 + 50 + 100 = 190 ps and an acknowledgement 180.
    let expected = [[0, 370, 740], [190, 560, 930], [190, 560, 930], [370, 740, 1_110]];
    assert_eq!(instants(&worms(1, 1), 3), expected);
    // The switch reads the second when the first has left it, at 165: it is complete at 320,
    // acknowledged at 500. The fourth begins at 500, and its head reaches the switch as the third
    // leaves it, at 535: from then on packets do not delay each other.
    let expected = [
        [0, 30, 370, 500, 740, 870],
        [190, 320, 560, 690, 930, 1_060],
        [190, 320, 560, 690, 930, 1_060],
        [370, 500, 740, 870, 1_110, 1_240],
    ];
    assert_eq!(instants(&worms(1, 2), 6), expected);
    // Three keep the switch busy, which needs 100 + 30 for each. The fourth arrives at 405, and the
    // third leaves at 425.
    let expected = [
        [0, 30, 60, 370, 500, 630],
        [190, 320, 450, 580, 710, 840],
        [190, 320, 450, 580, 710, 840],
        [370, 500, 630, 760, 890, 1_020],
    ];
    assert_eq!(instants(&worms(1, 3), 6), expected);
}

#[test]
fn worms_over_two_switches() {
    // Data takes (3 + 2) 10 + 75 + 200 = 325 ps and an acknowledgement 315.
    assert_eq!(instants(&worms(2, 1), 3)[0], [0, 640, 1_280]);
    // Behind the first switch packets, and therefore acknowledgements, are 130 apart.
    let expected = [
        [0, 30, 640, 770, 1_280, 1_410],
        [325, 455, 965, 1_095, 1_605, 1_735],
        [325, 455, 965, 1_095, 1_605, 1_735],
        [640, 770, 1_280, 1_410, 1_920, 2_050],
    ];
    assert_eq!(instants(&worms(2, 2), 6), expected);
    assert_eq!(instants(&worms(2, 3), 6)[0], [0, 30, 60, 640, 770, 900]);
    // 5 x 130 are more than 640: from the sixth on, one every 130.
    let arrived: Vec<u64> = (0..12).map(|packet| 325 + 130 * packet).collect();
    assert_eq!(instants(&worms(2, 5), 12)[1], arrived);
}

fn packets(switches: usize, packets: u32) -> Run {
    lone(lane_plan(chain(switches), 1), packets, [48, 16])
}

#[test]
fn packets_over_one_cable() {
    // The acknowledgement begins at the next tick after 55 ps, arrives 35 later, and data begins at
    // the next tick again.
    let begins = [
        (1, [0, 100, 200, 300, 400, 500]),
        (2, [0, 30, 100, 130, 200, 230]),
        (3, [0, 30, 60, 100, 130, 160]),
        (4, [0, 30, 60, 90, 120, 150]),
    ];
    for (count, begins) in begins {
        let after = |ps: u64| begins.map(|begin| begin + ps).to_vec();
        let expected = [after(0), after(55), after(60), after(95)];
        assert_eq!(instants(&packets(0, count), 6), expected, "{count}");
    }
}

#[test]
fn packets_over_one_switch() {
    // Data takes (8 + 3) 10 + 25 = 135 ps. The acknowledgement begins at the next tick, 140, and
    // takes (8 + 1) 10 + 25 = 115: data begins at the next tick after 255.
    let expected = [[0, 260, 520], [135, 395, 655], [140, 400, 660], [255, 515, 775]];
    assert_eq!(instants(&packets(1, 1), 3), expected);
    // The head of the second arrives at 7 and requests when the first tail has crossed, at 9 + 2.
    // It crosses at 12, and its tail is on the link at 15: complete at 185. Packets at least 50
    // behind the previous one are undelayed.
    let expected = [
        [0, 30, 260, 310, 520, 570],
        [135, 185, 395, 445, 655, 705],
        [140, 190, 400, 450, 660, 710],
        [255, 305, 515, 565, 775, 825],
    ];
    assert_eq!(instants(&packets(1, 2), 6), expected);
    assert_eq!(instants(&packets(1, 3), 6)[0], [0, 30, 60, 260, 310, 360]);
    // 6 x 50 are more than 260: one every 50.
    let arrived: Vec<u64> = (0..20).map(|packet| 135 + 50 * packet).collect();
    assert_eq!(instants(&packets(1, 6), 20)[1], arrived);
}

#[test]
fn packets_over_two_switches() {
    // Data takes (16 + 3) 10 + 25 = 215 ps, an acknowledgement from 220 on 195. The second is 50
    // behind at both switches.
    let expected =
        [[0, 30, 420, 470], [215, 265, 635, 685], [220, 270, 640, 690], [415, 465, 835, 885]];
    assert_eq!(instants(&packets(2, 2), 4), expected);
}

#[test]
fn window_counts_packets() {
    // One message in four packets of three bytes, and one of five bytes with a second packet of
    // two, which takes 45 to h1.
    for (bytes, begins, delivered) in [(12, vec![0, 30, 100, 130], 185), (5, vec![0, 30], 75)] {
        let mut plan = quiet_plan(chain(0));
        scheduled(&mut plan, 0, 1, &[(0, bytes)]);
        plan.classes[0].segmentation = SegmentationPlan::Fixed(3);
        plan.classes[0].window = Some(window(2, 2));
        plan.stop = stop_at(3_000);
        let found = run(&plan);
        assert_eq!(found.began(0, Kind::Data), begins);
        assert_eq!(found.received(0, Kind::Ack).len(), begins.len(), "each is acknowledged");
        assert_eq!(found.messages(0), [(0, 0, delivered)]);
    }
}

#[test]
fn rate_limit_sets_the_spacing_of_packet_starts() {
    // Five bytes at 50 ps; then 1 / 65,536 ps more, rounded up.
    for (parts, distance) in [(0, 250), (1, 251)] {
        let mut plan = quiet_plan(chain(0));
        backlogged(&mut plan, 0, 1, 5);
        plan.classes[0].rate_limit = Some(rate_limit(&plan, 50, parts));
        plan.stop = stop_at(3_000);
        let began = run(&plan).began(0, Kind::Data);
        let expected: Vec<u64> = (0..10).map(|packet| distance * packet).collect();
        assert_eq!(began[..10], expected);
    }
    // Over lanes 48 B at 2 ps: 96 ps later, at the next tick. With 16 B it is every 40.
    for (bytes, distance) in [(48, 100), (16, 40)] {
        let mut plan = lane_plan(chain(0), 1);
        backlogged(&mut plan, 0, 1, bytes);
        plan.classes[0].rate_limit = Some(rate_limit(&plan, 2, 0));
        plan.stop = stop_at(3_000);
        let began = run(&plan).began(0, Kind::Data);
        let expected: Vec<u64> = (0..10).map(|packet| distance * packet).collect();
        assert_eq!(began[..10], expected);
    }
}

#[test]
fn rate_limit_and_window_both_apply() {
    // The acknowledgement arrives after 100. The rate limit allows the next packet after 60 or 150.
    for (byte_ps, distance) in [(20, 100), (50, 150)] {
        let mut plan = quiet_plan(chain(0));
        backlogged(&mut plan, 0, 1, 3);
        plan.classes[0].window = Some(window(1, 2));
        plan.classes[0].rate_limit = Some(rate_limit(&plan, byte_ps, 0));
        plan.stop = stop_at(3_000);
        let expected: Vec<u64> = (0..10).map(|packet| distance * packet).collect();
        assert_eq!(run(&plan).began(0, Kind::Data)[..10], expected);
    }
}
