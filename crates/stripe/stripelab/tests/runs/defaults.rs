//! Comparison of the laboratory's defaults with those of the daemon.

use gingham_entry::FqCodelPlan;
use gingham_stripe::{Controlled, SenderOptions};
use gingham_stripe_udp::StripingPlan;
use gingham_stripelab::compile;
use gingham_stripelab::plan::{EntryPlan, Follows, Plan};
use gingham_stripelab::scenario::{Overrides, ScenarioSource};
use std::path::Path;

fn plan(stripe: &str) -> Plan {
    let text = format!("stop.time = \"1 s\"\n{stripe}\n[[channel]]\nrate = \"1 Mbit/s\"\n");
    let source = ScenarioSource::parse("s.toml", &text, Path::new("."), &Overrides::default());
    compile(&source.expect("it can be read")).expect("it can be run").plan
}

/// Removes intended differences: the daemon seeds BBR from its keys and probes packet sizes.
fn comparable(mut options: SenderOptions) -> SenderOptions {
    options.sizes = None;
    if let Some(Controlled::Bbr(bbr)) = options.control.as_mut().map(|plan| &mut plan.by) {
        bbr.seed = 0;
    }
    options
}

#[test]
fn end_defaults_match_the_daemon() {
    let (ours, theirs) = (plan(""), StripingPlan::free(1_500).repaired());
    assert_eq!(comparable(ours.sender), comparable(theirs.sender));
    assert_eq!(ours.receiver, theirs.receiver);
    assert_eq!(ours.restore, theirs.restore);
    assert!(ours.tagged && !ours.backpressure);
    let (ours, theirs) = (plan("stripe.sizes = {}").sender.sizes, theirs.sender.sizes);
    let alike = |plan: gingham_stripe::SizePlan| (plan.base, plan.raise);
    assert_eq!(ours.map(alike), theirs.map(alike));
}

/// `striped` creates its queue with this function, and derives both times from the round trip.
#[test]
fn entry_queue_defaults_match_the_daemon() {
    let expected = FqCodelPlan { seed: 1, ..FqCodelPlan::of_packets(1_500) };
    let follows = Follows { target: true, interval: true };
    assert_eq!(plan("").entry, EntryPlan::FqCodel { plan: expected, follows });
}

#[test]
fn repair_is_disabled_by_zero_tries_or_strict_order() {
    assert!(plan("stripe.repair.tries = 0").sender.repair.is_none());
    assert!(plan("stripe.order = \"strict\"").sender.repair.is_none());
}
