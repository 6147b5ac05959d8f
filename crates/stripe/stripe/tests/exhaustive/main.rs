//! Exhaustive search over the event orders of a short pipe: the real ends, two channels, six
//! packets.
//!
//! ```text
//!   send | arrive | lose | duplicate | return | an end restarts | a channel dies | time passes
//!     in any order, with a limited number of faults; in every state reached:
//!        deliveries so far satisfy the crate's table                       (ledger)
//!        without further faults: exact order again, nothing waits          (search)
//! ```
//!
//! A channel is first in, first out; the two are independent. Discrete time limits the number of
//! states: it advances by a marker interval, by a wait or by the wait of a reset, as often as the
//! budget permits.
//!
//! A state is skipped if a searched state covers it (visited). Independent steps of the two ends
//! are explored in one order if that is enough (search). Number of states by the bound of the
//! search (CPU time of a test build on one core):
//!
//! | order | bound | states | time |
//! |---|---|---|---|
//! | quasi-FIFO | 6 packets, 4 faults | 552,344 | 6 s |
//! | guaranteed | 6 packets, 4 faults | 160,587 | 2 s |
//! | with repair | 6 packets, 4 faults | 267,245 | 3 s |
//! | redundant | 4 packets, 3 faults | 338,632 | 5 s |
//! | free | 6 packets, 3 faults | 1,805,846 | 32 s, 0.4 GB |
//! | each of them | 6 packets, 1 fault or outage | 9,064 to 168,255 | 1 to 4 s |
//! | quasi-FIFO, guaranteed | 2 packets, 1 fault, a pause anywhere | 99,383, 67,951 | 1 s each |
//! | free | 4 packets, no fault, a pause anywhere | 103,748 | 2 s |
//!
//! Environment, for a manual search: `GINGHAM_EXHAUSTIVE` (`quasi`, `guaranteed`, `repairing`,
//! `redundant` or `free`), and the budget `PACKETS` (6), `DEPTH` (faults of all kinds, 4), `LOSSES`
//! (2), `REPEATS` (1), `RESTARTS` (1), `OUTAGES` (0), `PAUSES` (0).

mod end;
mod event;
mod fingerprint;
mod flaws;
mod ledger;
mod line;
mod rules;
mod search;
mod visited;
mod world;

use event::Left;
use rules::{Mode, Rules};
use search::{Search, search};

const FAULTS: Left =
    Left { packets: 6, faults: 4, losses: 2, repeats: 1, restarts: 1, outages: 0, pauses: 0 };

/// A fault may be a dead channel.
const OUTAGES: Left = Left { faults: 1, outages: 1, ..FAULTS };

const PAUSES: Left = Left { packets: 2, faults: 1, pauses: 1, ..FAULTS };

#[expect(clippy::print_stdout, reason = "the figures are what a search is run for")]
fn run(mode: Mode, left: Left) -> Search {
    let found = search(Rules { mode, flaw: None }, left);
    let found = found.unwrap_or_else(|failure| panic!("{mode:?}, {left:?}: {failure}"));
    println!("{mode:?}, {left:?}: {found}");
    found
}

/// All kinds and outcomes occurred in some search, and each search had at least its number of
/// states.
fn covers(searches: &[(Search, usize)], kinds: &[&str], outcomes: &[&str]) {
    for (search, least) in searches {
        assert!(search.states() >= *least, "{} states", search.states());
    }
    for kind in kinds {
        let happened = searches.iter().any(|(search, _)| search.kinds.contains_key(*kind));
        assert!(happened, "{kind} never happened");
    }
    for outcome in outcomes {
        let came = searches.iter().any(|(search, _)| search.outcomes.contains(outcome));
        assert!(came, "{outcome:?} never came about");
    }
}

const KINDS: [&str; 12] = [
    "Send",
    "Arrive",
    "Return",
    "Lose",
    "LoseReturn",
    "Repeat",
    "RepeatReturn",
    "RestartSender",
    "RestartReceiver",
    "Outage",
    "Pass(Interval)",
    "Pass(Wait)",
];

const OUTCOMES: [&str; 9] = [
    "all given out",
    "silence",
    "departure",
    "death",
    "reset requested",
    "request heeded",
    "flushed",
    "stale epoch",
    "unsynchronised",
];

#[test]
fn quasi_fifo() {
    let searches = [
        (run(Mode::Quasi, FAULTS), 450_000),
        (run(Mode::Quasi, OUTAGES), 10_000),
        (run(Mode::Quasi, PAUSES), 60_000),
    ];
    covers(&searches, &KINDS, &OUTCOMES);
    let own = ["marker ahead", "marker late", "passed over", "channel back", "repeated reset"];
    covers(&searches, &["ForgetSender"], &own);
}

#[test]
fn guaranteed_order() {
    let searches = [
        (run(Mode::Guaranteed, FAULTS), 130_000),
        (run(Mode::Guaranteed, OUTAGES), 7_000),
        (run(Mode::Guaranteed, PAUSES), 40_000),
    ];
    covers(&searches, &KINDS, &OUTCOMES);
    covers(&searches, &[], &["marker ahead", "given up", "channel back", "repeated", "too late"]);
}

#[test]
fn guaranteed_order_with_repair() {
    let searches =
        [(run(Mode::Repairing, FAULTS), 200_000), (run(Mode::Repairing, OUTAGES), 7_000)];
    covers(&searches, &KINDS[..9], &["repaired", "given up", "repeated"]);
}

/// Both channels carry each packet, which doubles the frames in flight.
#[test]
fn redundant_packets() {
    let searches = [
        (run(Mode::Redundant, Left { packets: 4, faults: 3, ..FAULTS }), 250_000),
        (run(Mode::Redundant, Left { packets: 4, ..OUTAGES }), 15_000),
    ];
    covers(&searches, &KINDS[..9], &["repaired", "repeated", "too late"]);
}

/// Many more orders, hence one fault fewer.
#[test]
fn free_choice() {
    let searches = [
        (run(Mode::Free, Left { faults: 3, ..FAULTS }), 1_500_000),
        (run(Mode::Free, OUTAGES), 150_000),
        (run(Mode::Free, Left { packets: 4, faults: 0, ..PAUSES }), 50_000),
    ];
    covers(&searches, &KINDS, &OUTCOMES);
    covers(&searches, &[], &["given up", "repeated", "too late"]);
}

#[expect(clippy::disallowed_methods, reason = "a test run by hand takes its size from outside")]
fn environment(name: &str, default: u8) -> u8 {
    std::env::var(name).map_or(default, |value| {
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name} is {value:?}; it must be a whole number up to 255"))
    })
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test run by hand takes its kind from outside")]
fn by_hand() {
    let Ok(mode) = std::env::var("GINGHAM_EXHAUSTIVE") else { return };
    let mode = match mode.as_str() {
        "quasi" => Mode::Quasi,
        "guaranteed" => Mode::Guaranteed,
        "repairing" => Mode::Repairing,
        "redundant" => Mode::Redundant,
        "free" => Mode::Free,
        _ => panic!(
            "GINGHAM_EXHAUSTIVE is {mode:?}; it must be quasi, guaranteed, repairing, redundant or free"
        ),
    };
    let left = Left {
        packets: environment("PACKETS", 6),
        faults: environment("DEPTH", 4),
        losses: environment("LOSSES", 2),
        repeats: environment("REPEATS", 1),
        restarts: environment("RESTARTS", 1),
        outages: environment("OUTAGES", 0),
        pauses: environment("PAUSES", 0),
    };
    run(mode, left);
}
