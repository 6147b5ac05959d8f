//! Flows and links recorded step by step.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_kernel::Span;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::{FlowKey, FollowPlan, Plan};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

const ROW: &str = r#"
switch = [{ name = "s0" }, { name = "s1" }, { name = "s2" }]
host = [{ name = "h0" }, { name = "h1" }, { name = "h2" }, { name = "twin" }]
cable = [
  { ends = ["s0", "h0"] }, { ends = ["s1", "h1"] }, { ends = ["s2", "h2"] },
  { ends = ["s0", "s1"] }, { ends = ["s1", "s2"] }, { ends = ["s1", "s2"] },
  { ends = ["s2", "twin"] }, { ends = ["s2", "twin"] },
]
"#;

const SCENARIO: &str = r#"
[[traffic]]
name = "data"
hosts = ["h0", "h1"]
priority = 1
load = 0.1
length = { fixed = "64 B" }
policing = { rate = 0.1, burst = "1 KiB", excess = { demote = "data: bulk" } }

[[traffic]]
name = "data: bulk"
hosts = ["h1", "twin"]
load = 0.1
length = { fixed = "64 B" }

[stop]
time = "1 ms"
"#;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("gingham-follow-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("row.toml"), ROW).unwrap();
    folder
});

fn result(settings: &[(&str, &str)]) -> Result<Compiled, LabError> {
    let text = format!("topology.file = \"row.toml\"\n{SCENARIO}");
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    compile(&ScenarioSource::parse("row-run.toml", &text, &FOLDER, &overrides)?, false)
}

fn followed(keys: &str) -> Result<(std::sync::Arc<Plan>, FollowPlan), LabError> {
    let plan = result(&[("measure.follow", &format!("{{ {keys} }}"))])?.plan;
    let follow = plan.follow.clone();
    Ok((plan, follow))
}

#[test]
fn following_is_off_by_default() {
    let plan = result(&[]).unwrap().plan;
    assert!(plan.follow.is_empty() && !plan.measure.flows);
    assert!(result(&[("measure.flows", "true")]).unwrap().plan.measure.flows);
}

#[test]
fn flows_are_found_by_name() {
    let keys = "step = \"10 us\", window = 5, flows = [\"data: h0 -> h2\", \"data: bulk: twin[2] -> h0\", \
                \"data: bulk :h0->twin[1]\"]";
    let (plan, follow) = followed(keys).unwrap();
    let named = |flow: &FlowKey| {
        let [from, to] = [flow.source, flow.destination].map(|end| plan.fabric.endpoint_name(end));
        (flow.class.index(), from, to)
    };
    let of = |class: usize, from: &str, to: &str| (class, from.to_owned(), to.to_owned());
    let found: Vec<_> = follow.flows.iter().map(named).collect();
    // Traffic of h0 in `data: bulk` is excess of `data`.
    assert_eq!(found, [of(0, "h0", "h2"), of(1, "twin[2]", "h0"), of(1, "h0", "twin[1]")]);
    assert_eq!((follow.step, follow.window_steps), (Span::from_ps(10_000_000), 5));
}

#[test]
fn links_are_found_by_their_result_names() {
    let fabric = result(&[]).unwrap().plan.fabric.clone();
    for channel in gingham_topology::ChannelId::first(fabric.channel_count()) {
        let name = fabric.channel_name(channel);
        let (_, follow) = followed(&format!("step = \"1 us\", links = [\"{name}\"]")).unwrap();
        assert_eq!(follow.channels, [channel], "{name}");
    }
    let keys = "step = \"1 us\", links = [\"s0 -> s1\", \"s1->h1\", \"twin[1] -> s2\"]";
    let (plan, follow) = followed(keys).unwrap();
    let names = follow.channels.iter().map(|channel| plan.fabric.channel_name(*channel));
    assert_eq!(names.collect::<Vec<_>>(), ["s0[2] -> s1[2]", "s1[1] -> h1[1]", "twin[1] -> s2[4]"]);
    assert_eq!(follow.window_steps, 1);
}

#[test]
fn asterisk_alone_selects_every_link() {
    let (plan, follow) = followed("step = \"1 us\", links = [\"*\"]").unwrap();
    let all: Vec<_> = gingham_topology::ChannelId::first(plan.fabric.channel_count()).collect();
    assert_eq!((follow.channels.len(), follow.channels), (16, all));
    let beside =
        followed("step = \"1 us\", links = [\"s0 -> s1\", \"*\"]").unwrap_err().to_string();
    assert!(beside.contains("`measure.follow.links[1]`: `*` stands for every link"), "{beside}");
    // 60 cables are 120 channels, of 100,000 steps each.
    let many = [
        ("topology", "{ generate = { star = { hosts = 60 } } }"),
        ("traffic.1.hosts", "[\"h1\"]"),
        ("measure.follow", "{ step = \"10 ns\", links = [\"*\"] }"),
    ];
    let refused = result(&many).unwrap_err().to_string();
    assert!(
        refused.contains("120 flows and links in steps of 10 ns have 12000000 rows"),
        "{refused}"
    );
}

#[test]
fn invalid_follow_requests_are_refused() {
    let cases = [
        "step = \"1 us\"",
        "links = [\"s0 -> s1\"]",
        "step = \"0 us\", links = [\"s0 -> s1\"]",
        "step = \"2 ms\", links = [\"s0 -> s1\"]",
        "step = \"1 ns\", links = [\"s0 -> s1\"]",
        "step = \"1 us\", window = 4, links = [\"s0 -> s1\"]",
        "step = \"1 us\", window = 0, links = [\"s0 -> s1\"]",
        "step = \"1 us\", window = -1, links = [\"s0 -> s1\"]",
        "step = \"100 us\", window = 11, links = [\"s0 -> s1\"]",
        "step = \"1 us\", links = [\"s0 -> s9\"]",
        "step = \"1 us\", links = [\"s0[9] -> s1[2]\"]",
        "step = \"1 us\", links = [\"s0 -> s2\"]",
        "step = \"1 us\", links = [\"s1 -> s2\"]",
        "step = \"1 us\", links = [\"s0[2] -> s1[2] lane 1\"]",
        "step = \"1 us\", links = [\"s0\"]",
        "step = \"1 us\", links = [\"s0 -> s1\", \"s0[2] -> s1[2]\"]",
        "step = \"1 us\", flows = [\"h0 -> h1\"]",
        "step = \"1 us\", flows = [\"data: h0\"]",
        "step = \"1 us\", flows = [\"date: h0 -> h1\"]",
        "step = \"1 us\", flows = [\"data: h0 -> h9\"]",
        "step = \"1 us\", flows = [\"data: h9 -> h0\"]",
        "step = \"1 us\", flows = [\"data: h0 -> twin\"]",
        "step = \"1 us\", flows = [\"data: twin[1] -> h0\"]",
        "step = \"1 us\", flows = [\"data: h0 -> h0\"]",
        "step = \"1 us\", flows = [\"data: h0 -> h1\", \"data: h0 -> h2\", \"data:h0->h1\"]",
    ];
    let mut table = String::new();
    for keys in cases {
        let found = followed(keys).unwrap_err().to_string();
        assert!(found.lines().count() <= 4, "{found}");
        writeln!(table, "{found}\n").unwrap();
    }
    // A thousand flows in a hundred thousand steps.
    let many = vec!["\"data: h0 -> h1\""; 1_000].join(", ");
    let many = followed(&format!("step = \"10 ns\", flows = [{many}]")).unwrap_err().to_string();
    let many = many.split_once("`: ").unwrap().1.to_owned();
    writeln!(table, "{many}").unwrap();
    insta::assert_snapshot!(table);
}

#[test]
fn flow_without_possible_messages_is_refused() {
    let third = |destinations: &str| {
        format!(
            "{{ name = \"third\", hosts = [\"h0\", \"h1\"], load = 0.1, length = {{ fixed = \"64 B\" }}, destinations = \
             {destinations} }}"
        )
    };
    let replies = "{ name = \"replies\", length = { fixed = \"64 B\" }, arrivals = { reply = { to = \"third\" } } }";
    let outcome = |destinations: &str, flow: &str| {
        let follow = format!("{{ step = \"1 us\", flows = [\"{flow}\"] }}");
        let third = third(destinations);
        let settings =
            [("traffic.2", &*third), ("traffic.3", replies), ("measure.follow", &*follow)];
        result(&settings).map_err(|error| error.to_string()).map(|_| ())
    };
    let pairs = "{ pairs = { h0 = \"h1\", h1 = \"h2\" } }";
    let one = "{ host = \"h1\" }";
    let hot = |share: &str| format!("{{ hot-spot = {{ hosts = [\"h1\"], share = {share} }} }}");
    let refused = outcome(pairs, "third: h0 -> h2").unwrap_err();
    let message = "in `measure.follow.flows[0]`: `h0` sends nothing to `h2` in class `third`\n  ";
    assert!(
        refused.contains(message) && refused.ends_with("hosts that it sends to: h1"),
        "{refused}"
    );
    for (destinations, flow, possible) in [
        (pairs, "third: h0 -> h1", true),
        (one, "third: h0 -> h1", true),
        (one, "third: h0 -> h2", false),
        (&*hot("1.0"), "third: h0 -> h2", false),
        (&*hot("1.0"), "third: h0 -> h1", true),
        (&*hot("0.5"), "third: h0 -> h2", true),
        ("\"uniform\"", "third: h0 -> h2", true),
        // h1 receives messages only from h0, and h2 from h1.
        (pairs, "replies: h1 -> h0", true),
        (pairs, "replies: h2 -> h0", false),
        (pairs, "replies: h2 -> h1", true),
    ] {
        let outcome = outcome(destinations, flow);
        assert_eq!(outcome.is_ok(), possible, "{destinations} {flow}: {outcome:?}");
    }
}
