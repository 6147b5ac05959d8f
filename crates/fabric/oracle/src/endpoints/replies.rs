//! Replies and their think times (`timing.md`, "Replies").

use gingham_kernel::Time;
use gingham_topology::EndpointId;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reply {
    pub(super) source: usize,
    pub(super) endpoint: EndpointId,
    pub(super) destination: EndpointId,
    pub(super) at: Time,
}

/// Pending replies, in the delivery order of the original messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Replies(Vec<Reply>);

impl Replies {
    pub(super) fn expect(&mut self, reply: Reply) {
        self.0.push(reply);
    }

    /// Removes and returns due replies, ordered by time and then by delivery of the original
    /// message.
    pub(super) fn take_due(&mut self, endpoint: EndpointId, now: Time) -> Vec<Reply> {
        let is_due = |reply: &Reply| reply.endpoint == endpoint && reply.at <= now;
        let mut due: Vec<Reply> = self.0.iter().copied().filter(is_due).collect();
        self.0.retain(|reply| !is_due(reply));
        due.sort_by_key(|reply| reply.at);
        due
    }
}
