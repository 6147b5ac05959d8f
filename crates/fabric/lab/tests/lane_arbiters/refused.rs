//! Schedulers that no port can run, refused with key and remedy.

use crate::support::compiled;

fn refusal(lanes: &str) -> String {
    let message = compiled(lanes).unwrap_err().to_string();
    message.split_once(": ").unwrap().1.to_owned()
}

const CUT: &str = "count = 3\nforwarding = \"virtual-cut-through\"\n";

fn tables(of: &str) -> String {
    refusal(&format!("{CUT}link_output = {{ infiniband = {{ {of} }} }}"))
}

fn slots(slots: &[(u32, u32)]) -> String {
    let slot = |(lane, weight): &(u32, u32)| format!("{{ lane = {lane}, weight = {weight} }}");
    format!("[{}]", slots.iter().map(slot).collect::<Vec<_>>().join(", "))
}

#[test]
fn per_lane_lists_need_one_value_per_lane() {
    let few = refusal("count = 3\nlink_output = { weighted-round-robin = { weights = [1, 2] } }");
    assert_eq!(
        few,
        "in `network.lanes.link_output.weighted-round-robin.weights`: 2 values for 3 lanes: give one for each lane, lane 0 \
         first (network.lanes.count is the number of lanes)"
    );
    let many = [
        ("surplus-round-robin", "quanta = [\"16 B\", \"16 B\"]", "quanta"),
        ("deficit-round-robin", "quanta = [\"16 B\", \"16 B\"]", "quanta"),
        ("virtual-clock", "rates = [\"1 MB/s\", \"1 MB/s\"]", "rates"),
        ("strict-priority", "levels = [0, 1]", "levels"),
    ];
    for (name, parameters, key) in many {
        let message =
            refusal(&format!("count = 1\nadapter_port = {{ {name} = {{ {parameters} }} }}"));
        let expected =
            format!("in `network.lanes.adapter_port.{name}.{key}`: 2 values for 1 lane: ");
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[test]
fn all_zero_weights_are_refused() {
    let zero = "all weights are zero, so that no lane would ever send; give one a weight";
    let message =
        refusal("count = 2\ncrossbar_input = { weighted-round-robin = { weights = [0, 0] } }");
    assert_eq!(message, format!("in `network.lanes.crossbar_input.weighted-round-robin`: {zero}"));
    let message = tables(&format!("high = {}", slots(&[(0, 0), (1, 0)])));
    assert_eq!(message, format!("in `network.lanes.link_output.infiniband`: {zero}"));
    let message = tables("low = []");
    assert_eq!(message, format!("in `network.lanes.link_output.infiniband`: {zero}"));
    let quanta = "deficit-round-robin = { quanta = [\"0 B\", \"0 B\"] }";
    let message = refusal(&format!("count = 2\nlink_output = {{ {quanta} }}"));
    assert_eq!(message, format!("in `network.lanes.link_output.deficit-round-robin`: {zero}"));
}

#[test]
fn class_lane_that_is_never_served_is_refused() {
    let low = slots(&[(0, 1), (1, 1)]);
    assert_eq!(
        tables(&format!("low = {low}")),
        "in `traffic[0].lanes`: packets of class `all` may go on lane 2, which `network.lanes.link_output` never serves: \
         give the lane a weight there, or name the lanes of the class without it"
    );
    let weights = "{ weighted-round-robin = { weights = [1, 0] } }";
    assert_eq!(
        refusal(&format!("count = 2\ncrossbar_output = {weights}")),
        "in `traffic[0].lanes`: packets of class `all` may go on lane 1, which `network.lanes.crossbar_output` never serves: \
         give the lane a weight there, or name the lanes of the class without it"
    );
}

#[test]
fn invalid_levels_weights_and_yield_are_refused() {
    let message = |parameters: &str| {
        let of = format!("{{ priority-weighted-round-robin = {{ {parameters} }} }}");
        refusal(&format!("count = 2\nlink_output = {of}"))
    };
    let key = "in `network.lanes.link_output.priority-weighted-round-robin";
    let high = message("levels = [16, 0], weights = [1, 1]");
    assert_eq!(high, format!("{key}.levels[0]`: levels are 0 to 15, not 16"));
    let never = message("levels = [1, 0], weights = [1, 1], yield_after = 0");
    assert!(never.starts_with(&format!("{key}.yield_after`: ")), "{never}");
    let few = message("levels = [1, 0], weights = [1]");
    assert!(few.starts_with(&format!("{key}.weights`: 1 value for 2 lanes: ")), "{few}");
}

#[test]
fn tables_accept_64_slots_of_existing_lanes() {
    assert_eq!(
        tables(&format!("high = {}", slots(&[(0, 1), (3, 1)]))),
        "in `network.lanes.link_output.infiniband.high[1].lane`: lane 3 does not exist: 3 are numbered from 0 \
         (network.lanes.count)"
    );
    assert_eq!(
        tables(&format!("low = {}", slots(&[(15, 1)]))),
        "in `network.lanes.link_output.infiniband.low[0].lane`: lane 15 goes before both tables and has no slot; leave it \
         out"
    );
    assert_eq!(
        tables(&format!("low = {}", slots(&[(0, 1); 65]))),
        "in `network.lanes.link_output.infiniband.low`: a table has at most 64 slots, as ports of InfiniBand do, not 65"
    );
}

#[test]
fn out_of_range_port_numbers_are_refused() {
    let byte = "expected a whole number from 0 to 255";
    let message = tables(&format!("high = {}", slots(&[(0, 256)])));
    let key = "`network.lanes.link_output.infiniband.high[0].weight`";
    assert!(message.contains(key) && message.contains(byte), "{message}");
    let message = tables("high_limit = 256");
    assert!(message.contains("`network.lanes.link_output.infiniband.high_limit`"), "{message}");
    assert!(message.contains(byte), "{message}");
    let message = refusal("count = 2\nlink_output = { strict-priority = { levels = [0, 16] } }");
    assert_eq!(
        message,
        "in `network.lanes.link_output.strict-priority.levels[1]`: levels are 0 to 15, not 16"
    );
    let message = refusal(
        "count = 2\nlink_output = { surplus-round-robin = { quanta = [\"16 B\", \"15 B\"] } }",
    );
    assert_eq!(
        message,
        "in `network.lanes.link_output.surplus-round-robin.quanta[1]`: a turn is at least a flit, 16 B, and less than 4 \
         GiB, or `0 B` for a lane that is never served, not 15 B"
    );
}

#[test]
fn packet_granularity_needs_virtual_cut_through() {
    let expected = "by the packet, a packet that waits for credits would hold up the other lanes: let all lanes have \
                    forwarding = \"virtual-cut-through\", or choose by = \"flit\" (not under infiniband)";
    let message = refusal("count = 2\nlink_output = \"infiniband\"");
    assert_eq!(message, format!("in `network.lanes.link_output`: {expected}"));
    let forwarding = "forwarding = [\"virtual-cut-through\", \"wormhole\"]";
    let by_packet = "crossbar_input = { round-robin = { by = \"packet\" } }";
    let message = refusal(&format!("count = 2\n{forwarding}\n{by_packet}"));
    assert_eq!(message, format!("in `network.lanes.crossbar_input`: {expected}"));
}

#[test]
fn crossbar_arbiters_are_refused_with_a_full_crossbar() {
    let message = |line: &str| refusal(&format!("count = 2\ncrossbar = \"full\"\n{line}"));
    assert_eq!(
        message("crossbar_input = \"first-come-first-served\""),
        "in `network.lanes.crossbar_input`: every lane has its own way into a full crossbar, so that nothing chooses there: \
         leave the key out, or say network.lanes.crossbar = \"multiplexed\""
    );
    assert_eq!(
        message("crossbar_output = \"round-robin\""),
        "in `network.lanes.crossbar_output`: every lane has its own way out of a full crossbar, so that nothing chooses \
         there: leave the key out, or say network.lanes.crossbar = \"multiplexed\""
    );
}

#[test]
fn unknown_arbiter_names_and_keys_are_refused() {
    let message = refusal("count = 2\nlink_output = \"weighted-roundrobin\"");
    assert!(message.contains("did you mean `weighted-round-robin`?"), "{message}");
    let message = refusal("count = 2\nlink_output = \"weighted-round-robin\"");
    assert!(
        message.contains("network.lanes.link_output") && message.contains("weighted-round-robin"),
        "{message}"
    );
    let message = tables("by = \"packet\"");
    assert!(
        message.contains("unknown key `by` in `network.lanes.link_output.infiniband`"),
        "{message}"
    );
    let rates = "virtual-clock = { rates = [\"80\", \"best-effort\"] }";
    let message = refusal(&format!("count = 2\nlink_output = {{ {rates} }}"));
    assert!(
        message.contains("a rate with its unit, such as \"80 MB/s\", or \"best-effort\""),
        "{message}"
    );
}
