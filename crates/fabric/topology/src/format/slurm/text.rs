//! Topologies as text of `topology.conf` and `topology.yaml`.
//!
//! Names in YAML are quoted, because YAML reads a bare `1e3`, `no` or `0x10` as a number or
//! boolean.

use super::{Below, Entry, Form, Topology};
use std::fmt::Write as _;

pub(super) fn conf(topology: &Topology) -> String {
    let form = topology.form.name();
    let mut text = format!("# Written by gingham; for TopologyPlugin=topology/{form}.\n");
    comments(&mut text, topology, "");
    let word = match topology.form {
        Form::Tree => "SwitchName",
        Form::Block => "BlockName",
    };
    for Entry { name, below } in &topology.entries {
        let (key, list) = match below {
            Below::Nodes(nodes) => ("Nodes", nodes),
            Below::Switches(switches) => ("Switches", switches),
        };
        line(&mut text, &format!("{word}={name} {key}={}", list.join(",")));
    }
    if let Some(size) = topology.block_size {
        line(&mut text, &format!("BlockSizes={size}"));
    }
    text
}

pub(super) fn yaml(topologies: &[(String, Topology)]) -> String {
    let mut text = "# Written by gingham; topology.yaml of Slurm 25.05.\n---\n".to_owned();
    for (number, (name, topology)) in topologies.iter().enumerate() {
        line(&mut text, &format!("- topology: \"{name}\""));
        line(&mut text, &format!("  cluster_default: {}", number == 0));
        line(&mut text, &format!("  {}:", topology.form.name()));
        comments(&mut text, topology, "    ");
        if let Some(size) = topology.block_size {
            line(&mut text, &format!("    block_sizes:\n      - {size}"));
        }
        let (list, word) = match topology.form {
            Form::Tree => ("switches", "switch"),
            Form::Block => ("blocks", "block"),
        };
        line(&mut text, &format!("    {list}:"));
        for Entry { name, below } in &topology.entries {
            let (key, list) = match below {
                Below::Nodes(nodes) => ("nodes", nodes),
                Below::Switches(switches) => ("children", switches),
            };
            line(&mut text, &format!("      - {word}: \"{name}\""));
            line(&mut text, &format!("        {key}: \"{}\"", list.join(",")));
        }
    }
    text
}

fn comments(text: &mut String, topology: &Topology, indent: &str) {
    for comment in &topology.comments {
        line(text, &format!("{indent}# {comment}"));
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes any text");
}
