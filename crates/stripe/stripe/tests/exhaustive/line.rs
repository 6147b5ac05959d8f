//! What is on a channel, and what the ends put there.
//!
//! Invariant: a frame keeps its fingerprint, wherever it goes.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::rc::Rc;

use gingham_stripe::{Instant, Message, Receiver, Sender, Tag};

use crate::fingerprint;
use crate::world::Scheduler;

/// More than an end has to say at one instant.
const POLLS_MAX: usize = 100;

/// What is on a channel.
#[derive(Debug)]
pub(crate) enum Frame {
    Packet { number: u32, length_bytes: u32, tag: Option<Tag> },
    Message(Message),
}

impl Frame {
    pub(crate) const fn number(&self) -> Option<u32> {
        match self {
            Self::Packet { number, .. } => Some(*number),
            Self::Message(_) => None,
        }
    }
}

/// What is on a channel, and its fingerprint once it is asked for.
#[derive(Debug)]
pub(crate) struct Flying {
    pub(crate) frame: Frame,
    print: OnceCell<u128>,
}

impl Flying {
    pub(crate) fn print(&self) -> u128 {
        *self.print.get_or_init(|| fingerprint::of(&self.frame))
    }
}

/// A channel one way: first in, first out.
pub(crate) type Line = VecDeque<Rc<Flying>>;

pub(crate) fn flying(frame: Frame) -> Rc<Flying> {
    Rc::new(Flying { frame, print: OnceCell::new() })
}

/// What came of what the sender did.
#[derive(Debug)]
pub(crate) struct Said {
    /// On which channel each goes.
    pub(crate) frames: Vec<(usize, Rc<Flying>)>,
    /// Whether a packet was taken, and how many went before the epoch of its tag.
    pub(crate) taken: Option<u32>,
}

/// What came of what the receiver did.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) packets: Vec<u32>,
    pub(crate) messages: Vec<(usize, Rc<Flying>)>,
}

pub(crate) fn poll_sender(
    sender: &mut Sender<Scheduler>,
    now: Instant,
    before: u32,
    frames: &mut Vec<(usize, Rc<Flying>)>,
) {
    while let Some((channel, message)) = sender.poll_message(now) {
        frames.push((channel, flying(Frame::Message(message))));
        assert!(frames.len() < POLLS_MAX, "polling comes to an end");
    }
    while let Some(repair) = sender.poll_repair(now) {
        let (length_bytes, tag) = (repair.length_bytes, Some(repair.tag));
        let number = before + repair.tag.sequence;
        frames.push((repair.channel, flying(Frame::Packet { number, length_bytes, tag })));
        assert!(frames.len() < POLLS_MAX, "polling comes to an end");
    }
}

pub(crate) fn poll_receiver(receiver: &mut Receiver<Scheduler, u32>, now: Instant) -> Given {
    let mut given = Given { packets: Vec::new(), messages: Vec::new() };
    while let Some(number) = receiver.poll_packet(now) {
        given.packets.push(number);
    }
    while let Some((channel, message)) = receiver.poll_message(now) {
        given.messages.push((channel, flying(Frame::Message(message))));
        assert!(given.messages.len() < POLLS_MAX, "polling comes to an end");
    }
    given
}
