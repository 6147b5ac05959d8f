//! CSV edge lists, as written by NetworkX, pandas and Gephi.
//!
//! ```text
//!   source,target,source_port,target_port,speed        the heading is required
//!   leaf0,spine0,1,4,4xNDR
//!   leaf0,h0,2,1,
//! ```
//!
//! Columns are found by name, in any order and case; [`super::graph`] turns the edges into a
//! fabric.

use super::error::FormatError;
use super::faults::{Collected, Faults};
use super::graph::{Edge, Graph, line_number, port, speed};
use super::text::Parsed;
use crate::FindingKind;
use crate::speed::ReportedSpeed;
use csv::{ReaderBuilder, StringRecord};

const SEPARATORS: [char; 3] = [',', ';', '\t'];

const ENDS: [[&str; 6]; 2] = [
    ["source", "from", "src", "node1", "node_a", "switch_a"],
    ["target", "to", "dst", "node2", "node_b", "switch_b"],
];

const EXPECTED: &str = "expected a heading with the columns `source` and `target`, such as \
     `source,target,source_port,target_port,speed`";

#[derive(Debug, Default, PartialEq, Eq)]
struct Columns {
    ends: [usize; 2],
    ports: [Option<usize>; 2],
    kinds: [Option<usize>; 2],
    speed: Option<usize>,
    width: Option<usize>,
    length: Option<usize>,
    passed_over: Vec<String>,
}

pub(super) fn is_heading(line: &str) -> bool {
    SEPARATORS.iter().any(|separator| {
        let names = line.split(*separator);
        Columns::find(names.map(|name| name.trim().trim_matches('"').to_owned())).is_some()
    })
}

impl Columns {
    fn find(names: impl Iterator<Item = String>) -> Option<Self> {
        let names: Vec<String> =
            names.map(|name| name.trim().to_ascii_lowercase().replace([' ', '-'], "_")).collect();
        let at = |wanted: &str| names.iter().position(|name| name == wanted);
        let pair = (0..ENDS[0].len()).find_map(|pair| {
            let ends = [ENDS[0][pair], ENDS[1][pair]];
            Some((ends, [at(ends[0])?, at(ends[1])?]))
        });
        let (words, ends) = pair?;
        let of_end = |suffix: &str| {
            words.map(|word| {
                let spelt = [format!("{word}_{suffix}"), format!("{word}{suffix}")];
                let turned = format!("{suffix}_{word}");
                spelt.iter().chain([&turned]).find_map(|name| at(name))
            })
        };
        let kinds = of_end("kind");
        let types = of_end("type");
        let mut columns = Self {
            ends,
            ports: of_end("port"),
            kinds: [kinds[0].or(types[0]), kinds[1].or(types[1])],
            speed: at("speed").or(at("rate")).or(at("bandwidth")),
            width: at("width"),
            length: at("length"),
            passed_over: Vec::new(),
        };
        let taken = [columns.ports, columns.kinds].concat().into_iter().flatten();
        let taken: Vec<usize> = taken
            .chain(columns.ends)
            .chain([columns.speed, columns.width, columns.length].into_iter().flatten())
            .collect();
        let free = names.iter().enumerate().filter(|(index, _)| !taken.contains(index));
        columns.passed_over = free.map(|(_, name)| name.clone()).collect();
        Some(columns)
    }
}

pub(super) fn read(text: &str) -> Result<Parsed, Faults> {
    let heading = text.lines().find(|line| !is_comment(line)).unwrap_or("");
    let most = |separator: &&char| heading.matches(**separator).count();
    let separator = SEPARATORS.iter().max_by_key(most).expect("there are separators");
    let mut reader = ReaderBuilder::new()
        .delimiter(u8::try_from(*separator).expect("separators are ASCII"))
        .comment(Some(b'#'))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let names = reader.headers().map_err(|error| misread(&error))?.clone();
    let columns = Columns::find(names.iter().map(str::to_owned)).ok_or_else(|| {
        let line = names.position().map_or(1, |place| line_number(place.line()));
        FormatError::at(line, None, "the heading names no pair of ends", EXPECTED)
    })?;
    let mut graph = Graph::default();
    let mut faults = Collected::default();
    for record in reader.records() {
        let taken = record.map_err(|error| misread(&error));
        faults.keep(taken.and_then(|record| add(&mut graph, &columns, &record)));
    }
    faults.finish()?;
    if !columns.passed_over.is_empty() {
        let text = format!("columns {}", columns.passed_over.join(", "));
        graph.note(1, FindingKind::Ignored, text);
    }
    Ok(graph.finish()?)
}

fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

fn misread(error: &csv::Error) -> FormatError {
    let line = error.position().map_or(1, |place| line_number(place.line()));
    FormatError::at(line.max(1), None, error.to_string(), "expected a row of the table")
}

fn add(graph: &mut Graph, columns: &Columns, record: &StringRecord) -> Result<(), FormatError> {
    let line = record.position().map_or(1, |place| line_number(place.line())).max(1);
    let field = |column: usize| record.get(column).unwrap_or("");
    let optional = |column: Option<usize>| column.map_or("", field);
    let refuse = |message: String, expected: &str| FormatError::at(line, None, message, expected);
    let names = columns.ends.map(field);
    if names.contains(&"") {
        return Err(refuse("an edge without both ends".to_owned(), "expected two names of nodes"));
    }
    let nodes = names.map(|name| graph.node(name));
    let mut ends = nodes.map(|node| (node, None));
    for side in [0, 1] {
        graph.set_kind(line, nodes[side], optional(columns.kinds[side]));
        let expected = "expected a number from 1 to 65535, or nothing";
        ends[side].1 =
            port(optional(columns.ports[side])).map_err(|message| refuse(message, expected))?;
    }
    let mut reported = ReportedSpeed::default();
    for text in [columns.speed, columns.width].map(optional) {
        let expected = "expected a speed such as 4xNDR, NDR, 2x or 80 MB/s, or nothing";
        let one =
            speed(text).ok_or_else(|| refuse(format!("{text:?} is not a speed"), expected))?;
        reported = reported.or(one);
    }
    let length = match optional(columns.length) {
        "" => None,
        text => Some(text.parse().map_err(|_| {
            refuse(format!("{text:?} is not a length"), "expected one such as 25 m, or nothing")
        })?),
    };
    graph.add(Edge { line, ends, speed: reported, length });
    Ok(())
}
