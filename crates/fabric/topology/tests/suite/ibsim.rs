//! The simulator loads the files written for it, and discovery inside it finds their fabric.
//! Skipped without an installed `ibsim`, unless `GINGHAM_REQUIRE_SYSTEM_TESTS=1` is set.

use gingham_topology::format::{self, Format};
use gingham_topology::{
    Address, Cable, DraftNode, Fabric, FabricBuilder, Generation, Guid, LinkSpeed, Node, NodeKind,
};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

struct Simulator {
    child: Child,
    file: PathBuf,
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.child.kill().expect("the simulator is running");
        self.child.wait().expect("it was killed");
        std::fs::remove_file(&self.file).expect("we wrote the file");
    }
}

fn socket() -> String {
    format!("gingham-{}", std::process::id())
}

/// Writes past the harness, which shows no output of tests that pass.
fn skip(why: &str) {
    #[expect(clippy::disallowed_methods, reason = "the environment says what a machine must have")]
    let required = std::env::var("GINGHAM_REQUIRE_SYSTEM_TESTS").is_ok_and(|value| value == "1");
    assert!(!required, "{why}; to run this test: apt-get install ibsim-utils infiniband-diags");
    writeln!(std::io::stderr(), "ibsim: skipped: {why}").expect("standard error is open");
}

fn start(text: &str) -> Option<Simulator> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.net", socket()));
    std::fs::write(&file, text).expect("the folder for tests can be written");
    let mut command = Command::new("ibsim");
    command.args(["-s", "-n", "-N", "100", "-S", "100", "-P", "1000"]).arg(&file);
    command.env("IBSIM_SOCKNAME", socket()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        std::fs::remove_file(&file).expect("we wrote the file");
        skip("ibsim is not installed");
        return None;
    };
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let simulator = Simulator { child, file };
    let is_ready = |line: &String| line.contains("simulator ready");
    let ready = output.lines().map_while(Result::ok).find(is_ready);
    assert!(ready.is_some(), "ibsim did not accept the file:\n{text}");
    Some(simulator)
}

/// Starts at the node with this id.
fn discover(start: &str) -> Option<String> {
    let mut command = Command::new("ibsim-run");
    command.arg("ibnetdiscover").env("IBSIM_SOCKNAME", socket()).env("SIM_HOST", start);
    let output = command.stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        skip("ibnetdiscover does not run in the simulator");
        return None;
    }
    Some(format::decode(&output.stdout).expect("the output is text").text.into_owned())
}

/// Two switches with parallel cables, and two adapters, one of them with two ports.
fn fabric() -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut add = |kind, guid: u64, description: &str, ports: u16, lid: u16| {
        let (first, count) = if kind == NodeKind::Switch { (0, 1) } else { (1, ports) };
        // The simulator numbers the GUIDs of ports from the node's.
        let address = |port: u16| Address {
            guid: Some(Guid(guid + u64::from(port))),
            lid: Some(lid + port),
            lmc: Some(0),
        };
        let addresses = (first..first + count).map(|port| (port, address(port))).collect();
        let mut node = Node {
            kind,
            name: description.to_owned(),
            guid: Some(Guid(guid)),
            description: description.to_owned(),
            ports,
            identity: gingham_topology::Identity::default(),
            addresses,
        };
        node.identity.enhanced_port0 = (kind == NodeKind::Switch).then_some(guid == 0x1000);
        builder.add_node(node)
    };
    let a = add(NodeKind::Switch, 0x1000, "leaf # = [1] lid 7", 8, 10);
    let b = add(NodeKind::Switch, 0x2000, "spine; @ (x)", 36, 20);
    let h0 = add(NodeKind::Host, 0x3000, "node a HCA-1", 2, 30);
    let h1 = add(NodeKind::Host, 0x4000, "node b HCA-1", 1, 40);
    let mut join = |ends: [(DraftNode, u16); 2], width, generation| {
        let speed = Some(LinkSpeed::InfiniBand { width, generation });
        builder.add_cable(ends, speed, None).expect("the ports are free");
    };
    join([(a, 1), (b, 36)], 4, Generation::Qdr);
    join([(a, 2), (b, 1)], 4, Generation::Ddr);
    join([(a, 3), (h0, 1)], 1, Generation::Sdr);
    join([(b, 2), (h0, 2)], 12, Generation::Ddr);
    join([(b, 3), (h1, 1)], 4, Generation::Qdr);
    builder.build()
}

fn ends(fabric: &Fabric) -> Vec<(String, Option<LinkSpeed>)> {
    let show = |cable: &Cable| {
        let ends = cable.ends.map(|end| fabric.port_name(end)).join(" ");
        (ends, cable.speed)
    };
    fabric.cables().iter().map(show).collect()
}

#[test]
fn ibsim_discovers_the_written_fabric() {
    let fabric = fabric();
    let written = format::write(&fabric, Format::IbnetdiscoverForIbsim).unwrap();
    assert_eq!(written.notes, Vec::<String>::new());
    let Some(_simulator) = start(&written.text) else { return };
    let Some(text) = discover("H-0000000000004000") else { return };
    let found = format::read(&text, Format::Ibnetdiscover).unwrap();
    assert_eq!(found.findings, []);
    assert_eq!(ends(&found.fabric), ends(&fabric));
    for (found, ours) in found.fabric.nodes().iter().zip(fabric.nodes()) {
        assert_eq!((found.guid, found.ports), (ours.guid, ours.ports));
        assert_eq!(found.description, ours.description);
        assert_eq!(found.addresses, ours.addresses, "{}", ours.name);
    }
}
