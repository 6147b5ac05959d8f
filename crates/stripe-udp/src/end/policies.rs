//! How channels are to be used, and by whom what they carry is counted.

use super::End;
use crate::link::LinkPlan;
use crate::meter::Meter;
use crate::striping::Preference;

impl End {
    /// A channel is to be used so from now on, in every session.
    pub fn prefer(&mut self, id: usize, preference: Preference) {
        self.sessions.prefer(id, preference);
        self.striping.prefer(id, preference);
    }

    /// What a channel carries is counted from now on. Where the meter grants nothing more the channel is
    /// out, and comes in when a probe on it is granted and answered.
    pub fn set_meter(&mut self, id: usize, plan: &LinkPlan, meter: Box<dyn Meter>) {
        if let Some(one) = &mut self.channels[id] {
            one.metering.set(meter, plan.wire_bytes());
        }
    }

    /// What the meter of a channel has counted, if it has one, in bytes with the headers of IP and UDP or
    /// TCP.
    pub fn metered_bytes(&self, id: usize) -> Option<u64> {
        self.channels[id].as_ref()?.metering.used()
    }
}
