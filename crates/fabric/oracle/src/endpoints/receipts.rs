//! Packets at the destination of a flow, and their acknowledgements (`timing.md`, "Flows").

use gingham_kernel::Time;
use gingham_net::{Acknowledged, FlowId};

#[derive(Clone, Debug, Default)]
pub(super) struct Receipts {
    /// Flow of each arrived packet, in order, and whether the packet was marked.
    arrived: Vec<(FlowId, bool)>,
    /// Flow, number of packets that had arrived, and time of each acknowledgement.
    acknowledged: Vec<(FlowId, usize, Time)>,
}

impl Receipts {
    pub(super) fn arrive(
        &mut self,
        flow: FlowId,
        is_marked: bool,
        acknowledged: Acknowledged,
        now: Time,
    ) -> Option<(u32, u32)> {
        self.arrived.push((flow, is_marked));
        let of_flow = self.arrived.iter().filter(|(of, _)| *of == flow);
        let marks: Vec<bool> = of_flow.map(|(_, is_marked)| *is_marked).collect();
        let last = self.acknowledged.iter().rev().find(|(of, ..)| *of == flow);
        let covered: &[bool] = match acknowledged {
            Acknowledged::All => &marks[marks.len() - 1..],
            Acknowledged::Every(packets) => {
                let open = &marks[last.map_or(0, |(_, count, _)| *count)..];
                if open.len() >= packets as usize { open } else { &[] }
            }
            Acknowledged::Marked(gap) => {
                let is_due = last.is_none_or(|(.., at)| *at + gap <= now);
                if is_due && is_marked { &[true] } else { &[] }
            }
        };
        let marked = covered.iter().filter(|is_marked| **is_marked).count();
        let counts = [covered.len(), marked].map(|count| u32::try_from(count).expect("packets"));
        if covered.is_empty() {
            return None;
        }
        self.acknowledged.push((flow, marks.len(), now));
        Some((counts[0], counts[1]))
    }
}
