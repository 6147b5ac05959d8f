//! Heads that choose among outputs.
//!
//! ```text
//!   h0 ─┐     ┌── s1 ──┐      ┌─ h2
//!       s0 ───┤        ├─── s3
//!   h1 ─┘     └── s2 ──┘      └─ h3
//! ```

use crate::common::deliveries;
use crate::packets::by_message;
use crate::{lane_plan, lanes, packets, start};
use gingham_net::{Decision, HeadPlace, Plan, Reselect, Select, SwitchChooser, SwitchDecision};
use gingham_topology::routing::{Algorithm, Form, LaneSet, Lanes, Routes, ShortestPath, route};
use gingham_topology::{FabricBuilder, Guid, NodeKind};

/// Plan over `count` lanes; packets choose if `select` is given.
fn diamond(count: u8, select: Option<Select>) -> Plan {
    let mut builder = FabricBuilder::new();
    let switch = |index: u64| (format!("s{index}"), Guid(0x100 + index));
    let switches: Vec<_> = (0..4)
        .map(switch)
        .map(|(name, guid)| builder.add_plain(NodeKind::Switch, &name, guid, 8))
        .collect();
    for (index, at) in [0, 0, 3, 3].into_iter().enumerate() {
        let guid = Guid(0x200 + index as u64);
        let host = builder.add_plain(NodeKind::Host, &format!("h{index}"), guid, 1);
        builder.join(host, switches[at]).unwrap();
    }
    for [a, b] in [[0, 1], [0, 2], [1, 3], [2, 3]] {
        builder.join(switches[a], switches[b]).unwrap();
    }
    let mut plan = lane_plan(builder.build(), count);
    let routes =
        route(&plan.fabric, &Algorithm::ShortestPath(ShortestPath::default()), Form::Table);
    let Ok(Routes::Table(mut tables)) = routes else { panic!("tables") };
    // All that is not chosen goes by s1.
    let node = |name: &str| plan.fabric.find_node(name).unwrap();
    let by_s1 = crate::common::channel(&plan.fabric, "s0", "s1");
    for to in plan.fabric.endpoint_ids().skip(2) {
        tables.set_port(node("s0"), to, Some(plan.fabric.source(by_s1).port));
    }
    if select.is_some() {
        tables = tables.made_adaptive(&plan.fabric).unwrap();
    }
    plan.routing.paths = vec![Routes::Table(tables)];
    let at_switches =
        |select| Decision::AtSwitches(SwitchDecision { select, reselect: Reselect::EveryCycle });
    plan.routing.decision = select.map_or(Decision::ByPair, at_switches);
    plan
}

fn reselecting(plan: &mut Plan, reselect: Reselect) {
    let Decision::AtSwitches(decision) = &mut plan.routing.decision else { panic!("adaptive") };
    decision.reselect = reselect;
}

#[test]
fn head_takes_any_free_output() {
    let two = |select| {
        let mut plan = diamond(1, select);
        packets(&mut plan, 0, 2, &[(0, 6)]);
        packets(&mut plan, 1, 3, &[(10, 6)]);
        by_message(plan, 2)
    };
    // Alone a head is on its links at 0, 8, 16, 24: whole at 240 + 35, its tail five ticks later.
    // The second begins a tick later; the first holds the lane to s1 until 12, and it takes that to
    // s2.
    let apart = [(0, 0, 275, 325), (1, 10, 285, 335)];
    for select in [Select::First, Select::Random, Select::LeastLoaded] {
        assert_eq!(two(Some(select)), apart, "{select:?}");
    }
    // On one path it is granted the lane to s1 at 12, there at 18 behind the first, whose tail
    // crosses at 20; on the third link at 32.
    assert_eq!(two(None), [(0, 0, 275, 325), (1, 10, 355, 405)]);
}

#[test]
fn least_loaded_output_has_the_most_credits() {
    let two = |select| {
        let mut plan = diamond(2, Some(select));
        packets(&mut plan, 0, 2, &[(0, 6)]);
        packets(&mut plan, 1, 3, &[(20, 6)]);
        plan.seed = 3;
        let found = by_message(plan.clone(), 2);
        let mut run = start(plan.clone().into());
        run.advance(u64::MAX);
        let flits = |from: &str, to: &str| {
            run.channel_counts()[crate::common::channel(&plan.fabric, from, to).index()].data_flits
        };
        (found, [flits("s0", "s1"), flits("s0", "s2")])
    };
    // At 8 the first head is on the link to s1 (or s2), which has 19 credits, the other 20.
    let (found, flits) = two(Select::LeastLoaded);
    assert_eq!(found, [(0, 0, 275, 325), (1, 20, 295, 345)]);
    assert_eq!(flits, [6, 6]);
    // The first output has a free lane, and both share the link.
    let (found, flits) = two(Select::First);
    assert!(found[0].3 > 325, "{found:?}");
    assert_eq!(flits, [12, 0]);
}

/// With virtual cut-through A is granted a lane of X (s1 or s2) at 6, and B one of Y at 8. C
/// chooses at 9, when A's flit is on its link and B's first is due at 10. X has 19 of 20 credits; Y
/// has 20, but 6 are promised to B: C follows A.
#[test]
fn promised_credits_do_not_count_for_selection() {
    let mut plan = diamond(2, Some(Select::LeastLoaded));
    lanes(&mut plan, |lanes| lanes.cut_through = LaneSet::first_n(2));
    packets(&mut plan, 0, 2, &[(0, 1), (30, 3)]);
    packets(&mut plan, 1, 3, &[(20, 6)]);
    let mut flits = flits_by(&plan);
    flits.sort_unstable();
    assert_eq!(flits, [1 + 3, 6]);
}

#[test]
fn random_selection_uses_outputs_equally() {
    // A packet of one flit every 200 ps meets no other: each of 400 is a draw.
    let mut plan = diamond(1, Some(Select::Random));
    let all: Vec<(u64, u32)> = (0..400).map(|number| (200 * number, 1)).collect();
    packets(&mut plan, 0, 2, &all);
    assert_eq!(deliveries(plan.clone(), 400).len(), 400);
    let mut run = start(plan.clone().into());
    run.advance(u64::MAX);
    let by_s1 = crate::common::channel(&plan.fabric, "s0", "s1");
    let taken = run.channel_counts()[by_s1.index()].data_flits;
    // Five standard deviations are 50.
    assert!(taken.abs_diff(200) < 50, "{taken}");
}

/// The path is via s1, with the lower of two lanes as its escape lane. A packet of one flit every
/// 200 ps meets no other: the adaptive lanes of both outputs have all their credits, and each
/// choice is random. With the escape lane counted, all 400 packets would go via s1.
#[test]
fn escape_lane_credits_do_not_count_for_selection() {
    for reselect in [Reselect::EveryCycle, Reselect::Never] {
        let mut plan = diamond(2, Some(Select::LeastLoaded));
        reselecting(&mut plan, reselect);
        plan.lanes.allowed = Lanes::with_escape(None, &[LaneSet::first_n(2)], 1);
        let all: Vec<(u64, u32)> = (0..400).map(|number| (200 * number, 1)).collect();
        packets(&mut plan, 0, 2, &all);
        // Five standard deviations are 50.
        let [by_s1, by_s2] = flits_by(&plan);
        assert!(by_s1.abs_diff(200) < 50 && by_s1 + by_s2 == 400, "{reselect:?}: {by_s1}");
    }
}

/// Flits by s1 and by s2.
fn flits_by(plan: &Plan) -> [u64; 2] {
    let mut run = start(plan.clone().into());
    run.advance(u64::MAX);
    let counts = run.channel_counts();
    ["s1", "s2"].map(|by| counts[crate::common::channel(&plan.fabric, "s0", by).index()].data_flits)
}

/// Two packets of six flits, the second at `second_ps`.
fn two_at_s0(count: u8, select: Select, reselect: Reselect, second_ps: u64) -> Plan {
    let mut plan = diamond(count, Some(select));
    packets(&mut plan, 0, 2, &[(0, 6)]);
    packets(&mut plan, 1, 3, &[(second_ps, 6)]);
    reselecting(&mut plan, reselect);
    plan
}

#[test]
fn fixed_choice_waits_despite_another_free_output() {
    // As on one path: the lane to s1 is free again at 12, and s2 is unused.
    let plan = two_at_s0(1, Select::First, Reselect::Never, 10);
    assert_eq!(flits_by(&plan), [12, 0]);
    assert_eq!(by_message(plan, 2), [(0, 0, 275, 325), (1, 10, 355, 405)]);
    let plan = two_at_s0(1, Select::First, Reselect::EveryCycle, 10);
    assert_eq!(flits_by(&plan), [6, 6]);
    // All outputs count, not only those with a free lane. At 8 s1, or s2, has a credit less.
    let plan = two_at_s0(1, Select::LeastLoaded, Reselect::Never, 20);
    assert_eq!(flits_by(&plan), [6, 6]);
    assert_eq!(by_message(plan, 2), [(0, 0, 275, 325), (1, 20, 295, 345)]);
}

#[test]
fn random_selection_differs_by_switch_port_and_lane() {
    let plan = diamond(2, Some(Select::Random));
    let selector = SwitchChooser::new(&plan).unwrap();
    let [s0, s3] = ["s0", "s3"].map(|name| plan.fabric.find_node(name).unwrap());
    let head = HeadPlace { switch: s0, port: 1, lane: 0 };
    let alike = |other: HeadPlace| {
        let choose = |head, tick| selector.choose(head, tick, &[9, 9]);
        (0..400_u64).filter(|tick| choose(head, *tick) == choose(other, *tick)).count()
    };
    assert_eq!(alike(head), 400);
    for other in [
        HeadPlace { switch: s3, ..head },
        HeadPlace { port: 2, ..head },
        HeadPlace { lane: 1, ..head },
    ] {
        // Five standard deviations are 50.
        assert!(alike(other).abs_diff(200) < 50, "{other:?}: {}", alike(other));
    }
}

#[test]
fn fixed_choice_is_drawn_per_packet() {
    let mut plan = diamond(1, Some(Select::Random));
    reselecting(&mut plan, Reselect::Never);
    let all: Vec<(u64, u32)> = (0..400).map(|number| (200 * number, 1)).collect();
    packets(&mut plan, 0, 2, &all);
    // Five standard deviations are 50.
    let [by_s1, by_s2] = flits_by(&plan);
    assert!(by_s1.abs_diff(200) < 50 && by_s1 + by_s2 == 400, "{by_s1}");
}

/// The lower of two lanes is for escape, and the path is by s1.
#[test]
fn head_uses_path_lanes_and_other_adaptive_lanes() {
    let mut plan = diamond(2, Some(Select::First));
    plan.lanes.allowed = Lanes::with_escape(None, &[LaneSet::first_n(2)], 1);
    packets(&mut plan, 0, 2, &[(0, 30), (0, 1)]);
    packets(&mut plan, 1, 3, &[(10, 30)]);
    // s1 has a lane for each of two; the third takes s2.
    assert_eq!(flits_by(&plan), [60, 1]);
}

/// Plan with the lower of two lanes for escape on the path, by s2: heads that take the first output
/// choose lane 1 to s1.
fn with_escape_by_s2(reselect: Reselect, second_ps: u64) -> Plan {
    let mut plan = two_at_s0(2, Select::First, reselect, second_ps);
    let Routes::Table(mut tables) = plan.routing.paths.remove(0) else { panic!("tables") };
    let at = plan.fabric.find_node("s0").unwrap();
    let by_s2 = plan.fabric.source(crate::common::channel(&plan.fabric, "s0", "s2")).port;
    for to in plan.fabric.endpoint_ids().skip(2) {
        tables.set_port(at, to, Some(by_s2));
    }
    plan.routing.paths = vec![Routes::Table(tables)];
    plan.lanes.allowed = Lanes::with_escape(None, &[LaneSet::first_n(2)], 1);
    plan
}

#[test]
fn fixed_choice_keeps_escape_lanes_of_the_path_open() {
    // The second goes on by the escape lane at once.
    let plan = with_escape_by_s2(Reselect::Never, 10);
    assert_eq!(flits_by(&plan), [6, 6]);
    assert_eq!(by_message(plan, 2), [(0, 0, 275, 325), (1, 10, 285, 335)]);
}

#[test]
fn fixed_choice_leaves_other_lanes_of_the_path_unused() {
    let three = |reselect| {
        let mut plan = with_escape_by_s2(reselect, 0);
        plan.classes.clear();
        packets(&mut plan, 0, 2, &[(0, 30), (0, 1)]);
        packets(&mut plan, 1, 3, &[(10, 30)]);
        plan
    };
    // The first holds lane 1 to s1 from 6 on, the second lane 0 to s2 from 7 on. At 10 the first
    // has no credit left, and the third begins on the other lane: there at 14, it could be granted
    // lane 1 to s2, free, from 16 on.
    assert_eq!(flits_by(&three(Reselect::EveryCycle)), [30, 31]);
    let plan = three(Reselect::Never);
    assert_eq!(flits_by(&plan), [31, 30]);
    // The first's tail crosses at 36: the third is granted lane 1 to s1, there at 42 behind the
    // first, whose tail crosses at 44; on the third link at 56: whole at 560 + 35. The other tails
    // are on it at 53 and 54.
    assert_eq!(by_message(plan, 3), [(0, 0, 275, 565), (0, 100, 595, 595), (1, 10, 285, 575)]);
}

/// A permanent choice that is free precedes a free escape lane of the path, though that comes
/// first. The path is by s1, its lane 0 is for escape, and credits are those of lanes 1, of 10
/// flits.
///
/// ```text
///   A, 2 flits    chooses at 6, s1 10, s2 10     draws s1: given lane 0 to s1, on that link from 8 on
///   B, 6 flits    chooses at 7, s1 10, s2 10     draws s1: given lane 1 to s1, on that link from 9 on
///   C, 1 flit     there at 14, chooses at 16     s1 less than 10, s2 10: its choice is s2
/// ```
///
/// Under other seeds A or B draws s2. One flit by s2 is C alone.
#[test]
fn fixed_choice_precedes_an_escape_lane_elsewhere() {
    let mut plan = diamond(2, Some(Select::LeastLoaded));
    reselecting(&mut plan, Reselect::Never);
    lanes(&mut plan, |lanes| lanes.depths_flits[0] = 2);
    plan.lanes.allowed = Lanes::with_escape(None, &[LaneSet::first_n(2)], 1);
    packets(&mut plan, 0, 2, &[(0, 2), (0, 6)]);
    packets(&mut plan, 1, 3, &[(100, 1)]);
    let seeds = (0..40).filter(|seed| {
        plan.seed = *seed;
        flits_by(&plan) == [2 + 6, 1]
    });
    // A and B draw s1 with a probability of 1/4 each time: 10 of 40 seeds, standard deviation 2.7.
    assert!((3..=20).contains(&seeds.count()));
}
