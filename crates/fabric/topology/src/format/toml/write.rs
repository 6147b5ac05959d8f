//! Writing of TOML files.

use crate::format::text::Written;
use crate::{Address, Cable, Fabric, LinkSpeed, Node, NodeKind};
use std::fmt::Write as _;

pub(in crate::format) fn write(fabric: &Fabric) -> Written {
    let mut text = String::from("# A fabric of gingham.\n");
    for node in fabric.nodes() {
        write_node(&mut text, node);
    }
    for cable in fabric.cables() {
        write_cable(&mut text, fabric, cable);
    }
    let strange = fabric.cables().iter().filter(|cable| speed(cable).is_none()).count();
    let unknown = fabric.cables().iter().filter(|cable| cable.speed.is_none()).count();
    let mut notes = Vec::new();
    if strange > unknown {
        let what = "speeds of a width that InfiniBand does not have left out";
        notes.push(format!("{what}: {}", strange - unknown));
    }
    Written { text, notes }
}

macro_rules! add {
    ($text:expr, $($argument:tt)*) => {
        write!($text, $($argument)*).expect("a string takes any text")
    };
}

fn write_node(text: &mut String, node: &Node) {
    let table = match node.kind {
        NodeKind::Switch => "switch",
        NodeKind::Host => "host",
        NodeKind::Aggregation | NodeKind::Port0 => "aggregation",
        NodeKind::Router => "router",
    };
    add!(text, "\n[[{table}]]\nname = {}\n", quoted(&node.name));
    if let Some(guid) = node.guid {
        add!(text, "guid = \"{guid}\"\n");
    }
    add!(text, "ports = {}\n", node.ports);
    if node.description != node.name {
        add!(text, "description = {}\n", quoted(&node.description));
    }
    let identity = &node.identity;
    for (key, value) in [("vendor", identity.vendor), ("device", identity.device)] {
        if let Some(value) = value {
            add!(text, "{key} = 0x{value:x}\n");
        }
    }
    if let Some(guid) = identity.system_guid {
        add!(text, "system_guid = \"{guid}\"\n");
    }
    if let Some(enhanced) = identity.enhanced_port0 {
        add!(text, "enhanced_port0 = {enhanced}\n");
    }
    if !node.addresses.is_empty() {
        let entries: Vec<String> =
            node.addresses.iter().map(|(port, address)| entry(*port, *address)).collect();
        add!(text, "addresses = [{}]\n", entries.join(", "));
    }
}

fn entry(port: u16, address: Address) -> String {
    let mut fields = vec![format!("port = {port}")];
    fields.extend(address.guid.map(|guid| format!("guid = \"{guid}\"")));
    fields.extend(address.lid.map(|lid| format!("lid = {lid}")));
    fields.extend(address.lmc.map(|lmc| format!("lmc = {lmc}")));
    format!("{{ {} }}", fields.join(", "))
}

fn write_cable(text: &mut String, fabric: &Fabric, cable: &Cable) {
    let ends = cable.ends.map(|end| quoted(&fabric.port_name(end)));
    add!(text, "\n[[cable]]\nends = [{}]\n", ends.join(", "));
    if let Some(speed) = speed(cable) {
        add!(text, "speed = \"{speed}\"\n");
    } else if let Some(partial) = cable.partial_speed {
        add!(text, "speed = \"{partial}\"\n");
    }
    if let Some(length) = cable.length {
        add!(text, "length = \"{length}\"\n");
    }
}

fn speed(cable: &Cable) -> Option<LinkSpeed> {
    cable.speed.filter(|speed| speed.to_string().parse() == Ok(*speed))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => add!(quoted, "\\u{:04X}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
