//! InfiniBand's tables, strict priority and reserved rates through a switch.

use crate::network::Network;

/// Deep enough for several packets of 8 flits, so that no output lane becomes empty between
/// packets.
const LANES: &str = "depth = 80\nforwarding = \"virtual-cut-through\"\ncrossbar = \"full\"";

/// Two lanes of high priority and one of low, packets of 8 flits, 128 B, 2 units of 64 B. A limit
/// of `n` times 4,096 bytes is 32 n packets before one of low priority; 0 is one packet.
#[test]
fn high_limit_leaves_low_priority_its_share() {
    for (limit, high_packets) in [(0, 1.0), (1, 32.0), (2, 64.0)] {
        let high = "high = [{ lane = 0, weight = 4 }, { lane = 1, weight = 4 }]";
        let low = "low = [{ lane = 2, weight = 1 }]";
        let tables = format!("{{ infiniband = {{ {high}, {low}, high_limit = {limit} }} }}");
        let shares = [high_packets / 2.0, high_packets / 2.0, 1.0];
        let at_the_link = format!("count = 3\n{LANES}\nlink_output = {tables}");
        (0..3)
            .fold(Network::new(4, &at_the_link), |network, lane| {
                network.backlogged((lane, 3), lane, 8)
            })
            .assert_shares(&shares);
        let at_the_adapter = format!("count = 3\n{LANES}\nadapter_port = {tables}");
        (0..3)
            .fold(Network::new(2, &at_the_adapter), |network, lane| {
                network.backlogged((0, 1), lane, 8)
            })
            .assert_shares(&shares);
    }
}

/// In units of 64 B: one, two and four packets of 128 B a turn.
#[test]
fn slots_share_by_their_weights() {
    let slots = [2, 4, 8];
    let slot = |(lane, weight)| format!("{{ lane = {lane}, weight = {weight} }}");
    let table = slots.into_iter().enumerate().map(slot).collect::<Vec<_>>().join(", ");
    let lines =
        format!("count = 3\n{LANES}\nlink_output = {{ infiniband = {{ low = [{table}] }} }}");
    (0..3)
        .fold(Network::new(4, &lines), |network, lane| network.backlogged((lane, 3), lane, 8))
        .assert_shares(&[1.0, 2.0, 4.0]);
}

/// Lane 15 gets its offered 70 % of the link, and the others share the rest, whatever their tables
/// are.
#[test]
fn lane_15_precedes_both_tables() {
    let table =
        "high = [{ lane = 0, weight = 255 }], low = [{ lane = 1, weight = 255 }], high_limit = 0";
    let lines = format!("count = 16\n{LANES}\nlink_output = {{ infiniband = {{ {table} }} }}");
    let arrivals = "arrivals = \"constant\"\nload = 0.7";
    Network::new(4, &lines)
        .class((0, 3), 15, 8, arrivals)
        .backlogged((1, 3), 0, 8)
        .backlogged((2, 3), 1, 8)
        .assert_rates(&[0.7, 0.15, 0.15]);
}

#[test]
fn strict_priority_starves_lower_levels() {
    let lines = format!(
        "count = 3\n{LANES}\nlink_output = {{ strict-priority = {{ levels = [0, 1, 1] }} }}"
    );
    (0..3)
        .fold(Network::new(4, &lines), |network, lane| network.backlogged((lane, 3), lane, 8))
        .assert_rates(&[0.0, 0.5, 0.5]);
}

/// A lane that offers no more than its reservation is delivered completely; without one it would
/// get a third.
#[test]
fn virtual_clock_delivers_reserved_rates() {
    let asks = "arrivals = \"constant\"\nload = 0.5";
    let rates = |scheduler: &str, expected: &[f64]| {
        let lines =
            format!("count = 3\ndepth = 40\ncrossbar = \"full\"\nlink_output = {scheduler}");
        Network::new(4, &lines)
            .class((0, 3), 0, 20, asks)
            .backlogged((1, 3), 1, 20)
            .backlogged((2, 3), 2, 20)
            .assert_rates(expected);
    };
    rates("\"round-robin\"", &[1.0 / 3.0; 3]);
    let reserved = "{ virtual-clock = { rates = [\"101 MB/s\", \"20 MB/s\", \"60 MB/s\"] } }";
    rates(reserved, &[0.5, 0.125, 0.375]);
    let best_effort =
        "{ virtual-clock = { rates = [\"101 MB/s\", \"best-effort\", \"best-effort\"] } }";
    rates(best_effort, &[0.5, 0.25, 0.25]);
}
