//! Recognition of unsupported files from other programs.
//!
//! Sources: `ibdm-topo-file(1)` of ibutils; infiniband-diags, `ibnetdiscover.c` and `iblinkinfo.c`;
//! headings of ibdiagnet 2 as parsed by other tools; the NDT plugin of UFM; Slurm,
//! `topology.conf(5)`, `topology.yaml(5)`; OpenSM, `opensm(8)`, `doc/partition-config.txt`,
//! `osm_qos_parser_y.y`, `osm_torus.c`; csg-htsim, `sim/datacenter/topologies`,
//! `connection_matrices`; HPCC's ns-3, `simulation/mix`.

use super::Format;
use super::error::{FaultCode, FormatError, count};

/// Error code, test for a characteristic line, description, and remedy.
type Kind = (&'static str, fn(&str) -> bool, &'static str, &'static str);

const DUMP: &str = "give the output of `ibnetdiscover`, taken on the cluster";
const GRAPH: &str = "export it as GraphML, or as CSV with the columns `source` and `target`";
const OF_OPENSM: &str = "give the output of `ibnetdiscover` here; `gingham opensm --help` lists the files of OpenSM \
                         that it reads";
const OF_A_SIMULATOR: &str = "write its cables as CSV with the columns `source` and `target`, or \
                              make the same shape with `gingham fabric make`";

const OF_CLUSTERS: [Kind; 9] = [
    (
        "foreign-ibdm",
        is_ibdm_cable,
        "this is a topology file of IBDM, which names systems by their type and not their switches",
        "give the output of `ibnetdiscover`; `ibdmtr` and `ibdiagnet -t` hold this file against it",
    ),
    (
        "foreign-ibdiagnet-lst",
        |line| line.starts_with("{ SW ") || line.starts_with("{ CA "),
        "this is a list of links (`.lst`) of ibdiagnet",
        DUMP,
    ),
    (
        "foreign-ibdiagnet-db",
        |line| line.starts_with("START_") && !line.contains(' '),
        "this is a database (`.db_csv`) of ibdiagnet",
        "give the list of links (`.lst`) that ibdiagnet writes beside it",
    ),
    (
        "foreign-iblinkinfo",
        |line| line.contains("==(") && line.contains(")==>"),
        "this is the output of `iblinkinfo`",
        DUMP,
    ),
    (
        "foreign-forwarding-tables",
        |line| {
            line.starts_with("Unicast lids [")
                || line.starts_with("Multicast mlids [")
                || line.contains("dump_ucast_routes: Switch")
        },
        "these are forwarding tables",
        "give the output of `ibnetdiscover` here, and the tables to `Fabric.load_routes`",
    ),
    (
        "foreign-port-report",
        is_port_report,
        "this is a report of ports (`ibnetdiscover -p`)",
        "run `ibnetdiscover` without -p",
    ),
    (
        "foreign-net-dump",
        |line| line.contains(" : LWA ") && line.contains(" : LSA "),
        "this is a report of ports of ibdiagnet (`net_dump`) or OpenSM",
        "give the list of links (`.lst`) that is written beside it, or the output of \
         `ibnetdiscover`",
    ),
    (
        "foreign-ndt",
        |line| line.contains("StartDevice") && line.contains("EndDevice") && line.contains(','),
        "this is a table of cables as UFM (NDT) and sonic-mgmt have it",
        "rename the columns StartDevice, StartPort, EndDevice and EndPort to `source`, `source_port`, `target` and \
         `target_port`, and remove the lines before the heading",
    ),
    (
        "foreign-ufm",
        is_table_of_ufm,
        "this is a table of UFM",
        "rename the columns of the two ends to `source`, `source_port`, `target` and `target_port`, or give the \
         output of `ibnetdiscover`",
    ),
];

const SETTINGS: [Kind; 8] = [
    (
        "foreign-slurm",
        |line| has_prefix(line, &["switchname=", "blockname="]),
        "Slurm's topology.conf lists no ports and cables",
        "give the file that it was written from, or the output of `ibnetdiscover`",
    ),
    (
        "foreign-slurm",
        |line| line.starts_with("- topology:"),
        "Slurm's topology.yaml lists no ports and cables",
        "give the file that it was written from, or the output of `ibnetdiscover`",
    ),
    (
        "foreign-opensm-conf",
        |line| is_first_word(line, &OPENSM_KEYS),
        "these are the settings of OpenSM (`opensm.conf`)",
        OF_OPENSM,
    ),
    (
        "foreign-opensm-qos-policy",
        |line| has_prefix(line, &QOS_SECTIONS),
        "this is a policy of OpenSM for quality of service",
        OF_OPENSM,
    ),
    (
        "foreign-opensm-partitions",
        is_partition,
        "these are the partitions of OpenSM (`partitions.conf`)",
        OF_OPENSM,
    ),
    (
        "foreign-opensm-torus",
        is_torus_2qos,
        "this describes a torus to OpenSM (`torus-2QoS.conf`)",
        "give the output of `ibnetdiscover`, or make the same shape with `gingham fabric make torus`",
    ),
    (
        "foreign-scenario",
        |line| has_prefix(line, &["[network]", "[[traffic]]", "[topology", "[routing"]),
        "this is a scenario of gingham",
        "give the fabric that it names, or run it: `gingham run FILE`",
    ),
    (
        "foreign-booksim",
        |line| {
            let value = line.split_once('=').map(|(key, _)| key.trim());
            matches!(value, Some("topology" | "routing_function" | "network_file"))
                && line.ends_with(';')
        },
        "this is a configuration of BookSim",
        "give the file that its `network_file` names",
    ),
];

const OF_OTHER_PROGRAMS: [Kind; 9] = [
    (
        "foreign-htsim",
        |line| {
            is_first_word(
                line,
                &["Tiers", "Podsize", "Switch_Latency_ns", "Radix_Up", "Radix_Down"],
            )
        },
        "this is a topology of htsim",
        "make the same tree with `gingham fabric make folded-clos` or `fat-tree`",
    ),
    (
        "foreign-htsim-traffic",
        |line| line.strip_prefix("Connections ").is_some_and(is_number),
        "this is a connection matrix of htsim, which is traffic and no fabric",
        "give it as traffic of a scenario; the fabric is another file",
    ),
    (
        "foreign-ns3",
        is_link_of_ns3,
        "this is a topology of ns-3, as its models of RDMA have it",
        OF_A_SIMULATOR,
    ),
    ("foreign-gexf", |line| line.contains("<gexf"), "this is a graph of Gephi (GEXF)", GRAPH),
    (
        "foreign-nccl",
        |line| line.contains("<system version="),
        "this is NCCL's topology of one node",
        "give the fabric between nodes, such as the output of `ibnetdiscover`",
    ),
    (
        "foreign-svg",
        |line| line.contains("<svg"),
        "this is a picture (SVG)",
        "give the file that it was drawn from",
    ),
    (
        "foreign-html",
        |line| line.contains("<html") || has_prefix(line, &["<!doctype html"]),
        "this is a page of the web (HTML)",
        "save the file itself, not the page that shows it",
    ),
    (
        "foreign-gml",
        |line| has_prefix(line, &["graph [", "graph["]),
        "this is a graph in GML",
        GRAPH,
    ),
    ("foreign-json", is_json, "this is JSON", GRAPH),
];

const OPENSM_KEYS: [&str; 12] = [
    "routing_engine",
    "subnet_prefix",
    "sm_priority",
    "m_key",
    "sm_key",
    "sa_key",
    "max_wire_smps",
    "max_op_vls",
    "qos_max_vls",
    "qos_sl2vl",
    "qos_vlarb_high",
    "qos_vlarb_low",
];

const QOS_SECTIONS: [&str; 5] =
    ["qos-ulps", "port-groups", "qos-setup", "qos-levels", "qos-match-rules"];

const TORUS_KEYS: [&str; 13] = [
    "xp_link",
    "xm_link",
    "x_dateline",
    "yp_link",
    "ym_link",
    "y_dateline",
    "zp_link",
    "zm_link",
    "z_dateline",
    "portgroup_max_ports",
    "port_order",
    "next_seed",
    "max_changes",
];

const BINARY: [(&[u8], &str, &str, &str); 9] = [
    (b"\x89PNG", "foreign-png", "this is a picture (PNG)", DRAWN),
    (b"\xff\xd8\xff", "foreign-jpeg", "this is a picture (JPEG)", DRAWN),
    (b"GIF8", "foreign-gif", "this is a picture (GIF)", DRAWN),
    (b"%PDF", "foreign-pdf", "this is a document (PDF)", DRAWN),
    (
        b"PK\x03\x04",
        "foreign-zip",
        "this is an archive (ZIP), or a workbook of a spreadsheet",
        UNPACK,
    ),
    (b"7z\xbc\xaf", "foreign-7z", "this is an archive (7z)", UNPACK),
    (b"BZh", "foreign-bzip2", "this is compressed with bzip2", "unpack it: `bunzip2 FILE`"),
    (
        b"\x28\xb5\x2f\xfd",
        "foreign-zstd",
        "this is compressed with zstd",
        "unpack it: `unzstd FILE`",
    ),
    (
        b"PAR1",
        "foreign-parquet",
        "this is a table of a run (Parquet)",
        "give the fabric that the run used",
    ),
];

const DRAWN: &str = "give the file that it was drawn from";
const UNPACK: &str = "unpack it, or save the table as CSV";

pub(super) fn binary(bytes: &[u8]) -> Option<FormatError> {
    let (_, code, what, cure) = BINARY.iter().find(|(magic, ..)| bytes.starts_with(magic))?;
    Some(FormatError::whole(*what, *cure).coded(FaultCode::Foreign(code)))
}

pub(super) fn named(text: &str) -> Option<FormatError> {
    let mut lines = text.lines().enumerate();
    lines.find_map(|(index, line)| {
        let line = line.trim();
        let mut kinds = OF_CLUSTERS.iter().chain(&SETTINGS).chain(&OF_OTHER_PROGRAMS);
        let (code, _, what, cure) = kinds.find(|(_, shows, ..)| shows(line))?;
        let error = FormatError::at(count(index + 1), None, *what, *cure);
        Some(error.coded(FaultCode::Foreign(code)))
    })
}

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

fn is_first_word(line: &str, words: &[&str]) -> bool {
    line.split([' ', '\t']).next().is_some_and(|first| words.contains(&first))
}

/// Matches lines with kind, LID, port and GUID, such as `SW    12  3 0x0002c902004173f8 4x QDR - CA
/// ...`.
fn is_port_report(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
    let is_guid = |word: &str| {
        word.strip_prefix("0x")
            .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    match &*words {
        ["SW" | "CA" | "RT", lid, port, guid] => is_number(lid) && is_number(port) && is_guid(guid),
        _ => false,
    }
}

/// Matches lines such as `Default=0x7fff, ipoib : ALL=full;` or
/// `Storage = 0x8002 : 0x2c903, 0x2c904=full;`.
fn is_partition(line: &str) -> bool {
    let line: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    let Some((name, members)) = line.split_once(':') else { return false };
    let has_key = name.contains("=0x") || name.ends_with(",ipoib");
    let is_member =
        |member: &str| ["ALL", "SELF", "0x"].iter().any(|beginning| member.starts_with(beginning));
    has_key && members.trim_end_matches([';', ',']).split(',').all(is_member)
}

/// Matches lines such as `torus 3 3 5` or `mesh 4 4t 8`.
fn is_torus_2qos(line: &str) -> bool {
    let is_radix = |word: &&str| is_number(word.trim_end_matches(['m', 'M', 't', 'T']));
    let mut words = line.split_ascii_whitespace();
    match words.next() {
        Some("torus" | "mesh") => {
            let radices: Vec<&str> = words.take_while(|word| !word.starts_with('#')).collect();
            radices.len() == 3 && radices.iter().all(is_radix)
        }
        _ => is_first_word(line, &TORUS_KEYS),
    }
}

/// Matches lines with two node numbers, a rate, a delay and an error rate, such as `0 256 100Gbps
/// 1000ns 0`.
fn is_link_of_ns3(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    match &*words {
        [from, to, rate, delay, _] => {
            is_number(from) && is_number(to) && rate.ends_with("bps") && delay.ends_with('s')
        }
        _ => false,
    }
}

fn is_table_of_ufm(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let has = |word: &str| line.contains(word);
    line.matches(',').count() >= 3
        && has("guid")
        && (has("source") || has("peer") || has("destination") || has("system"))
        && !line.contains("0x")
}

fn is_json(line: &str) -> bool {
    let inside = line.strip_prefix(['{', '[']).map(str::trim_start);
    inside.is_some_and(|inside| inside.starts_with(['"', '{', '}', ']']) || inside.is_empty())
}

/// Matches lines such as `P1 -> MT23108 H-1 P1`, `L1/P3 -4x-10G-> MTS2400 S-1 P2` or
/// `P1 -> H-1/P1`.
fn is_ibdm_cable(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let is_arrow = |word: &str| word.starts_with('-') && word.ends_with("->") || word == "->";
    match &*words {
        [port, arrow, _, _, far] => is_arrow(arrow) && !port.contains('=') && !far.contains('='),
        [_, arrow, far] => is_arrow(arrow) && far.contains('/'),
        _ => false,
    }
}

pub(super) fn written_only(format: Format) -> FormatError {
    if format == Format::Dot {
        let cure = "give the file that it was drawn from";
        FormatError::whole("a Graphviz drawing cannot be read back", cure)
            .coded(FaultCode::WrittenOnly)
    } else {
        let what = "the settings of a program (`.conf`, `.yaml`) list no ports and cables";
        FormatError::whole(what, "give the output of `ibnetdiscover`, or another file of a fabric")
            .coded(FaultCode::WrittenOnly)
    }
}
