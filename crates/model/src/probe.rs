//! A probe: it asks for every notice, keeps them in order, and now and then orders a packet that no
//! message is behind.
//!
//! Two simulations of a plan that tell the same notices in the same order are the same to
//! everything that hears notices; that is what a probe is for. It changes a run, since what it
//! orders takes wire and buffers. Where switches have ends of their own it diverts control packets to
//! them, and has these ends answer.

use crate::Packet;
use gingham_kernel::Time;

/// What a probe does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbePlan {
    /// Of the packets that are received, every so-manieth is followed by a control packet the other
    /// way; none if 0.
    pub control_every: u64,
    /// Payload of these, and of those that ends of switches send.
    pub control_bytes: u32,
    /// Of the control packets of hosts that switches read, every so-manieth is diverted to the end of
    /// the switch, which answers it, and sends every second one on as well; none if 0.
    pub divert_every: u64,
}

/// A notice as a probe keeps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Noted {
    /// When.
    pub time: Time,
    /// What happened.
    pub what: &'static str,
    /// The source, endpoint or channel where.
    pub place: usize,
    /// The lane, where there is one.
    pub lane: u8,
    /// What stands in the buffer, where a head was read.
    pub waiting_flits: u64,
    /// Whether there is space for one more, where all has happened to which a head led.
    pub has_space: Option<bool>,
    /// To which packet.
    pub packet: Option<Packet>,
}
