//! Files that somebody may take for a dump and that are something else, named for what they are.
//!
//! Sources: `ibdm-topo-file(1)` of ibutils; the outputs of infiniband-diags and ibdiagnet; Slurm,
//! `topology.conf(5)`; OpenSM, `opensm(8)`, `doc/partition-config.txt`, `doc/QoS_management_in_OpenSM.txt`;
//! csg-htsim, `sim/datacenter/topologies`, `connection_matrices`; HPCC's ns-3, `simulation/mix`.

use super::Format;
use super::error::{FormatError, count};

/// A kind of file: how a line shows it, what it is, and what to give instead.
type Kind = (fn(&str) -> bool, &'static str, &'static str);

const DUMP: &str = "give the output of `ibnetdiscover`, taken on the cluster";
const GRAPH: &str = "export it as GraphML, or as CSV with the columns `source` and `target`";
const OF_OPENSM: &str = "give the output of `ibnetdiscover` here; `gingham opensm --help` lists \
                         what is read of OpenSM's files";
const OF_A_SIMULATOR: &str = "write its cables as CSV with the columns `source` and `target`, or \
                              make the same shape with `gingham fabric make`";

/// Files of clusters.
const OF_CLUSTERS: [Kind; 8] = [
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
        "give the list of links (`.lst`) that ibdiagnet writes beside it",
    ),
    (
        |line| line.contains("==(") && line.contains(")==>"),
        "this is the output of `iblinkinfo`",
        DUMP,
    ),
    (
        |line| {
            line.starts_with("Unicast lids [")
                || line.starts_with("Multicast mlids [")
                || line.contains("dump_ucast_routes: Switch")
        },
        "these are forwarding tables",
        "give the output of `ibnetdiscover` here, and the tables to `Fabric.load_routes`",
    ),
    (
        |line| line.starts_with("SW ") || line.starts_with("CA ") && line.contains(" 0x"),
        "this is a report of ports (`ibnetdiscover -p`)",
        "run `ibnetdiscover` without -p",
    ),
    (
        |line| line.contains(" : LWA ") && line.contains(" : LSA "),
        "this is a report of ports of ibdiagnet (`net_dump`) or OpenSM",
        "give the list of links (`.lst`) that is written beside it, or the output of \
         `ibnetdiscover`",
    ),
    (
        is_table_of_ufm,
        "this is a table of UFM",
        "name the columns of the two ends `source`, `source_port`, `target` and `target_port`, or \
         give the output of `ibnetdiscover`",
    ),
];

/// Settings of programs, mostly `.conf`.
const SETTINGS: [Kind; 6] = [
    (
        |line| has_prefix(line, &["switchname=", "blockname="]),
        "Slurm's topology.conf says nothing of ports and cables",
        "give the file that it was written from, or the output of `ibnetdiscover`",
    ),
    (
        |line| {
            ["routing_engine", "subnet_prefix", "sm_priority", "m_key", "sm_key", "max_wire_smps"]
                .iter()
                .any(|key| line.split([' ', '\t']).next() == Some(*key))
        },
        "these are the settings of OpenSM (`opensm.conf`)",
        OF_OPENSM,
    ),
    (
        |line| has_prefix(line, &["qos-ulps", "qos-levels", "qos-match-rules", "port-groups"]),
        "this is a policy of OpenSM for quality of service",
        OF_OPENSM,
    ),
    (is_partition, "these are the partitions of OpenSM (`partitions.conf`)", OF_OPENSM),
    (
        |line| has_prefix(line, &["[network]", "[[traffic]]", "[topology", "[routing"]),
        "this is a scenario of gingham",
        "give the fabric that it names, or run it: `gingham run FILE`",
    ),
    (
        |line| {
            let value = line.split_once('=').map(|(key, _)| key.trim());
            matches!(value, Some("topology" | "routing_function" | "network_file"))
                && line.ends_with(';')
        },
        "this is a configuration of BookSim",
        "give the file that its `network_file` names",
    ),
];

/// Files of simulators and of programs for graphs.
const OF_OTHER_PROGRAMS: [Kind; 9] = [
    (
        |line| {
            let key = line.split([' ', '\t']).next();
            matches!(
                key,
                Some("Tiers" | "Podsize" | "Switch_Latency_ns" | "Radix_Up" | "Radix_Down")
            )
        },
        "this is a topology of htsim",
        "make the same tree with `gingham fabric make folded-clos` or `fat-tree`",
    ),
    (
        |line| line.strip_prefix("Connections ").is_some_and(is_number),
        "this is a connection matrix of htsim, which is traffic and no fabric",
        "give it as traffic of a scenario; the fabric is another file",
    ),
    (is_link_of_ns3, "this is a topology of ns-3, as its models of RDMA have it", OF_A_SIMULATOR),
    (|line| line.contains("<gexf"), "this is a graph of Gephi (GEXF)", GRAPH),
    (
        |line| line.contains("<system version="),
        "this is NCCL's topology of one node",
        "give the fabric between nodes, such as the output of `ibnetdiscover`",
    ),
    (
        |line| line.contains("<svg"),
        "this is a picture (SVG)",
        "give the file that it was drawn from",
    ),
    (
        |line| line.contains("<html") || has_prefix(line, &["<!doctype html"]),
        "this is a page of the web (HTML)",
        "save the file itself, not the page that shows it",
    ),
    (|line| has_prefix(line, &["graph [", "graph["]), "this is a graph in GML", GRAPH),
    (is_json, "this is JSON", GRAPH),
];

/// Pictures, documents and archives, by the bytes that they begin with.
const BINARY: [(&[u8], &str, &str); 9] = [
    (b"\x89PNG", "this is a picture (PNG)", DRAWN),
    (b"\xff\xd8\xff", "this is a picture (JPEG)", DRAWN),
    (b"GIF8", "this is a picture (GIF)", DRAWN),
    (b"%PDF", "this is a document (PDF)", DRAWN),
    (b"PK\x03\x04", "this is an archive (ZIP), or a workbook of a spreadsheet", UNPACK),
    (b"7z\xbc\xaf", "this is an archive (7z)", UNPACK),
    (b"BZh", "this is compressed with bzip2", "unpack it: `bunzip2 FILE`"),
    (b"\x28\xb5\x2f\xfd", "this is compressed with zstd", "unpack it: `unzstd FILE`"),
    (b"PAR1", "this is a table of a run (Parquet)", "give the fabric that the run used"),
];

const DRAWN: &str = "give the file that it was drawn from";
const UNPACK: &str = "unpack it, or save the table as CSV";

/// The kind of a binary file, recognised by its first bytes.
pub(super) fn binary(bytes: &[u8]) -> Option<FormatError> {
    let (_, what, cure) = BINARY.iter().find(|(magic, ..)| bytes.starts_with(magic))?;
    Some(FormatError::whole(*what, *cure))
}

/// What a text is in which no dump was found, if it can be told.
pub(super) fn named(text: &str) -> Option<FormatError> {
    let mut lines = text.lines().enumerate();
    lines.find_map(|(index, line)| {
        let line = line.trim();
        let mut kinds = OF_CLUSTERS.iter().chain(&SETTINGS).chain(&OF_OTHER_PROGRAMS);
        let (_, what, cure) = kinds.find(|(shows, ..)| shows(line))?;
        Some(FormatError::at(count(index + 1), None, *what, *cure))
    })
}

/// Whether a line begins with one of these, in small letters or capitals.
fn has_prefix(line: &str, prefixes: &[&str]) -> bool {
    let is_one = |prefix: &&str| {
        line.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    prefixes.iter().any(is_one)
}

fn is_number(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `Default=0x7fff, ipoib : ALL=full;`.
fn is_partition(line: &str) -> bool {
    let Some((name, members)) = line.split_once(':') else { return false };
    let has_members = ["=full", "=limited", "=both", "ALL", "SELF"];
    name.contains("=0x") && has_members.iter().any(|word| members.contains(word))
}

/// `0 256 100Gbps 1000ns 0`: two nodes, a rate, a delay and a share of errors.
fn is_link_of_ns3(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    match &*words {
        [from, to, rate, delay, _] => {
            is_number(from) && is_number(to) && rate.ends_with("bps") && delay.ends_with('s')
        }
        _ => false,
    }
}

/// The heading of a table of cables or ports with GUIDs of two ends.
fn is_table_of_ufm(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let has = |word: &str| line.contains(word);
    line.matches(',').count() >= 3
        && has("guid")
        && (has("source") || has("peer") || has("destination") || has("system"))
        && !line.contains("0x")
}

/// The beginning of an object or of a list of them.
fn is_json(line: &str) -> bool {
    let inside = line.strip_prefix(['{', '[']).map(str::trim_start);
    inside.is_some_and(|inside| inside.starts_with(['"', '{', '}', ']']) || inside.is_empty())
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
        let what = "the settings of a program (`.conf`) say nothing of ports and cables";
        FormatError::whole(what, "give the output of `ibnetdiscover`, or another file of a fabric")
    }
}
