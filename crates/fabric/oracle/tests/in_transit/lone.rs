//! A worm alone, over in-transit hosts.

use super::common::{
    DELAY, FLIT, along, deliveries, in_transit, quiet_plan, row, scheduled, spilling, stopping,
    story, wormhole,
};
use super::{DETECTION, POOL, PROGRAMMING, measured, over_h1};
use gingham_kernel::{Purpose, Span, Stream};
use gingham_net::Plan;
use gingham_net::measure::TransitReport;

#[test]
fn worm_over_one_in_transit_host() {
    let mut plan = over_h1();
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    // As in the description of this folder.
    let delivery = deliveries(plan.clone(), 1)[0];
    assert_eq!(story(&delivery), (0, 0, 440, 480));
    assert_eq!((delivery.hops, delivery.in_transit_hosts, delivery.wire_bytes), (2, 1, 5));
    let expected = TransitReport {
        reinjected_packets: 1,
        spilled_packets: 0,
        wait_mean_ps: Some(0.0),
        pool_peak_bytes: 5,
    };
    assert_eq!(measured(plan.clone(), 1), expected);
    assert_eq!(measured(plan, 2), TransitReport::default());
}

/// Two hosts on each of two switches; from h0 to h3 over h1 and h2.
fn over_two_hosts() -> Plan {
    let mut plan = quiet_plan(row(2, &[0, 0, 1, 1]));
    along(&mut plan, &[&["s0", "h1", "s0", "s1", "h2", "s1", "h3"]]);
    in_transit(&mut plan, [DETECTION, PROGRAMMING, POOL]);
    scheduled(&mut plan, 0, 3, &[(0, 5)]);
    plan
}

#[test]
fn worm_over_two_in_transit_hosts_with_route_bytes() {
    let mut plan = over_two_hosts();
    wormhole(&mut plan, |wormhole| {
        wormhole.route_bytes = true;
        wormhole.mark_bytes = 2;
    });
    // Flits: route byte 0 for s0 | mark 1, 2 | route bytes 3 for s0, 4 for s1 | mark 5, 6 | route
    // byte 7 for s1 | 8 to 12. Flit 0: at s0 at 35. Flit 1: off at 135, at h1 at 170, ready at 270,
    // when flit 3, there since 190, leaves: at s0 at 305. Flit 4: off at 405, at s1 at 440. Flit 5:
    // off at 540, at h2 at 575, ready at 675. Flit 7: at s1 at 710. Flit 8: off at 810, at h3 at
    // 845, flit 12 at 885.
    let delivery = deliveries(plan.clone(), 1)[0];
    assert_eq!(story(&delivery), (0, 0, 845, 885));
    assert_eq!((delivery.hops, delivery.in_transit_hosts, delivery.wire_bytes), (4, 2, 13));
    // Sent on: flits 3 to 12, and 7 to 12.
    let peaks = [1, 2].map(|host| measured(plan.clone(), host).pool_peak_bytes);
    assert_eq!(peaks, [10, 6]);
}

#[test]
fn worm_over_two_in_transit_hosts_without_route_bytes() {
    // First flit: at h1 at 170, s0 at 305, s1 at 440, h2 at 575, s1 at 710, h3 at 845.
    let delivery = deliveries(over_two_hosts(), 1)[0];
    assert_eq!(story(&delivery), (0, 0, 845, 885));
}

/// Path of a random worm: a row of switches with two hosts on each, visited or not.
struct Way {
    plan: Plan,
    /// By in-transit host: switches passed before.
    before: Vec<u64>,
    payload: u64,
    switches: u64,
    hosts: u64,
}

fn random_way(draw: &mut Stream) -> Way {
    let length = 1 + draw.below(4);
    let switches = usize::try_from(length).unwrap();
    // h0 on the first switch, h1 on the last, then two on each.
    let mut switch_of = vec![0, switches - 1];
    switch_of.extend((0..switches).flat_map(|switch| [switch, switch]));
    let mut plan = quiet_plan(row(switches, &switch_of));
    let (mut names, mut before) = (Vec::new(), Vec::new());
    for switch in 0..switches {
        names.push(format!("s{switch}"));
        for host in [2 + 2 * switch, 3 + 2 * switch] {
            if draw.below(2) == 1 {
                before.push((names.len() - before.len()) as u64);
                names.extend([format!("h{host}"), format!("s{switch}")]);
            }
        }
    }
    let hosts = (names.len() - switches) as u64 / 2;
    names.push("h1".to_owned());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    along(&mut plan, &[&names]);
    let payload = 1 + draw.below(80);
    scheduled(&mut plan, 0, 1, &[(0, u32::try_from(payload).unwrap())]);
    Way { plan, before, payload, switches: length + hosts, hosts }
}

#[test]
fn any_path_matches_the_formula() {
    let mut draw = Stream::new(1, "lone worms", Purpose::Length);
    let mut most_hosts = 0;
    for case in 0..300 {
        let Way { mut plan, before, payload, switches: n, hosts: k } = random_way(&mut draw);
        let [m, overhead] = [draw.below(4), draw.below(4)];
        let route_bytes = draw.below(2) == 1;
        let first_flit = FLIT + draw.below(100);
        let [detection, programming] = [m * FLIT + draw.below(70), draw.below(70)];
        wormhole(&mut plan, |wormhole| {
            wormhole.route_bytes = route_bytes;
            wormhole.mark_bytes = u32::try_from(m).unwrap();
            wormhole.overhead_bytes = u32::try_from(overhead).unwrap();
            wormhole.setup_delay = Span::from_ps(first_flit);
        });
        let stripped = |switches: u64| if route_bytes { switches } else { 0 };
        let w = stripped(n) + k * m + overhead + payload;
        // `A lone worm` of docs/concepts/timing.md, with one of three ways of handling.
        in_transit(&mut plan, [detection, programming, if case % 3 == 0 { 0 } else { POOL }]);
        let mut handling = k * (detection + programming);
        if case % 3 == 0 {
            let [delay, byte] = [draw.below(200), draw.below(4)];
            spilling(&mut plan, [delay, byte]);
            let spilled = |(host, switches): (u64, &u64)| {
                let there = w - stripped(*switches) - host * m;
                let spilled = (there - 1) * FLIT + delay + 2 * (there - m) * byte;
                spilled.max(detection + programming)
            };
            handling = (0..).zip(&before).map(spilled).sum();
        } else if case % 3 == 1 {
            stopping(&mut plan);
        }
        handling += n * first_flit;
        let held_flits = n - stripped(n);
        let delivered = (w + held_flits + k - k * m) * FLIT + (n + k + 1) * DELAY + handling;
        let head = (n + k + 1) * (FLIT + DELAY) + handling;
        let delivery = deliveries(plan, 1)[0];
        assert_eq!(story(&delivery), (0, 0, head, delivered));
        assert_eq!(delivery.wire_bytes, w);
        assert_eq!([delivery.hops, delivery.in_transit_hosts].map(u64::from), [n, k]);
        most_hosts = k.max(most_hosts);
    }
    assert!(most_hosts >= 5, "{most_hosts}");
}

#[test]
fn undelayed_flits_leave_as_they_arrive() {
    let mut plan = over_h1();
    in_transit(&mut plan, [0, 0, POOL]);
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    // At h1 at 170 and off at once: at h2 from 340 to 380.
    assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 340, 380));
}
