//! Receiving end of a channel with a slack buffer: the input port of a switch, or the port of a
//! host that stops its sender.
//!
//! ```text
//!   switch    Idle ── head read ──► Routing ──► Waiting ── granted ──► Connected ── tail left ──► Idle
//!
//!   host      Idle ── head read ──┬─ ends here, or pool has space ──────► Open ── tail arrived ──► Idle
//!                                 └─ no space ──► Full ── space is free ───┘
//! ```

use crate::wormhole::worm::{Incoming, WormId};
use gingham_net::SlackBuffer;
use gingham_topology::ChannelId;
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Head {
    /// No header is being processed.
    Idle,
    /// The header is being decoded.
    Routing { output: ChannelId },
    /// The worm requests `output`.
    Waiting { output: ChannelId },
    /// The worm holds an output and feeds it.
    Connected,
    /// At a host: the worm waits for pool space; its head was read at `read_at` (ps).
    Full { read_at: u64 },
    /// At a host: flits leave the port when they arrive.
    Open,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Switch,
    /// Port of a host that stops its sender while the pool is full.
    Port,
    /// Host that accepts every flit and has no input.
    Host,
}

/// State of an input; times in ps.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(super) slack: SlackBuffer,
    pub(super) end: End,
    pub(super) head: Head,
    pub(super) current: Option<Incoming>,
    pub(super) incoming: VecDeque<Incoming>,
    /// Number of flits that have left the buffer, excluding flits of the current connection.
    pub(super) taken: u64,
    /// Sum of the departure times of the `taken` flits, minus, during a connection, the sum of all
    /// earlier start times on the connected output.
    pub(super) taken_sum: i128,
    pub(super) wants_stop: bool,
    pub(super) announced_stop: bool,
    pub(super) emit_at: Option<u64>,
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

    pub(super) fn is_at_host(&self) -> bool {
        self.end == End::Port
    }

    pub(crate) fn worm(&self) -> WormId {
        self.current.expect("the header was read").worm
    }

    pub(super) fn next(&self) -> Option<&Incoming> {
        if self.head == Head::Idle { self.incoming.front() } else { None }
    }

    /// Starts routing the worm. With `is_stripped`, its header flit is removed at `now`.
    pub(crate) fn route(&mut self, output: ChannelId, is_stripped: bool, now: u64) {
        self.head = Head::Routing { output };
        if is_stripped {
            self.taken += 1;
            self.taken_sum += i128::from(now);
        }
    }

    pub(crate) fn divert(&mut self, output: ChannelId) {
        self.head = Head::Routing { output };
    }

    pub(crate) fn request(&mut self) -> ChannelId {
        let Head::Routing { output } = self.head else { panic!("a request follows routing") };
        self.head = Head::Waiting { output };
        output
    }

    /// Frees the input after a worm. All flits before number `taken` have left; `sum` is added to
    /// the sum of their departure times.
    pub(super) fn close(&mut self, taken: u64, sum: i128) {
        self.taken = taken;
        self.taken_sum += sum;
        self.head = Head::Idle;
        self.current = None;
    }

    pub(super) const fn control_pending(&self) -> bool {
        self.wants_stop != self.announced_stop
    }

    /// Returns whether STOP is required. Between the two thresholds, the current state is kept.
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
