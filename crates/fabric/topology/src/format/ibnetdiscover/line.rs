//! Parsing of a single dump line.

use super::comment::{Comment, NoLid, Words, comment, words};
use super::cursor::{Cursor, LineError};
use super::noise::could_be_a_record;
use crate::speed::ReportedSpeed;
use crate::{Guid, NodeKind};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Statement<'a> {
    Nothing,
    /// Chassis heading; records after it may repeat earlier records.
    Grouping,
    Identity(IdentityField),
    Node(NodeLine<'a>),
    Port(PortLine<'a>),
    Ignored(&'static str),
    Noise,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) enum IdentityField {
    Vendor(u32),
    Device(u32),
    System(Guid),
    /// Node kind, GUID and, in parentheses, the GUID of port 0.
    Node(NodeKind, Guid, Option<Guid>),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct NodeLine<'a> {
    /// Kind of the node; aggregation nodes still count as hosts here.
    pub(super) kind: NodeKind,
    pub(super) ports: u16,
    pub(super) id: &'a str,
    pub(super) description: Option<&'a str>,
    pub(super) words: Words<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct PortLine<'a> {
    pub(super) port: u16,
    pub(super) guid: Option<Guid>,
    pub(super) lid: Option<u16>,
    pub(super) no_lid: Option<NoLid>,
    pub(super) lmc: Option<u8>,
    pub(super) remote: Option<Remote<'a>>,
    pub(super) speed: ReportedSpeed,
    pub(super) unknown: Option<&'a str>,
    pub(super) ending: Ending,
}

/// Content of a port line after the far end; `ibnetdiscover` always prints a speed.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) enum Ending {
    Nothing,
    CommentWithoutSpeed,
    Speed,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remote<'a> {
    pub(super) id: &'a str,
    pub(super) port: u16,
    pub(super) guid: Option<Guid>,
    pub(super) lid: Option<u16>,
    pub(super) no_lid: Option<NoLid>,
    pub(super) description: &'a str,
}

/// First words of skipped lines, each with a description for findings.
const PASSED_OVER: [(&str, &str); 12] = [
    ("@", "an alias of a port (ibsim)"),
    ("module", "a name prefix (ibsim)"),
    ("include", "another file that this one includes (ibsim)"),
    ("do", "a command for the simulator (ibsim)"),
    ("pdebug", "a setting of the simulator (ibsim)"),
    ("width", "a default width for ports (ibsim)"),
    ("speed", "a default speed for ports (ibsim)"),
    ("switchguids", "the first GUID of a numbering (ibsim)"),
    ("hcaguids", "the first GUID of a numbering (ibsim)"),
    ("ibwarn:", "a warning of the tool that wrote the dump"),
    ("ibpanic:", "a message of the tool that wrote the dump"),
    ("src/", "a message of the tool that wrote the dump"),
];

/// Headings printed by the option for grouping by chassis.
const GROUPING: [&str; 3] = ["Chassis ", "Hostname: ", "Non-Chassis Nodes"];

const LINE: &str = "a node (`Switch`, `Ca` or `Rt`), a port (`[1]`), an identity (`vendid=`), \
                    a comment (`#`) or a blank line";

pub(super) fn statement(line: &str) -> Result<Statement<'_>, LineError> {
    let cursor = Cursor::new(line);
    let rest = cursor.rest();
    let mut after = cursor;
    match after.take_while(|c| c.is_ascii_alphabetic()) {
        "" if rest.is_empty() || rest.starts_with('#') => Ok(Statement::Nothing),
        "" if rest.starts_with('[') && could_be_a_record(rest) => {
            port_line(cursor).map(Statement::Port)
        }
        "Switch" => node_line(NodeKind::Switch, after).map(Statement::Node),
        "Ca" | "Hca" => node_line(NodeKind::Host, after).map(Statement::Node),
        "Rt" => node_line(NodeKind::Router, after).map(Statement::Node),
        "Router" => Err(listing(cursor)),
        _ if GROUPING.iter().any(|heading| rest.starts_with(heading)) => Ok(Statement::Grouping),
        word => match identity(word, after)? {
            Some(field) => Ok(Statement::Identity(field)),
            None => match passed_over(rest) {
                Some(what) => Ok(Statement::Ignored(what)),
                None if could_be_a_record(rest) => Err(cursor.error(LINE)),
                None => Ok(Statement::Noise),
            },
        },
    }
}

fn passed_over(rest: &str) -> Option<&'static str> {
    let applies = |(first, _): &&(&str, _)| {
        let is_word = first.ends_with(|c: char| c.is_ascii_alphabetic());
        let after = rest.strip_prefix(first);
        after.is_some_and(|after| !is_word || !after.starts_with(|c: char| c.is_alphanumeric()))
    };
    PASSED_OVER.iter().find(applies).map(|(_, what)| *what)
}

fn identity(key: &str, mut cursor: Cursor<'_>) -> Result<Option<IdentityField>, LineError> {
    let kind = match key {
        "switchguid" => Some(NodeKind::Switch),
        "caguid" | "hcaguid" => Some(NodeKind::Host),
        "rtguid" => Some(NodeKind::Router),
        "vendid" | "devid" | "sysimgguid" => None,
        _ => return Ok(None),
    };
    if !cursor.take("=") {
        return Err(cursor.error("\"=\" and a number"));
    }
    let field = match (key, kind) {
        ("vendid", _) => IdentityField::Vendor(number_of_32_bits(&mut cursor)?),
        ("devid", _) => IdentityField::Device(number_of_32_bits(&mut cursor)?),
        (_, None) => IdentityField::System(cursor.guid(NUMBER)?),
        (_, Some(kind)) => {
            let guid = cursor.guid(NUMBER)?;
            let has_port = cursor.take("(");
            let port = has_port.then(|| cursor.guid_then_parenthesis()).transpose()?;
            IdentityField::Node(kind, guid, port)
        }
    };
    end_or_comment(&mut cursor)?;
    Ok(Some(field))
}

const NUMBER: &str = "a number such as 0x2c9";

fn number_of_32_bits(cursor: &mut Cursor<'_>) -> Result<u32, LineError> {
    let start = *cursor;
    let number = cursor.hexadecimal(NUMBER)?;
    u32::try_from(number).map_err(|_| start.error("a number of at most 32 bits"))
}

fn end_or_comment(cursor: &mut Cursor<'_>) -> Result<bool, LineError> {
    cursor.skip_blanks();
    let has_comment = cursor.take("#");
    if has_comment || cursor.is_at_end() {
        Ok(has_comment)
    } else {
        Err(cursor.error("\"#\" and a comment, or the end of the line"))
    }
}

fn listing(cursor: Cursor<'_>) -> LineError {
    cursor.error_saying(
        "this is a list of nodes, without cables",
        "expected the full output: run `ibnetdiscover` without -l, -H, -S and -R",
    )
}

fn node_line(kind: NodeKind, mut cursor: Cursor<'_>) -> Result<NodeLine<'_>, LineError> {
    cursor.skip_blanks();
    if cursor.rest().starts_with(':') {
        return Err(listing(cursor));
    }
    let ports = cursor.number("the number of ports")?;
    cursor.skip_blanks();
    let id = cursor.quoted_id()?;
    let mut line = NodeLine { kind, ports, id, description: None, words: Words::default() };
    if end_or_comment(&mut cursor)? {
        match comment(cursor)? {
            Comment::Described { head, description, tail } => {
                line.description = Some(description);
                line.words = tail;
                line.words.unknown = line.words.unknown.or(head.unknown);
            }
            Comment::Free(_) => {
                let (description, tail) = free_description(cursor);
                line.description = Some(description);
                line.words = words(tail)?;
            }
        }
    }
    Ok(line)
}

/// Splits a comment into an unquoted description and the remaining words.
fn free_description(mut cursor: Cursor<'_>) -> (&str, Cursor<'_>) {
    const MARKS: [&str; 4] = [" enhanced port 0", " base port 0", " lid ", " lmc "];
    cursor.skip_blanks();
    let rest = cursor.rest();
    let end = MARKS.iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
    (rest[..end].trim_end(), cursor.split(end, 0).1)
}

fn port_line(mut cursor: Cursor<'_>) -> Result<PortLine<'_>, LineError> {
    const PORT: &str = "the number of a port";
    cursor.take("[");
    let port = cursor.number_then(PORT, "]")?;
    external_port(&mut cursor)?;
    let guid = port_guid(&mut cursor)?;
    let mut remote = None;
    if cursor.rest().starts_with('"') {
        let id = cursor.quoted_id()?;
        cursor.skip_blanks();
        let port = if cursor.take("[") { cursor.number_then(PORT, "]")? } else { 1 };
        external_port(&mut cursor)?;
        let guid = port_guid(&mut cursor)?;
        remote = Some(Remote { id, port, guid, lid: None, no_lid: None, description: "" });
    }
    let line = PortLine {
        port,
        guid,
        lid: None,
        no_lid: None,
        lmc: None,
        remote,
        speed: ReportedSpeed::default(),
        unknown: None,
        ending: Ending::Nothing,
    };
    finish_port_line(line, cursor)
}

fn finish_port_line<'a>(
    mut line: PortLine<'a>,
    cursor: Cursor<'a>,
) -> Result<PortLine<'a>, LineError> {
    let length = cursor.rest().find('#').unwrap_or(cursor.rest().len());
    let (before, mut after) = cursor.split(length, 0);
    let asked = words(before)?;
    if asked.unknown.is_some() || asked.has_speed {
        return Err(before.error("an option such as \"w=2\", or \"#\" and a comment"));
    }
    line.speed = asked.options.speed().into();
    if !after.take("#") {
        return Ok(line);
    }
    line.ending = Ending::CommentWithoutSpeed;
    if let Comment::Described { head, description, tail } = comment(after)? {
        if tail.has_speed {
            line.ending = Ending::Speed;
        }
        line.unknown = head.unknown.or(tail.unknown);
        // Masks cover only the generations up to QDR and are ignored if a speed is printed.
        let of_masks = tail.options.speed().filter(|_| !tail.has_speed);
        line.speed = tail.speed.or(line.speed).or(of_masks.into());
        (line.lid, line.no_lid, line.lmc) = (head.lid, head.no_lid, head.lmc);
        if let Some(remote) = &mut line.remote {
            (remote.lid, remote.no_lid) = (tail.lid, tail.no_lid);
            remote.description = description;
        }
    }
    Ok(line)
}

/// Parses `[ext 13]`, the port number printed on the outside of a chassis.
fn external_port(cursor: &mut Cursor<'_>) -> Result<(), LineError> {
    cursor.skip_blanks();
    if cursor.take("[ext ") {
        cursor.number_then::<u32>("the number of an external port", "]")?;
        cursor.skip_blanks();
    }
    Ok(())
}

fn port_guid(cursor: &mut Cursor<'_>) -> Result<Option<Guid>, LineError> {
    if !cursor.take("(") {
        return Ok(None);
    }
    let guid = cursor.guid_then_parenthesis()?;
    cursor.skip_blanks();
    Ok(Some(guid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(line: &str) -> PortLine<'_> {
        match statement(line) {
            Ok(Statement::Port(port)) => port,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn error(line: &str) -> (u32, String) {
        let error = statement(line).expect_err(line);
        (error.column, error.expected)
    }

    #[test]
    fn switch_port_line_names_the_far_end() {
        let line = port("[1][ext 13]\t\"H-0a\"[2][ext 3](b) \t\t# \"x \"y\" # z\" lid 647 4xNDR");
        let remote = line.remote.unwrap();
        assert_eq!((line.port, line.guid, line.lid), (1, None, None));
        assert_eq!((remote.id, remote.port, remote.guid), ("H-0a", 2, Some(Guid(0xb))));
        assert_eq!((remote.lid, remote.description), (Some(647), "x \"y\" # z"));
        assert_eq!(line.speed.to_string(), "4xNDR");
    }

    #[test]
    fn host_port_line_names_itself_too() {
        let line = port("[1](c) \t\"R-1\"[15] (d) \t\t# lid 52 lmc 3 \"r\" lid 9 ?????");
        assert_eq!((line.guid, line.lid, line.lmc), (Some(Guid(0xc)), Some(52), Some(3)));
        assert_eq!(line.remote.unwrap().guid, Some(Guid(0xd)));
        assert_eq!((line.speed, line.ending), (ReportedSpeed::default(), Ending::Speed));
        let line = port("[1]\t\"S-1\"[2]\t\t# \"s\" lid 9 2x??? s=4 w=16 v=5");
        assert_eq!(line.speed.to_string(), "2x???", "the mask is not that of the speed");
        let line = port("[1]\t\"S-1\"[2]\t\t# \"s\" lid 9 s=4 w=16 v=5");
        assert_eq!(line.speed.to_string(), "2xQDR");
    }

    #[test]
    fn ibsim_port_lines_may_be_incomplete_or_carry_options() {
        assert_eq!(port("[3]").remote, None);
        let line = port("[3] \"Sw1\" w=2 s=4 # by hand");
        assert_eq!(line.remote.unwrap().port, 1);
        assert_eq!(line.speed.to_string(), "4xQDR");
        assert_eq!(line.ending, Ending::CommentWithoutSpeed);
    }

    #[test]
    fn node_descriptions_need_no_quotes() {
        let Ok(Statement::Node(line)) = statement("Switch 8 \"Sw1\" # a spine base port 0 lid 4")
        else {
            panic!("a node");
        };
        assert_eq!((line.id, line.description), ("Sw1", Some("a spine")));
        assert_eq!((line.words.lid, line.words.enhanced_port0), (Some(4), Some(false)));
    }

    #[test]
    fn syntax_errors_point_at_the_character() {
        assert_eq!(error("[x]").0, 2);
        assert_eq!(error("[1] \"S-1\"[2").0, 12);
        assert_eq!(error("[1] \"S-1\"[2] what").0, 14);
        assert_eq!(error("[1] \"S-1").0, 5);
        assert_eq!(error("Switch x \"S-1\"").0, 8);
        assert_eq!(error("Switch 4 S-1").0, 10);
        assert_eq!(error("[1] \"S-1\"[2] # \"open").0, 16);
        assert_eq!(error("vendid=0x123456789").0, 8);
        assert!(error("spaghetti=7").1.starts_with("expected a node (`Switch`"));
        assert!(error("Switch\t : 0x0008 ports 36").1.contains("without -l"));
    }

    #[test]
    fn ignored_and_noise_lines_are_distinguished() {
        for line in ["module = \"net1\"", "do Unlink \"a\"", "@[1] \"x\"", "switchguids=0x100"] {
            assert!(matches!(statement(line), Ok(Statement::Ignored(_))), "{line}");
        }
        assert!(statement("double = 4").is_err(), "a word must end where the known one does");
        assert_eq!(statement("spaghetti"), Ok(Statement::Noise));
        assert_eq!(statement("[root@node1 ~]# exit"), Ok(Statement::Noise));
    }
}
