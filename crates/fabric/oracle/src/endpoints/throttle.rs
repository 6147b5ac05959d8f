//! Congestion control of hosts (`timing.md`, "Congestion control of hosts").

mod at_least_one;
mod self_tuned;
mod tuning;

pub(super) use at_least_one::AtLeastOne;
pub(super) use self_tuned::SelfTuned;

use gingham_kernel::Time;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum May {
    Begin,
    At(Time),
    Held,
}

#[derive(Clone, Debug)]
pub(super) enum Throttle {
    None,
    AtLeastOne(AtLeastOne),
    SelfTuned(SelfTuned),
}
