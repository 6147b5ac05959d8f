//! Weights 1:2:4 through whole switches.
//!
//! An arbiter has a choice only if more arrives than leaves.
//!
//! ```text
//!   link output       h0 ─ lane 0 ┐ full crossbar: each lane fills its output lane, the link is short
//!                     h1 ─ lane 1 ┼─► h3
//!                     h2 ─ lane 2 ┘
//!   crossbar input    h0 ─ lanes 0, 1, 2 ─► h3, to which h1 and h2 send too: the output takes a third of h0's flits
//!   crossbar output   as at the link output, with a multiplexed crossbar
//!   adapter port      h0 ─ lanes 0, 1, 2 ─► h3, without other senders
//! ```

use crate::network::Network;

/// Returns schedulers with shares of 1, 2 and 4, for packets of `flits` flits of 16 B.
fn one_two_four(by: &str, flits: usize) -> [String; 4] {
    let unit = if by == "flit" { 16 } else { 16 * flits };
    let quanta = [1, 2, 4].map(|share| format!("\"{} B\"", share * unit)).join(", ");
    let of =
        |name: &str, parameters: &str| format!("{{ {name} = {{ {parameters}, by = \"{by}\" }} }}");
    [
        of("weighted-round-robin", "weights = [1, 2, 4]"),
        of("surplus-round-robin", &format!("quanta = [{quanta}]")),
        of("deficit-round-robin", &format!("quanta = [{quanta}]")),
        // A lane that reserves more than it gets is served in order of arrival.
        of("virtual-clock", "rates = [\"2 MB/s\", \"4 MB/s\", \"8 MB/s\"]"),
    ]
}

const SHARES: [f64; 3] = [1.0, 2.0, 4.0];

fn at_the_link(by: &str, depths: &str) {
    for scheduler in one_two_four(by, 20) {
        let lines = format!("count = 3\n{depths}\ncrossbar = \"full\"\nlink_output = {scheduler}");
        (0..3)
            .fold(Network::new(4, &lines), |network, lane| network.backlogged((lane, 3), lane, 20))
            .assert_shares(&SHARES);
    }
}

#[test]
fn link_output_shares_by_flit() {
    at_the_link("flit", "depth = 10");
}

/// An output lane of four packets does not become empty while the next one is granted a lane.
#[test]
fn link_output_shares_by_packet() {
    at_the_link("packet", "depth = 40\noutput_depth = 80\nforwarding = \"virtual-cut-through\"");
}

fn at_the_crossbar_output(by: &str, depths: &str) {
    for scheduler in one_two_four(by, 20) {
        let lines = format!("count = 3\n{depths}\ncrossbar_output = {scheduler}");
        (0..3)
            .fold(Network::new(4, &lines), |network, lane| network.backlogged((lane, 3), lane, 20))
            .assert_shares(&SHARES);
    }
}

#[test]
fn crossbar_output_shares_by_flit() {
    at_the_crossbar_output("flit", "depth = 10");
}

#[test]
fn input_weights_do_not_affect_sharing_among_ports() {
    let lines = "count = 3\ndepth = 10\ncrossbar_input = { weighted-round-robin = { weights = [1, 2, 4] } }";
    (0..3)
        .fold(Network::new(4, lines), |network, lane| network.backlogged((lane, 3), lane, 20))
        .assert_shares(&[1.0; 3]);
}

fn at_the_adapter(by: &str, depths: &str) {
    for scheduler in one_two_four(by, 20) {
        let lines = format!("count = 3\n{depths}\ncrossbar = \"full\"\nadapter_port = {scheduler}");
        (0..3)
            .fold(Network::new(2, &lines), |network, lane| network.backlogged((0, 1), lane, 20))
            .assert_shares(&SHARES);
    }
}

#[test]
fn adapter_port_shares_by_flit() {
    at_the_adapter("flit", "depth = 40");
}

#[test]
fn adapter_port_shares_by_packet() {
    at_the_adapter("packet", "depth = 80\nforwarding = \"virtual-cut-through\"");
}

/// Two other hosts take two of three flits at the output, on two lanes each, so that one of their
/// lanes can always send: the next head of a lane requests while theirs cross, in time for its
/// lane's turn.
fn at_the_crossbar(by: &str, depths: &str) {
    for scheduler in one_two_four(by, 20) {
        let others = ["1", "1", "1", "1"].join(", ");
        let scheduler = scheduler
            .replace("weights = [1, 2, 4]", &format!("weights = [1, 2, 4, {others}]"))
            .replace(" B\"], by", &format!(" B\", {}], by", ["\"320 B\""; 4].join(", ")))
            .replace("8 MB/s\"]", &format!("8 MB/s\", {}]", ["\"2 MB/s\""; 4].join(", ")));
        let lines = format!("count = 7\n{depths}\ncrossbar_input = {scheduler}");
        let network = (0..3)
            .fold(Network::new(4, &lines), |network, lane| network.backlogged((0, 3), lane, 20));
        let shares = [1.0, 2.0, 4.0, 3.5, 3.5, 3.5, 3.5];
        (3..7)
            .fold(network, |network, lane| network.backlogged(((lane - 1) / 2, 3), lane, 20))
            .assert_shares(&shares);
    }
}

#[test]
fn crossbar_input_shares_by_flit() {
    at_the_crossbar("flit", "depth = 10");
}

#[test]
fn crossbar_input_shares_by_packet() {
    at_the_crossbar("packet", "depth = 40\nforwarding = \"virtual-cut-through\"");
}
