//! Edges as CSV and graphs as GraphML.

use gingham_topology::format::{self, Format, FormatError, Parsed};
use gingham_topology::{Fabric, FindingKind, NodeKind};

fn read(text: &str, format: Format) -> Parsed {
    format::read(text, format).expect(text)
}

fn error(text: &str, format: Format) -> FormatError {
    format::read(text, format).expect_err(text).first().clone()
}

fn cables(fabric: &Fabric) -> Vec<String> {
    let cable = |cable: &gingham_topology::Cable| {
        let ends = cable.ends.map(|end| fabric.port_name(end)).join(" ");
        format!("{ends} {}", cable.reported_speed().unwrap_or_default()).trim().to_owned()
    };
    fabric.cables().iter().map(cable).collect()
}

fn kinds(fabric: &Fabric) -> Vec<(NodeKind, &str)> {
    fabric.nodes().iter().map(|node| (node.kind, node.name.as_str())).collect()
}

const EDGES: &str = "Source;Target;Source Port;Target Port;Speed;Weight\n\
                     l0;s0;5;;4xNDR;1\nl1;s0;;;2x???;1\nl0;h0;;;NDR;2\nl1;h1;;1;;1\nl0;l1;;;;1\n";

#[test]
fn degree_1_nodes_are_hosts() {
    let Parsed { fabric, findings } = read(EDGES, Format::Csv);
    let (switch, host) = (NodeKind::Switch, NodeKind::Host);
    let expected = [(switch, "l0"), (switch, "l1"), (switch, "s0"), (host, "h0"), (host, "h1")];
    assert_eq!(kinds(&fabric), expected);
    let expected = [
        "l0[1] h0[1] ??NDR",
        "l0[2] l1[3]",
        "l0[5] s0[1] 4xNDR",
        "l1[1] s0[2] 2x???",
        "l1[2] h1[1]",
    ];
    assert_eq!(cables(&fabric), expected);
    let found: Vec<_> = findings.iter().map(|found| found.kind).collect();
    assert_eq!(found, [FindingKind::Assumption, FindingKind::Ignored], "degrees, and a column");
}

#[test]
fn explicit_node_kind_is_kept() {
    let text = "from,to,from_type,to_kind\na,b,Switch,\nb,c,,router\nc,d,,strange\n";
    let Parsed { fabric, findings } = read(text, Format::Csv);
    let expected = [
        (NodeKind::Switch, "a"),
        (NodeKind::Switch, "b"),
        (NodeKind::Host, "d"),
        (NodeKind::Router, "c"),
    ];
    assert_eq!(kinds(&fabric), expected);
    assert!(findings.iter().any(|found| found.line == Some(4)), "{findings:?}");
}

#[test]
fn reverse_edges_are_one_cable_and_repeated_edges_parallel() {
    let count = |rows: &str| {
        let text = format!("source,target\na,x\nb,y\n{rows}");
        read(&text, Format::Csv).fabric.cables().len() - 2
    };
    assert_eq!(count("a,b\n"), 1);
    assert_eq!(count("a,b\nb,a\n"), 1);
    assert_eq!(count("a,b\na,b\n"), 2);
    assert_eq!(count("a,b\na,b\nb,a\nb,a\n"), 2);
    assert_eq!(count("a,b\nb,a\nb,a\n"), 2);
    assert_eq!(count("a,a\n"), 0);
}

#[test]
fn invalid_csv_rows_are_refused_with_their_line() {
    let heading = "source,target,source_port,speed,length\n";
    for row in ["a,,1,,", "a,b,x,,", "a,b,0,,", "a,b,1,fast,", "a,b,,,long"] {
        let error = error(&format!("{heading}# a comment\na,c,,,\n{row}\n"), Format::Csv);
        assert_eq!(error.line, 4, "{row}: {error}");
        assert!(error.expected.starts_with("expected "), "{row}: {error}");
    }
    let twice = error(&format!("{heading}a,b,1,,\na,c,1,,\n"), Format::Csv);
    assert_eq!(twice.line, 3);
    let no_heading = error("a,b\nb,c\n", Format::Csv);
    assert!(no_heading.expected.contains("`source` and `target`"), "{no_heading}");
}

const GRAPH: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="type" attr.type="string"/>
  <key id="d1" for="edge" attr.name="speed" attr.type="string"/>
  <key id="d2" for="node" attr.name="label" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="n0"><data key="d2">leaf 0</data><data key="d0">switch</data></node>
    <node id="n1"><data key="d0">host</data></node>
    <node id="n2"/>
    <edge source="n0" target="n1" sourceport="4"><data key="d1">4xHDR</data></edge>
    <edge source="n2" target="n0" targetport="north"/>
  </graph>
</graphml>
"#;

#[test]
fn graphml_kinds_names_ports_and_speeds_are_read() {
    let Parsed { fabric, findings } = read(GRAPH, Format::GraphMl);
    let expected = [(NodeKind::Switch, "leaf 0"), (NodeKind::Host, "n1"), (NodeKind::Host, "n2")];
    assert_eq!(kinds(&fabric), expected);
    assert_eq!(cables(&fabric), ["leaf 0[1] n2[1]", "leaf 0[4] n1[1] 4xHDR"]);
    assert_eq!(findings.len(), 1, "a degree decides on n2: {findings:?}");
}

#[test]
fn invalid_graphml_is_refused_with_its_line() {
    for (from, to, line) in [
        ("<node id=\"n2\"/>", "<node/>", 9),
        ("<node id=\"n2\"/>", "<node id=\"n1\"/>", 9),
        ("source=\"n2\"", "source=\"n3\"", 11),
        ("4xHDR", "fast", 10),
        ("</graphml>", "", 1),
    ] {
        let error = error(&GRAPH.replace(from, to), Format::GraphMl);
        assert_eq!(error.line, line, "{to}: {error}");
    }
    let other = error("<?xml version=\"1.0\"?>\n<graph/>\n", Format::GraphMl);
    assert!(other.expected.contains("GraphML"), "{other}");
}

#[test]
fn read_only_formats_cannot_be_written() {
    let fabric = read(GRAPH, Format::GraphMl).fabric;
    for format in Format::ALL {
        let is_written = format::write(&fabric, format).is_ok();
        assert!(is_written || !format.is_writable() || format == Format::Anynet, "{format}");
        assert!(format.is_writable() || !is_written, "{format}");
    }
}
