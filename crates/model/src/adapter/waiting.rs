//! A message in a queue of an adapter, and its next packet.

use crate::{AssemblyId, Conformance, Content, Message, Packet, PathSet, Priority, Reassembly};
use gingham_kernel::Time;
use gingham_topology::routing::VcClass;

/// A message in a queue, perhaps begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) message: Message,
    pub(crate) priority: Priority,
    pub(crate) vc_class: VcClass,
    /// The most payload that one packet of it carries.
    pub(crate) longest_bytes: u32,
    /// Payload that no packet took yet.
    pub(crate) left_bytes: u32,
    pub(crate) conformance: Conformance,
    /// Once the first packet was sent.
    pub(crate) assembly: Option<AssemblyId>,
}

impl Waiting {
    pub(crate) fn next_bytes(&self) -> u32 {
        self.left_bytes.min(self.longest_bytes)
    }

    pub(crate) fn next_packet(
        &mut self,
        now: Time,
        path_set: PathSet,
        reassembly: &mut Reassembly,
    ) -> Packet {
        let payload_bytes = self.next_bytes();
        self.left_bytes -= payload_bytes;
        let is_first = self.assembly.is_none();
        let assembly = *self.assembly.get_or_insert_with(|| reassembly.open(self.message, now));
        if self.conformance != Conformance::Conforming {
            reassembly.set_conformance(assembly, self.conformance);
        }
        Packet {
            content: Content::Data(assembly),
            class: self.message.class,
            flow: self.message.flow,
            source: self.message.source,
            destination: self.message.destination,
            payload_bytes,
            priority: self.priority,
            path_set,
            vc_class: self.vc_class,
            is_first,
            mark: false,
        }
    }
}
