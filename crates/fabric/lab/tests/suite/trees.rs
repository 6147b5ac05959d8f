//! Congestion trees: figure 1 of Santos et al. 2002 in every kind, and a ring that deadlocks.

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::measure::{ChannelRoles, FlowRoles, Trees};
use gingham_net::{FlowKey, Plan, Status};
use gingham_topology::ChannelId;
use std::path::Path;
use std::sync::Arc;

/// Six hosts send to `BC` forever, and a victim over their cable to `BV`.
fn figure_1(network: &str, measure: &str) -> String {
    format!(
        r#"
        stop = {{ time = "2 ms" }}
        network = {{ {network} }}
        measure = {{ {measure} }}
        topology.inline = """
        switch = [{{ name = "A" }}, {{ name = "B" }}]
        host = [{{ name = "A1" }}, {{ name = "A2" }}, {{ name = "A3" }}, {{ name = "A4" }}, {{ name = "AV" }},
                {{ name = "B1" }}, {{ name = "B2" }}, {{ name = "BC" }}, {{ name = "BV" }}]
        cable = [{{ ends = ["A", "B"] }}, {{ ends = ["A", "A1"] }}, {{ ends = ["A", "A2"] }}, {{ ends = ["A", "A3"] }},
                 {{ ends = ["A", "A4"] }}, {{ ends = ["A", "AV"] }}, {{ ends = ["B", "B1"] }}, {{ ends = ["B", "B2"] }},
                 {{ ends = ["B", "BC"] }}, {{ ends = ["B", "BV"] }}]
        """
        traffic = [
            {{ name = "hot", hosts = ["A1", "A2", "A3", "A4", "B1", "B2"], destinations = {{ host = "BC" }},
               arrivals = "backlogged", length.fixed = "2048 B" }},
            {{ name = "victim", hosts = ["AV"], destinations = {{ host = "BV" }}, arrivals = "backlogged",
               length.fixed = "2048 B" }},
        ]
        "#
    )
}

fn compiled(text: &str) -> Result<Compiled, LabError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    compile(&ScenarioSource::parse("trees.toml", text, folder, &Overrides::default())?, true)
}

struct Found {
    plan: Arc<Plan>,
    trees: Trees,
    status: Status,
}

fn found(text: &str) -> Found {
    let plan = compiled(text).expect("a scenario").plan;
    let mut simulation = gingham_engine::start(Arc::clone(&plan));
    let status = simulation.advance(u64::MAX).clone();
    Found { trees: simulation.collector().trees().clone(), plan, status }
}

impl Found {
    /// Returns the searches with a channel as root, branch and leaf.
    fn roles(&self, name: &str) -> ChannelRoles {
        let fabric = &self.plan.fabric;
        let (from, to) = name.split_once(" -> ").expect("two names");
        let named = |node| fabric.node(node).name.as_str();
        let is_it = |channel: &ChannelId| {
            named(fabric.source(*channel).node) == from && named(fabric.target(*channel).node) == to
        };
        let mut channels = self.trees.channels();
        channels.find(|(channel, _)| is_it(channel)).map(|(_, roles)| roles).unwrap_or_default()
    }

    /// Returns the searches with a flow that feeds a tree, and as a victim.
    fn flow(&self, source: &str, destination: &str) -> FlowRoles {
        let name = |end| self.plan.fabric.endpoint_name(end);
        let is_it = |of: &FlowKey| name(of.source) == source && name(of.destination) == destination;
        self.trees.flows().find(|(flow, _)| is_it(flow)).map(|(_, roles)| roles).unwrap_or_default()
    }
}

fn is_most(of: usize, found: &Found, hundredths: usize) -> bool {
    of * 100 > found.trees.samples() * hundredths
}

const KINDS: [&str; 3] =
    ["preset = \"santos-4x\"", "preset = \"myrinet-1280\"", "preset = \"yum-1600\""];

#[test]
fn busy_host_is_root_and_other_flow_victim_in_every_kind() {
    for kind in KINDS {
        let found = found(&figure_1(kind, "congestion.step = \"10 us\""));
        assert_eq!(found.trees.samples(), 200, "{kind}: 2 ms in steps of 10 us");
        let [root, branch, leaf] = ["B -> BC", "A -> B", "A1 -> A"].map(|name| found.roles(name));
        assert!(is_most(root.root, &found, 80) && root.branch == 0, "{kind}: {root:?}");
        // It holds some of the four hosts and the victim all the time, and occasionally moves on.
        assert!(is_most(branch.branch, &found, 40), "{kind}: {branch:?}");
        assert!(leaf.leaf == leaf.branch && leaf.branch > 0, "{kind}: {leaf:?}");
        assert_eq!(found.roles("B -> BV").branch, 0, "{kind}: what leads to it is never blocked");
        let victim = found.flow("AV", "BV");
        assert!(is_most(victim.victim, &found, 40), "{kind}: {victim:?}");
        // It feeds the tree that holds up its own link while the cable briefly has space.
        let on_its_way = ["AV -> A", "A -> B", "B -> BV"].map(|name| found.roles(name).root);
        assert!(victim.feeding <= on_its_way.iter().sum(), "{kind}: {victim:?}, {on_its_way:?}");
        let feeds = found.flow("A1", "BC");
        assert!(is_most(feeds.feeding, &found, 40) && feeds.victim == 0, "{kind}: {feeds:?}");
    }
}

#[test]
fn deadlocked_ring_remains_a_knot() {
    let ring = r#"
        stop = { time = "10 ms" }
        network = { preset = "myrinet-1280" }
        routing = { algorithm = "shortest-path" }
        topology.generate.ring = { switches = 5, hosts_per_switch = 2 }
        traffic = [{ arrivals = "backlogged", length.fixed = "512 B" }]
        measure.congestion.step = "10 us"
    "#;
    let found = found(ring);
    assert!(matches!(found.status, Status::Deadlocked(_)), "{:?}", found.status);
    let lives = found.trees.lives();
    let knot = lives.iter().find(|life| life.root.is_none()).expect("a knot");
    assert_eq!(knot.died, None, "it stays");
    assert_eq!(knot.greatest.depth, 0);
}

#[test]
fn congestion_sampling_does_not_change_the_run() {
    let of = |measure: &str| {
        let plan = compiled(&figure_1(KINDS[0], measure)).unwrap().plan;
        let mut simulation = gingham_engine::start(plan);
        simulation.advance(u64::MAX);
        (simulation.channel_counts(), simulation.take_messages(), simulation.events())
    };
    let (without, with) =
        (of("messages = \"all\""), of("messages = \"all\", congestion.step = \"1 us\""));
    assert!(!without.1.is_empty() && without == with);
    assert_eq!(found(&figure_1(KINDS[0], "")).trees.samples(), 0);
}

#[test]
fn invalid_sample_steps_and_too_many_trees_are_refused() {
    let refused = |step: &str| {
        let text = figure_1(KINDS[0], &format!("congestion.step = \"{step}\""));
        compiled(&text).err().unwrap_or_else(|| panic!("{step} is taken")).to_string()
    };
    for (step, says) in [
        ("0 ps", "a step lasts from 1 ps to the time of the run"),
        ("3 ms", "a step lasts from 1 ps to the time of the run"),
        ("1 ns", "100000 are kept at the most"),
    ] {
        let message = refused(step);
        assert!(message.contains("measure.congestion.step") && message.contains(says), "{message}");
    }
    // 20 ms are 100,000 steps of 200 ns, and 6 x 64 channels are far more than 100.
    let text = r#"
        stop = { time = "20 ms" }
        network = { preset = "myrinet-1280" }
        topology.generate.torus = { dimensions = [8, 8], hosts_per_switch = 1 }
        traffic = [{ load = 0.1, length.fixed = "64 B" }]
        measure.congestion.step = "200 ns"
    "#;
    let message = compiled(text).unwrap_err().to_string();
    assert!(message.contains("at most 10000000 trees are kept: make a step at least"), "{message}");
}
