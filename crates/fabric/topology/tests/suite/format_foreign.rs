//! Recognition of files of other programs; the content takes precedence over the extension.

use gingham_topology::format::{self, FaultCode, Format};

const HTSIM: &str = include_str!("../fixtures/htsim.topo");

#[test]
fn foreign_files_are_identified_by_content() {
    let cases: [(&str, u32, &str); 32] = [
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
        ("---\n- topology: tree\n  tree:\n", 2, "Slurm"),
        ("guid 0x0\nrouting_engine ftree,updn\n", 2, "opensm.conf"),
        ("Default=0x7fff, ipoib : ALL=full;\n", 1, "partitions.conf"),
        ("qos-ulps\n  default : 0\nend-qos-ulps\n", 1, "quality of service"),
        ("System Name,Source GUID,Source Port,Peer GUID,Peer Port\n", 1, "UFM"),
        ("#  : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Neighbor\n", 1, "net_dump"),
        (
            "\"MF0;leaf01:MQM9700/U1\", Mellanox, 0x1, LID 10\n# : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC : RTR\n",
            2,
            "net_dump",
        ),
        (
            "Ty : # : #IB : GUID : LID : Sta : PhysSta : LWA : LSA : Conn LID (#)\nSW : sw1p1 : 1\n",
            1,
            "net_dump",
        ),
        ("Vendor      : Ty : #  : Sta : LID  : LMC : MTU  : LWA : LSA : Port GUID\n", 1, "OpenSM"),
        (
            "CA: n01 HCA-1:\n  0x0002c90300002779  4  1[  ] ==( 4X 5.0 Gbps Active/  LinkUp)==>  3  1[  ] \"n02\" ( )\n",
            2,
            "iblinkinfo",
        ),
        (
            "SW    12  3 0x0002c902004173f8 4x QDR - CA     4  1 0x0002c90300002779 ( 'a' - 'b' )\n",
            1,
            "ibnetdiscover -p",
        ),
        ("Storage = 0x8002 : 0x2c90300002779, 0x2c90300002f79=full;\n", 1, "partitions.conf"),
        ("qos-setup\nend-qos-setup\n", 1, "quality of service"),
        ("qos TRUE\nmax_op_vls 4\n", 2, "opensm.conf"),
        ("# a comment\ntorus 4 4t 5 # wraps\nxp_link 0x1 0x2\n", 2, "torus-2QoS.conf"),
        ("x_dateline 1\n", 1, "torus-2QoS.conf"),
        (
            "rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort\n",
            1,
            "NDT",
        ),
        ("source_guid,source_port,destination_guid,destination_port\n", 1, "UFM"),
        ("[network]\npreset = \"infiniband-ndr\"\n", 1, "scenario"),
        ("osm_ucast_mgr_dump_ucast_routes: Switch 0x20\n", 1, "forwarding tables"),
    ];
    for (text, line, word) in cases {
        for format in [Format::Ibnetdiscover, Format::Slurm, Format::Toml, Format::Anynet] {
            let faults = format::read(text, format).expect_err(text);
            let first = faults.first();
            assert_eq!((faults.total(), first.line), (1, line), "{format}: {faults}");
            assert!(first.message.contains(word), "{format}: {faults}");
            assert!(matches!(first.code, FaultCode::Foreign(_)), "{format}: {:?}", first.code);
            assert!(first.code.name().starts_with("foreign-"));
            assert!(!first.expected.is_empty());
        }
        assert!(Format::detect(text).is_none_or(|found| found == Format::Dot), "{text}");
    }
}

#[test]
fn similar_lines_are_not_identified_as_foreign() {
    let lines = [
        "SW stands for switch",
        "CA 12 of 0x3 ports",
        "torus of 4 4 5 switches",
        "mesh 3 3",
        "key=0x7fff: nothing",
        "StartDevice EndDevice",
    ];
    for line in lines {
        let faults = format::read(&format!("{line}\n"), Format::Anynet).expect_err(line);
        assert_eq!(faults.first().code, FaultCode::Syntax, "{line}: {faults}");
    }
}

#[test]
fn each_refusal_has_its_error_code() {
    let code = |text: &str, format| format::read(text, format).expect_err(text).first().code.name();
    assert_eq!(code(" \n", Format::Toml), "file-empty");
    assert_eq!(code("# nothing\n", Format::Toml), "file-without-content");
    assert_eq!(code("router 0 node\n", Format::Anynet), "file-syntax");
    assert_eq!(code("a\0b", Format::Csv), "file-binary");
    assert_eq!(code("digraph {}\n", Format::Dot), "file-write-only");
    let dump = include_str!("../fixtures/plain.ibnetdiscover");
    let cut = &dump[..dump.trim_end().len() - 10];
    assert_eq!(code(cut, Format::Ibnetdiscover), "file-truncated");
    let twice = "[[switch]]\nname = \"a\"\nports = 1\n[[switch]]\nname = \"a\"\nports = 1\n";
    assert_eq!(code(twice, Format::Toml), "file-contradiction");
    let encoded = format::decode(&[0xff, 0xfe, b'a', 0]).unwrap_err();
    assert_eq!(encoded.code.name(), "file-encoding");
}

#[test]
fn binary_file_types_are_identified() {
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
        assert!(matches!(error.code, FaultCode::Foreign(_)), "{error}");
    }
}

#[test]
fn content_takes_precedence_over_the_extension() {
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
