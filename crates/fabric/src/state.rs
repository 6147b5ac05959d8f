//! The two ends of a channel: the sender with its schedule, and the input port with its buffer.
//!
//! ```text
//!   sender ── schedule: starts of flits ──►  + flit + delay = arrivals ──► input ──► the next sender
//!     worm, left                                                    fill = arrived - taken
//! ```

use crate::run::Schedule;
use crate::worm::WormId;
use gingham_model::{ChannelPlan, SlackBuffer};
use gingham_topology::ChannelId;
use std::collections::VecDeque;

/// The sending end of a channel. Times in picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// Time of one flit.
    pub(crate) flit: u64,
    /// From the start of a flit to its arrival: flit time and delay.
    pub(crate) latency: u64,
    /// When data flits start.
    pub(crate) schedule: Schedule,
    /// The worm that holds the channel.
    pub(crate) worm: Option<WormId>,
    /// Number of its first flit on this channel.
    pub(crate) worm_first: u64,
    /// Its flits that are not scheduled yet.
    pub(crate) left: u64,
    /// The input that feeds it; `None` at a host.
    pub(crate) owner: Option<ChannelId>,
    /// When the worm's first flit may start.
    pub(crate) ready: u64,
    /// Whether it was delivered: on a cable without delay that is before its release, in the same instant.
    pub(crate) delivered: bool,
    /// A control flit keeps the channel busy until then.
    pub(crate) control_until: u64,
    /// Since when the other end forbids data, if it does.
    pub(crate) stopped_since: Option<u64>,
    /// Whether it stands in the list of those whose counts may have changed.
    pub(crate) touched: bool,
    /// When the `Release` that is scheduled comes, if one is: the tail may leave later than then.
    pub(crate) release_at: Option<u64>,
}

impl Sender {
    pub(crate) fn new(plan: &ChannelPlan) -> Self {
        let flit = plan.flit.as_ps();
        Self {
            flit,
            latency: flit + plan.delay.as_ps(),
            schedule: Schedule::new(),
            worm: None,
            worm_first: 0,
            left: 0,
            owner: None,
            ready: 0,
            delivered: false,
            control_until: 0,
            stopped_since: None,
            touched: false,
            release_at: None,
        }
    }

    /// Flits that have arrived at `time` or before.
    pub(crate) fn arrived_by(&self, time: u64) -> u64 {
        time.checked_sub(self.latency).map_or(0, |started| self.schedule.started_by(started))
    }

    /// Whether every flit that is scheduled has arrived before `time`.
    pub(crate) fn is_silent_from(&self, time: u64) -> bool {
        self.schedule.last_start().is_none_or(|start| start + self.latency < time)
    }

    /// Until when flits that start at `time` or before keep the channel busy.
    pub(crate) fn busy_until(&self, time: u64) -> u64 {
        let data = self.schedule.last_start_by(time).map_or(0, |start| start + self.flit);
        data.max(self.control_until)
    }

    /// When the last scheduled flit has left, and the channel is free for the next.
    pub(crate) fn free_at(&self) -> u64 {
        let data = self.schedule.last_start().map_or(0, |start| start + self.flit);
        data.max(self.control_until)
    }

    /// Whether a flit arrives later than it has left.
    pub(crate) const fn has_delay(&self) -> bool {
        self.latency > self.flit
    }

    /// When the first flit of the worm arrives.
    pub(crate) fn head_arrival(&self) -> u64 {
        let head = self.schedule.start_of(self.worm_first).expect("its runs are held");
        head + self.latency
    }

    /// Whether the worm's tail is scheduled and has left exactly now.
    pub(crate) fn tail_left_at(&self, now: u64) -> bool {
        let left = self.schedule.last_start().map(|start| start + self.flit);
        self.worm.is_some() && self.left == 0 && left == Some(now)
    }
}

/// What an input port is doing with the worm at its head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Head {
    /// No header was read.
    Idle,
    /// The header is being decoded.
    Routing { output: ChannelId },
    /// It requests this output.
    Waiting { output: ChannelId },
    /// It holds this output.
    Connected { output: ChannelId },
}

/// A worm that comes in, or will.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) worm: WormId,
    /// Number of its first flit on the channel.
    pub(crate) first: u64,
    /// Its flits on this channel.
    pub(crate) flits: u64,
    /// The place of this switch on its route, from 0.
    pub(crate) position: u16,
}

/// The input port at the end of a channel.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) slack: SlackBuffer,
    pub(crate) head: Head,
    /// The worm whose header was read.
    pub(crate) current: Option<Incoming>,
    /// Worms behind it.
    pub(crate) incoming: VecDeque<Incoming>,
    /// Flits that left the buffer, but for those that the present connection takes.
    pub(crate) taken: u64,
    /// Sum of the times at which these left; while a connection lasts, less the sum of all starts of
    /// its output before.
    pub(crate) taken_sum: i128,
    /// Whether its fill asks for STOP.
    pub(crate) wants_stop: bool,
    /// Whether it told the sender STOP last.
    pub(crate) announced_stop: bool,
    /// When the next `EmitControl` is due, if one is scheduled.
    pub(crate) emit_at: Option<u64>,
    /// Whether it stands in the list of those to look at when the instant is over.
    pub(crate) unsettled: bool,
}

impl Input {
    pub(crate) fn new(slack: SlackBuffer) -> Self {
        Self {
            slack,
            head: Head::Idle,
            current: None,
            incoming: VecDeque::with_capacity(4),
            taken: 0,
            taken_sum: 0,
            wants_stop: false,
            announced_stop: false,
            emit_at: None,
            unsettled: false,
        }
    }

    /// Whether a control flit waits to be sent.
    pub(crate) fn control_pending(&self) -> bool {
        self.wants_stop != self.announced_stop
    }

    /// What a fill asks for.
    pub(crate) fn judges_stop(&self, fill: u64) -> bool {
        if fill > u64::from(self.slack.stop) {
            true
        } else if fill < u64::from(self.slack.go) {
            false
        } else {
            self.wants_stop
        }
    }
}
