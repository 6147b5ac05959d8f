//! The two ends of a channel: the sender with its schedule, and the input port with its buffer.
//!
//! ```text
//!   sender ── schedule: starts of flits ──►  + flit + delay = arrivals ──► input ──► the next sender
//!     worm, left                                                    fill = arrived - taken
//! ```
//!
//! Whatever sends on what arrives, an output of a switch or a host on the way, is fed in the same manner: the two
//! senders know each other, and the second the number that its first flit has in the schedule of the first.
//!
//! ```text
//!   feeder   ... 40 41 42 43 44 ...      feeds ──► the fed sender
//!   fed           7  8  9 10             feed: the feeder, first 40; worm_first 7
//! ```

use crate::wormhole::run::Schedule;
use crate::wormhole::worm::WormId;
use gingham_model::{ChannelPlan, SlackBuffer};
use gingham_topology::ChannelId;
use std::collections::VecDeque;

/// Where the flits come from that a sender sends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feed {
    /// The channel on which they arrive.
    pub(crate) channel: ChannelId,
    /// Number there of the first that is sent on.
    pub(crate) first: u64,
}

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
    /// The channel on which the worm arrives while it is sent; `None` if all of it is there, as at the host where it begins.
    pub(crate) feeder: Option<ChannelId>,
    /// Number there of the first flit that is sent on, if it is fed.
    pub(crate) feeder_first: u64,
    /// The channel that what arrives at this one's end is sent on at.
    pub(crate) feeds: Option<ChannelId>,
    /// When the worm's first flit may start.
    pub(crate) ready: u64,
    /// Whether the worm goes on from the host at the end of the channel.
    pub(crate) in_transit: bool,
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
            feeder: None,
            feeder_first: 0,
            feeds: None,
            ready: 0,
            in_transit: false,
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

    /// Number of the first flit of its worm that it cannot send yet, if its feeder schedules flits up to `end`.
    pub(crate) fn available(&self, end: u64) -> u64 {
        self.worm_first + end.saturating_sub(self.feeder_first)
    }

    /// What arrives of the worm while it is sent.
    pub(crate) fn feed(&self) -> Option<Feed> {
        Some(Feed { channel: self.feeder?, first: self.feeder_first })
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
    /// It holds the output that it feeds.
    Connected,
    /// At a host: the worm waits for room in the pool.
    Full,
    /// At a host: what arrives of the worm goes through in no time.
    Open,
}

/// A worm that comes in, or will.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Incoming {
    pub(crate) worm: WormId,
    /// Number of its first flit on the channel.
    pub(crate) first: u64,
    /// Its flits on this channel.
    pub(crate) flits: u64,
    /// The place of this switch or in-transit host on its route, from 0.
    pub(crate) position: u16,
}

/// What an input port belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    Switch,
    /// One that stops its sender while a worm finds no room in its pool.
    Host,
}

/// The input port at the end of a channel.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) slack: SlackBuffer,
    pub(crate) owner: Owner,
    pub(crate) head: Head,
    /// The worm whose header was read.
    pub(crate) current: Option<Incoming>,
    /// At a host: when that was.
    pub(crate) read_at: u64,
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
    pub(crate) fn new(slack: SlackBuffer, owner: Owner) -> Self {
        Self {
            slack,
            owner,
            head: Head::Idle,
            current: None,
            read_at: 0,
            incoming: VecDeque::with_capacity(4),
            taken: 0,
            taken_sum: 0,
            wants_stop: false,
            announced_stop: false,
            emit_at: None,
            unsettled: false,
        }
    }

    /// Whether it is the port of a host.
    pub(crate) fn is_at_host(&self) -> bool {
        self.owner == Owner::Host
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
