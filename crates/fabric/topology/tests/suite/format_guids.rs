//! GUIDs in every common spelling: with `0x` and without.

use gingham_topology::format::{self, Format};
use gingham_topology::{Fabric, Guid};

const BACK_TO_BACK: &str = include_str!("../fixtures/adapter-to-adapter.ibnetdiscover");
const PLAIN: &str = include_str!("../fixtures/plain.ibnetdiscover");

fn read(text: &str) -> Fabric {
    format::read(text, Format::Ibnetdiscover).expect("the dump reads").fabric
}

#[test]
fn two_adapters_back_to_back_are_read() {
    let fabric = read(BACK_TO_BACK);
    let guids: Vec<_> = fabric.nodes().iter().map(|node| node.guid).collect();
    assert_eq!(guids, [0xa088_c203_00ab_0000, 0xa088_c203_00bb_0000].map(|guid| Some(Guid(guid))));
    let port_guid = |node: usize| fabric.nodes()[node].addresses[&1].guid;
    assert_eq!(port_guid(0), Some(Guid(0xa088_c203_00ab_0001)));
    assert_eq!(port_guid(1), Some(Guid(0xa088_c203_00bb_0001)));
    assert_eq!(fabric.cables().len(), 1);
    assert_eq!(fabric.cables()[0].speed.map(|speed| speed.to_string()).as_deref(), Some("4xEDR"));
}

#[test]
fn two_spellings_of_one_guid_are_one_device() {
    let record = "Ca\t1 \"H-a088c20300bb0000\"\t\t# \"node-b mlx5_0\"\n\
                  [1](a088c20300bb0001) \t\"H-a088c20300ab0000\"[1](0xa088c20300ab0001)\t\t# lid 2 lmc 0 \"node-a mlx5_0\" lid 1 4xEDR\n";
    let reading =
        format::read(&format!("{BACK_TO_BACK}\n{record}"), Format::Ibnetdiscover).unwrap();
    assert_eq!((reading.fabric.nodes().len(), reading.fabric.cables().len()), (2, 1));
    assert_eq!(reading.findings, []);
}

#[test]
fn hexadecimal_prefix_of_a_guid_is_optional() {
    let whole = read(PLAIN);
    let prefixed = PLAIN
        .replace("](", "](0x")
        .replace("] (", "] (0x")
        .replace("\"S-", "\"S-0x")
        .replace("\"H-", "\"H-0X");
    assert_ne!(prefixed, PLAIN);
    assert_eq!(read(&prefixed), whole);
}

#[test]
fn non_decimal_identity_without_prefix_is_hexadecimal() {
    let guid = |value: &str| {
        let text = format!("vendid=0x2c9\nswitchguid={value}\nSwitch\t4 \"Sw1\"\n");
        read(&text).nodes()[0].guid
    };
    assert_eq!(guid("0x10"), Some(Guid(0x10)));
    assert_eq!(guid("1a"), Some(Guid(0x1a)));
    assert_eq!(guid("0002900200417670"), Some(Guid(0x0002_9002_0041_7670)));
    assert_eq!(guid("10(0x11)"), Some(Guid(10)), "as ibsim has it");
}
