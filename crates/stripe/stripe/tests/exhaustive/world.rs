//! Both ends and the channels between them: possible events, and their effects.
//!
//! ```text
//!   Sender  == there[0], there[1]: packets and messages, first in first out ==>  Receiver
//!           <== back[0], back[1]: messages ==
//! ```
//!
//! After each event the end concerned is polled until it has no more output.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use gingham_fairq::SurplusRoundRobin;
use gingham_stripe::{Epoch, Instant, Kind, Message, Receiver, Sender, Tag};

use crate::end::{End, Memory};
use crate::event::{Event, Left, Span};
use crate::fingerprint;
use crate::ledger::Ledger;
use crate::line::{Flying, Frame, Given, Line, Said, flying, poll_receiver, poll_sender};
use crate::rules::{Flaw, LONGEST_BYTES, Mode, QUANTA, RATE, Rules};

pub(crate) const CHANNELS: usize = 2;

pub(crate) const INTERVAL: Duration = Duration::from_millis(20);
/// Longer than silence and two round trips.
const OUTAGE_INTERVALS: usize = 80;

pub(crate) type Scheduler = SurplusRoundRobin<CHANNELS>;

#[derive(Debug, Default)]
struct Memories {
    sender: Memory<Sender<Scheduler>, Said>,
    receiver: Memory<Receiver<Scheduler, u32>, Given>,
}

#[derive(Clone)]
pub(crate) struct World {
    rules: Rules,
    scheduler: Rc<Scheduler>,
    pub(crate) now: Instant,
    pub(crate) sender: End<Sender<Scheduler>>,
    pub(crate) receiver: End<Receiver<Scheduler, u32>>,
    memories: Option<Rc<Memories>>,
    there: [Line; CHANNELS],
    back: [Line; CHANNELS],
    pub(crate) left: Left,
    pub(crate) ledger: Ledger,
    pub(crate) sent: u32,
    /// Sequence numbers start anew in the present epoch.
    before: u32,
    /// Deliveries in the last event.
    pub(crate) given: Vec<u32>,
    /// Faults and pauses so far.
    pub(crate) unkind: u8,
    /// Whether the partial-order reduction is disabled.
    is_full: bool,
    /// Whether the sender has gone back to an earlier epoch.
    forgot: bool,
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
            sender: End::new(sender.expect("options of a test")),
            receiver: End::new(receiver.expect("options of a test")),
            memories: Some(Rc::default()),
            there: Default::default(),
            back: Default::default(),
            left,
            ledger: Ledger::new(rules.mode.is_confirmed()),
            sent: 0,
            before: 0,
            given: Vec::new(),
            unkind: 0,
            is_full: false,
            forgot: false,
        };
        world.poll_sender();
        world
    }

    /// Without caches.
    pub(crate) fn forgetful(self) -> Self {
        Self { memories: None, ..self }
    }

    /// Without partial-order reduction.
    pub(crate) fn in_full(self) -> Self {
        Self { is_full: true, ..self }
    }

    pub(crate) fn print(&mut self) -> u128 {
        let ends = (self.sender.print(), self.receiver.print());
        let lines = [&self.there, &self.back].map(|lines| {
            let prints = |line: &Line| line.iter().map(|flying| flying.print()).collect::<Vec<_>>();
            lines.each_ref().map(prints)
        });
        let now_ns = self.now.nanoseconds() / fingerprint::INSTANT_NS;
        fingerprint::hash(&(ends, lines, self.sent, self.before, now_ns))
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        self.there.iter().all(VecDeque::is_empty) && self.back.iter().all(VecDeque::is_empty)
    }

    /// Fault-free events come first. If frames wait on both channels, those of the receiver precede
    /// those of the sender: see `search`.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = self.all_events();
        let Left { faults, outages, pauses, .. } = self.left;
        let is_full = self.is_full || self.forgot || pauses > 0 || (faults > 0 && outages > 0);
        if !is_full && self.there.iter().all(|line| !line.is_empty()) {
            events.retain(|event| event.is_of_receiver());
        }
        events
    }

    fn all_events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let coming = |channel: &usize| !self.there[*channel].is_empty();
        let returning = |channel: &usize| !self.back[*channel].is_empty();
        events.extend((0..CHANNELS).filter(coming).map(Event::Arrive));
        events.extend((0..CHANNELS).filter(returning).map(Event::Return));
        if self.left.packets > 0 && self.sender.state.is_open() {
            match self.rules.mode {
                Mode::Free => events.extend((0..CHANNELS).map(|on| Event::Send(Some(on)))),
                _ => events.push(Event::Send(None)),
            }
        }
        if self.left.pauses > 0 {
            events.extend([Span::Interval, Span::Wait].map(Event::Pass));
            events.extend((!self.sender.state.is_open()).then_some(Event::Pass(Span::Reset)));
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
            // In guaranteed order a restarted sender begins a later epoch.
            let forgets = self.rules.mode == Mode::Quasi;
            events.extend(forgets.then_some(Event::ForgetSender));
        }
        if self.left.outages > 0 {
            events.extend((0..CHANNELS).map(Event::Outage));
        }
        events
    }

    pub(crate) fn apply(&mut self, event: Event) -> Result<(), String> {
        self.given.clear();
        self.left.spend(event);
        self.unkind += u8::from(!event.is_kind());
        match event {
            Event::Send(on) => self.send(on),
            Event::Arrive(channel) => self.arrive(channel)?,
            Event::Return(channel) => self.come_back(channel),
            Event::Lose(channel) => self.lose(channel),
            Event::LoseReturn(channel) => drop(self.back[channel].pop_front()),
            Event::Repeat(channel) => {
                let flying = self.there[channel][0].clone();
                self.ledger.repeat(flying.frame.number());
                self.there[channel].push_front(flying);
                self.arrive(channel)?;
            }
            Event::RepeatReturn(channel) => {
                let message = self.back[channel][0].clone();
                self.back[channel].push_front(message);
                self.come_back(channel);
            }
            Event::RestartSender => self.restart_sender(self.sender.state.epoch().get() + 16),
            Event::ForgetSender => {
                self.forgot = true;
                self.restart_sender(1);
            }
            Event::RestartReceiver => self.restart_receiver(),
            Event::Outage(channel) => self.outage(channel)?,
            Event::Pass(span) => {
                let is_on_its_way = !self.there.iter().all(VecDeque::is_empty);
                if span != Span::Interval && (is_on_its_way || self.outwaits_sender(span)) {
                    self.ledger.skew();
                }
                self.pass(span.duration())?;
            }
        }
        if self.is_at_rest() { self.ledger.rest(self.sent) } else { Ok(()) }
    }

    /// In free order, `on` is made the channel of the earliest delivery.
    pub(crate) fn send(&mut self, on: Option<usize>) {
        let (now, number, confirmed) = (self.now, self.sent, self.rules.mode.is_confirmed());
        let length_bytes = if number.is_multiple_of(2) { 60_000 } else { 40_000 };
        let class = self.rules.mode.class();
        let send = |sender: &mut Sender<Scheduler>| {
            if let Some(channel) = on {
                sender.set_rate(channel, RATE);
                sender.set_rate(1 - channel, 1);
            }
            let tagged = if confirmed {
                let tagged = sender.handle_tagged_as(now, length_bytes, class);
                tagged.map(|(channel, tag)| (channel, Some(tag)))
            } else {
                sender.handle_packet(now, length_bytes).map(|channel| (channel, None))
            };
            let (channel, tag) = tagged.ok()?;
            let frame = Frame::Packet { number, length_bytes, tag };
            Some((channel, tag, flying(frame)))
        };
        self.step_sender(|| fingerprint::hash(&("send", on)), send);
    }

    pub(crate) fn poll_sender(&mut self) {
        self.step_sender(|| fingerprint::hash(&"poll"), |_| None);
    }

    /// The sender may accept a packet in a step, and is then polled.
    fn step_sender(
        &mut self,
        input: impl FnOnce() -> u128,
        act: impl FnOnce(&mut Sender<Scheduler>) -> Option<(usize, Option<Tag>, Rc<Flying>)>,
    ) {
        let (now, sent, before) = (self.now, self.sent, self.before);
        let step = |sender: &mut Sender<Scheduler>| {
            let taken = act(sender);
            let before = match &taken {
                Some((_, Some(tag), _)) => sent - tag.sequence,
                _ => before,
            };
            let mut said = Said { frames: Vec::new(), taken: None };
            if let Some((channel, tag, packet)) = taken {
                said.frames.push((channel, packet));
                said.taken = Some(tag.map_or(0, |tag| sent - tag.sequence));
            }
            poll_sender(sender, now, before, &mut said.frames);
            said
        };
        let said = match &self.memories {
            Some(memories) => {
                let input = fingerprint::hash(&(input(), now.nanoseconds(), sent, before));
                self.sender.step(&memories.sender, input, step)
            }
            None => self.sender.act(step),
        };
        if let Some(before) = said.taken {
            self.before = before;
            self.sent += 1;
        }
        for (channel, flying) in &said.frames {
            if let Frame::Message(Message { kind: Kind::Marker(_), epoch, .. }) = flying.frame {
                if self.receiver.state.epoch() == Some(epoch) {
                    self.ledger.mark(*channel, self.sent);
                }
                if matches!(self.rules.flaw, Some(Flaw::NoMarkers | Flaw::OtherQuanta)) {
                    continue;
                }
            }
            self.there[*channel].push_back(Rc::clone(flying));
        }
    }

    fn arrive(&mut self, channel: usize) -> Result<(), String> {
        let flying = self.there[channel].pop_front().expect("something is on its way");
        let now = self.now;
        // The receiver counts refusals.
        self.step_receiver(
            || fingerprint::hash(&(channel, flying.print())),
            |receiver| {
                let _ = match flying.frame {
                    Frame::Message(message) => receiver.handle_message(now, channel, message),
                    Frame::Packet { number, length_bytes, tag: Some(tag) } => {
                        receiver.handle_tagged(now, tag, length_bytes, number)
                    }
                    Frame::Packet { number, length_bytes, tag: None } => {
                        receiver.handle_packet(now, channel, length_bytes, number)
                    }
                };
            },
        )
    }

    fn step_receiver(
        &mut self,
        input: impl FnOnce() -> u128,
        act: impl FnOnce(&mut Receiver<Scheduler, u32>),
    ) -> Result<(), String> {
        let now = self.now;
        let step = |receiver: &mut Receiver<Scheduler, u32>| {
            act(receiver);
            poll_receiver(receiver, now)
        };
        let given = match &self.memories {
            Some(memories) => {
                let input = fingerprint::hash(&(input(), now.nanoseconds()));
                self.receiver.step(&memories.receiver, input, step)
            }
            None => self.receiver.act(step),
        };
        let mut packets = given.packets.clone();
        match self.rules.flaw {
            Some(Flaw::Swaps) => packets.reverse(),
            Some(Flaw::Repeats) if self.sent > 3 => packets.extend(given.packets.last()),
            _ => {}
        }
        for number in packets {
            self.given.push(number);
            self.ledger.give(number)?;
        }
        for (channel, flying) in &given.messages {
            let is_request =
                matches!(flying.frame, Frame::Message(Message { kind: Kind::ResetRequested, .. }));
            if !(is_request && self.rules.flaw == Some(Flaw::NoRequests)) {
                self.back[*channel].push_back(Rc::clone(flying));
            }
        }
        Ok(())
    }

    fn come_back(&mut self, channel: usize) {
        let flying = self.back[channel].pop_front().expect("something is on its way");
        let now = self.now;
        self.step_sender(
            || fingerprint::hash(&(channel, flying.print())),
            |sender| {
                if let Frame::Message(message) = flying.frame {
                    // The sender counts refusals.
                    let _ = sender.handle_message(now, channel, message);
                }
                None
            },
        );
    }

    fn lose(&mut self, channel: usize) {
        let flying = self.there[channel].pop_front().expect("something is on its way");
        self.ledger.lose(flying.frame.number());
    }

    fn restart_sender(&mut self, epoch: u32) {
        let (scheduler, options) = (self.scheduler.as_ref().clone(), self.rules.sender());
        let sender = Sender::new(scheduler, options, Epoch::new(epoch), self.now);
        self.sender = End::new(sender.expect("options of a test"));
        self.ledger.restart();
        self.poll_sender();
    }

    fn restart_receiver(&mut self) {
        let scheduler = self.rules.theirs(&self.scheduler);
        let receiver = Receiver::new(scheduler, self.rules.receiver());
        self.receiver = End::new(receiver.expect("options of a test"));
        self.ledger.restart();
    }

    fn outage(&mut self, channel: usize) -> Result<(), String> {
        self.ledger.skew();
        let memories = self.memories.take();
        for _ in 0..OUTAGE_INTERVALS {
            self.pass(INTERVAL)?;
            self.lose_all(channel);
            while !self.is_at_rest() {
                self.settle_one()?;
                self.lose_all(channel);
            }
        }
        self.memories = memories;
        Ok(())
    }

    fn lose_all(&mut self, channel: usize) {
        while !self.there[channel].is_empty() {
            self.lose(channel);
        }
        self.back[channel].clear();
    }

    fn settle_one(&mut self) -> Result<(), String> {
        if let Some(channel) = (0..CHANNELS).find(|channel| !self.there[*channel].is_empty()) {
            self.arrive(channel)?;
        } else if let Some(channel) = (0..CHANNELS).find(|channel| !self.back[*channel].is_empty())
        {
            self.come_back(channel);
        }
        Ok(())
    }

    pub(crate) fn settle(&mut self) -> Result<(), String> {
        while !self.is_at_rest() {
            self.settle_one()?;
        }
        Ok(())
    }

    pub(crate) fn pass(&mut self, span: Duration) -> Result<(), String> {
        self.now = self.now.after(span);
        self.poll_sender();
        self.step_receiver(|| fingerprint::hash(&"poll"), |_| ())
    }

    /// A wait of the receiver would end in the pause after a skipped timeout of the sender: markers
    /// would be further apart than the wait, contrary to the options.
    fn outwaits_sender(&self, span: Span) -> bool {
        let ends_at =
            self.receiver.state.poll_timeout().filter(|at| *at <= self.now.after(span.duration()));
        ends_at.is_some_and(|at| self.sender.state.poll_timeout() < at)
    }

    pub(crate) fn waiting(&self) -> usize {
        let buffered = (0..CHANNELS).map(|channel| self.receiver.state.buffered_packets(channel));
        buffered.sum::<usize>() + self.receiver.state.copies()
    }
}
