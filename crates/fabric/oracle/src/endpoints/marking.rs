//! Marks by switches (`timing.md`, "Marks"; `timing-packets.md`, "Marks at outputs").

mod fecn;
mod red;
mod stays;
mod triggered;

use gingham_kernel::Time;
use gingham_net::{Marking as Policy, Plan, Stay};
use gingham_topology::{ChannelId, NodeId};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) enum Marking {
    None,
    /// Marking period in packets, and the switch of each packet read, in order.
    Periodic(u64, Vec<NodeId>),
    /// Number of waiting flits above which a packet is marked.
    Threshold(u64),
    Triggered(triggered::Triggered),
    Fecn(fecn::Fecn),
    Red(red::Red),
}

impl Marking {
    pub(super) fn new(plan: &Arc<Plan>) -> Self {
        match &plan.marking {
            None => Self::None,
            Some(Policy::Periodic(of)) => Self::Periodic(of.every.get(), Vec::new()),
            Some(Policy::Threshold(of)) => {
                Self::Threshold(of.above.0 / u64::from(plan.switching.flit_bytes()))
            }
            Some(Policy::Fecn(of)) => Self::Fecn(fecn::Fecn::new(plan, *of)),
            Some(Policy::Red(of)) => Self::Red(red::Red::new(plan, *of)),
            Some(policy) => {
                let triggers = policy.triggers().expect("the other policies have triggers");
                Self::Triggered(triggered::Triggered::new(plan, triggers))
            }
        }
    }

    pub(super) fn read(&mut self, plan: &Plan, input: ChannelId, waiting_flits: u64) -> bool {
        match self {
            Self::Periodic(every, read) => {
                let switch = plan.fabric.target(input).node;
                read.push(switch);
                let count = read.iter().filter(|other| **other == switch).count() as u64;
                count.is_multiple_of(*every)
            }
            Self::Threshold(flits) => waiting_flits > *flits,
            _ => false,
        }
    }

    pub(super) fn queued(&mut self, stay: &Stay, now: Time) {
        match self {
            Self::Triggered(of) => of.queued(stay, now),
            Self::Fecn(of) => of.stays.queued(stay),
            Self::Red(of) => of.stays.queued(stay),
            Self::None | Self::Periodic(..) | Self::Threshold(_) => {}
        }
    }

    pub(super) fn settled(&mut self, stay: &Stay, has_space: bool, now: Time) {
        match self {
            Self::Triggered(of) => of.settled(stay, has_space, now),
            Self::Fecn(of) => of.settled(stay, has_space),
            _ => {}
        }
    }

    pub(super) fn forwarded(&mut self, stay: &Stay, left: Time, now: Time) -> bool {
        match self {
            Self::Triggered(of) => of.forwarded(stay, left, now),
            Self::Fecn(of) => of.forwarded(stay),
            Self::Red(of) => of.forwarded(stay),
            Self::None | Self::Periodic(..) | Self::Threshold(_) => false,
        }
    }
}
