//! Routes that do not arrive.
//!
//! ```text
//!   s0 ──► s1 ──► s2        entries for h5 lead back to s0: a loop
//!    ▲────────────┘
//!   s3 ──► s4 ──?           s4 has no entry for h5: a black hole
//! ```
//!
//! Only tables read from a running fabric can have faults. A pair in different connected components
//! is not a fault.

use super::graph::{Attachment, SwitchGraph};
use super::routes::{Routes, Walk};
use super::table_routes::WalkEnd;
use crate::{ChannelId, EndpointId, Fabric, NodeId};
use std::collections::BTreeMap;

/// Fate of the packets between all ordered pairs of endpoints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// Number of pairs whose packets arrive.
    pub arrived_pairs: u64,
    /// Number of pairs without a physical path.
    pub unreachable_pairs: u64,
    /// Faults by destination and then by location.
    pub faults: Vec<RouteFault>,
}

/// Packets to one destination that fail at one location for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RouteFault {
    /// Type and location of the failure.
    pub stray: Stray,
    /// Destination.
    pub to: EndpointId,
    /// One of the affected sources.
    pub from: EndpointId,
    /// Number of affected sources.
    pub sources: u64,
}

/// Reason why packets do not arrive.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stray {
    /// Channels of a loop, starting with the lowest-numbered.
    Loop(Vec<ChannelId>),
    /// Switch without an entry for the destination.
    NoEntry(NodeId),
    /// Table entry that names an uncabled port.
    Uncabled {
        /// Switch of the entry.
        switch: NodeId,
        /// Port of the entry.
        port: u16,
    },
    /// Wrong endpoint that receives the packets.
    WrongEndpoint(EndpointId),
}

impl RouteFault {
    /// Describes the fault in one sentence.
    pub fn describe(&self, fabric: &Fabric) -> String {
        let to = fabric.endpoint_name(self.to);
        let place = match &self.stray {
            Stray::Loop(channels) => {
                let names: Vec<_> =
                    channels.iter().map(|channel| fabric.channel_name(*channel)).collect();
                format!("go round for ever: {}", names.join(", "))
            }
            Stray::NoEntry(switch) => {
                format!("are lost at {}, which has no entry for it", fabric.node(*switch).name)
            }
            Stray::Uncabled { switch, port } => {
                let name = &fabric.node(*switch).name;
                format!("are lost at {name}, whose entry names port {port}, which has no cable")
            }
            Stray::WrongEndpoint(endpoint) => {
                format!("end at {} instead", fabric.endpoint_name(*endpoint))
            }
        };
        let (from, sources) = (fabric.endpoint_name(self.from), self.sources);
        let noun = if sources == 1 { "source" } else { "sources" };
        format!("packets for {to} {place} ({sources} {noun}, one of them {from})")
    }
}

impl Routes {
    /// Follows the packets of every ordered pair of endpoints.
    pub fn trace(&self, fabric: &Fabric) -> Trace {
        let graph = SwitchGraph::new(fabric);
        let islands = graph.islands();
        let peers = fabric
            .endpoint_ids()
            .filter(|endpoint| matches!(graph.attachment(*endpoint), Attachment::Peer(_)));
        let mut arrived_pairs = peers.count() as u64;
        let mut strays: BTreeMap<(EndpointId, Stray), (EndpointId, u64)> = BTreeMap::new();
        self.walk_all(fabric, &graph, |walk| {
            let from = walk.senders(&graph).next().expect("a walk has senders");
            let sources = walk.sender_count(&graph);
            match stray(walk) {
                None => arrived_pairs += sources,
                Some(stray) if is_fault(&graph, &islands, walk, &stray) => {
                    strays.entry((walk.to, stray)).or_insert((from, 0)).1 += sources;
                }
                Some(_) => {}
            }
        });
        let faults: Vec<_> = strays
            .into_iter()
            .map(|((to, stray), (from, sources))| RouteFault { stray, to, from, sources })
            .collect();
        let endpoints = graph.endpoint_count() as u64;
        let strayed: u64 = faults.iter().map(|fault| fault.sources).sum();
        let unreachable_pairs = endpoints * endpoints.saturating_sub(1) - arrived_pairs - strayed;
        Trace { arrived_pairs, unreachable_pairs, faults }
    }
}

/// Returns whether a failure is a fault; loops always are, other failures only between connected
/// endpoints.
fn is_fault(graph: &SwitchGraph, islands: &[NodeId], walk: &Walk<'_>, stray: &Stray) -> bool {
    let Attachment::Switch(last) = graph.attachment(walk.to) else {
        unreachable!("walks lead to endpoints on switches");
    };
    matches!(stray, Stray::Loop(_)) || islands[walk.source.index()] == islands[last.index()]
}

fn stray(walk: &Walk<'_>) -> Option<Stray> {
    Some(match walk.end {
        WalkEnd::Arrived => return None,
        WalkEnd::NoEntry(switch) => Stray::NoEntry(switch),
        WalkEnd::Uncabled(at) => Stray::Uncabled { switch: at.node, port: at.port },
        WalkEnd::WrongEndpoint(endpoint) => Stray::WrongEndpoint(endpoint),
        WalkEnd::Loop => Stray::Loop(closed_part(walk.channels)),
    })
}

fn closed_part(channels: &[ChannelId]) -> Vec<ChannelId> {
    let (last, before) = channels.split_last().expect("a loop has channels");
    let first = before.iter().position(|channel| channel == last);
    let mut part = before[first.expect("a loop closes on itself")..].to_vec();
    let lowest = (0..part.len()).min_by_key(|place| part[*place]);
    part.rotate_left(lowest.expect("a loop has channels"));
    part
}
