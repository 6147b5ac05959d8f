//! Network file of BookSim's `anynet` topology: neighbours by number.
//!
//! ```text
//!   router 0 node 0 node 1 router 1        router 0 has nodes 0 and 1 and a cable to router 1
//!   router 1 node 2 node 3 router 2 15     router 1 has a cable of 15 cycles to router 2
//!   node 4 router 2                        node 4 has a cable to router 2
//! ```
//!
//! Source: BookSim 2, `src/networks/anynet.cpp`. Neighbouring routers are joined by one channel in
//! each direction, even if listed repeatedly. Each node is joined to exactly one router.
//!
//! A number after a neighbour is the channel latency in BookSim cycles. The first cycle is the
//! transmission of the flit, and each further cycle becomes one metre of cable ([`MM_PER_CYCLE`]),
//! because fabrics have no clock. Channels without a number have a latency of one cycle, as in
//! BookSim; in files without any numbers, cable lengths are unknown.
//!
//! Router `n` becomes switch `s{n}` and node `n` becomes host `h{n}`, with the GUIDs of
//! [`crate::numbering`]. Ports follow the order of appearance.

mod read;
mod write;

pub(super) use read::read;
pub(super) use write::write;

const MM_PER_CYCLE: u64 = 1_000;

/// Maximum latency in cycles: 1,000 km of cable.
const CYCLES_MAX: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FabricBuilder, FindingKind, Guid, NodeKind};
    use gingham_kernel::Length;

    fn links(text: &str) -> Vec<String> {
        let fabric = read(text).unwrap().fabric;
        let cables = fabric.cables().iter();
        cables.map(|cable| cable.ends.map(|end| fabric.port_name(end)).join(" ")).collect()
    }

    #[test]
    fn ports_are_numbered_by_order_of_appearance() {
        let text = "router 0 node 1 node 0 router 1\nrouter 1 node 2 router 0\n";
        assert_eq!(links(text), ["s0[1] h1[1]", "s0[2] h0[1]", "s0[3] s1[1]", "s1[2] h2[1]"]);
        let fabric = read(text).unwrap().fabric;
        assert_eq!(fabric.nodes()[0].guid, Some(Guid(0x5000_0000_0000)));
        assert_eq!(fabric.nodes()[2].guid, Some(Guid(0x4000_0000_0000)));
        assert_eq!(fabric.nodes()[0].ports, 3);
    }

    #[test]
    fn latencies_become_cable_lengths_with_one_cycle_default() {
        let text = "node 0 router 0\nrouter 0\trouter 1 15  router 2 7\nrouter 2 router 0\n";
        let reading = read(text).unwrap();
        let lengths: Vec<_> = reading.fabric.cables().iter().map(|cable| cable.length).collect();
        assert_eq!(lengths, [0, 14, 6].map(|metres| Some(Length::from_mm(1_000 * metres))));
        let [note, differ] = &*reading.findings else { panic!("two: {:?}", reading.findings) };
        assert_eq!((differ.line, differ.kind), (Some(2), FindingKind::Assumption));
        assert!(differ.text.contains("from 7 to 15 cycles"), "{differ}");
        assert_eq!((note.line, note.kind), (Some(2), FindingKind::Assumption));
        assert_eq!(
            note.text,
            "2 latencies are lengths of cables, 1 m for each cycle after the first; cables without \
             one have 0 m"
        );
        let written = write(&reading.fabric).unwrap();
        assert_eq!(written.notes, Vec::<String>::new());
        assert_eq!(read(&written.text).unwrap().fabric, reading.fabric);
    }

    #[test]
    fn lengths_are_unknown_without_any_latency() {
        let reading = read("node 0 router 3\nrouter 3 router 4\n").unwrap();
        assert!(reading.fabric.cables().iter().all(|cable| cable.length.is_none()));
        assert_eq!(reading.findings, []);
    }

    #[test]
    fn latencies_of_both_directions_must_agree() {
        let reading =
            read("router 0 router 1\nrouter 1 router 0 7\nrouter 0 router 1 9\n").unwrap();
        assert_eq!(reading.fabric.cables()[0].length, Some(Length::from_mm(6_000)));
        let found: Vec<_> = reading.findings.iter().map(|found| (found.line, found.kind)).collect();
        let expected = [(Some(3), FindingKind::Disagreement), (Some(2), FindingKind::Assumption)];
        assert_eq!(found, expected);
    }

    #[test]
    fn lengths_without_whole_latency_are_omitted_with_a_note() {
        let mut builder = FabricBuilder::new();
        let ends = [0, 1].map(|n| builder.add_plain(NodeKind::Switch, &n.to_string(), Guid(n), 1));
        let half = Some(Length::from_mm(1_500));
        builder.add_cable(ends.map(|end| (end, 1)), None, half).unwrap();
        let written = write(&builder.build()).unwrap();
        assert!(written.notes.contains(&"lengths of cables left out: 1".to_owned()));
    }

    #[test]
    fn node_at_two_routers_is_a_finding_and_keeps_the_first() {
        let reading = read("router 0 node 0\nrouter 1 node 0 router 0 router 1\n").unwrap();
        let found: Vec<_> =
            reading.findings.iter().map(|finding| (finding.line, finding.kind)).collect();
        assert_eq!(
            found,
            [(Some(2), FindingKind::Disagreement), (Some(2), FindingKind::Disagreement)],
            "a second router, and a router joined to itself"
        );
        assert_eq!(reading.fabric.cables().len(), 2);
    }

    #[test]
    fn invalid_anynet_text_is_refused_with_its_position() {
        let place = |text| {
            let error = read(text).expect_err(text).first().clone();
            (error.line, error.column)
        };
        assert_eq!(place("router 0 node 0\nrooter 1"), (2, Some(1)));
        assert_eq!(place("router 0 node x"), (1, Some(15)));
        assert_eq!(place("router 0 node"), (1, Some(14)));
        assert_eq!(place("node 0 node 1"), (1, Some(8)));
        assert_eq!(place("router 99999999999999999999"), (1, Some(8)));
        assert_eq!(place("router 0 5"), (1, Some(10)));
        assert_eq!(place("router 0 router 1 0"), (1, Some(19)));
        assert_eq!(place("router 0 router 1 1000001"), (1, Some(19)));
    }
}
