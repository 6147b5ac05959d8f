//! The network file of BookSim's `anynet` topology: who is joined, by number.
//!
//! ```text
//!   router 0 node 0 node 1 router 1        router 0 has nodes 0 and 1 and a cable to router 1
//!   router 1 node 2 node 3 router 2 15     and one of latency 15 to router 2
//!   node 4 router 2                        the same the other way round
//! ```
//!
//! Source: BookSim 2, `src/networks/anynet.cpp`. A pair of routers that either of them lists
//! is joined by one channel in each direction, however often it is listed; a node belongs to
//! one router; nodes are not joined to nodes. A number after a neighbour is a latency in
//! cycles of BookSim's clock; a fabric has no such clock, so latencies are passed over with a
//! note.
//!
//! Router `n` becomes switch `s{n}` and node `n` host `h{n}`, with the GUIDs of
//! [`crate::numbering`]; ports are numbered by order of appearance.

mod read;
mod write;

pub(super) use read::read;
pub(super) use write::write;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FindingKind, Guid};

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
    fn either_side_may_list_a_link_and_latencies_are_passed_over() {
        let reading = read("node 0 router 3\nrouter 3\trouter 4 15  router 5 7\n").unwrap();
        assert_eq!(reading.fabric.cables().len(), 3);
        assert_eq!(reading.findings.len(), 1);
        let note = &reading.findings[0];
        assert_eq!((note.line, note.kind), (Some(2), FindingKind::Ignored));
        assert!(note.text.ends_with("another clock: 2"), "{}", note.text);
    }

    #[test]
    fn a_node_at_two_routers_is_a_finding_and_keeps_the_first() {
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
    fn nonsense_is_refused_with_its_place() {
        let place = |text| {
            let error = read(text).expect_err(text);
            (error.line, error.column)
        };
        assert_eq!(place("router 0 node 0\nrooter 1"), (2, Some(1)));
        assert_eq!(place("router 0 node x"), (1, Some(15)));
        assert_eq!(place("router 0 node"), (1, Some(14)));
        assert_eq!(place("node 0 node 1"), (1, Some(8)));
        assert_eq!(place("router 99999999999999999999"), (1, Some(8)));
        assert_eq!(place("router 0 5"), (1, Some(10)));
    }
}
