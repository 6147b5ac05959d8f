//! Both ends, the channels between them, a source, and virtual time.

mod happen;
pub(crate) mod uptake;

use std::collections::BTreeMap;

use gingham_fairq::SurplusRoundRobin;
use gingham_stripe::{
    ChannelOrder, Epoch, Instant, Message, Ordered, Receiver, RetransmissionBuffer, Sender, Tag,
};

use super::case::{Case, Draw, LONGEST_BYTES, Lengths, nanoseconds};
use super::ledger::{Ledger, Uptake};
use super::line::{Frame, Line, Packet};
use super::totals::Totals;

pub(crate) type Scheduler = SurplusRoundRobin<16>;

/// Some hundred times the longest seen.
const STEPS_MAX: u64 = 2_000_000;

#[derive(Debug)]
struct Flight {
    channel: usize,
    forth: bool,
    frame: Frame,
}

pub(crate) struct World<'a> {
    case: &'a Case,
    draw: Draw,
    classes: Draw,
    now_ns: u64,
    scheduler: Scheduler,
    sender: Sender<Scheduler>,
    receiver: Receiver<Scheduler, Packet>,
    there: Vec<Line>,
    back: Vec<Line>,
    orders: Vec<ChannelOrder<Packet>>,
    /// By arrival time, then by departure.
    flights: BTreeMap<(u64, u64), Flight>,
    flown: u64,
    happened: usize,
    kept: RetransmissionBuffer<Packet>,
    next_packet_ns: u64,
    /// Epoch of the sender, and the time of its first packet.
    opened: (Epoch, u64),
    ledger: Ledger,
    uptake: Uptake,
    /// Arrival of the last frame delayed by more than the receiver's wait: if some channels are
    /// out, others may be overloaded.
    late_ns: u64,
    totals: Totals,
    /// Last state printed, if the run is printed.
    printed: Option<String>,
}

impl<'a> World<'a> {
    pub(crate) fn new(case: &'a Case) -> Self {
        let scheduler = Scheduler::starting_at(case.first_round, LONGEST_BYTES, &case.quanta)
            .expect("quanta of a test");
        let lines = |way: &str| {
            let line = |(number, line): (usize, &super::case::LineCase)| {
                let parameters = if way == "there" { &line.there } else { &line.back };
                Line::new(parameters, case.heal_ns, case.seed, &format!("{way} {number}"))
            };
            case.lines.iter().enumerate().map(line).collect()
        };
        let (epoch, now) = (Epoch::new(1), Instant::ORIGIN);
        let sender = Sender::new(scheduler.clone(), case.sender, epoch, now);
        Self {
            case,
            draw: Draw::of(case.seed, "source"),
            now_ns: 0,
            classes: Draw::of(case.seed, "classes"),
            sender: case.configure(sender.expect("options of a test")),
            receiver: Receiver::new(scheduler.clone(), case.receiver).expect("options of a test"),
            scheduler,
            there: lines("there"),
            back: lines("back"),
            orders: orders(case),
            flights: BTreeMap::new(),
            flown: 0,
            happened: 0,
            kept: RetransmissionBuffer::new(1_024),
            next_packet_ns: 0,
            opened: (Epoch::new(0), 0),
            ledger: Ledger::default(),
            uptake: Uptake::default(),
            late_ns: 0,
            totals: Totals { runs: 1, ..Totals::default() },
            printed: None,
        }
    }

    pub(crate) fn aloud(mut self) -> Self {
        self.printed = Some(String::new());
        self
    }

    pub(crate) fn run(mut self) -> Result<Totals, String> {
        for step in 0.. {
            if self.now_ns >= self.case.end_ns {
                break;
            }
            if step > STEPS_MAX {
                return Err(self.dated("the run does not come to its end"));
            }
            self.happen();
            self.arrive()?;
            self.send()?;
            self.settle()?;
            self.print_state();
            self.now_ns = self.next_ns().min(self.case.end_ns);
        }
        self.judge()
    }

    const fn now(&self) -> Instant {
        Instant::from_nanoseconds(self.now_ns)
    }

    /// After now, whatever timeout the ends report.
    fn next_ns(&self) -> u64 {
        let story = self.case.story.get(self.happened).map(|(at_ns, _)| *at_ns);
        let source = (self.next_packet_ns < self.case.silent_ns).then_some(self.next_packet_ns);
        let flight = self.flights.first_key_value().map(|((at_ns, _), _)| *at_ns);
        let timers = [Some(self.sender.poll_timeout()), self.receiver.poll_timeout()];
        let orders = self.orders.iter().map(ChannelOrder::poll_timeout);
        let timers = timers.into_iter().chain(orders).flatten().map(Instant::nanoseconds);
        let others = [story, source, flight].into_iter().flatten();
        others.chain(timers).min().unwrap_or(u64::MAX)
    }

    fn arrive(&mut self) -> Result<(), String> {
        while let Some(entry) = self.flights.first_entry()
            && entry.key().0 <= self.now_ns
        {
            let Flight { channel, forth, frame } = entry.remove();
            if forth && !self.orders.is_empty() {
                self.put_in_order(channel, frame);
                self.take_ordered(channel);
            } else {
                self.take_frame(channel, forth, frame);
            }
            let (held, bound) = (self.receiver.held_bytes(), self.case.receiver.buffer_bytes_max);
            if held > bound {
                return Err(format!("{held} held where {bound} may be"));
            }
            self.deliver()?;
        }
        Ok(())
    }

    /// The end counts refusals.
    fn take_frame(&mut self, channel: usize, forth: bool, frame: Frame) {
        let now = self.now();
        let _ = match frame {
            Frame::Packet(packet) => {
                self.receiver.handle_packet(now, channel, packet.length_bytes, packet)
            }
            Frame::Tagged(tag, packet) => {
                self.receiver.handle_tagged(now, tag, packet.length_bytes, packet)
            }
            Frame::Message(bytes) if forth => self.receiver.handle_bytes(now, channel, &bytes),
            Frame::Message(bytes) => self.sender.handle_bytes(now, channel, &bytes),
        };
    }

    fn put_in_order(&mut self, channel: usize, frame: Frame) {
        let (now, order) = (self.now(), &mut self.orders[channel]);
        let _ = match frame {
            Frame::Tagged(tag, packet) => {
                order.handle_packet(now, tag, packet.length_bytes, packet)
            }
            Frame::Message(bytes) => match Message::parse(&bytes) {
                Ok(message) => order.handle_message(now, message),
                Err(_) => self.receiver.handle_bytes(now, channel, &bytes),
            },
            Frame::Packet(_) => unreachable!("where channels are put in order there are tags"),
        };
    }

    fn take_ordered(&mut self, channel: usize) {
        let now = self.now();
        while let Some(ordered) = self.orders[channel].poll(now) {
            let _ = match ordered {
                Ordered::Packet(tag, length_bytes, packet) => {
                    self.receiver.handle_tagged(now, tag, length_bytes, packet)
                }
                Ordered::Message(message) => self.receiver.handle_message(now, channel, message),
            };
        }
    }

    fn send(&mut self) -> Result<(), String> {
        if self.next_packet_ns > self.now_ns || self.now_ns >= self.case.silent_ns {
            return Ok(());
        }
        let length_bytes = self.length_bytes();
        self.poll_sender()?;
        let taken = self.take(length_bytes);
        if self.now_ns >= self.case.heal_ns {
            self.uptake.offer(self.now_ns, taken.is_some());
        }
        if let Some((channel, tag)) = taken {
            if self.opened.0 != self.sender.epoch() {
                self.opened = (self.sender.epoch(), self.now_ns);
            }
            let packet = self.ledger.next(length_bytes);
            self.ledger.send(self.now_ns, length_bytes);
            let frame = tag.map_or(Frame::Packet(packet), |tag| Frame::Tagged(tag, packet));
            if let Some(tag) = tag {
                self.kept.keep(tag.sequence, packet);
            }
            self.put(channel, true, &frame);
        }
        let gap_ns =
            if self.now_ns < self.case.heal_ns { self.case.gap_ns } else { 2 * self.case.gap_ns };
        self.next_packet_ns = self.now_ns + self.draw.between(gap_ns / 2, gap_ns + gap_ns / 2);
        Ok(())
    }

    fn take(&mut self, length_bytes: u32) -> Option<(usize, Option<Tag>)> {
        let now = self.now();
        if self.case.receiver.guaranteed.is_none() {
            return Some((self.sender.handle_packet(now, length_bytes).ok()?, None));
        }
        let class = self.case.policies.class(&mut self.classes);
        let (channel, tag) = self.sender.handle_tagged_as(now, length_bytes, class).ok()?;
        Some((channel, Some(tag)))
    }

    fn length_bytes(&mut self) -> u32 {
        match self.case.lengths {
            Lengths::Uniform => self.draw.bytes(1, LONGEST_BYTES),
            Lengths::Constant(bytes) => bytes,
            Lengths::InTurn(long, short) => {
                if self.ledger.sent().is_multiple_of(2) {
                    long
                } else {
                    short
                }
            }
        }
    }

    /// Both ends must run out of output.
    fn settle(&mut self) -> Result<(), String> {
        self.poll_sender()?;
        (0..self.orders.len()).for_each(|channel| self.take_ordered(channel));
        self.deliver()?;
        for spoken in 0.. {
            let Some((channel, message)) = self.receiver.poll_message(self.now()) else { break };
            self.put(channel, false, &Frame::Message(message.to_bytes().to_vec()));
            self.bound(spoken, "the receiver does not stop talking")?;
        }
        let now = self.now();
        if self.sender.poll_timeout() <= now {
            return Err(self.dated("the sender asks to be called at once, when it has just been"));
        }
        if self.receiver.poll_timeout().is_some_and(|timeout| timeout <= now) {
            return Err(self.dated("the receiver asks to be called at once, when it has just been"));
        }
        Ok(())
    }

    fn poll_sender(&mut self) -> Result<(), String> {
        for spoken in 0.. {
            let Some((channel, message)) = self.sender.poll_message(self.now()) else { break };
            let mut bytes = message.to_bytes().to_vec();
            bytes.resize(bytes.len().max(self.sender.padded_bytes(channel)), 0);
            self.put(channel, true, &Frame::Message(bytes));
            self.bound(spoken, "the sender does not stop talking")?;
        }
        while let Some(repair) = self.sender.poll_repair(self.now()) {
            if let Some(packet) = self.kept.get(repair.tag.sequence).copied() {
                self.put(repair.channel, true, &Frame::Tagged(repair.tag, packet));
            }
        }
        Ok(())
    }

    fn deliver(&mut self) -> Result<(), String> {
        while let Some(packet) = self.receiver.poll_packet(self.now()) {
            self.ledger.deliver(packet).map_err(|what| self.dated(&what))?;
            if self.case.receiver.guaranteed.is_some() && self.ledger.overtaken > 0 {
                return Err(self.dated(&format!("{packet:?} out of order, which is guaranteed")));
            }
        }
        Ok(())
    }

    fn put(&mut self, channel: usize, forth: bool, frame: &Frame) {
        let line = if forth { &mut self.there[channel] } else { &mut self.back[channel] };
        for (at_ns, frame) in line.offer(self.now_ns, frame) {
            if forth && at_ns - self.now_ns > nanoseconds(self.case.receiver.wait) {
                self.late_ns = self.late_ns.max(at_ns);
            }
            let flight = Flight { channel, forth, frame };
            self.flights.insert((at_ns, self.flown), flight);
            self.flown += 1;
        }
    }

    fn bound(&self, spoken: usize, what: &str) -> Result<(), String> {
        if spoken < 1_000 { Ok(()) } else { Err(self.dated(what)) }
    }

    fn dated(&self, what: &str) -> String {
        format!("at {} us: {what}", self.now_ns / 1_000)
    }

    #[expect(clippy::print_stdout, reason = "a run that is told in detail")]
    fn print_state(&mut self) {
        let Some(printed) = &self.printed else { return };
        let (sending, reception) = (self.sender.sending(), self.receiver.reception());
        let state = format!(
            "{:?} sender {} {} resets {} discards {} | receiver {:?} silences {} late {} requests {} discards {}",
            self.quanta(),
            self.sender.epoch().get(),
            if self.sender.is_open() { "open" } else { "resetting" },
            sending.resets,
            sending.discards.total(),
            self.receiver.epoch().map(Epoch::get),
            reception.silences,
            reception.late,
            reception.requests,
            reception.discards.total(),
        );
        if state != *printed {
            println!("{:>9} us  packet {:>5}  {state}", self.now_ns / 1_000, self.ledger.sent());
            self.printed = Some(state);
        }
    }

    fn quanta(&self) -> Vec<u32> {
        let quantum = |channel| self.sender.scheduler().standing(channel).quantum_bytes;
        (0..self.case.quanta.len()).map(quantum).collect()
    }

    fn judge(mut self) -> Result<Totals, String> {
        self.count_sender();
        self.count_receiver();
        self.totals.sent = self.ledger.sent();
        self.totals.delivered = self.ledger.delivered;
        self.totals.overtaken = self.ledger.overtaken;
        for counters in self.there.iter().chain(&self.back).flat_map(Line::counters) {
            self.totals.frames_lost += counters.queue_full + counters.outage + counters.lost;
            self.totals.frames_damaged += counters.corrupted;
        }
        let left: usize = (0..self.case.quanta.len())
            .map(|channel| self.receiver.buffered_packets(channel))
            .sum();
        let held: usize = self.orders.iter().map(ChannelOrder::held).sum();
        let left = left + self.receiver.copies() + held;
        if left > 0 {
            return Err(format!("{left} packets wait at the end"));
        }
        // If the wait is too short for the skew, the ends get out of step repeatedly.
        let agree = self.sender.is_open() && Some(self.sender.epoch()) == self.receiver.epoch();
        if self.case.ample && !agree {
            let (sender, receiver) = (self.sender.epoch(), self.receiver.epoch());
            return Err(format!(
                "at the end the sender is in {sender:?} and the receiver in {receiver:?}"
            ));
        }
        self.judge_credits()?;
        self.judge_uptake()?;
        if self.case.ample {
            self.judge_order()?;
        }
        Ok(self.totals)
    }

    /// Theorem 5.1, with the allowance of the case for crashes and silences.
    fn judge_order(&mut self) -> Result<(), String> {
        let wrong_ns = self.ledger.last_wrong_ns();
        // A sender that measures rates may fill a queue, which counts as the last error. Lines are
        // dimensioned for their shares of the packets, without copies: as many as packets may go on
        // each.
        let may_fill = self.case.sender.control.is_some() || self.case.policies.copies();
        let last_full_ns = self.there.iter().map(|line| line.last_full_ns).max().unwrap_or(0);
        let error_ns = if may_fill { last_full_ns } else { 0 };
        let quiet = self.totals.crashes == 0
            && self.totals.resets == 1
            && self.totals.silences == 0
            && self.totals.deaths == 0
            && self.opened.1 < self.case.heal_ns
            && !self.case.is_overloaded();
        // Copies of earlier losses may use the memory of packets.
        let repair = self.case.receiver.guaranteed.and_then(|guarantee| guarantee.repair);
        // They are awaited for two and a half round trips, if those are longer than the wait.
        let trips_ns = (5 * self.case.way_ns).min(1_000_000_000);
        let copies_ns =
            repair.map_or(0, |requests| nanoseconds(requests.wait).max(trips_ns) + 100_000_000);
        let bound_ns = if quiet {
            self.case.heal_ns.max(error_ns)
                + nanoseconds(self.case.sender.markers.interval)
                + copies_ns
        } else {
            self.case.settled_ns + self.late_ns.max(error_ns).saturating_sub(self.case.heal_ns)
        };
        if wrong_ns > bound_ns {
            let lost = self.ledger.last_lost();
            let full = self.there.iter().map(|line| line.counters()[1].queue_full);
            let full: Vec<_> = full.collect();
            let orders: Vec<_> = self.orders.iter().map(ChannelOrder::discards).collect();
            return Err(format!(
                "a packet sent at {} us came out of order or not at all (the last lost: {lost:?} of {}), and order is to \
                 be exact from {} us on ({:?}; {orders:?}; full queues since the healing: {full:?}; {})",
                wrong_ns / 1_000,
                self.ledger.sent(),
                bound_ns / 1_000,
                self.receiver.reception().discards,
                if quiet { "without crashes, silences and deaths" } else { "with some" },
            ));
        }
        let recovery_ns = wrong_ns.saturating_sub(self.case.heal_ns.max(error_ns));
        self.totals.recovery_ns_max = [if quiet { recovery_ns } else { 0 }, recovery_ns];
        Ok(())
    }

    fn count_sender(&mut self) {
        self.totals.resets += self.sender.sending().resets;
        self.totals.deaths += self.sender.sending().deaths;
        self.totals.copies += self.sender.sending().repairs;
        self.totals.redundant += self.sender.sending().redundant;
    }

    fn count_receiver(&mut self) {
        self.totals.markers += self.receiver.reception().markers;
        self.totals.repaired += self.receiver.reception().repaired;
        self.totals.silences += self.receiver.reception().silences;
    }
}

fn orders(case: &Case) -> Vec<ChannelOrder<Packet>> {
    let order = |options| ChannelOrder::new(options).expect("options of a test");
    case.order.map_or_else(Vec::new, |options| case.lines.iter().map(|_| order(options)).collect())
}
