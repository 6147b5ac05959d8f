//! Both ends and what is between them: which events there can be, and what they do.
//!
//! ```text
//!   Sender  == there[0], there[1]: packets and messages, first in first out ==>  Receiver
//!           <== back[0], back[1]: messages ==
//! ```
//!
//! After each event the end that it came to is polled until it says nothing more. An end changes by
//! what comes to it alone, so states share the ends that they have in common, and an end's
//! fingerprint is taken anew only when something came to it.
//!
//! Invariant: a fault is an event of its own, of which there are as many as are left.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use gingham_fairq::SurplusRoundRobin;
use gingham_stripe::{Epoch, Instant, Kind, Message, Receiver, Sender, Tag};

use crate::fingerprint;
use crate::ledger::Ledger;
use crate::rules::{Flaw, LONGEST_BYTES, Mode, QUANTA, RATE, Rules};

pub(crate) const CHANNELS: usize = 2;

/// More than an end has to say at one instant.
const POLLS_MAX: usize = 100;

/// The time between two markers.
pub(crate) const INTERVAL: Duration = Duration::from_millis(20);
/// So many intervals are more than silence and two round trips.
const OUTAGE_INTERVALS: usize = 80;

type Scheduler = SurplusRoundRobin<CHANNELS>;

/// What is on a channel.
#[derive(Clone, Debug)]
enum Frame {
    Packet { number: u32, length_bytes: u32, tag: Option<Tag> },
    Message(Message),
}

impl Frame {
    const fn number(&self) -> Option<u32> {
        match self {
            Self::Packet { number, .. } => Some(*number),
            Self::Message(_) => None,
        }
    }
}

/// How long nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Span {
    /// Markers are due again.
    Interval,
    /// The waits of the receiver are over, and resets go again.
    Wait,
    /// A reset waits for channels no longer.
    Reset,
}

impl Span {
    const fn duration(self) -> Duration {
        match self {
            Self::Interval => INTERVAL,
            Self::Wait => Duration::from_millis(250),
            Self::Reset => Duration::from_millis(600),
        }
    }
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// The next packet goes; where the choice is free, on this channel.
    Send(Option<usize>),
    Arrive(usize),
    Return(usize),
    Lose(usize),
    LoseReturn(usize),
    /// A frame comes, and once more right behind itself.
    Repeat(usize),
    RepeatReturn(usize),
    /// The sender starts anew in a later epoch, as by a clock.
    RestartSender,
    /// The sender starts anew in its first epoch.
    ForgetSender,
    RestartReceiver,
    /// A channel loses all, both ways, until it is dead.
    Outage(usize),
    Pass(Span),
}

/// What may still happen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) packets: u32,
    /// Of all kinds together.
    pub(crate) faults: u32,
    pub(crate) losses: u32,
    pub(crate) repeats: u32,
    pub(crate) restarts: u32,
    pub(crate) outages: u32,
    pub(crate) pauses: u32,
}

/// A state.
#[derive(Clone)]
pub(crate) struct World {
    rules: Rules,
    scheduler: Rc<Scheduler>,
    pub(crate) now: Instant,
    pub(crate) sender: Rc<Sender<Scheduler>>,
    pub(crate) receiver: Rc<Receiver<Scheduler, u32>>,
    /// The fingerprints of both, where they are known.
    prints: [Option<u128>; 2],
    there: [VecDeque<Frame>; CHANNELS],
    back: [VecDeque<Message>; CHANNELS],
    pub(crate) left: Left,
    pub(crate) ledger: Ledger,
    pub(crate) sent: u32,
    /// Packets sent before the present epoch, in which tags count anew.
    before: u32,
    /// What the last event gave out.
    pub(crate) given: Vec<u32>,
}

impl World {
    pub(crate) fn new(rules: Rules, left: Left) -> Self {
        let scheduler = Scheduler::new(LONGEST_BYTES, &QUANTA).expect("quanta of a test");
        let (epoch, now) = (Epoch::new(1), Instant::ORIGIN.after(INTERVAL));
        let sender = Sender::synchronised(scheduler.clone(), rules.sender(), epoch, now);
        let receiver = Receiver::synchronised(rules.theirs(&scheduler), rules.receiver(), epoch);
        let mut world = Self {
            rules,
            scheduler: Rc::new(scheduler),
            now,
            sender: Rc::new(sender.expect("options of a test")),
            receiver: Rc::new(receiver.expect("options of a test")),
            prints: [None; 2],
            there: Default::default(),
            back: Default::default(),
            left,
            ledger: Ledger::new(rules.mode.is_confirmed()),
            sent: 0,
            before: 0,
            given: Vec::new(),
        };
        world.poll_sender();
        world
    }

    /// What tells this state from others.
    pub(crate) fn print(&mut self) -> u128 {
        let sender = *self.prints[0].get_or_insert_with(|| fingerprint::of(&self.sender));
        let receiver = *self.prints[1].get_or_insert_with(|| fingerprint::of(&self.receiver));
        let between = (&self.there, &self.back, self.left, self.ledger, self.sent, self.before);
        fingerprint::of(&(sender, receiver, between, self.now))
    }

    /// Whether nothing is on its way.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.there.iter().all(VecDeque::is_empty) && self.back.iter().all(VecDeque::is_empty)
    }

    /// All that can happen now; first what happens if channels are kind.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let coming = |channel: &usize| !self.there[*channel].is_empty();
        let returning = |channel: &usize| !self.back[*channel].is_empty();
        events.extend((0..CHANNELS).filter(coming).map(Event::Arrive));
        events.extend((0..CHANNELS).filter(returning).map(Event::Return));
        if self.left.packets > 0 && self.sender.is_open() {
            match self.rules.mode {
                Mode::Free => events.extend((0..CHANNELS).map(|on| Event::Send(Some(on)))),
                _ => events.push(Event::Send(None)),
            }
        }
        if self.left.pauses > 0 {
            events.extend([Span::Interval, Span::Wait].map(Event::Pass));
            events.extend((!self.sender.is_open()).then_some(Event::Pass(Span::Reset)));
        }
        if self.left.faults == 0 {
            return events;
        }
        if self.left.losses > 0 {
            events.extend((0..CHANNELS).filter(coming).map(Event::Lose));
            events.extend((0..CHANNELS).filter(returning).map(Event::LoseReturn));
        }
        if self.left.repeats > 0 {
            events.extend((0..CHANNELS).filter(coming).map(Event::Repeat));
            events.extend((0..CHANNELS).filter(returning).map(Event::RepeatReturn));
        }
        if self.left.restarts > 0 {
            events.extend([Event::RestartSender, Event::RestartReceiver]);
            // Where order is guaranteed a sender begins in a later epoch.
            let forgets = self.rules.mode == Mode::Quasi || self.rules.flaw == Some(Flaw::Forgets);
            events.extend(forgets.then_some(Event::ForgetSender));
        }
        if self.left.outages > 0 {
            events.extend((0..CHANNELS).map(Event::Outage));
        }
        events
    }

    /// Something happens; what is wrong with it.
    pub(crate) fn apply(&mut self, event: Event) -> Result<(), String> {
        self.given.clear();
        self.spend(event);
        match event {
            Event::Send(on) => self.send(on),
            Event::Arrive(channel) => self.arrive(channel)?,
            Event::Return(channel) => self.come_back(channel),
            Event::Lose(channel) => self.lose(channel),
            Event::LoseReturn(channel) => drop(self.back[channel].pop_front()),
            Event::Repeat(channel) => {
                let frame = self.there[channel][0].clone();
                self.ledger.repeat(frame.number());
                self.there[channel].push_front(frame);
                self.arrive(channel)?;
            }
            Event::RepeatReturn(channel) => {
                let message = self.back[channel][0];
                self.back[channel].push_front(message);
                self.come_back(channel);
            }
            Event::RestartSender => self.restart_sender(self.sender.epoch().get() + 16),
            Event::ForgetSender => self.restart_sender(1),
            Event::RestartReceiver => self.restart_receiver(),
            Event::Outage(channel) => self.outage(channel)?,
            Event::Pass(span) => {
                if span != Span::Interval && !self.there.iter().all(VecDeque::is_empty) {
                    self.ledger.skew();
                }
                self.pass(span.duration())?;
            }
        }
        if self.is_at_rest() { self.ledger.rest(self.sent) } else { Ok(()) }
    }

    const fn spend(&mut self, event: Event) {
        let left = &mut self.left;
        let kind = match event {
            Event::Arrive(_) | Event::Return(_) => return,
            Event::Send(_) => {
                left.packets -= 1;
                return;
            }
            Event::Pass(_) => {
                left.pauses -= 1;
                return;
            }
            Event::Lose(_) | Event::LoseReturn(_) => &mut left.losses,
            Event::Repeat(_) | Event::RepeatReturn(_) => &mut left.repeats,
            Event::RestartSender | Event::ForgetSender | Event::RestartReceiver => {
                &mut left.restarts
            }
            Event::Outage(_) => &mut left.outages,
        };
        *kind -= 1;
        left.faults -= 1;
    }

    /// The sender, to be changed.
    fn sender(&mut self) -> &mut Sender<Scheduler> {
        self.prints[0] = None;
        Rc::make_mut(&mut self.sender)
    }

    /// The receiver, to be changed.
    fn receiver(&mut self) -> &mut Receiver<Scheduler, u32> {
        self.prints[1] = None;
        Rc::make_mut(&mut self.receiver)
    }

    /// The next packet, if it is taken. Where the choice is free the channel is made the one on
    /// which it is there first.
    pub(crate) fn send(&mut self, on: Option<usize>) {
        if let Some(channel) = on {
            self.sender().tell_rate(channel, RATE);
            self.sender().tell_rate(1 - channel, 1);
        }
        let (now, number) = (self.now, self.sent);
        let length_bytes = if number.is_multiple_of(2) { 60_000 } else { 40_000 };
        let taken = if self.rules.mode.is_confirmed() {
            let tagged = self.sender().handle_tagged(now, length_bytes);
            tagged.map(|(channel, tag)| (channel, Some(tag)))
        } else {
            self.sender().handle_packet(now, length_bytes).map(|channel| (channel, None))
        };
        let Ok((channel, tag)) = taken else { return };
        assert!(on.is_none_or(|on| on == channel || self.sender.is_dead(on)), "it was chosen");
        self.before = tag.map_or(0, |tag| number - tag.sequence);
        self.there[channel].push_back(Frame::Packet { number, length_bytes, tag });
        self.sent += 1;
        self.poll_sender();
    }

    pub(crate) fn poll_sender(&mut self) {
        let now = self.now;
        let mut polls = 0;
        while let Some((channel, message)) = self.sender().poll_message(now) {
            polls += 1;
            assert!(polls < POLLS_MAX, "polling comes to an end");
            let is_marker = matches!(message.kind, Kind::Marker(_));
            if is_marker && self.receiver.epoch() == Some(message.epoch) {
                self.ledger.mark(channel, self.sent);
            }
            if !(is_marker && self.rules.flaw == Some(Flaw::NoMarkers)) {
                self.there[channel].push_back(Frame::Message(message));
            }
        }
        while let Some(repair) = self.sender().poll_repair(now) {
            polls += 1;
            assert!(polls < POLLS_MAX, "polling comes to an end");
            let (length_bytes, tag) = (repair.length_bytes, Some(repair.tag));
            let number = self.before + repair.tag.sequence;
            self.there[repair.channel].push_back(Frame::Packet { number, length_bytes, tag });
        }
    }

    fn arrive(&mut self, channel: usize) -> Result<(), String> {
        let frame = self.there[channel].pop_front().expect("something is on its way");
        let now = self.now;
        // What is refused is counted there.
        let _ = match frame {
            Frame::Message(message) => self.receiver().handle_message(now, channel, message),
            Frame::Packet { number, length_bytes, tag: Some(tag) } => {
                self.receiver().handle_tagged(now, channel, tag, length_bytes, number)
            }
            Frame::Packet { number, length_bytes, tag: None } => {
                self.receiver().handle_packet(now, channel, length_bytes, number)
            }
        };
        self.poll_receiver()
    }

    fn poll_receiver(&mut self) -> Result<(), String> {
        let (now, first) = (self.now, self.given.len());
        while let Some(number) = self.receiver().poll_packet(now) {
            self.given.push(number);
        }
        if self.rules.flaw == Some(Flaw::Swaps) {
            self.given[first..].reverse();
        }
        if self.rules.flaw == Some(Flaw::Repeats) && self.sent > 3 {
            self.given.extend(self.given.last().copied());
        }
        for number in &self.given[first..] {
            self.ledger.give(*number)?;
        }
        let mut polls = 0;
        while let Some((channel, message)) = self.receiver().poll_message(now) {
            polls += 1;
            assert!(polls < POLLS_MAX, "polling comes to an end");
            let is_request = matches!(message.kind, Kind::ResetRequested);
            if !(is_request && self.rules.flaw == Some(Flaw::NoRequests)) {
                self.back[channel].push_back(message);
            }
        }
        Ok(())
    }

    fn come_back(&mut self, channel: usize) {
        let message = self.back[channel].pop_front().expect("something is on its way");
        let now = self.now;
        let _ = self.sender().handle_message(now, channel, message);
        self.poll_sender();
    }

    fn lose(&mut self, channel: usize) {
        let frame = self.there[channel].pop_front().expect("something is on its way");
        self.ledger.lose(frame.number());
    }

    fn restart_sender(&mut self, epoch: u32) {
        let (scheduler, options) = (self.scheduler.as_ref().clone(), self.rules.sender());
        let sender = Sender::new(scheduler, options, Epoch::new(epoch), self.now);
        *self.sender() = sender.expect("options of a test");
        self.ledger.restart();
        self.poll_sender();
    }

    fn restart_receiver(&mut self) {
        let scheduler = self.rules.theirs(&self.scheduler);
        let receiver = Receiver::new(scheduler, self.rules.receiver());
        *self.receiver() = receiver.expect("options of a test");
        self.ledger.restart();
    }

    fn outage(&mut self, channel: usize) -> Result<(), String> {
        self.ledger.skew();
        for _ in 0..OUTAGE_INTERVALS {
            self.pass(INTERVAL)?;
            self.lose_all(channel);
            while !self.is_at_rest() {
                self.settle_one()?;
                self.lose_all(channel);
            }
        }
        Ok(())
    }

    fn lose_all(&mut self, channel: usize) {
        while !self.there[channel].is_empty() {
            self.lose(channel);
        }
        self.back[channel].clear();
    }

    /// The first thing on its way gets there.
    fn settle_one(&mut self) -> Result<(), String> {
        if let Some(channel) = (0..CHANNELS).find(|channel| !self.there[*channel].is_empty()) {
            self.arrive(channel)?;
        } else if let Some(channel) = (0..CHANNELS).find(|channel| !self.back[*channel].is_empty())
        {
            self.come_back(channel);
        }
        Ok(())
    }

    /// All that is on its way gets there.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        while !self.is_at_rest() {
            self.settle_one()?;
        }
        Ok(())
    }

    /// Time goes on; then both ends are asked.
    pub(crate) fn pass(&mut self, span: Duration) -> Result<(), String> {
        self.now = self.now.after(span);
        self.poll_sender();
        self.poll_receiver()
    }

    /// Packets that wait anywhere in the receiver.
    pub(crate) fn waiting(&self) -> usize {
        let buffered = (0..CHANNELS).map(|channel| self.receiver.buffered_packets(channel));
        buffered.sum::<usize>() + self.receiver.copies()
    }
}
