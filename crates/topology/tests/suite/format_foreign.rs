//! Files of other programs are named for what they are, and content decides before the ending.

use gingham_topology::format::{self, Format};

const HTSIM: &str = include_str!("../fixtures/htsim.topo");

#[test]
fn files_of_other_programs_are_named_whatever_their_ending() {
    let cases: [(&str, u32, &str); 19] = [
        (HTSIM, 1, "topology of htsim"),
        ("Nodes 16\nTiers 3\nPodsize 4\n", 2, "topology of htsim"),
        ("Nodes 8\nConnections 8\n0->1 start 0 size 1000\n", 2, "connection matrix of htsim"),
        ("6 2 5\n4 5\n0 4 100Gbps 1000ns 0\n", 3, "ns-3"),
        ("<?xml version=\"1.0\"?>\n<gexf version=\"1.2\">\n", 2, "GEXF"),
        ("<system version=\"1\">\n", 1, "NCCL"),
        ("<?xml version=\"1.0\"?><svg>\n</svg>\n", 1, "SVG"),
        ("<!DOCTYPE html>\n<html></html>\n", 1, "HTML"),
        ("{\n  \"nodes\": []\n}\n", 1, "JSON"),
        ("[{\"a\": 1}]\n", 1, "JSON"),
        ("graph [\n  node [ id 0 ]\n]\n", 1, "GML"),
        ("# a comment\nSwitchName=s0 Nodes=n[0-3]\n", 2, "Slurm"),
        ("guid 0x0\nrouting_engine ftree,updn\n", 2, "opensm.conf"),
        ("Default=0x7fff, ipoib : ALL=full;\n", 1, "partitions.conf"),
        ("qos-ulps\n  default : 0\nend-qos-ulps\n", 1, "quality of service"),
        ("System Name,Source GUID,Source Port,Peer GUID,Peer Port\n", 1, "UFM"),
        ("#  : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Neighbor\n", 1, "net_dump"),
        ("[network]\npreset = \"infiniband-ndr\"\n", 1, "scenario"),
        ("osm_ucast_mgr_dump_ucast_routes: Switch 0x20\n", 1, "forwarding tables"),
    ];
    for (text, line, word) in cases {
        for format in [Format::Ibnetdiscover, Format::Slurm, Format::Toml, Format::Anynet] {
            let faults = format::read(text, format).expect_err(text);
            let first = faults.first();
            assert_eq!((faults.total(), first.line), (1, line), "{format}: {faults}");
            assert!(first.message.contains(word), "{format}: {faults}");
            assert!(!first.expected.is_empty());
        }
        assert!(Format::detect(text).is_none_or(|found| found == Format::Dot), "{text}");
    }
}

#[test]
fn pictures_documents_and_archives_are_named() {
    let cases: [(&[u8], &str); 5] = [
        (b"\x89PNG\r\n\x1a\n\0\0", "PNG"),
        (b"%PDF-1.7\n", "PDF"),
        (b"\xff\xd8\xff\xe0\0", "JPEG"),
        (b"PK\x03\x04\0", "ZIP"),
        (b"PAR1\x15", "Parquet"),
    ];
    for (bytes, word) in cases {
        let error = format::decode(bytes).unwrap_err();
        assert!(error.message.contains(word), "{error}");
    }
}

#[test]
fn content_decides_before_the_ending() {
    let dump = include_str!("../fixtures/plain.ibnetdiscover");
    let cases = [
        (Some("toml"), dump, Some(Format::Ibnetdiscover)),
        (Some("ibsim"), dump, Some(Format::IbnetdiscoverForIbsim)),
        (None, include_str!("../fixtures/links.lst"), Some(Format::Lst)),
        (Some("txt"), "source,target\na,b\n", Some(Format::Csv)),
        (Some("xml"), "<?xml version=\"1.0\"?>\n<graphml>\n</graphml>\n", Some(Format::GraphMl)),
        (Some("topo"), "router 0 node 0\n", Some(Format::Anynet)),
        (Some("toml"), "# nothing tells\n", Some(Format::Toml)),
        (Some("doc"), "nothing tells\n", None),
    ];
    for (ending, text, format) in cases {
        assert_eq!(Format::of_file(ending, text), format, "{ending:?}");
    }
}
