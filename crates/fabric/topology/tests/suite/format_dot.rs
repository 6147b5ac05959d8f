//! The drawing for Graphviz.

use gingham_topology::format::{self, Format};
use gingham_topology::{FabricBuilder, Guid, NodeKind};

#[test]
fn dot_ranks_levels_and_merges_parallel_cables() {
    let mut builder = FabricBuilder::new();
    let leaf = builder.add_plain(NodeKind::Switch, "leaf \"one\"", Guid(1), 8);
    let spine = builder.add_plain(NodeKind::Switch, "spine\\0", Guid(2), 8);
    let core = builder.add_plain(NodeKind::Switch, "core", Guid(3), 8);
    let host = builder.add_plain(NodeKind::Host, "host", Guid(4), 1);
    let sharp = builder.add_plain(NodeKind::Aggregation, "sharp", Guid(5), 1);
    for (a, b) in [(leaf, spine), (leaf, spine), (spine, core), (leaf, host), (core, sharp)] {
        builder.join(a, b).unwrap();
    }
    let written = format::write(&builder.build(), Format::Dot).unwrap();
    insta::assert_snapshot!(written.text, @r##"
    graph fabric {
      rankdir=BT;
      ranksep=1.2;
      node [fontname="sans-serif"];
      { // switches of rank 0
        rank=same;
        "leaf \"one\"" [shape=box, style=filled, fillcolor="#dde8f5"];
      }
      { // switches of rank 1
        rank=same;
        "spine\\0" [shape=box, style=filled, fillcolor="#dde8f5"];
      }
      { // switches of rank 2
        rank=same;
        "core" [shape=box, style=filled, fillcolor="#dde8f5"];
      }
      "host" [shape=ellipse, fontsize=8, width=0.3, height=0.2, margin=0.02];
      "sharp" [shape=diamond, fontsize=8, width=0.3, height=0.2, margin=0.02];
      "leaf \"one\"" -- "spine\\0" [label="2", penwidth=2];
      "host" -- "leaf \"one\"";
      "spine\\0" -- "core";
      "sharp" -- "core";
    }
    "##);
    assert_eq!(written.notes, ["a drawing: ports, GUIDs and speeds left out"]);
}
