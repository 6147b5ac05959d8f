//! Lanes of messages: fixed for the class or pair of hosts, or drawn at random for each message or
//! flow (`timing.md`, "Posting").

use gingham_kernel::{Purpose, Stream};
use gingham_net::{ClassId, FlowId, LaneChoice, Plan};
use gingham_topology::EndpointId;
use gingham_topology::routing::VcClass;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(super) struct LaneDraws {
    streams: BTreeMap<(EndpointId, ClassId), Stream>,
    /// Lane drawn for each flow when its first message is created.
    of_flows: Vec<(FlowId, VcClass)>,
}

impl LaneDraws {
    pub(super) fn choose(
        &mut self,
        plan: &Plan,
        class: ClassId,
        (source, destination): (EndpointId, EndpointId),
        flow: Option<FlowId>,
    ) -> VcClass {
        match &plan.classes[class.index()].post.lane {
            LaneChoice::Any => plan.classes[class.index()]
                .vc_class
                .unwrap_or_else(|| plan.lanes.allowed.vc_class_of_pair(source, destination)),
            LaneChoice::AtRandom(among) => self.draw(plan, (source, class), among),
            LaneChoice::OfFlow(among) => {
                let flow = flow.expect("flows with lanes are distinguished");
                let known = self.of_flows.iter().find(|(of, _)| *of == flow);
                if let Some((_, lane)) = known {
                    return *lane;
                }
                let lane = self.draw(plan, (source, class), among);
                self.of_flows.push((flow, lane));
                lane
            }
        }
    }

    fn draw(&mut self, plan: &Plan, of: (EndpointId, ClassId), among: &[VcClass]) -> VcClass {
        let stream = self.streams.entry(of).or_insert_with(|| stream(plan, of));
        let place = usize::try_from(stream.below(among.len() as u64)).expect("lanes are few");
        among[place]
    }
}

fn stream(plan: &Plan, (endpoint, class): (EndpointId, ClassId)) -> Stream {
    let port = plan.fabric.endpoint(endpoint);
    let host = plan.fabric.node(port.node).stable_name();
    let name = format!("{host}[{}]/{}", port.port, plan.classes[class.index()].name);
    Stream::new(plan.seed, &name, Purpose::Lane)
}
