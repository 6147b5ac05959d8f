//! Every spelling of a scheduler with its plan.

use crate::support::{SLOW, compiled, compiled_over, plans};
use gingham_kernel::{Bytes, Rate};
use gingham_net::scheduler::{
    DeficitRoundRobin, FirstComeFirstServed, LaneRate, PriorityWeightedRoundRobin, RoundRobin,
    StrictPriority, SurplusRoundRobin, VirtualClock, WeightedRoundRobin,
};
use gingham_net::{Granularity, Scheduler};
use gingham_topology::subnet::{ArbitrationSlot, ArbitrationTables};
use std::num::NonZeroU32;

const CUT: &str = "count = 3\nforwarding = \"virtual-cut-through\"\n";

fn link(scheduler: &str) -> Scheduler {
    plans(&format!("{CUT}link_output = {scheduler}")).0.link_output
}

fn weighted(weights: Vec<u32>, by: Granularity) -> Scheduler {
    Scheduler::WeightedRoundRobin(WeightedRoundRobin { weights, by })
}

fn strict(levels: Vec<u8>) -> Scheduler {
    Scheduler::StrictPriority(StrictPriority { levels, by: Granularity::Flit })
}

#[test]
fn arbiters_default_to_round_robin_by_flit() {
    let (plan, pipeline) = plans("count = 2\nlink_output = \"first-come-first-served\"");
    assert_eq!(pipeline.crossbar_input, Scheduler::default());
    assert_eq!(pipeline.crossbar_output, None);
    assert_eq!(plan.adapter_port, Scheduler::default());
    let first_come = FirstComeFirstServed { by: Granularity::Flit };
    assert_eq!(plan.link_output, Scheduler::FirstComeFirstServed(first_come));
}

#[test]
fn each_place_has_its_own_arbiter() {
    let lines = "count = 1\ncrossbar_input = { strict-priority = { levels = [3] } }\n\
                 crossbar_output = \"round-robin\"\n\
                 adapter_port = { weighted-round-robin = { weights = [2] } }";
    let (plan, pipeline) = plans(lines);
    assert_eq!(pipeline.crossbar_input, strict(vec![3]));
    assert_eq!(pipeline.crossbar_output, Some(Scheduler::default()));
    assert_eq!(plan.link_output, Scheduler::default());
    assert_eq!(plan.adapter_port, weighted(vec![2], Granularity::Flit));
}

#[test]
fn scheduler_parameters_are_read_per_lane() {
    use Granularity::{Flit, Packet};
    assert_eq!(link("\"round-robin\""), Scheduler::RoundRobin(RoundRobin { by: Flit }));
    let packet = "{ round-robin = { by = \"packet\" } }";
    assert_eq!(link(packet), Scheduler::RoundRobin(RoundRobin { by: Packet }));
    let written = "{ weighted-round-robin = { weights = [1, 2, 4], by = \"packet\" } }";
    assert_eq!(link(written), weighted(vec![1, 2, 4], Packet));
    let bytes = || [16, 1_024, 4_096].map(Bytes).to_vec();
    let surplus = SurplusRoundRobin { quanta: bytes(), by: Flit };
    let quanta = "quanta = [\"16 B\", \"1 KiB\", \"4 KiB\"]";
    let written = format!("{{ surplus-round-robin = {{ {quanta} }} }}");
    assert_eq!(link(&written), Scheduler::SurplusRoundRobin(surplus));
    let deficit = DeficitRoundRobin { quanta: bytes(), by: Flit };
    let written = format!("{{ deficit-round-robin = {{ {quanta} }} }}");
    assert_eq!(link(&written), Scheduler::DeficitRoundRobin(deficit));
    let reserved = |rate| LaneRate::Reserved(Rate::from_bytes_per_second(rate));
    let rates = vec![reserved(80_000_000), LaneRate::BestEffort, reserved(1_000_000)];
    let written = "{ virtual-clock = { rates = [\"80 MB/s\", \"best-effort\", \"8 Mbit/s\"] } }";
    assert_eq!(link(written), Scheduler::VirtualClock(VirtualClock { rates, by: Flit }));
    let written = "{ priority-weighted-round-robin = { levels = [2, 0, 0], weights = [1, 3, 4], yield_after = 16 } }";
    let (levels, weights, yield_after) = (vec![2, 0, 0], vec![1, 3, 4], NonZeroU32::new(16));
    let levelled = PriorityWeightedRoundRobin { levels, weights, yield_after, by: Flit };
    assert_eq!(link(written), Scheduler::PriorityWeightedRoundRobin(levelled));
    let levels = vec![0, 15, 1];
    assert_eq!(link("{ strict-priority = { levels = [0, 15, 1] } }"), strict(levels));
}

#[test]
fn tables_serve_by_packet_and_default_to_empty() {
    let tables = |high_limit, high: &[(u8, u8)], low: &[(u8, u8)]| {
        let slots = |of: &[(u8, u8)]| {
            of.iter().map(|&(lane, weight)| ArbitrationSlot { lane, weight }).collect()
        };
        ArbitrationTables { high_limit, high: slots(high), low: slots(low) }
    };
    let link = |scheduler: &str| match link(scheduler) {
        of @ Scheduler::InfiniBand(_) if of.facts().by == Granularity::Flit => panic!("{of:?}"),
        Scheduler::InfiniBand(tables) => tables.arbitration(3),
        other => panic!("not a table: {other:?}"),
    };
    let written = "{ infiniband = { high = [{ lane = 0, weight = 4 }, { lane = 2, weight = 0 }, { lane = 0, weight = 1 }], \
                   low = [{ lane = 1, weight = 255 }, { lane = 2, weight = 1 }], high_limit = 7 } }";
    assert_eq!(link(written), tables(7, &[(0, 4), (2, 0), (0, 1)], &[(1, 255), (2, 1)]));
    let low = (0..3).map(|lane| format!("{{ lane = {lane}, weight = 1 }}")).collect::<Vec<_>>();
    let written = format!("{{ infiniband = {{ low = [{}] }} }}", low.join(", "));
    assert_eq!(link(&written), tables(0, &[], &[(0, 1), (1, 1), (2, 1)]));
    // OpenSM's own: lane 0 at high priority, the others at low priority.
    let own = tables(0, &[(0, 4), (1, 0), (2, 0)], &[(0, 0), (1, 4), (2, 4)]);
    assert_eq!(link("\"infiniband\""), own);
}

fn has_idle_link(lines: &str) -> bool {
    let notes = compiled(lines).unwrap().notes;
    notes.iter().any(|note| note.starts_with("behind a multiplexed crossbar"))
}

/// An output of a full crossbar gets three flits of 16 B a cycle; that of a multiplexed one gets
/// one, which any cable carries that is not slow.
#[test]
fn link_scheduler_without_choice_is_noted() {
    let weighted = "count = 2\nlink_output = { weighted-round-robin = { weights = [1, 2] } }";
    assert!(has_idle_link(weighted));
    assert!(!has_idle_link(&format!("{weighted}\ncrossbar = \"full\"")));
    assert!(!has_idle_link("count = 2"));
    assert!(!has_idle_link(&weighted.replace("link_output", "crossbar_input")));
    let slow = compiled_over(SLOW, weighted).unwrap().notes;
    assert!(!slow.iter().any(|note| note.starts_with("behind a multiplexed crossbar")), "{slow:?}");
}

/// Classes without lane keys use all but lane 15.
#[test]
fn unused_lane_needs_no_weight() {
    let cut = "count = 16\nforwarding = \"virtual-cut-through\"";
    let weights = [["1"; 15].join(", "), "0".to_owned()].join(", ");
    let of = format!("link_output = {{ weighted-round-robin = {{ weights = [{weights}] }} }}");
    assert!(compiled(&format!("{cut}\n{of}")).is_ok());
    assert!(compiled(&format!("{cut}\nlink_output = \"infiniband\"")).is_ok());
}

/// Cables of 200 MB/s.
#[test]
fn reserved_rates_above_the_cable_rate_are_noted() {
    let notes = |rates: &str| {
        let of = format!("link_output = {{ virtual-clock = {{ rates = {rates} }} }}");
        compiled(&format!("count = 2\ncrossbar = \"full\"\n{of}")).unwrap().notes
    };
    let described = "`network.lanes.link_output` reserves 201 MB/s in all, and the slowest cable there carries 200 MB/s: lanes \
                that reserve more than they get are served as their flits come";
    assert!(notes("[\"120 MB/s\", \"81 MB/s\"]").iter().any(|note| note == described));
    assert!(!notes("[\"120 MB/s\", \"80 MB/s\"]").iter().any(|note| note.contains("reserves")));
}
