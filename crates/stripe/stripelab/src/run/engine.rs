//! The event loop.
//!
//! After each event, the affected end is polled until nothing is left to send: first messages, then
//! packets, as the protocol requires.
//!
//! Invariant: every generated packet is either in the entry queue, on a channel, in a receive
//! buffer, delivered, or counted as refused or lost.

mod giving;
mod sending;
mod steps;

use super::entry::Entry;
use super::event::{Event, Slots};
use super::link::Link;
use super::receiving::ReceivingEnd;
use super::sending::SendingEnd;
use super::wire::small;
use crate::measure::Meter;
use crate::plan::Plan;
use crate::traffic::{Packet, Source, Turn};
use gingham_kernel::{Rate, Time, Wheel};
use gingham_results::real;
use std::collections::VecDeque;
pub use steps::NoProgress;
use steps::Steps;

/// Progress of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Completed fraction, from 0 to 1.
    pub fraction: f64,
    /// Simulated time, in picoseconds.
    pub now_ps: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets sent, but neither delivered nor lost.
    pub in_flight: u64,
    /// Whether the run is complete.
    pub done: bool,
}

#[derive(Debug)]
pub(crate) struct Engine {
    now: Time,
    stop: Time,
    end: Time,
    done: bool,
    steps: Steps,
    is_pumping: bool,
    wheel: Wheel<Event>,
    slots: Slots,
    links: Vec<Link>,
    sender: SendingEnd,
    receiver: ReceivingEnd,
    sources: Vec<Source>,
    turn: Turn,
    entry: Entry,
    copies: VecDeque<Packet>,
    backpressure: bool,
    reader: Option<Rate>,
    read_at: Time,
    /// Time of the pending sending timer. An earlier time replaces it; a later time is scheduled
    /// when it expires.
    pump_at: Option<Time>,
    sender_at: Option<Time>,
    receiver_at: Option<Time>,
    offered: u64,
    meter: Meter,
}

impl Engine {
    pub(crate) fn new(plan: &Plan) -> Self {
        let source = |(id, source)| Source::new(id, source, plan.seed, plan.stop);
        let mut engine = Self {
            now: Time::ZERO,
            stop: plan.stop,
            end: plan.end,
            done: false,
            steps: Steps::new(plan.steps_max),
            is_pumping: false,
            wheel: Wheel::new(),
            slots: Slots::default(),
            links: plan.links.iter().map(|link| Link::new(link, plan.seed)).collect(),
            sender: SendingEnd::new(plan),
            receiver: ReceivingEnd::new(plan),
            sources: plan.sources.iter().enumerate().map(source).collect(),
            turn: Turn::default(),
            entry: Entry::new(&plan.entry),
            copies: VecDeque::new(),
            backpressure: plan.backpressure,
            reader: plan.reader,
            read_at: Time::ZERO,
            pump_at: None,
            sender_at: None,
            receiver_at: None,
            offered: 0,
            meter: Meter::new(plan),
        };
        engine.start(&plan.resets);
        engine
    }

    fn start(&mut self, resets: &[Time]) {
        for at in resets {
            self.wheel.schedule(at.as_ps(), Event::Reset);
        }
        for (source, first) in (0_u16..).zip(self.sources.iter().map(Source::first)) {
            if let Some(first) = first {
                self.wheel.schedule(first.as_ps(), Event::Send { source });
            }
        }
        for channel in 0..self.links.len() {
            self.schedule_change(channel);
            self.schedule_competing(channel);
        }
        self.wheel.schedule(self.meter.series.ends().as_ps(), Event::Step);
        self.pump();
    }

    /// Simulates at most `steps_max` steps; returns whether the run is done. Fails if simulated
    /// time stops advancing.
    pub(crate) fn advance(&mut self, steps_max: u64) -> Result<bool, NoProgress> {
        self.steps.allow(steps_max);
        while !self.done && self.steps.are_left() {
            if self.steps.is_stuck() {
                return Err(self.steps.no_progress(self.now));
            }
            if self.is_pumping {
                self.pump();
            } else {
                self.handle_next();
            }
        }
        Ok(self.done)
    }

    fn handle_next(&mut self) {
        match self.wheel.pop() {
            Some((at, event)) if at <= self.end.as_ps() && !self.is_over(at) => {
                let at = Time::from_ps(at);
                self.steps.take(at > self.now);
                self.now = at;
                self.handle(event);
            }
            _ => self.done = true,
        }
    }

    fn is_over(&self, at: u64) -> bool {
        at >= self.stop.as_ps() && self.entry.is_empty() && self.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.copies.is_empty()
            && self.slots.packets() == 0
            && (0..self.links.len()).all(|channel| self.receiver.buffered_packets(channel) == 0)
    }

    pub(crate) fn progress(&self, done: bool) -> Progress {
        let share = real(u128::from(self.now.as_ps())) / real(u128::from(self.stop.as_ps()));
        let meter = &self.meter;
        Progress {
            fraction: if done { 1.0 } else { share.min(1.0) },
            now_ps: self.now.as_ps(),
            delivered: meter.delivered_packets,
            in_flight: meter.unaccounted_packets(),
            done,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Compete { channel } => {
                let channel = usize::from(channel);
                self.links[channel].compete(self.now);
                self.schedule_competing(channel);
            }
            Event::Change { channel } => {
                let channel = usize::from(channel);
                if let Some(quantum) = self.links[channel].change(self.now) {
                    self.sender.set_target(channel, quantum);
                }
                self.schedule_change(channel);
                self.pump();
            }
            Event::Reset => {
                self.sender.reset(self.now);
                self.pump();
            }
            Event::Arrive { channel, slot, .. } => self.arrive(usize::from(channel), slot),
            Event::Return { channel, slot, .. } => self.come_back(usize::from(channel), slot),
            Event::Acknowledge { source, expected, got, marked, .. } => {
                self.acknowledge(source, expected, got, marked);
            }
            Event::Timeout { source } => self.time_out(source),
            Event::Send { source } => self.tick(source),
            Event::Read => self.read(),
            Event::Pump if self.pump_at == Some(self.now) => {
                self.pump_at = None;
                self.pump();
            }
            Event::SenderTimer if self.sender_at == Some(self.now) => {
                self.sender_at = None;
                self.pump();
            }
            Event::ReceiverTimer if self.receiver_at == Some(self.now) => {
                self.receiver_at = None;
                self.read();
            }
            Event::Pump | Event::SenderTimer | Event::ReceiverTimer => {}
            Event::Step => self.end_step(),
        }
    }

    fn schedule_change(&mut self, channel: usize) {
        if let Some(at) = self.links[channel].next_change() {
            self.wheel.schedule(at.as_ps(), Event::Change { channel: small(channel) });
        }
    }

    fn schedule_competing(&mut self, channel: usize) {
        if let Some(at) = self.links[channel].next_competing() {
            self.wheel.schedule(at.as_ps(), Event::Compete { channel: small(channel) });
        }
    }

    fn tick(&mut self, source: u16) {
        let mut packets = Vec::new();
        let next = self.sources[usize::from(source)].tick(self.now, &mut packets);
        if let Some(next) = next {
            self.wheel.schedule(next.as_ps(), Event::Send { source });
        }
        self.take_offers(&packets);
        self.set_timeout(source);
    }

    fn take_offers(&mut self, packets: &[Packet]) {
        for packet in packets {
            self.entry.offer(self.now, packet, &mut self.meter);
        }
        self.pump();
    }

    fn acknowledge(&mut self, source: u16, expected: u64, got: u64, marked: bool) {
        if let Some(transport) = &mut self.sources[usize::from(source)].transport {
            transport.acknowledge(self.now, expected, got, marked);
        }
        self.fill(source);
    }

    fn time_out(&mut self, source: u16) {
        if let Some(transport) = &mut self.sources[usize::from(source)].transport {
            transport.check_timeout(self.now);
        }
        self.fill(source);
    }

    fn fill(&mut self, source: u16) {
        let mut packets = Vec::new();
        self.sources[usize::from(source)].fill(self.now, &mut packets);
        self.take_offers(&packets);
        self.set_timeout(source);
    }

    fn end_step(&mut self) {
        let (packets, bytes) = (self.entry.waiting_packets(), self.entry.waiting_bytes());
        let pipe = self.meter.series.pipe();
        (pipe.waiting_packets, pipe.waiting_bytes) = (packets, bytes);
        for channel in 0..self.links.len() {
            let link = &self.links[channel];
            let (queue_bytes, queue_wait) = (link.backlog_bytes(self.now), link.wait(self.now));
            let buffer_packets = self.receiver.buffered_packets(channel) as u64;
            let quantum_bytes = self.sender.quantum(channel).map_or(0, u64::from);
            let step = self.meter.series.channel(channel);
            (step.queue_bytes, step.queue_wait) = (queue_bytes, queue_wait);
            step.buffer_packets = buffer_packets;
            step.quantum_bytes = quantum_bytes;
            if let Some(flight) = self.sender.flight(channel) {
                step.take_flight(&flight);
            }
        }
        self.meter.series.begin();
        if self.now < self.stop {
            self.wheel.schedule(self.meter.series.ends().as_ps(), Event::Step);
        }
    }

    /// Schedules a check of the retransmission timer; an early check is harmless.
    fn set_timeout(&mut self, source: u16) {
        let timeout = self.sources[usize::from(source)].take_timer(self.now);
        if let Some(at) = timeout {
            self.wheel.schedule(at.max(self.now).as_ps(), Event::Timeout { source });
        }
    }

    fn set_sender_timer(&mut self) {
        if let Some(at) = self.sender.timeout()
            && self.sender_at.is_none_or(|set| set > at)
        {
            let at = at.max(self.now);
            self.sender_at = Some(at);
            self.wheel.schedule(at.as_ps(), Event::SenderTimer);
        }
    }

    fn set_receiver_timer(&mut self) {
        if let Some(at) = self.receiver.timeout()
            && self.receiver_at.is_none_or(|set| set > at)
        {
            let at = at.max(self.now);
            self.receiver_at = Some(at);
            self.wheel.schedule(at.as_ps(), Event::ReceiverTimer);
        }
    }

    pub(crate) const fn now(&self) -> Time {
        self.now
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.done
    }

    pub(crate) const fn meter(&self) -> &Meter {
        &self.meter
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    pub(crate) const fn sender(&self) -> &SendingEnd {
        &self.sender
    }

    pub(crate) const fn receiver(&self) -> &ReceivingEnd {
        &self.receiver
    }
}
