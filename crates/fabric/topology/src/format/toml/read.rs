//! Reading of TOML files.

use super::ends::{Ends, Names};
use super::schema::{File, NodeTable};
use crate::format::error::{FaultCode, FormatError};
use crate::format::text::Parsed;
use crate::{FabricBuilder, Identity, Node, NodeKind};
use std::collections::BTreeMap;

pub(in crate::format) fn read(text: &str) -> Result<Parsed, FormatError> {
    let file: File = ::toml::from_str(text).map_err(|error| place(text, &error))?;
    let mut nodes = Vec::new();
    let mut names = Names::default();
    let kinds = [
        (NodeKind::Switch, file.switch),
        (NodeKind::Host, file.host),
        (NodeKind::Aggregation, file.aggregation),
        (NodeKind::Router, file.router),
    ];
    for (kind, tables) in kinds {
        for table in tables {
            if !names.add(table.name.get_ref()) {
                let message = format!("the name {:?} is taken", table.name.get_ref());
                let start = table.name.span().start;
                let error = FormatError::at_offset(text, start, message, "names must be unique");
                return Err(error.coded(FaultCode::Contradiction));
            }
            nodes.push(node(text, kind, table)?);
        }
    }
    let claims: Vec<Option<u16>> = nodes.iter().map(|(_, claim)| *claim).collect();
    let mut ends = Ends::new(text, &names, &claims);
    let places = ends.resolve(&file.cable)?;
    let mut builder = FabricBuilder::new();
    let mut drafts = Vec::new();
    for (index, (mut node, _)) in nodes.into_iter().enumerate() {
        node.ports = ends.ports(index);
        drafts.push(builder.add_node(node));
    }
    for (cable, place) in file.cable.iter().zip(places) {
        let ends = place.map(|(node, port)| (drafts[node], port));
        let reported = cable.speed;
        builder.add_cable(ends, reported.known, cable.length).expect("ports were found for it");
        builder.set_partial_speed(ends[0], reported.partial);
    }
    Ok(Parsed { fabric: builder.build(), findings: Vec::new() })
}

fn node(text: &str, kind: NodeKind, table: NodeTable) -> Result<(Node, Option<u16>), FormatError> {
    let mut addresses = BTreeMap::new();
    for entry in &table.addresses {
        let port = *entry.port.get_ref();
        if addresses.insert(port, entry.address()).is_some() {
            let message = format!("port {port} has an address already");
            let expected = "expected one entry a port";
            return Err(FormatError::at_offset(text, entry.port.span().start, message, expected));
        }
    }
    let name = table.name.into_inner();
    let node = Node {
        kind,
        guid: table.guid,
        description: table.description.unwrap_or_else(|| name.clone()),
        name,
        ports: 0,
        identity: Identity {
            vendor: table.vendor,
            device: table.device,
            system_guid: table.system_guid,
            enhanced_port0: table.enhanced_port0,
        },
        addresses,
    };
    Ok((node, table.ports))
}

fn place(text: &str, error: &::toml::de::Error) -> FormatError {
    let (message, expected) = explain(error.message());
    match error.span() {
        Some(span) => FormatError::at_offset(text, span.start, message, expected),
        None => FormatError::whole(message, expected),
    }
}

fn explain(message: &str) -> (String, String) {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown field")
        && let Some(key) = quoted.next()
    {
        let known: Vec<&str> = quoted.collect();
        let nearest = known.iter().min_by_key(|known| strsim::damerau_levenshtein(key, known));
        let nearest = nearest.expect("every table has keys");
        let expected = format!("did you mean `{nearest}`? Keys here are {}", known.join(", "));
        return (format!("unknown key `{key}`"), expected);
    }
    if message.starts_with("missing field")
        && let Some(key) = quoted.next()
    {
        return (format!("this table has no `{key}`"), format!("expected a line `{key} = ...`"));
    }
    match message.split_once(", expected ") {
        Some((message, expected)) => (message.to_owned(), format!("expected {expected}")),
        None => (message.to_owned(), "expected TOML, such as `ports = 8`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cables(text: &str) -> Vec<String> {
        let fabric = read(text).unwrap().fabric;
        let cables = fabric.cables().iter();
        cables.map(|cable| cable.ends.map(|end| fabric.port_name(end)).join(" ")).collect()
    }

    fn error(text: &str) -> (u32, Option<u32>, String) {
        let error = read(text).expect_err(text);
        (error.line, error.column, format!("{}; {}", error.message, error.expected))
    }

    const THREE: &str =
        "[[switch]]\nname = \"s0\"\n[[host]]\nname = \"h0\"\n[[host]]\nname = \"h1\"\n";

    #[test]
    fn cable_end_without_port_takes_the_lowest_free_one() {
        let text = format!(
            "{THREE}[[cable]]\nends = [\"s0\", \"h0\"]\n[[cable]]\nends = [\"s0[1]\", \"h1\"]\n"
        );
        assert_eq!(cables(&text), ["s0[1] h1[1]", "s0[2] h0[1]"]);
        assert_eq!(read(&text).unwrap().fabric.nodes()[0].ports, 2, "as many as cables need");
    }

    #[test]
    fn node_name_may_resemble_a_port() {
        let text = "[[switch]]\nname = \"a\"\n[[switch]]\nname = \"a[1]\"\n\
                    [[cable]]\nends = [\"a[1]\", \"a[1][1]\"]\n";
        assert_eq!(cables(text), ["a[1] a[1][1]"]);
    }

    #[test]
    fn unknown_key_error_suggests_the_nearest() {
        let (line, column, text) = error("[[switch]]\nname = \"s0\"\nprots = 8\n");
        assert_eq!((line, column), (3, Some(1)));
        assert!(text.starts_with("unknown key `prots`; did you mean `ports`? Keys here are name,"));
        assert!(error("[[swich]]\n").2.contains("did you mean `switch`?"));
    }

    #[test]
    fn contradictions_are_errors_with_their_position() {
        let place = |line: &str| {
            let (line, column, text) = error(&format!("{THREE}{line}\n"));
            ((line, column), text)
        };
        let (at, text) = place("[[cable]]\nends = [\"s00[1]\", \"h0\"]");
        assert_eq!(at, (8, Some(9)));
        assert_eq!(text, "no node is called \"s00\"; did you mean \"s0\"?");
        let (at, text) = place("[[cable]]\nends = [\"s0[1]\", \"s0[1]\"]");
        assert_eq!(
            (at, text.as_str()),
            ((8, Some(18)), "s0[1] holds a cable already; expected a free port")
        );
        let (at, _) = place("[[host]]\nname = \"h1\"");
        assert_eq!(at, (8, Some(8)));
        let (at, _) = place("[[cable]]\nends = [\"s0[0]\", \"h0\"]");
        assert_eq!(at, (8, Some(9)));
        let (at, text) = place("ports = 1\n[[cable]]\nends = [\"s0\", \"h1[2]\"]");
        assert_eq!(
            (at, text.as_str()),
            ((9, Some(15)), "h1 has ports 1 to 1, not 2; expected one of them")
        );
    }

    #[test]
    fn wrong_value_type_error_names_the_expected_one() {
        let (line, column, text) = error("[[switch]]\nname = \"s0\"\nguid = \"xyz\"\n");
        assert_eq!((line, column), (3, Some(8)));
        assert!(text.contains("expected 1 to 16 hexadecimal digits"), "{text}");
        let text =
            error(&format!("{THREE}[[cable]]\nends = [\"s0\", \"h0\"]\nspeed = \"fast\"\n")).2;
        assert!(text.contains("expected a link speed"), "{text}");
        assert!(error("[[switch]]\nports = 8\n").2.starts_with("this table has no `name`"));
        assert_eq!(error("[[switch]\n").0, 1);
    }
}
