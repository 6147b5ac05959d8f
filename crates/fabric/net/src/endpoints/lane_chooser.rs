//! Lanes of messages whose class draws one, evenly among its lanes: for every message or by flow.
//!
//! Source: Yum et al. 2002, section 5.2 ("VLs for a message are assigned using a uniform distribution
//! of the available VLs").

use crate::flows::Flows;
use crate::{ClassId, LaneChoice, Message, Plan};
use gingham_kernel::{Purpose, Stream};
use gingham_topology::routing::VcClass;

/// Random streams of lane choices.
#[derive(Clone, Debug)]
pub(super) struct LaneChooser {
    /// By endpoint and class; empty if no class draws lanes.
    streams: Box<[Option<Stream>]>,
    classes: usize,
}

impl LaneChooser {
    pub(super) fn new(plan: &Plan) -> Self {
        let classes = plan.classes.len();
        if plan.classes.iter().all(|class| class.post.lane == LaneChoice::Any) {
            return Self { streams: Box::default(), classes };
        }
        let mut streams = vec![None; plan.fabric.endpoints().len() * classes];
        for (index, class) in plan.classes.iter().enumerate() {
            if class.post.lane == LaneChoice::Any {
                continue;
            }
            for endpoint in plan.fabric.endpoint_ids() {
                let name = plan.name_of(endpoint, ClassId::new(index));
                let stream = Stream::new(plan.seed, &name, Purpose::Lane);
                streams[endpoint.index() * classes + index] = Some(stream);
            }
        }
        Self { streams: streams.into(), classes }
    }

    /// Whether any class draws lanes.
    pub(super) fn draws(&self) -> bool {
        !self.streams.is_empty()
    }

    /// VC class of a message that is sent as one of `class`.
    pub(super) fn choose(
        &mut self,
        plan: &Plan,
        flows: &mut Flows,
        class: ClassId,
        message: &Message,
    ) -> VcClass {
        let stream = self.streams.get_mut(message.source.index() * self.classes + class.index());
        let draw = |among: &[VcClass]| {
            let stream = stream.and_then(Option::as_mut).expect("the class draws");
            let place = stream.below(among.len() as u64);
            among[usize::try_from(place).expect("lanes are few")]
        };
        match &plan.classes[class.index()].post.lane {
            LaneChoice::Any => plan.vc_class(class, message.source, message.destination),
            LaneChoice::AtRandom(among) => draw(among),
            LaneChoice::OfFlow(among) => {
                let flow = flows.get_mut(message.flow.expect("its flows are told apart"));
                *flow.lane.get_or_insert_with(|| draw(among))
            }
        }
    }
}
