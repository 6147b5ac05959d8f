//! Message with its history.

use gingham_kernel::Time;
use gingham_net::traffic::StreamPart;
use gingham_net::{ClassId, FlowId, MessageNumber, Packet, Plan, Priority, SegmentationPlan};
use gingham_topology::EndpointId;
use gingham_topology::routing::VcClass;

pub(super) type MessageIndex = usize;

#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) number: MessageNumber,
    pub(super) class: ClassId,
    /// Class that determines the message's priority, segmentation, VC class and flow; differs from
    /// `class` if policing has demoted the message.
    pub(super) sent_as: ClassId,
    pub(super) source: EndpointId,
    pub(super) destination: EndpointId,
    pub(super) payload_bytes: u32,
    pub(super) created: Time,
    pub(super) flow: Option<FlowId>,
    pub(super) part: Option<StreamPart>,
    pub(super) vc_class: VcClass,
    pub(super) started_bytes: Vec<u32>,
    pub(super) left: usize,
    pub(super) arrived_bytes: u32,
}

impl Message {
    pub(super) fn as_created(&self) -> gingham_net::Message {
        let Self { number, class, source, destination, payload_bytes, created, flow, .. } = *self;
        gingham_net::Message { number, class, source, destination, payload_bytes, created, flow }
    }

    pub(super) fn priority(&self, plan: &Plan) -> Priority {
        plan.classes[self.sent_as.index()].priority
    }

    fn unsent_bytes(&self) -> u32 {
        self.payload_bytes - self.started_bytes.iter().sum::<u32>()
    }

    pub(super) fn next_bytes(&self, plan: &Plan) -> u32 {
        self.unsent_bytes().min(self.longest_bytes(plan))
    }

    fn longest_bytes(&self, plan: &Plan) -> u32 {
        let class = &plan.classes[self.sent_as.index()];
        let switches = plan.switches(self.source, self.destination).max(1);
        let per_switch = |bytes: u32| u32::try_from(u64::from(bytes) * switches as u64);
        let of_class = match &class.segmentation {
            SegmentationPlan::None => u32::MAX,
            SegmentationPlan::Fixed(bytes) => *bytes,
            SegmentationPlan::PerSwitch(bytes) => per_switch(*bytes).unwrap_or(u32::MAX),
            SegmentationPlan::PerSwitchUpTo { per_switch: bytes, longest } => {
                per_switch(*bytes).unwrap_or(u32::MAX).min(*longest)
            }
            SegmentationPlan::ByHops(list) => {
                *list.get(switches - 1).unwrap_or(&list[list.len() - 1])
            }
        };
        class.policing.as_ref().map_or(of_class, |policing| of_class.min(policing.longest_bytes))
    }

    pub(super) fn has_begun(&self) -> bool {
        !self.started_bytes.is_empty()
    }

    pub(super) fn is_sent(&self) -> bool {
        self.unsent_bytes() == 0
    }

    pub(super) fn has_left(&self) -> bool {
        self.is_sent() && self.left == self.started_bytes.len()
    }

    pub(super) fn has_arrived(&self) -> bool {
        self.arrived_bytes == self.payload_bytes
    }

    pub(super) fn next_packet(&self, plan: &Plan, of: Packet) -> Packet {
        let payload_bytes = self.next_bytes(plan);
        let is_last = payload_bytes == self.unsent_bytes();
        Packet {
            content: of.content,
            class: self.class,
            flow: self.flow,
            source: self.source,
            destination: self.destination,
            payload_bytes,
            priority: self.priority(plan),
            path_id: of.path_id,
            vc_class: self.vc_class,
            is_first: !self.has_begun(),
            is_last_of_stream: is_last && self.part.is_some_and(|part| part.is_last),
            mark: false,
            is_bad: false,
        }
    }
}
