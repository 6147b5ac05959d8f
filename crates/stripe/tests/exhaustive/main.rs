//! Every interleaving of what can happen to a short pipe: the real ends, two channels, six packets.

mod end;
mod fingerprint;
mod ledger;
mod rules;
mod search;
mod world;

use rules::{Mode, Rules};
use search::search;
use world::Left;

#[expect(clippy::disallowed_methods, reason = "a test run by hand takes its size from outside")]
fn environment(name: &str, default: u32) -> u32 {
    std::env::var(name).map_or(default, |value| {
        value.parse().unwrap_or_else(|_| panic!("{name} is {value:?}; it must be a whole number"))
    })
}

fn left() -> Left {
    Left {
        packets: environment("PACKETS", 6),
        faults: environment("DEPTH", 1),
        losses: environment("LOSSES", 2),
        repeats: environment("REPEATS", 1),
        restarts: environment("RESTARTS", 1),
        outages: environment("OUTAGES", 1),
        pauses: environment("PAUSES", 1),
    }
}

fn run(mode: Mode) {
    let rules = Rules { mode, flaw: None };
    let found = search(rules, left()).unwrap_or_else(|failure| panic!("{failure}"));
    println!("{mode:?}: {found}");
}

#[test]
fn quasi() {
    run(Mode::Quasi);
}
#[test]
fn guaranteed() {
    run(Mode::Guaranteed);
}
#[test]
fn free() {
    run(Mode::Free);
}
#[test]
fn repairing() {
    run(Mode::Repairing);
}
