//! Written files of any fabric read back to the same fabric.

use crate::format_fabrics::{any_fabric, dumpable_fabric};
use gingham_topology::format::{self, Format};
use gingham_topology::{Fabric, FabricBuilder, NodeKind, numbering};
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #[test]
    fn toml_round_trips_every_fabric(fabric in any_fabric()) {
        let written = format::write(&fabric, Format::Toml).unwrap();
        prop_assert_eq!(written.notes, Vec::<String>::new());
        let back = format::read(&written.text, Format::Toml).unwrap();
        prop_assert_eq!(back.fabric, fabric);
        prop_assert_eq!(back.findings, []);
    }

    #[test]
    fn dump_round_trips_every_expressible_fabric(fabric in dumpable_fabric()) {
        let written = format::write(&fabric, Format::Ibnetdiscover).unwrap();
        prop_assert_eq!(written.notes, Vec::<String>::new());
        let back = format::read(&written.text, Format::Ibnetdiscover).unwrap();
        prop_assert_eq!(back.findings, []);
        prop_assert_eq!(back.fabric, fabric);
    }

    #[test]
    fn dump_of_any_fabric_reads_back_and_notes_the_losses(
        fabric in any_fabric(),
        format in prop_oneof![Just(Format::Ibnetdiscover), Just(Format::IbnetdiscoverForIbsim)],
    ) {
        let written = format::write(&fabric, format).unwrap();
        let back = format::read(&written.text, format).unwrap();
        prop_assert_eq!(back.findings, []);
        prop_assert_eq!(back.fabric.cables().len(), fabric.cables().len());
        if written.notes.is_empty() {
            prop_assert_eq!(&back.fabric, &fabric);
        }
        let again = format::write(&back.fabric, format).unwrap();
        prop_assert_eq!(format::read(&again.text, format).unwrap().fabric, back.fabric);
    }

    #[test]
    fn ibsim_lines_fit_its_buffer_and_have_only_known_options(fabric in any_fabric()) {
        const LINE_BYTES_MAX: usize = 254;
        let written = format::write(&fabric, Format::IbnetdiscoverForIbsim).unwrap();
        for line in written.text.lines() {
            prop_assert!(line.len() <= LINE_BYTES_MAX, "{line}");
            if line.starts_with('[') {
                let (before, after) = line.split_once('#').unwrap();
                prop_assert!(!after.contains('='), "{line}");
                prop_assert!(before.split(' ').filter(|w| w.contains('=')).all(|w| {
                    w.starts_with("s=") || w.starts_with("w=")
                }), "{line}");
            }
        }
    }

    #[test]
    fn anynet_keeps_connected_pairs(fabric in numbered_fabric()) {
        let Ok(written) = format::write(&fabric, Format::Anynet) else {
            prop_assert_eq!(fabric.cables(), []);
            return Ok(());
        };
        let back = format::read(&written.text, Format::Anynet).unwrap();
        prop_assert_eq!(back.findings, []);
        let is_kept = !written.notes.iter().any(|note| note.starts_with("GUIDs"));
        let is_idle = written.notes.iter().any(|note| note.starts_with("switches without"));
        prop_assert!(is_kept || is_idle);
        if is_kept {
            prop_assert_eq!(pairs(&back.fabric), pairs(&fabric));
        }
        prop_assert_eq!(pairs(&back.fabric).len(), pairs(&fabric).len());
        prop_assert_eq!(
            back.fabric.cables().len() == fabric.cables().len(),
            !written.notes.iter().any(|note| note.contains("same two switches"))
        );
    }

    #[test]
    fn dot_quotes_are_balanced_for_any_names(fabric in any_fabric()) {
        let text = format::write(&fabric, Format::Dot).unwrap().text;
        for line in text.lines() {
            let marks = line.replace("\\\\", "").replace("\\\"", "").matches('"').count();
            prop_assert_eq!(marks % 2, 0, "{}", line);
        }
        prop_assert_eq!(format::read(&text, Format::Dot).unwrap_err().first().line, 0);
    }
}

/// GUIDs of the numbering, each host at one switch, in a random order of insertion.
fn numbered_fabric() -> impl Strategy<Value = Fabric> {
    let switches = (1..6_u64).prop_map(|count| 0..count);
    let hosts = proptest::collection::vec(any::<usize>(), 0..8);
    let trunks = proptest::collection::vec((any::<usize>(), any::<usize>()), 0..10);
    (switches, hosts, trunks).prop_map(|(switches, hosts, trunks)| {
        let mut builder = FabricBuilder::new();
        let switches: Vec<_> = switches
            .into_iter()
            .map(|n| {
                let (name, guid) = (numbering::switch_name(n), numbering::switch_guid(n));
                builder.add_plain(NodeKind::Switch, &name, guid, 40)
            })
            .collect();
        for (a, b) in trunks {
            let [a, b] = [a, b].map(|index| index % switches.len());
            if a != b {
                builder.join(switches[a], switches[b]).expect("there are 40 ports");
            }
        }
        for (n, index) in (0..).zip(hosts) {
            let (name, guid) = (numbering::host_name(n), numbering::host_guid(n));
            let host = builder.add_plain(NodeKind::Host, &name, guid, 1);
            builder.join(host, switches[index % switches.len()]).expect("there are 40 ports");
        }
        builder.build()
    })
}

fn pairs(fabric: &Fabric) -> BTreeSet<[String; 2]> {
    let name = |end: gingham_topology::PortRef| fabric.node(end.node).name.clone();
    fabric.cables().iter().map(|cable| cable.ends.map(name)).collect()
}
