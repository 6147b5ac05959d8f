//! Lost credit updates from a scenario to deliveries.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_kernel::{Span, Time};
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{LabError, compile};
use gingham_net::{CreditLossPlan, Plan, Switching};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// A switch whose buffer holds one packet.
fn plan(keys: &str) -> Result<Arc<Plan>, LabError> {
    let text = format!(
        r#"
        topology.generate.two-hosts.switches = 1
        stop = {{ time = "2 ms", warm_up = "0 ps" }}
        traffic = [{{ hosts = ["h0"], arrivals = "backlogged", length.fixed = "2028 B" }}]
        measure.messages = "all"
        [network]
        preset = "santos-4x"
        packets.buffer = "2048 B"
        {keys}
        "#
    );
    let source = ScenarioSource::parse("losses.toml", &text, Path::new("."), &Overrides::default());
    Ok(compile(&source?, false)?.plan)
}

fn loss(keys: &str) -> Option<CreditLossPlan> {
    let plan = plan(keys).unwrap_or_else(|error| panic!("{keys}: {error}"));
    let Switching::Packets(packets) = &plan.switching else { panic!("whole packets") };
    packets.credit_loss.clone()
}

#[test]
fn keys_select_the_lost_updates() {
    assert_eq!(loss(""), None);
    let all = Time::ZERO..Time::MAX;
    let plan = CreditLossPlan { probability: 0.25, sent: all, period: None };
    assert_eq!(loss("packets.credit_loss.percent = 25"), Some(plan));
    let keys = "packets.credit_loss = { percent = 100, start = \"1 us\", stop = \"2 us\", period = \"3 us\" }";
    let [start, stop] = [1_000_000, 2_000_000].map(Time::from_ps);
    let period = Some(Span::from_ps(3_000_000));
    assert_eq!(loss(keys), Some(CreditLossPlan { probability: 1.0, sent: start..stop, period }));
}

#[test]
fn sender_resumes_after_the_infiniband_period() {
    // 1 ns a byte, 49.2 ns a cable, 40 ns a switch: a tail leaves 2,137.2 ns after it began, which
    // is known 49.2 ns later. The second update is lost, and repeated 262,144 ns later.
    let keys = "packets.credit_loss = { percent = 100, start = \"4 us\", stop = \"5 us\" }";
    let round: u64 = 49_200 + 40_000 + 2_048_000 + 49_200;
    let plan = plan(keys).unwrap();
    let run = |mut simulation: Box<dyn gingham_net::Simulation>| {
        simulation.advance(u64::MAX);
        simulation.take_messages()
    };
    let found = run(gingham_engine::start(Arc::clone(&plan)));
    let entered: Vec<_> = found.iter().map(|of| of.entered.as_ps()).take(4).collect();
    let late = 2 * round + 262_144_000;
    assert_eq!(entered, [0, round, late, late + round]);
    assert_eq!(found, run(gingham_oracle::start(plan)));
}

#[test]
fn invalid_credit_losses_are_refused() {
    let mut messages = String::new();
    for keys in [
        "packets.credit_loss.percent = -1",
        "packets.credit_loss.percent = 100.5",
        "packets.credit_loss = { percent = 1, period = \"0 ps\" }",
        "packets.credit_loss = { percent = 1, period = \"2 s\" }",
        "packets.credit_loss = { percent = 1, start = \"1 us\", stop = \"1 us\" }",
        "packets.credit_loss.period = \"1 us\"",
        "packets.credit_loss = 1",
        "packets.credit_loss.percent = 1\npackets.flow_control = \"pfc\"",
    ] {
        let message = plan(keys).err().unwrap_or_else(|| panic!("{keys} is taken"));
        writeln!(messages, "{keys}\n  => {message}\n").unwrap();
    }
    insta::assert_snapshot!(messages);
}
