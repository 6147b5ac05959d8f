//! Least served endpoints, against shares calculated by hand.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use crate::support::{compiled_in, summary_of};
use gingham_lab::ClassSummary;
use std::path::Path;

/// The parking lot of Dally and Towles (2004, section 15.4.1) with two rows.
///
/// ```text
///   h0-0, h0-1 ──► s0 ──► s1 ──► h1-1        h1-0 ──► s1 ──► h1-1
/// ```
///
/// Round robin at the output of s1 gives half of it to h1-0 and a quarter to each of the others.
const PARKING_LOT: &str = r#"
    topology.generate.mesh = { dimensions = [2], hosts_per_switch = 2 }
    network.preset = "myrinet-1280"

    [[traffic]]
    name = "all"
    hosts = ["h0-0", "h0-1", "h1-0"]
    destinations = { host = "h1-1" }
    load = 0.9
    length = { fixed = "512 B" }

    [stop]
    time = "4 ms"
    warm_up = "1 ms"
"#;

fn class(text: &str, settings: &[(&str, &str)]) -> ClassSummary {
    class_in(Path::new("."), text, settings)
}

fn class_in(folder: &Path, text: &str, settings: &[(&str, &str)]) -> ClassSummary {
    summary_of(&compiled_in(folder, text, settings)).classes.swap_remove(0)
}

/// A third of the senders' capacity is accepted on average, and a quarter of the least served:
/// three quarters of the mean.
fn assert_parking_lot(class: &ClassSummary) {
    let least = class.served.least_served_load.unwrap();
    let share = least / class.accepted_load;
    assert!((share - 0.75).abs() < 0.01, "{share}: {class:?}");
    let name = class.served.least_served.as_deref().unwrap();
    assert!(name.starts_with("h0-"), "{name}");
}

#[test]
fn parking_lot_least_served_sender_gets_three_quarters() {
    let class = class(PARKING_LOT, &[]);
    assert_parking_lot(&class);
    assert_eq!(class.served.senders_behind, 3);
    let share = class.served.least_served_destination_share.unwrap();
    assert!((share - class.accepted_load / class.generated_load).abs() < 1e-9, "{share}");
    assert_eq!(class.served.least_served_destination.as_deref(), Some("h1-1"));
    assert_eq!(class.served.destinations_behind, 1);
}

#[test]
fn backlogged_senders_are_compared_by_accepted_load() {
    let text = PARKING_LOT.replace("load = 0.9", "arrivals = \"backlogged\"");
    let class = class(&text, &[]);
    assert_parking_lot(&class);
    assert_eq!((class.served.senders_behind, class.served.destinations_behind), (0, 0));
}

#[test]
fn least_served_flow_is_named_when_flows_are_counted() {
    // Half of the messages to h1-1 and the rest to all hosts, at a load that no channel limits.
    let text = PARKING_LOT
        .replace("hosts = [\"h0-0\", \"h0-1\", \"h1-0\"]", "hosts = [\"h0-0\"]")
        .replace("load = 0.9", "load = 0.2")
        .replace(
            "destinations = { host = \"h1-1\" }",
            "destinations = { hot-spot = { hosts = [\"h1-1\"], share = 0.5 } }",
        );
    let class = class(&text, &[("measure.flows", "true")]);
    let name = class.served.least_served.as_deref().unwrap();
    assert!(name.starts_with("h0-0 -> "), "{name}");
    let least = class.served.least_served_load.unwrap();
    assert!((least / class.generated_load - 1.0).abs() < 0.02, "{least}: {class:?}");
}

#[test]
fn light_load_leaves_no_endpoint_behind() {
    let class = class(PARKING_LOT, &[("traffic.0.load", "0.2")]);
    assert_eq!((class.served.senders_behind, class.served.destinations_behind), (0, 0));
    let least = class.served.least_served_load.unwrap();
    assert!(least > 0.9 * class.accepted_load && least <= class.accepted_load, "{least}");
}

#[test]
fn few_messages_do_not_single_out_a_fair_sender() {
    // 62.5 messages of 512 B in 4 ms at a twentieth of a link; their number varies by 8.
    let text = r#"
        topology.generate.star.hosts = 64
        network.preset = "myrinet-1280"
        [[traffic]]
        load = 0.05
        length = { fixed = "512 B" }
        destinations = { tornado = { dimensions = [64] } }
        [stop]
        time = "4 ms"
        warm_up = "0 ps"
    "#;
    let served = class(text, &[]);
    let least = served.served.least_served_load.unwrap();
    assert!(least > 0.9 * served.accepted_load, "{least}: {served:?}");
    // 9 messages each, and never 30.
    let few = class(text, &[("stop.time", "\"600 us\"")]);
    assert_eq!((few.served.least_served_load, few.served.least_served), (None, None));
}

#[test]
fn flows_of_few_messages_are_not_compared() {
    // Each of 16 hosts sends some 94 messages to 15 others: 6 a flow.
    let text = r#"
        topology.generate.star.hosts = 16
        network.preset = "myrinet-1280"
        [[traffic]]
        load = 0.1
        length = { fixed = "512 B" }
        [stop]
        time = "3 ms"
        warm_up = "0 ps"
        [measure]
        flows = true
    "#;
    let name = class(text, &[]).served.least_served.unwrap();
    assert!(name.starts_with('h') && !name.contains(" -> "), "{name}");
}

#[test]
fn senders_of_unequal_loads_are_compared_by_share() {
    // h1 offers 0.3 and h2 0.9 to one host, whose link round robin divides in halves: h1 gets its
    // whole load, which is half of the mean load, and h2 the rest, at 1.5 times the mean.
    let text = r#"
        topology.generate.star.hosts = 3
        network.preset = "myrinet-1280"
        [[traffic]]
        hosts = ["h1", "h2"]
        arrivals = "constant"
        load = 0.6
        length = { fixed = "512 B" }
        destinations = { matrix = "demand.csv" }
        [stop]
        time = "4 ms"
        warm_up = "1 ms"
    "#;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("served");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("demand.csv"), "from,h0\nh1,1\nh2,3\n").unwrap();
    let served = class_in(&folder, text, &[]);
    assert_eq!(served.served.least_served.as_deref(), Some("h2"));
    let least = served.served.least_served_load.unwrap();
    let of_h2 = 2.0 * served.accepted_load - 0.3;
    assert!((least / (of_h2 / 1.5) - 1.0).abs() < 0.01, "{least}: {served:?}");
}

#[test]
fn senders_without_a_load_are_compared_by_created_messages() {
    let text = r#"
        topology.generate.star.hosts = 2
        network.preset = "myrinet-1280"
        [[traffic]]
        name = "replies"
        arrivals = { reply = { to = "requests" } }
        length = { fixed = "768 B" }
        [[traffic]]
        name = "requests"
        hosts = ["h0"]
        destinations = { host = "h1" }
        load = 0.2
        length = { fixed = "64 B" }
        [stop]
        time = "4 ms"
        warm_up = "1 ms"
    "#;
    let served = class(text, &[]);
    assert_eq!(served.served.least_served.as_deref(), Some("h1"));
    assert!(served.accepted_load < 0.6 * served.generated_load, "{served:?}");
    let least = served.served.least_served_load.unwrap();
    assert!((least / served.accepted_load - 1.0).abs() < 1e-9, "{least}: {served:?}");
}

#[test]
fn endpoint_falls_behind_above_5_percent_of_its_payload() {
    // The destination accepts 0.95 of its link: at three times 0.35 a tenth is left behind, and at
    // three times 0.325 a fortieth.
    let at = |load: &str| {
        let settings = [("traffic.0.arrivals", "\"constant\""), ("traffic.0.load", load)];
        class(PARKING_LOT, &settings).served
    };
    let above = at("0.35");
    let share = above.least_served_destination_share.unwrap();
    assert!((0.85..0.94).contains(&share), "{share}");
    assert_eq!(above.destinations_behind, 1);
    let below = at("0.325");
    let share = below.least_served_destination_share.unwrap();
    assert!((0.955..0.995).contains(&share), "{share}");
    assert_eq!(below.destinations_behind, 0);
}
