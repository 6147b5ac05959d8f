//! Random application crashes of streams.

use super::workload::application_crash;
use crate::{NetworkEvent, Plan, StreamId};
use gingham_kernel::Time;

pub(crate) fn application_crashes(plan: &Plan) -> impl Iterator<Item = (Time, NetworkEvent)> {
    plan.streams().enumerate().filter_map(|(number, (class, source, stream))| {
        let at = application_crash(plan, class, source.endpoint, stream)?;
        Some((at, NetworkEvent::ApplicationCrash(StreamId::new(number))))
    })
}
