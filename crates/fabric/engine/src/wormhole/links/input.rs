//! The receiving end of a channel with a slack buffer: the input port of a switch, or of a host
//! that stops its sender.
//!
//! ```text
//!   switch    Idle ── head read ──► Routing ──► Waiting ── granted ──► Connected ── tail left ──► Idle
//!
//!   host      Idle ── head read ──┬─ ends here, or finds room ──────────► Open ── tail arrived ──► Idle
//!                                 └─ no room ──► Full ── room is there ────┘
//! ```

use crate::wormhole::worm::{Incoming, WormId};
use gingham_net::SlackBuffer;
use gingham_topology::ChannelId;
use std::collections::VecDeque;

/// What an input port is doing with the worm at its head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Head {
    /// No header was read.
    Idle,
    /// The header is being decoded.
    Routing { output: ChannelId },
    /// It requests this output.
    Waiting { output: ChannelId },
    /// It holds the output that it feeds.
    Connected,
    /// At a host: the worm, whose head was read then, waits for room in the pool.
    Full { read_at: u64 },
    /// At a host: what arrives of the worm goes through in no time.
    Open,
}

/// What is at the end of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// An input port of a switch.
    Switch,
    /// The port of a host that stops its sender while a worm finds no room in its pool.
    Port,
    /// A host that takes in all that comes, and has no input.
    Host,
}

/// The input port at the end of a channel. Times in picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(super) slack: SlackBuffer,
    pub(super) end: End,
    pub(super) head: Head,
    /// The worm whose header was read.
    pub(super) current: Option<Incoming>,
    /// Worms behind it.
    pub(super) incoming: VecDeque<Incoming>,
    /// Flits that left the buffer, but for those that the present connection takes.
    pub(super) taken: u64,
    /// Sum of the times at which these left; while a connection lasts, less the sum of all starts
    /// of its output before.
    pub(super) taken_sum: i128,
    /// Whether its fill asks for STOP.
    pub(super) wants_stop: bool,
    /// Whether it told the sender STOP last.
    pub(super) announced_stop: bool,
    /// When the next `EmitControl` is due, if one is scheduled.
    pub(super) emit_at: Option<u64>,
    /// Whether it stands in the list of those whose arrivals or departures changed in this instant.
    pub(super) changed: bool,
}

impl Input {
    pub(super) fn new(slack: SlackBuffer, end: End) -> Self {
        Self {
            slack,
            end,
            head: Head::Idle,
            current: None,
            incoming: VecDeque::with_capacity(4),
            taken: 0,
            taken_sum: 0,
            wants_stop: false,
            announced_stop: false,
            emit_at: None,
            changed: false,
        }
    }

    /// Whether it is the port of a host.
    pub(super) fn is_at_host(&self) -> bool {
        self.end == End::Port
    }

    /// The worm whose header was read.
    pub(crate) fn worm(&self) -> WormId {
        self.current.expect("the header was read").worm
    }

    /// The worm whose header is to be read next, if the port is free and one comes.
    pub(super) fn next(&self) -> Option<&Incoming> {
        if self.head == Head::Idle { self.incoming.front() } else { None }
    }

    /// The worm that was read goes to `output`. If its first flit is the header and was stripped,
    /// that left `now`.
    pub(crate) fn route(&mut self, output: ChannelId, is_stripped: bool, now: u64) {
        self.head = Head::Routing { output };
        if is_stripped {
            self.taken += 1;
            self.taken_sum += i128::from(now);
        }
    }

    /// The worm whose header is decoded goes to another output.
    pub(crate) fn divert(&mut self, output: ChannelId) {
        self.head = Head::Routing { output };
    }

    /// Its header is decoded: it requests its output.
    pub(crate) fn request(&mut self) -> ChannelId {
        let Head::Routing { output } = self.head else { panic!("a request follows routing") };
        self.head = Head::Waiting { output };
        output
    }

    /// All of the worm at the head has left: flits before `taken`, which left at times with this
    /// sum in addition.
    pub(super) fn close(&mut self, taken: u64, sum: i128) {
        self.taken = taken;
        self.taken_sum += sum;
        self.head = Head::Idle;
        self.current = None;
    }

    /// Whether a control flit waits to be sent.
    pub(super) const fn control_pending(&self) -> bool {
        self.wants_stop != self.announced_stop
    }

    /// What a fill asks for.
    pub(super) fn judges_stop(&self, fill: u64) -> bool {
        if fill > u64::from(self.slack.stop) {
            true
        } else if fill < u64::from(self.slack.go) {
            false
        } else {
            self.wants_stop
        }
    }
}
