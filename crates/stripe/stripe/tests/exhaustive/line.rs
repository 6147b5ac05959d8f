//! The frames in flight on a channel, and the output of the ends.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::rc::Rc;

use gingham_stripe::{Instant, Message, Receiver, Sender, Tag};

use crate::fingerprint;
use crate::world::Scheduler;

/// Bound on the messages at one instant.
const POLLS_MAX: usize = 100;

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

pub(crate) type Line = VecDeque<Rc<Flying>>;

pub(crate) fn flying(frame: Frame) -> Rc<Flying> {
    Rc::new(Flying { frame, print: OnceCell::new() })
}

#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) frames: Vec<(usize, Rc<Flying>)>,
    /// Packets sent before the epoch of the accepted packet's tag; `None` if none was accepted.
    pub(crate) taken: Option<u32>,
}

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
