//! Channels with different longest frames.

use crate::support::{refused, run, run_in_calls};
use gingham_stripelab::scenario::{Overrides, ScenarioSource};
use gingham_stripelab::{Run, Verdict, compile};
use std::path::Path;

/// Scenario whose second channel passes only frames of up to 1,300 bytes from 2 s on.
fn scenario(stripe: &str) -> String {
    format!(
        "stop = {{ time = \"8 s\", warm_up = \"4 s\" }}\n\
         [stripe]\norder = \"free\"\nrepair = {{ wait = \"1500 ms\" }}\nwait = \"800 ms\"\n{stripe}\n\
         [[channel]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         [[channel]]\nrate = \"20 Mbit/s\"\ndelay = \"25 ms\"\n\
         mtus = [{{ at = \"2 s\", mtu = \"1300 B\" }}]\n\
         [[source]]\npackets = {{ uniform = {{ from = \"100 B\", to = \"1500 B\" }} }}\n"
    )
}

#[test]
fn channel_with_small_mtu_carries_packets_that_fit() {
    let [configured, found] = ["", "sizes = {}"].map(|stripe| run(&scenario(stripe)));
    assert_eq!((configured.packets_lost, found.packets_lost), (0, 0));
    let carried = |record: &gingham_stripelab::Record| record.channels[1].arrived_bits_per_s;
    assert_eq!(
        carried(&configured).map(|rate| rate < 1e6),
        Some(true),
        "{:?}",
        carried(&configured)
    );
    assert_eq!(carried(&found).map(|rate| rate > 12e6), Some(true), "{:?}", carried(&found));
}

#[test]
fn invalid_size_probing_values_are_rejected() {
    for (sizes, key) in [
        ("sizes.base = \"60 B\"", "stripe.sizes.base"),
        ("sizes.base = \"1521 B\"", "stripe.sizes.base"),
        ("sizes.raise = \"0 s\"", "stripe.sizes.raise"),
        ("sizes = {}\nreception = \"none\"", "stripe"),
    ] {
        let message = refused(&scenario(sizes)).expect("it cannot be run");
        assert!(message.contains(key), "{message}");
    }
}

/// Scenario whose packets are longer than the base size of 1,200 bytes.
fn backlogged(mtu: &str) -> String {
    format!(
        "stop.time = \"1 s\"\nstripe.sizes = {{}}\n\
         [[channel]]\nrate = \"30 Mbit/s\"\ndelay = \"20 ms\"\n{mtu}\n\
         [[source]]\npackets.fixed = \"1400 B\"\n"
    )
}

#[test]
fn packet_waits_for_outstanding_size_probes() {
    let record = run(&backlogged(""));
    assert_eq!((record.packets_dropped_before, record.packets_refused), (0, 0));
    let goodput = record.goodput_bits_per_s.expect("something was delivered");
    assert!(goodput > 24e6, "{goodput}");
    let text = backlogged("");
    let (one, other) = (run_in_calls(&text, 1), run_in_calls(&text, 10_000));
    assert_eq!(one.tables, other.tables);
}

#[test]
fn source_stalls_when_no_packet_fits() {
    let record = run(&backlogged("mtus = [{ at = \"0 s\", mtu = \"1300 B\" }]"));
    assert_eq!((record.packets_offered, record.packets_dropped_before), (1, 1));
    assert_eq!(record.verdict, Verdict::Stalled);
    assert!(record.verdict_reason.contains("stripe.sizes"), "{}", record.verdict_reason);
}

#[test]
fn stalled_simulated_time_is_an_error() {
    let text =
        "stop.time = \"1 s\"\nstripe.order = \"strict\"\n[[channel]]\nrate = \"30 Mbit/s\"\n";
    let source = ScenarioSource::parse("s.toml", text, Path::new("."), &Overrides::default())
        .expect("it can be read");
    let mut compiled = compile(&source).expect("it can be run");
    compiled.plan.steps_max = 20;
    for steps in [1, 7, 1_000] {
        let mut run = Run::new(compiled.clone());
        let stuck = loop {
            match run.advance(steps) {
                Ok(progress) => assert!(!progress.done),
                Err(stuck) => break stuck,
            }
        };
        assert_eq!((stuck.at.as_ps(), stuck.steps, stuck.source), (0, 20, Some(0)));
        assert_eq!(stuck.key(), "source.0");
    }
}

/// If its first packets were dropped, the flow would have only two thirds of its goodput.
#[test]
fn size_probes_do_not_reduce_goodput() {
    let goodput = |stripe: &str| {
        let goodputs = (1..=2).map(|seed| {
            let record = run(&format!(
                "seed = {seed}\nstop.time = \"20 s\"\n{stripe}\n\
                 [[channel]]\nrate = \"30 Mbit/s\"\ndelay = \"20 ms\"\n\
                 [[channel]]\nrate = \"30 Mbit/s\"\ndelay = \"20 ms\"\n\
                 [[source]]\nkind.cubic = {{}}\npackets.fixed = \"1400 B\"\n"
            ));
            assert!(record.best_channel_multiple > Some(1.8));
            record.goodput_bits_per_s.expect("something was delivered")
        });
        goodputs.sum::<f64>()
    };
    let (configured, found) = (goodput(""), goodput("stripe.sizes = {}"));
    assert!(found > 0.98 * configured, "{found} of {configured}");
}
