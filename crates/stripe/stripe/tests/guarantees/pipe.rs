//! Both ends over emulated channels, a packet a millisecond.

use std::collections::BTreeMap;
use std::time::Duration;

use gingham_fairq::SurplusRoundRobin;
use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{Channel, Parameters};
use gingham_stripe::{
    ChannelOrder, Epoch, Instant, Message, OrderOptions, Ordered, Receiver, ReceiverOptions,
    RetransmissionBuffer, Sender, SenderOptions, Tag,
};

const LENGTH_BYTES: u32 = 1_000;
const PACE: Duration = Duration::from_millis(1);

type Scheduler = SurplusRoundRobin<4>;

/// Its number, and its arrival in nanoseconds.
type Packet = (u32, u64);

#[derive(Clone, Debug)]
enum Frame {
    Packet(Option<Tag>, u32),
    Message(Message),
}

pub(crate) const fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) fn span(duration: Duration) -> Span {
    Span::from_ns(u64::try_from(duration.as_nanos()).expect("short"))
}

/// A channel of 10 MB/s.
pub(crate) fn clean(delay_ms: u64) -> Parameters {
    let rate = Rate::from_bytes_per_second(10_000_000);
    Parameters::clean(rate, 1_000_000, span(milliseconds(delay_ms)))
}

fn channel(parameters: &Parameters, name: &str) -> Channel {
    Channel::new(parameters.clone(), 1, name).expect("parameters of a test")
}

pub(crate) struct Pipe {
    now_ns: u64,
    sender: Sender<Scheduler>,
    pub(crate) receiver: Receiver<Scheduler, Packet>,
    lines: Vec<Parameters>,
    there: Vec<Channel>,
    back: Vec<Channel>,
    orders: Vec<ChannelOrder<u32>>,
    guaranteed: bool,
    kept: RetransmissionBuffer<u32>,
    sent: u32,
    flights: BTreeMap<(u64, u64), (usize, bool, Frame)>,
    flown: u64,
    pub(crate) delivered: Vec<u32>,
    /// Longest wait in the receiver.
    pub(crate) waited_max: Duration,
}

impl Pipe {
    #[allow(clippy::large_types_passed_by_value, reason = "options are given once a test")]
    pub(crate) fn new(
        lines: &[Parameters],
        sender: SenderOptions,
        receiver: ReceiverOptions,
    ) -> Self {
        let scheduler = Scheduler::new(LENGTH_BYTES, &vec![LENGTH_BYTES; lines.len()]);
        let scheduler = scheduler.expect("quanta of a test");
        let (epoch, guaranteed) = (Epoch::new(1), receiver.guaranteed.is_some());
        let name = |way: &str, number: usize| format!("{way} {number}");
        let there =
            lines.iter().enumerate().map(|(number, line)| channel(line, &name("there", number)));
        let back = (0..lines.len()).map(|number| channel(&clean(5), &name("back", number)));
        Self {
            now_ns: 0,
            sender: Sender::synchronised(scheduler.clone(), sender, epoch, Instant::ORIGIN)
                .expect("options"),
            receiver: Receiver::synchronised(scheduler, receiver, epoch).expect("options"),
            lines: lines.to_vec(),
            there: there.collect(),
            back: back.collect(),
            orders: Vec::new(),
            guaranteed,
            kept: RetransmissionBuffer::new(4_096),
            sent: 0,
            flights: BTreeMap::new(),
            flown: 0,
            delivered: Vec::new(),
            waited_max: Duration::ZERO,
        }
    }

    pub(crate) fn in_order(mut self, options: OrderOptions) -> Self {
        let order = || ChannelOrder::synchronised(options, Epoch::new(1)).expect("options");
        self.orders = self.lines.iter().map(|_| order()).collect();
        self
    }

    pub(crate) fn heal(&mut self) {
        let healed =
            |line: &Parameters| Parameters { loss: gingham_linkemu::Loss::None, ..line.clone() };
        self.there = self.lines.iter().map(|line| channel(&healed(line), "healed")).collect();
    }

    pub(crate) fn waiting(&self) -> usize {
        let buffered = (0..self.lines.len()).map(|channel| self.receiver.buffered_packets(channel));
        buffered.sum::<usize>() + self.receiver.copies()
    }

    /// At least a millisecond apart.
    pub(crate) fn send(&mut self, packets: u32) {
        let last = self.sent + packets;
        while self.sent < last {
            self.step();
            let may_go = self.sender.poll_transmit(self.now()).is_some();
            if let Some((channel, tag)) = may_go.then(|| self.take()).flatten() {
                if let Some(tag) = tag {
                    self.kept.keep(tag.sequence, self.sent);
                }
                self.put(channel, true, LENGTH_BYTES, &Frame::Packet(tag, self.sent));
                self.sent += 1;
            }
            self.run_for(PACE);
        }
    }

    /// Until nothing is in flight and no wait is left.
    pub(crate) fn drain(&mut self) {
        self.run_for(Duration::from_secs(2));
    }

    pub(crate) fn run_for(&mut self, span: Duration) {
        let end_ns = self.now_ns + u64::try_from(span.as_nanos()).expect("short");
        while self.next_ns() <= end_ns {
            self.now_ns = self.next_ns().max(self.now_ns);
            self.step();
        }
        self.now_ns = end_ns;
    }

    const fn now(&self) -> Instant {
        Instant::from_nanoseconds(self.now_ns)
    }

    fn next_ns(&self) -> u64 {
        let orders = self.orders.iter().map(ChannelOrder::poll_timeout);
        let timers = [Some(self.sender.poll_timeout()), self.receiver.poll_timeout()];
        let timers = timers.into_iter().chain(orders).flatten().map(Instant::nanoseconds);
        let flight = self.flights.keys().next().map(|(at_ns, _)| *at_ns);
        timers.chain(flight).min().unwrap_or(u64::MAX)
    }

    fn take(&mut self) -> Option<(usize, Option<Tag>)> {
        if self.guaranteed {
            let (channel, tag) = self.sender.handle_tagged(self.now(), LENGTH_BYTES).ok()?;
            Some((channel, Some(tag)))
        } else {
            Some((self.sender.handle_packet(self.now(), LENGTH_BYTES).ok()?, None))
        }
    }

    fn put(&mut self, channel: usize, forth: bool, length_bytes: u32, frame: &Frame) {
        let line = if forth { &mut self.there[channel] } else { &mut self.back[channel] };
        for arrival in line.offer(Time::ZERO + Span::from_ns(self.now_ns), length_bytes).arrivals()
        {
            let at_ns = arrival.at.since(Time::ZERO).as_ps().div_ceil(1_000);
            self.flights.insert((at_ns, self.flown), (channel, forth, frame.clone()));
            self.flown += 1;
        }
    }

    fn step(&mut self) {
        let now = self.now();
        while let Some(entry) = self.flights.first_entry()
            && entry.key().0 <= self.now_ns
        {
            let (channel, forth, frame) = entry.remove();
            self.arrive(channel, forth, frame);
        }
        (0..self.orders.len()).for_each(|channel| self.take_ordered(channel));
        self.deliver();
        while let Some((channel, message)) = self.receiver.poll_message(now) {
            self.put(channel, false, 60, &Frame::Message(message));
        }
        while let Some((channel, message)) = self.sender.poll_message(now) {
            self.put(channel, true, 60, &Frame::Message(message));
        }
        while let Some(repair) = self.sender.poll_repair(now) {
            if let Some(number) = self.kept.get(repair.tag.sequence).copied() {
                let frame = Frame::Packet(Some(repair.tag), number);
                self.put(repair.channel, true, LENGTH_BYTES, &frame);
            }
        }
    }

    /// The end counts refusals.
    fn arrive(&mut self, channel: usize, forth: bool, frame: Frame) {
        let now = self.now();
        let order = self.orders.get_mut(channel).filter(|_| forth);
        let _ = match (frame, order) {
            (Frame::Packet(Some(tag), number), Some(order)) => {
                order.handle_packet(now, tag, LENGTH_BYTES, number)
            }
            (Frame::Packet(Some(tag), number), _) => {
                let packet = (number, self.now_ns);
                self.receiver.handle_tagged(now, tag, LENGTH_BYTES, packet)
            }
            (Frame::Packet(None, number), _) => {
                let packet = (number, self.now_ns);
                self.receiver.handle_packet(now, channel, LENGTH_BYTES, packet)
            }
            (Frame::Message(message), Some(order)) => order.handle_message(now, message),
            (Frame::Message(message), None) if forth => {
                self.receiver.handle_message(now, channel, message)
            }
            (Frame::Message(message), None) => self.sender.handle_message(now, channel, message),
        };
        if forth {
            (0..self.orders.len()).for_each(|channel| self.take_ordered(channel));
            self.deliver();
        }
    }

    fn take_ordered(&mut self, channel: usize) {
        let now = self.now();
        while let Some(ordered) = self.orders[channel].poll(now) {
            let _ = match ordered {
                Ordered::Packet(tag, length_bytes, number) => {
                    let packet = (number, self.now_ns);
                    self.receiver.handle_tagged(now, tag, length_bytes, packet)
                }
                Ordered::Message(message) => self.receiver.handle_message(now, channel, message),
            };
        }
    }

    fn deliver(&mut self) {
        while let Some((number, came_ns)) = self.receiver.poll_packet(self.now()) {
            self.delivered.push(number);
            let waited = Duration::from_nanos(self.now_ns - came_ns);
            self.waited_max = self.waited_max.max(waited);
        }
    }
}
