//! Links: both ends of every channel, and what goes over them.
//!
//! ```text
//!   sender    the sending end, with the schedule of its flits
//!   input     the receiving end with a slack buffer
//!   ejection  the receiving end at an in-transit host
//!   flow      schedules flits as far as is known, and takes back what cannot be
//!   marks     when the fill of an input crosses a mark
//!   control   STOP and GO
//!   ports     what goes into hosts
//!   counts    what channels carried, and how full buffers were
//!   waits     who waits for whom
//!   waiters   who waits, for congestion trees
//! ```
//!
//! Links know neither switches nor hosts: those read heads, choose who goes on, and say so.

mod control;
mod counts;
mod ejection;
mod flow;
mod input;
mod marks;
mod ports;
mod sender;
mod waiters;
mod waits;

use crate::bits::Bits;
use crate::wormhole::clock::Clock;
use crate::wormhole::worm::{Incoming, Worms};
use ejection::Ejection;
use gingham_model::measure::ChannelCount;
use gingham_model::{Plan, WhenFull};
use gingham_topology::ChannelId;
pub(crate) use input::End;
use input::{Head, Input};
use sender::{Left, Sender};

/// All channels of a network.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    /// By channel.
    senders: Vec<Sender>,
    /// By channel; none where the channel ends at a host that takes in all that comes.
    inputs: Vec<Option<Input>>,
    /// By channel; none where it ends at a switch, and empty where no path visits a host and no
    /// host has a port.
    ejections: Vec<Option<Ejection>>,
    /// Inputs whose arrivals or departures changed in this instant.
    changed: Vec<ChannelId>,
    /// By channel: what is counted as it comes.
    counts: Vec<ChannelCount>,
    /// Channels whose counts may have changed since the last section end.
    touched: Bits,
    /// What is counted at a section end; its memory is used again.
    section_counts: Vec<(ChannelId, ChannelCount)>,
    /// By channel: whether somebody wants to know when it is taken and free; empty where nobody does.
    watched: Box<[bool]>,
    /// Such channels that were taken or released since that was told.
    taken: Vec<ChannelId>,
}

impl Links {
    /// The idle channels of a plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let channels = || ChannelId::first(plan.channels.len());
        let has_ports = plan.in_transit.when_full == WhenFull::Stop;
        let ejections = if has_ports || plan.has_in_transit_hosts() {
            let host = |channel| plan.fabric.endpoint_at(plan.ends(channel).target);
            channels().map(|channel| host(channel).map(Ejection::new)).collect()
        } else {
            Vec::new()
        };
        let input = |channel| {
            let is_switch = plan.is_switch(plan.ends(channel).target.node);
            let end = if is_switch { End::Switch } else { End::Port };
            Some(Input::new(plan.channel(channel).slack?, end))
        };
        Self {
            senders: plan.channels.iter().map(Sender::new).collect(),
            inputs: channels().map(input).collect(),
            ejections,
            changed: Vec::new(),
            counts: vec![ChannelCount::default(); plan.channels.len()],
            touched: Bits::new(plan.channels.len()),
            section_counts: Vec::new(),
            watched: plan.watched_outputs().into(),
            taken: Vec::new(),
        }
    }

    /// Whether worms may go on from hosts.
    pub(crate) fn may_go_on(&self) -> bool {
        !self.ejections.is_empty()
    }

    /// Whether a worm holds `channel`.
    pub(crate) fn is_held(&self, channel: ChannelId) -> bool {
        self.senders[channel.index()].worm.is_some()
    }

    fn input(&self, channel: ChannelId) -> &Input {
        self.inputs[channel.index()].as_ref().expect("the channel ends at an input")
    }

    pub(crate) fn input_mut(&mut self, channel: ChannelId) -> &mut Input {
        self.inputs[channel.index()].as_mut().expect("the channel ends at an input")
    }

    /// What is at the end of a channel.
    pub(crate) fn end(&self, channel: ChannelId) -> End {
        self.inputs[channel.index()].as_ref().map_or(End::Host, |input| input.end)
    }

    /// Gives `channel` to a worm, whose first flit may start at `ready`.
    pub(crate) fn begin(
        &mut self,
        clock: &mut Clock,
        worms: &Worms,
        channel: ChannelId,
        worm: Incoming,
        ready: u64,
    ) {
        self.touch(channel);
        let first = self.senders[channel.index()].begin(&worm, ready);
        let worm = Incoming { first, ..worm };
        if let Some(input) = self.inputs[channel.index()].as_mut() {
            input.incoming.push_back(worm);
        } else if !self.ejections.is_empty() {
            self.await_transit(worms, channel, worm);
        }
        self.extend(clock, channel);
    }

    /// The worm that comes next out of `channel`, if its head is there and is to be read: another
    /// one is not before it, and where hosts take in all that comes it is in transit.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn read_head(&mut self, channel: ChannelId, now: u64) -> Option<Incoming> {
        let input = &mut self.inputs[channel.index()];
        let incoming = match input {
            Some(input) if input.head == Head::Idle => &mut input.incoming,
            Some(_) => return None,
            None => &mut self.ejections[channel.index()].as_mut()?.incoming,
        };
        let worm = *incoming.front()?;
        let arrival = self.senders[channel.index()].arrival_of(worm.first);
        if arrival.is_none_or(|arrival| arrival > now) {
            return None;
        }
        incoming.pop_front();
        if let Some(input) = input {
            debug_assert_eq!(input.taken, worm.first, "the worm before has left");
            input.current = Some(worm);
        }
        Some(worm)
    }

    /// The worm that was read at the end of `channel`, a switch's, goes to `output`; its first flit
    /// was stripped `now`, if it was.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn route(
        &mut self,
        channel: ChannelId,
        output: ChannelId,
        is_stripped: bool,
        now: u64,
    ) {
        let input = self.inputs[channel.index()].as_mut().expect("a switch input");
        input.route(output, is_stripped, now);
        if !std::mem::replace(&mut input.changed, true) {
            self.changed.push(channel);
        }
    }

    /// The worm at the head of the input at the end of `channel` is sent on at `output`, which it
    /// holds from now on.
    pub(crate) fn connect(&mut self, channel: ChannelId, output: ChannelId) -> Incoming {
        let input = self.inputs[channel.index()].as_mut().expect("a switch input");
        let sender = &mut self.senders[output.index()];
        input.head = Head::Connected;
        input.taken_sum -= sender.schedule.sum();
        sender.feed_by(channel, input.taken);
        self.senders[channel.index()].feeds = Some(output);
        input.current.expect("the header was read")
    }

    /// The tail has left on `channel`, if its moment has come: says what it was.
    pub(crate) fn release(&mut self, clock: &mut Clock, channel: ChannelId) -> Option<Left> {
        let left = self.senders[channel.index()].release(clock.now());
        if left.is_none() {
            self.schedule_release(clock, channel);
        }
        left
    }

    /// What fed a worm that has left feeds nothing any more. Returns the channel if it ends at an
    /// input of a switch, which is free then.
    pub(crate) fn disconnect(&mut self, left: &Left) -> Option<ChannelId> {
        let channel = left.feeder?;
        let feeder = &mut self.senders[channel.index()];
        feeder.feeds = None;
        let input = self.inputs[channel.index()].as_mut().filter(|input| !input.is_at_host())?;
        input.close(input.taken + left.flits, left.sum);
        feeder.schedule.forget_before(input.taken);
        Some(channel)
    }

    /// Flits in the buffer at the end of `channel` once everything of this instant has happened.
    pub(crate) fn fill(&self, channel: ChannelId, now: u64) -> u64 {
        self.arrived(channel, now) - self.gone(channel, now)
    }

    /// Whether the buffer at the end of `channel` held more than its STOP mark before `now`, of which
    /// nothing has happened. Only one that asks for STOP does.
    pub(crate) fn was_above_stop(&self, channel: ChannelId, now: u64) -> bool {
        let input = self.input(channel);
        input.wants_stop && self.fill(channel, now - 1) > u64::from(input.slack.stop)
    }

    /// An output of a switch is taken or released: somebody may want to know.
    #[inline]
    pub(crate) fn note_taken(&mut self, output: ChannelId) {
        if self.watched.get(output.index()) == Some(&true) {
            self.taken.push(output);
        }
    }

    /// Whether somebody wants to know of outputs that were taken or released.
    #[inline]
    pub(crate) fn has_taken(&self) -> bool {
        !self.taken.is_empty()
    }

    /// One of these.
    pub(crate) fn next_taken(&mut self) -> Option<ChannelId> {
        self.taken.pop()
    }

    fn arrived(&self, channel: ChannelId, now: u64) -> u64 {
        self.senders[channel.index()].arrived_by(now)
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    fn gone(&self, channel: ChannelId, now: u64) -> u64 {
        let input = self.input(channel);
        if input.is_at_host() {
            return self.gone_from_port(channel, now);
        }
        let Some(output) = self.senders[channel.index()].feeds else { return input.taken };
        input.taken + self.senders[output.index()].sent_by(now)
    }

    /// Checks that no buffer overflows and no schedule runs ahead of its feeder; for tests. Slow.
    pub(crate) fn assert_invariants(&self, now: u64) {
        for channel in ChannelId::first(self.senders.len()) {
            let Some(input) = &self.inputs[channel.index()] else { continue };
            let fill = self.fill(channel, now);
            assert!(fill <= u64::from(input.slack.capacity), "a slack buffer holds {fill} flits");
        }
        for sender in &self.senders {
            if let Some(feeder) = sender.feeder {
                sender.assert_fed(&self.senders[feeder.index()]);
            }
        }
    }
}
