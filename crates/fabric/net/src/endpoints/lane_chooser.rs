//! Random lane choice, uniform over the lanes of a class, per message or per flow.
//!
//! Source: Yum et al. 2002, section 5.2.

use crate::flows::Flows;
use crate::{ClassId, LaneChoice, Message, Plan};
use gingham_kernel::{Purpose, Stream};
use gingham_topology::routing::VcClass;

/// For each class: its random lane choice, if any; empty if no class has one.
#[derive(Clone, Debug)]
pub(super) struct LaneChooser(Box<[Option<Draws>]>);

#[derive(Clone, Debug)]
struct Draws {
    among: Box<[VcClass]>,
    is_by_flow: bool,
    streams: Box<[Stream]>,
}

impl LaneChooser {
    pub(super) fn new(plan: &Plan) -> Self {
        let draws = |class: ClassId| {
            let (among, is_by_flow) = match &plan.classes[class.index()].post.lane {
                LaneChoice::Any => return None,
                LaneChoice::AtRandom(among) => (among.clone(), false),
                LaneChoice::OfFlow(among) => (among.clone(), true),
            };
            let stream = |end| Stream::new(plan.seed, &plan.name_of(end, class), Purpose::Lane);
            let streams = plan.fabric.endpoint_ids().map(stream).collect();
            Some(Draws { among, is_by_flow, streams })
        };
        let by_class: Box<[_]> = ClassId::first(plan.classes.len()).map(draws).collect();
        let is_any = by_class.iter().any(Option::is_some);
        Self(if is_any { by_class } else { Box::default() })
    }

    #[inline]
    pub(super) fn draws(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn choose(
        &mut self,
        plan: &Plan,
        flows: &mut Flows,
        class: ClassId,
        message: &Message,
    ) -> VcClass {
        let Some(draws) = self.0.get_mut(class.index()).and_then(Option::as_mut) else {
            return plan.vc_class(class, message.source, message.destination);
        };
        let mut draw = || {
            let place = draws.streams[message.source.index()].below(draws.among.len() as u64);
            draws.among[usize::try_from(place).expect("lanes are few")]
        };
        if draws.is_by_flow {
            let flow = flows.get_mut(message.flow.expect("its flows are told apart"));
            *flow.lane.get_or_insert_with(draw)
        } else {
            draw()
        }
    }
}
