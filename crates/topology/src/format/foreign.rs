//! Files that somebody may take for a dump and that are something else, named for what they are.
//!
//! Sources: `ibdm-topo-file(1)` of ibutils; the outputs of infiniband-diags and ibdiagnet.

use super::Format;
use super::error::{FormatError, count};

/// A kind of file: how a line shows it, what it is, and what to give instead.
type Kind = (fn(&str) -> bool, &'static str, &'static str);

const DUMP: &str = "give the output of `ibnetdiscover`, taken on the cluster";

const KINDS: [Kind; 6] = [
    (
        is_ibdm_cable,
        "this is a topology file of IBDM, which names systems by their type and not their switches",
        "give the output of `ibnetdiscover`; `ibdmtr` and `ibdiagnet -t` hold this file against it",
    ),
    (
        |line| line.starts_with("{ SW ") || line.starts_with("{ CA "),
        "this is a list of links (`.lst`) of ibdiagnet",
        DUMP,
    ),
    (
        |line| line.starts_with("START_") && !line.contains(' '),
        "this is a database (`.db_csv`) of ibdiagnet",
        DUMP,
    ),
    (
        |line| line.contains("==(") && line.contains(")==>"),
        "this is the output of `iblinkinfo`",
        DUMP,
    ),
    (
        |line| line.starts_with("Unicast lids [") || line.starts_with("Multicast mlids ["),
        "these are forwarding tables",
        "give the output of `ibnetdiscover` here, and the tables to `Fabric.load_routes`",
    ),
    (
        |line| line.starts_with("SW ") || line.starts_with("CA ") && line.contains(" 0x"),
        "this is a report of ports (`ibnetdiscover -p`)",
        "run `ibnetdiscover` without -p",
    ),
];

/// What a text is in which no dump was found, if it can be told.
pub(super) fn named(text: &str) -> Option<FormatError> {
    let mut lines = text.lines().enumerate();
    lines.find_map(|(index, line)| {
        let line = line.trim();
        let (_, what, cure) = KINDS.iter().find(|(shows, ..)| shows(line))?;
        Some(FormatError::at(count(index + 1), None, *what, *cure))
    })
}

/// `P1 -> MT23108 H-1 P1`, `L1/P3 -4x-10G-> MTS2400 S-1 P2` or `P1 -> H-1/P1`.
fn is_ibdm_cable(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let is_arrow = |word: &str| word.starts_with('-') && word.ends_with("->") || word == "->";
    match &*words {
        [port, arrow, _, _, far] => is_arrow(arrow) && !port.contains('=') && !far.contains('='),
        [_, arrow, far] => is_arrow(arrow) && far.contains('/'),
        _ => false,
    }
}

/// Why a format that is only written cannot be read.
pub(super) fn written_only(format: Format) -> FormatError {
    if format == Format::Dot {
        let cure = "give the file that it was drawn from";
        FormatError::whole("a Graphviz drawing cannot be read back", cure)
    } else {
        let what = "Slurm's topology.conf says nothing of ports and cables";
        FormatError::whole(what, "give the file that it was written from")
    }
}
