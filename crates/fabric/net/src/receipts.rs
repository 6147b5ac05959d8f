//! Destinations' halves of flows: packets that were received and not yet acknowledged.

use crate::FlowId;
use crate::window::Receipt;

/// Up to the highest flow with a receipt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receipts {
    by_flow: Vec<Receipt>,
}

impl Receipts {
    pub(crate) fn of(&mut self, flow: FlowId) -> &mut Receipt {
        if self.by_flow.len() <= flow.index() {
            self.by_flow.resize(flow.index() + 1, Receipt::default());
        }
        &mut self.by_flow[flow.index()]
    }
}
