//! View of a fabric for routing: switches, the channels between them, and their endpoints.
//!
//! ```text
//!   h0 ─┐                ┌─ h2      switches    s0, s1
//!       s0 ═══ two ═══ s1           steps       s0 -> s1 twice, s1 -> s0 twice
//!   h1 ─┘    cables      └─ h3      residents   s0: h0, h1   s1: h2, h3
//! ```
//!
//! Cables from a switch to itself are left out.
//!
//! Invariants: the hops of a switch are in port order; the reverse channel of a hop is a hop from
//! [`Hop::to`].

use crate::{ChannelId, EndpointId, Fabric, NodeId};
use std::collections::VecDeque;

pub(crate) const UNREACHED: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hop {
    pub(crate) channel: ChannelId,
    pub(crate) to: NodeId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attachment {
    Switch(NodeId),
    Peer(EndpointId),
}

#[derive(Debug)]
pub(crate) struct SwitchGraph {
    first: Vec<usize>,
    steps: Vec<Hop>,
    attachments: Vec<Attachment>,
    ejections: Vec<ChannelId>,
    is_host: Vec<bool>,
    residents: Vec<Vec<EndpointId>>,
    /// By switch: management port 0, never a destination of routes.
    ports_0: Vec<Option<EndpointId>>,
    host_counts: Vec<u32>,
}

/// Returns the indices of numbers other than `none`, by descending number and then by ascending
/// index. Uses a counting sort, because hop counts are small.
pub(crate) fn largest_first(numbers: &[u32], none: u32) -> Vec<usize> {
    let counted = || numbers.iter().enumerate().filter(|(_, number)| **number != none);
    let Some(largest) = counted().map(|(_, number)| *number).max() else { return Vec::new() };
    let mut places = vec![0; largest as usize + 2];
    for (_, number) in counted() {
        places[(largest - number) as usize + 1] += 1;
    }
    for number in 1..places.len() {
        places[number] += places[number - 1];
    }
    let mut order = vec![0; places[places.len() - 1]];
    for (place, number) in counted() {
        let next = &mut places[(largest - number) as usize];
        order[*next] = place;
        *next += 1;
    }
    order
}

pub(crate) fn attachment(fabric: &Fabric, endpoint: EndpointId) -> Attachment {
    let peer_end = fabric.target(fabric.endpoint_channel(endpoint));
    match fabric.endpoint_at(peer_end) {
        Some(peer) => Attachment::Peer(peer),
        None => Attachment::Switch(peer_end.node),
    }
}

impl SwitchGraph {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let switch_count = fabric.switches().len();
        let (mut first, mut steps) = (vec![0], Vec::new());
        for switch in fabric.switches() {
            steps.extend(cabled_hops(fabric, switch));
            first.push(steps.len());
        }
        let attachments: Vec<_> =
            fabric.endpoint_ids().map(|endpoint| attachment(fabric, endpoint)).collect();
        let is_host: Vec<_> =
            fabric.endpoint_ids().map(|endpoint| fabric.is_host_endpoint(endpoint)).collect();
        let mut residents = vec![Vec::new(); switch_count];
        let mut host_counts = vec![0; switch_count];
        for endpoint in fabric.endpoint_ids() {
            if let Attachment::Switch(switch) = attachments[endpoint.index()]
                && !fabric.is_port_0(endpoint)
            {
                residents[switch.index()].push(endpoint);
                host_counts[switch.index()] += u32::from(is_host[endpoint.index()]);
            }
        }
        let ejections = fabric
            .endpoint_ids()
            .map(|endpoint| Fabric::reverse(fabric.endpoint_channel(endpoint)))
            .collect();
        let ports_0 = fabric.switches().map(|switch| fabric.port_0(switch)).collect();
        Self { first, steps, attachments, ejections, is_host, residents, ports_0, host_counts }
    }

    pub(crate) fn switch_count(&self) -> usize {
        self.residents.len()
    }

    pub(crate) fn switches(
        &self,
    ) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        NodeId::first(self.switch_count())
    }

    pub(crate) fn hops_from(&self, switch: NodeId) -> &[Hop] {
        &self.steps[self.first[switch.index()]..self.first[switch.index() + 1]]
    }

    pub(crate) fn hop_count(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn attachment(&self, endpoint: EndpointId) -> Attachment {
        self.attachments[endpoint.index()]
    }

    pub(crate) fn ejection(&self, endpoint: EndpointId) -> ChannelId {
        self.ejections[endpoint.index()]
    }

    pub(crate) fn is_host(&self, endpoint: EndpointId) -> bool {
        self.is_host[endpoint.index()]
    }

    pub(crate) fn endpoint_count(&self) -> usize {
        self.attachments.len()
    }

    /// Returns the endpoints of a switch in canonical order, without port 0.
    pub(crate) fn residents(&self, switch: NodeId) -> &[EndpointId] {
        &self.residents[switch.index()]
    }

    pub(crate) fn senders(&self, switch: NodeId) -> impl Iterator<Item = EndpointId> + Clone + '_ {
        self.residents(switch).iter().copied().chain(self.ports_0[switch.index()])
    }

    pub(crate) fn has_senders(&self, switch: NodeId) -> bool {
        self.senders(switch).next().is_some()
    }

    pub(crate) fn host_count(&self, switch: NodeId) -> u32 {
        self.host_counts[switch.index()]
    }

    /// Returns the number of hops from every switch to `target`, or [`UNREACHED`].
    pub(crate) fn distances(&self, target: NodeId) -> Vec<u32> {
        let mut hops = vec![UNREACHED; self.switch_count()];
        hops[target.index()] = 0;
        let mut queue = VecDeque::from([target]);
        while let Some(near) = queue.pop_front() {
            for step in self.hops_from(near) {
                if hops[step.to.index()] == UNREACHED {
                    hops[step.to.index()] = hops[near.index()] + 1;
                    queue.push_back(step.to);
                }
            }
        }
        hops
    }

    pub(crate) fn islands(&self) -> Vec<NodeId> {
        let mut island = vec![None; self.switch_count()];
        for lowest in self.switches() {
            if island[lowest.index()].is_some() {
                continue;
            }
            for (switch, hops) in self.distances(lowest).into_iter().enumerate() {
                if hops != UNREACHED {
                    island[switch] = Some(lowest);
                }
            }
        }
        island.into_iter().map(|lowest| lowest.expect("a switch reaches itself")).collect()
    }
}

/// Returns the highest cabled port plus 1.
pub(crate) fn ports_in_use(fabric: &Fabric, node: NodeId) -> usize {
    let port = |channel| usize::from(fabric.source(channel).port);
    1 + fabric.channels_from(node).map(port).max().unwrap_or(0)
}

fn cabled_hops(fabric: &Fabric, switch: NodeId) -> impl Iterator<Item = Hop> {
    fabric
        .channels_from(switch)
        .map(|channel| Hop { channel, to: fabric.target(channel).node })
        .filter(move |step| fabric.node(step.to).is_switch() && step.to != switch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_first_orders_ties_by_lowest_index() {
        assert_eq!(largest_first(&[2, UNREACHED, 0, 5, 2], UNREACHED), [3, 0, 4, 2]);
        assert_eq!(largest_first(&[9, 9], 9), [0; 0]);
        assert_eq!(largest_first(&[], 0), [0; 0]);
    }
}
