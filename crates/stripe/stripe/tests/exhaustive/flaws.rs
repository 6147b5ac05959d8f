//! The search detects errors: pipes with one flaw each.

use crate::event::{Event, Left};
use crate::rules::{Flaw, Mode, Rules};
use crate::search::{Failure, search};

const SMALL: Left =
    Left { packets: 4, faults: 1, losses: 1, repeats: 1, restarts: 1, outages: 0, pauses: 0 };

fn finds(mode: Mode, flaw: Flaw, left: Left) -> Failure {
    match search(Rules { mode, flaw: Some(flaw) }, left) {
        Ok(search) => panic!("nothing is found wrong in {} states", search.states()),
        Err(failure) => failure,
    }
}

#[test]
fn swapped_packets_are_detected() {
    for mode in [Mode::Quasi, Mode::Guaranteed, Mode::Free] {
        let failure = finds(mode, Flaw::Swaps, SMALL);
        assert!(failure.what.contains("follows") || failure.what.contains("after"), "{failure}");
    }
}

#[test]
fn repeated_delivery_is_detected() {
    for mode in [Mode::Quasi, Mode::Guaranteed, Mode::Free] {
        finds(mode, Flaw::Repeats, SMALL);
    }
}

/// In quasi-FIFO the scheduler determines the order; with sequence numbers it is only a guess.
#[test]
fn mismatched_quanta_are_detected_in_quasi_fifo() {
    let failure = finds(Mode::Quasi, Flaw::OtherQuanta, Left { faults: 0, ..SMALL });
    assert!(failure.what.contains("nothing has happened"), "{failure}");
    let rules = Rules { mode: Mode::Guaranteed, flaw: Some(Flaw::OtherQuanta) };
    let found = search(rules, Left { faults: 0, ..SMALL });
    assert!(found.is_ok(), "numbers give the order");
}

#[test]
fn missing_markers_are_detected_after_a_loss() {
    let losses = Left { repeats: 0, restarts: 0, ..SMALL };
    let failure = finds(Mode::Quasi, Flaw::NoMarkers, losses);
    assert!(failure.trace.iter().any(|event| matches!(event, Event::Lose(_))), "{failure}");
}

#[test]
fn ignored_requests_are_detected_after_a_restart() {
    let failure = finds(Mode::Quasi, Flaw::NoRequests, SMALL);
    assert!(failure.what.contains("no order after"), "{failure}");
    assert!(failure.trace.contains(&Event::RestartReceiver), "{failure}");
}
