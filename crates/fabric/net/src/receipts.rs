//! State of flows at their destinations: received packets not yet acknowledged.

use crate::FlowId;
use crate::window::Receipt;

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
