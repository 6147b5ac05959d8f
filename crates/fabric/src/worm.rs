//! Worms under way, and the way ahead of them.

use gingham_kernel::id_type;
use gingham_model::{Message, Plan};
use gingham_topology::routing::Routes;
use gingham_topology::{ChannelId, NodeId};

id_type!(
    /// A worm under way; reused once it was delivered.
    WormId
);

/// A message on its way as one worm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worm {
    pub(crate) message: Message,
    /// The switch of its source, where its route begins; a host on a cable between two hosts.
    first_node: NodeId,
    /// Switches on the way.
    pub(crate) switches: u16,
    /// Start of the first flit, in picoseconds.
    pub(crate) entered: u64,
    /// Arrival of the first flit at the destination, once its tail has left the last switch.
    head_arrived: u64,
}

impl Worm {
    /// The worm of a message that enters at `now`; `first_node` is at the end of its host's cable.
    pub(crate) fn new(plan: &Plan, message: Message, first_node: NodeId, now: u64) -> Self {
        let switches = match &plan.routes {
            _ if !plan.is_switch(first_node) => 0,
            Routes::Source(routes) => {
                routes.path(first_node, message.destination).map_or(0, <[_]>::len)
            }
            Routes::Table(_) => {
                let path = plan.path(message.source, message.destination);
                path.map_or(0, |path| path.len() - 1)
            }
        };
        let switches = u16::try_from(switches).expect("a route has few switches");
        Self { message, first_node, switches, entered: now, head_arrived: 0 }
    }

    /// The output that the worm takes at the switch `node`, the `position`-th of its route.
    pub(crate) fn output(&self, plan: &Plan, node: NodeId, position: u16) -> ChannelId {
        let destination = self.message.destination;
        let output = match &plan.routes {
            Routes::Source(routes) => routes
                .path(self.first_node, destination)
                .and_then(|path| path.get(usize::from(position)).copied()),
            Routes::Table(tables) => {
                tables.port(node, destination).and_then(|port| plan.fabric.outgoing(node, port))
            }
        };
        output.expect("destinations are drawn among those that a route reaches")
    }
}

/// Worms by id, with the ids of delivered ones used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worms {
    worms: Vec<Worm>,
    free: Vec<WormId>,
}

impl Worms {
    pub(crate) fn insert(&mut self, worm: Worm) -> WormId {
        if let Some(id) = self.free.pop() {
            self.worms[id.index()] = worm;
            return id;
        }
        self.worms.push(worm);
        WormId::new(self.worms.len() - 1)
    }

    /// Takes a delivered worm out, with the arrival of its first flit.
    pub(crate) fn remove(&mut self, id: WormId) -> (Worm, u64) {
        self.free.push(id);
        let worm = self.worms[id.index()];
        (worm, worm.head_arrived)
    }

    pub(crate) fn set_head_arrived(&mut self, id: WormId, time: u64) {
        self.worms[id.index()].head_arrived = time;
    }

    pub(crate) fn get(&self, id: WormId) -> &Worm {
        &self.worms[id.index()]
    }
}
