//! What hosts want to know of the network before they begin a message: which lanes of outputs are
//! free, and how many lane buffers are full. Nothing is kept where nobody asks.

use crate::bits::{Bits, members};
use crate::lanes::context::Context;
use crate::lanes::layout::{Layout, SHIFT};
use crate::lanes::network::Network;
use gingham_model::{Notice, Plan};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, Fabric};

/// Outputs of which somebody wants to know the free lanes.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// Their ports.
    ports: Bits,
    /// Ports of which lanes were taken or released since that was told.
    changed: Bits,
    all: LaneSet,
}

impl Watched {
    /// Those of a plan; nothing where nobody wants to know.
    pub(crate) fn new(plan: &Plan, layout: &Layout) -> Option<Self> {
        let watched = plan.watched_outputs();
        let mut ports = Bits::new(layout.channels().len());
        for (index, _) in watched.iter().enumerate().filter(|(_, is_watched)| **is_watched) {
            ports.insert(layout.port(ChannelId::new(index)));
        }
        let changed = Bits::new(layout.channels().len());
        let all = LaneSet::first_n(plan.lanes.count);
        (!watched.is_empty()).then_some(Self { ports, changed, all })
    }

    /// A lane of a port was taken or released.
    #[inline]
    pub(crate) fn note(&mut self, port: usize) {
        self.changed.insert(port);
    }
}

impl Network {
    /// An input lane of a switch holds an output lane from now on, where columns step switches and
    /// somebody wants to know.
    #[inline(never)]
    pub(crate) fn hold_lane(&mut self, from: usize, to: usize) {
        let base = self.switches.port(from >> SHIFT).base as usize;
        let holder = u16::try_from(from - base).expect("lanes of a switch have 16 bits");
        self.links.hold(to, holder, 0);
    }

    /// Tells the endpoints of the outputs whose lanes were taken or released, at the end of a tick.
    pub(crate) fn tell_lanes(&mut self, context: &mut Context) {
        let Some(mut watched) = self.links.watched.take() else { return };
        for word in 0..watched.changed.words.len() {
            let changed = watched.changed.take(word) & watched.ports.words[word];
            for port in members(changed).map(|bit| word * 64 + bit) {
                let held = LaneSet::from_bits(self.links.port(port).held);
                let free = LaneSet::from_bits(watched.all.bits() & !held.bits());
                let output = context.layout.channel(port);
                context.tell(Notice::Lanes { output, free });
            }
        }
        self.links.watched = Some(watched);
    }

    /// Tells the endpoints how many lane buffers between switches are full.
    #[inline(never)]
    pub(crate) fn tell_gathered(&self, gathered: &[ChannelId], context: &mut Context) {
        let depths = &context.lanes.depths_flits[..context.plan.lanes.count.into()];
        let of_channel = |channel: &ChannelId| {
            let port = context.layout.port(Fabric::reverse(*channel));
            let buffers = &self.buffers.lanes()[port << SHIFT..];
            let lanes = buffers.iter().zip(depths);
            lanes.filter(|(buffer, depth)| u32::from(buffer.present) == **depth).count() as u64
        };
        let full = gathered.iter().map(of_channel).sum();
        context.tell(Notice::Gathered { full });
    }
}
