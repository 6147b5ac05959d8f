//! Classes that reply to others.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_kernel::Span;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::traffic::{LengthPlan, MessagePlan, ReplyPlan};
use gingham_net::{ClassId, Delivery, Status};
use std::fmt::Write as _;
use std::path::Path;

/// The replies come first and are compiled last.
const SERVED: &str = r#"[topology.generate.star]
hosts = 4

[[traffic]]
name = "replies"
arrivals = { reply = { to = "requests", think = "1 us" } }
length = { fixed = "512 B" }

[[traffic]]
name = "requests"
hosts = ["h0", "h1"]
load = 0.05
length = { fixed = "64 B" }
destinations = { host = "h3" }

[stop]
time = "1 ms"
"#;

fn result(text: &str, settings: &[(&str, &str)]) -> Result<Compiled, LabError> {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    compile(&ScenarioSource::parse("served.toml", text, Path::new("."), &overrides)?, false)
}

fn compiled(settings: &[(&str, &str)]) -> Compiled {
    result(SERVED, settings).unwrap_or_else(|error| panic!("{error}\n{settings:?}"))
}

fn senders(compiled: &Compiled, class: usize) -> Vec<String> {
    let plan = &compiled.plan;
    let name = |host| plan.fabric.endpoint_name(host);
    plan.classes[class].sources.iter().map(|source| name(source.endpoint)).collect()
}

const DESTINATIONS: &str = "traffic.1.destinations";

#[test]
fn request_destinations_send_the_replies() {
    let compiled = compiled(&[]);
    let classes = &compiled.plan.classes;
    assert_eq!([&*classes[0].name, &*classes[1].name], ["replies", "requests"]);
    assert_eq!(senders(&compiled, 0), ["h3"]);
    let expected = ReplyPlan {
        to: ClassId::new(1),
        think: Span::from_ps(1_000_000),
        lengths: LengthPlan::Fixed(512),
    };
    assert_eq!(classes[0].sources[0].messages, MessagePlan::Replies(expected));
    assert_eq!(compiled.plan.offered_load(ClassId::new(0)), None);
    assert!(compiled.notes.is_empty(), "{:?}", compiled.notes);
}

#[test]
fn repliers_follow_from_every_kind_of_destinations() {
    let repliers = |destinations: &str| senders(&compiled(&[(DESTINATIONS, destinations)]), 0);
    assert_eq!(repliers("\"uniform\""), ["h0", "h1", "h2", "h3"]);
    assert_eq!(repliers("{ pairs = { h0 = \"h2\", h1 = \"h0\" } }"), ["h0", "h2"]);
    let hot = "{ hot-spot = { hosts = [\"h2\"], share = 0.5 } }";
    assert_eq!(repliers(hot), ["h0", "h1", "h2", "h3"]);
    let alone = [("traffic.1.hosts", "[\"h1\"]"), (DESTINATIONS, "\"uniform\"")];
    assert_eq!(senders(&compiled(&alone), 0), ["h0", "h2", "h3"]);
    let third = "{ name = \"thanks\", arrivals = { reply = { to = \"replies\" } }, length = { fixed = \"1 B\" } }";
    let compiled = compiled(&[("traffic.2", third)]);
    assert_eq!(senders(&compiled, 2), ["h0", "h1"]);
    let MessagePlan::Replies(plan) = &compiled.plan.classes[2].sources[0].messages else {
        panic!("{:?}", compiled.plan.classes[2])
    };
    assert_eq!((plan.to, plan.think), (ClassId::new(0), Span::ZERO));
}

#[test]
fn reply_hosts_without_requests_are_noted() {
    let chosen = compiled(&[("traffic.0.hosts", "[\"h2\", \"h3\"]")]);
    assert_eq!(senders(&chosen, 0), ["h3"]);
    let note =
        "class `replies`: 1 of 2 hosts are sent no message of class `requests` and are silent";
    assert_eq!(chosen.notes, [note]);
}

#[test]
fn every_request_gets_a_reply_after_the_think_time() {
    let settings = [
        ("measure.messages", "all"),
        ("traffic.1.stop", "0.9 ms"),
        ("traffic.0.window", "{ packets = 2, ack = { priority = 1 } }"),
        ("traffic.0.rate_limit", "0.5"),
    ];
    let plan = compiled(&settings).plan;
    let mut engine = gingham_engine::start(plan.clone());
    let mut oracle = gingham_oracle::start(plan);
    assert_eq!(*engine.advance(u64::MAX), Status::Finished);
    assert_eq!(*oracle.advance(u64::MAX), Status::Finished);
    let found = oracle.take_messages();
    assert_eq!(engine.take_messages(), found);
    let of_class = |class: usize| {
        let is_of = move |delivery: &&Delivery| delivery.message.class == ClassId::new(class);
        found.iter().filter(is_of)
    };
    let think = Span::from_ps(1_000_000);
    let mut due: Vec<_> = of_class(1).map(|it| (it.delivered + think, it.message.source)).collect();
    let mut replied: Vec<_> =
        of_class(0).map(|it| (it.message.created, it.message.destination)).collect();
    assert!(due.len() > 100, "{}", due.len());
    due.sort_unstable();
    replied.sort_unstable();
    assert_eq!(replied, due);
}

#[test]
fn invalid_replies_are_refused() {
    const REPLY: &str = "traffic.0.arrivals";
    let third = |to: &str| {
        format!(
            "{{ name = \"third\", length = {{ fixed = \"1 B\" }}, arrivals = {{ reply = {{ to = \"{to}\" }} }} }}"
        )
    };
    let (to_replies, to_third) = (third("replies"), third("third"));
    let cases: &[&[(&str, &str)]] = &[
        &[(REPLY, "{ reply = { to = \"request\" } }")],
        &[(REPLY, "{ reply = { to = \"replies\" } }")],
        &[(REPLY, "{ reply = { to = \"third\" } }"), ("traffic.2", &to_replies)],
        &[("traffic.2", &to_third)],
        &[(REPLY, "{ reply = { to = \"requests\", think = \"1 ms\" } }")],
        &[(REPLY, "{ reply = { to = \"requests\", think = \"-1 us\" } }")],
        &[(REPLY, "{ reply = { think = \"1 us\" } }")],
        &[(REPLY, "\"reply\"")],
        &[("traffic.0.load", "0.1")],
        &[("traffic.0.destinations", "\"uniform\"")],
        &[("traffic.0.hosts", "[\"h0\", \"h1\"]")],
        &[("traffic.0.hosts", "[\"h9\"]")],
    ];
    let mut table = String::new();
    for settings in cases {
        let found = result(SERVED, settings).unwrap_err().to_string();
        assert!(found.lines().count() <= 4, "{found}");
        let settings: Vec<String> =
            settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        writeln!(table, "{}\n{found}\n", settings.join("\n")).unwrap();
    }
    let circle = SERVED.replace(
        "load = 0.05\nlength = { fixed = \"64 B\" }\ndestinations = { host = \"h3\" }",
        "arrivals = { reply = { to = \"third\" } }\nlength = { fixed = \"64 B\" }",
    );
    let circle = result(&circle, &[("traffic.2", &to_replies)]).unwrap_err();
    writeln!(table, "a circle of three\n{circle}\n").unwrap();
    let longless = SERVED.replace("length = { fixed = \"512 B\" }\n", "");
    writeln!(table, "no length\n{}", result(&longless, &[]).unwrap_err()).unwrap();
    insta::assert_snapshot!(table);
}
