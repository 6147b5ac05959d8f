//! Parameters of a run, all drawn from its seed.

use std::fmt;
use std::time::Duration;

use gingham_fairq::Round;
use gingham_kernel::{Purpose, Rate, Span, Stream, Time};
use gingham_linkemu::{GilbertElliott, Loss, Outage, Parameters, Probability, Reordering};
use gingham_stripe::{
    BbrPlan, Charge, ControlPlan, Controlled, Guarantee, MarkerPlan, Order, OrderOptions,
    ReceiverOptions, RepairPlan, RepairRequests, ReportPlan, SenderOptions, SharePlan,
};

use super::policies::Policies;
use super::story::{self, Happening};
use super::world::uptake;

pub(crate) const LONGEST_BYTES: u32 = 1_500;
const CHANNELS_MAX: u64 = 16;
const MILLISECOND_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000 * MILLISECOND_NS;

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) first_round: Round,
    pub(crate) quanta: Vec<u32>,
    pub(crate) lines: Vec<LineCase>,
    pub(crate) sender: SenderOptions,
    pub(crate) receiver: ReceiverOptions,
    pub(crate) policies: Policies,
    /// Reorder buffers, if channels reorder.
    pub(crate) order: Option<OrderOptions>,
    pub(crate) lengths: Lengths,
    /// Mean time between packets; doubled once errors have stopped.
    pub(crate) gap_ns: u64,
    /// In the order of time.
    pub(crate) story: Vec<(u64, Happening)>,
    /// Time from which channels are clean.
    pub(crate) heal_ns: u64,
    /// Time from which packets sent arrive, in order.
    pub(crate) settled_ns: u64,
    /// Time from which nothing is sent.
    pub(crate) silent_ns: u64,
    /// Time from which nothing is in flight.
    pub(crate) end_ns: u64,
    /// Whether wait and buffers suffice for the clean channels.
    pub(crate) ample: bool,
    /// Time after the healing within which all offered packets must be accepted again; packets are
    /// offered at least until then.
    pub(crate) uptake_ns: Option<u64>,
    pub(crate) way_ns: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct LineCase {
    pub(crate) there: Parameters,
    pub(crate) back: Parameters,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Lengths {
    Uniform,
    Constant(u32),
    /// The paper's adversary: alternately long and short.
    InTurn(u32, u32),
}

impl Lengths {
    const fn mean_bytes(self) -> u64 {
        (match self {
            Self::Uniform => LONGEST_BYTES / 2,
            Self::Constant(bytes) => bytes,
            Self::InTurn(long, short) => u32::midpoint(long, short),
        }) as u64
    }
}

pub(crate) struct Draw(Stream);

impl Draw {
    pub(crate) fn of(seed: u64, name: &str) -> Self {
        Self(Stream::new(seed, name, Purpose::Shuffle))
    }

    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.below(most - least + 1)
    }

    pub(crate) fn bytes(&mut self, least: u32, most: u32) -> u32 {
        u32::try_from(self.between(least.into(), most.into())).expect("between two small numbers")
    }

    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.0.below(count) == 0
    }

    fn probability(&mut self, percent_most: u64) -> Probability {
        let percent = self.0.unit() * f64::from(u32::try_from(percent_most).expect("small"));
        Probability::new(percent / 100.0).expect("at most a hundred per cent")
    }
}

impl Case {
    pub(crate) fn draw(seed: u64) -> Self {
        let mut draw = Draw::of(seed, "campaign");
        let channels_max = if draw.one_in(4) { CHANNELS_MAX } else { 5 };
        let channels = draw.between(2, channels_max);
        let quanta: Vec<u32> =
            (0..channels).map(|_| draw.bytes(LONGEST_BYTES, 4 * LONGEST_BYTES)).collect();
        let lengths = lengths(&mut draw);
        let gap_ns = 1_000 * draw.between(100, 2_000);
        let heal_ns = MILLISECOND_NS * draw.between(100, 1_200);
        let mut lines =
            lines(&mut draw, &quanta, SECOND_NS * lengths.mean_bytes() / gap_ns, heal_ns);
        let guaranteed = draw.one_in(2);
        let order = (guaranteed && draw.one_in(3)).then(|| order_options(&mut draw));
        if guaranteed {
            for line in &mut lines {
                line.disorder(&mut draw, order);
            }
        }
        let held_ns = order.map_or(0, |order| nanoseconds(order.wait));
        let way_ns = lines.iter().map(LineCase::way_ns).max().expect("there are channels");
        let way_ns = way_ns + held_ns;
        let mut sender = sender_options(&mut draw, &quanta);
        let ample = !draw.one_in(5) && order.is_none_or(|order| order.packets_max > 1);
        let wait_ns = way_ns + 2 * nanoseconds(sender.markers.interval) + 20 * MILLISECOND_NS;
        let (mut receiver, buffer_packets) = receiver_options(&mut draw, ample, wait_ns, gap_ns);
        let free = guaranteed && draw.one_in(2);
        if free || draw.one_in(3) {
            control(&mut draw, &lines, &mut sender, free);
            receiver.reports = Some(report_plan(&mut draw));
        }
        receiver.order = sender.order;
        let repair = guaranteed && draw.one_in(2);
        sender.repair = repair.then(|| repair_plan(&mut draw));
        let order = order.map(|order| adapting(seed, order, repair));
        let requests = repair.then(|| repair_requests(&mut draw, way_ns));
        receiver.guaranteed = guaranteed.then_some(Guarantee { repair: requests });
        charge(seed, &mut sender, &mut receiver, buffer_packets * (channels + u64::from(repair)));
        let settled_ns = heal_ns + settling_ns(&sender, wait_ns, way_ns);
        let silent_ns = settled_ns + 200 * gap_ns;
        let mut story = story::draw(&mut draw, seed, &quanta, heal_ns, silent_ns);
        let policies = Policies::draw(seed, channels, sender.order, repair);
        let load = SECOND_NS * lengths.mean_bytes() / (2 * gap_ns);
        let needed = |channel: usize| needed(load, &sender, &quanta, channel);
        let is_asked = ample && uptake::is_promised(&sender, &policies);
        let uptake_ns = is_asked.then(|| uptake::within_ns((&sender, &receiver), &lines, needed));
        let silent_ns = silent_ns.max(heal_ns + uptake_ns.unwrap_or(0));
        let end_ns = silent_ns + 4 * (way_ns + nanoseconds(receiver.wait)) + SECOND_NS;
        if sender.shares.is_some() {
            story.retain(|(_, happening)| !matches!(happening, Happening::Quanta(_)));
        }
        let first_round = if draw.one_in(3) { Round::new(u32::MAX - 40) } else { Round::FIRST };
        Self {
            seed,
            first_round,
            quanta,
            lines,
            sender,
            receiver,
            policies,
            order,
            lengths,
            gap_ns,
            story,
            heal_ns,
            settled_ns,
            silent_ns,
            end_ns,
            ample,
            uptake_ns,
            way_ns,
        }
    }
}

impl Case {
    /// Whether quanta that do not fit the channels, or too few channels, may hold for a while after
    /// the healing.
    pub(crate) fn is_overloaded(&self) -> bool {
        let changes = |happening: &Happening| {
            matches!(happening, Happening::Quanta(_) | Happening::Toggles(_))
        };
        self.story.iter().any(|(at_ns, happening)| *at_ns < self.heal_ns && changes(happening))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: round {}, quanta {:?}", self.seed, self.first_round, self.quanta)?;
        writeln!(f, "  {:?}, a packet each {} us", self.lengths, self.gap_ns / 1_000)?;
        writeln!(f, "  {:?}\n  {:?}\n  {:?}", self.sender, self.receiver, self.order)?;
        writeln!(f, "  {:?}", self.policies)?;
        for (number, line) in self.lines.iter().enumerate() {
            writeln!(f, "  channel {number}: {:?}\n       back: {:?}", line.there, line.back)?;
        }
        writeln!(f, "  {:?}", self.story)?;
        let us = [self.heal_ns, self.settled_ns, self.silent_ns, self.end_ns].map(|ns| ns / 1_000);
        write!(f, "  us: healed, settled, silent, end {us:?}, ample {}", self.ample)
    }
}

impl LineCase {
    /// Also reorders, by less than the wait of the reorder buffer.
    fn disorder(&mut self, draw: &mut Draw, order: Option<OrderOptions>) {
        for line in [&mut self.there, &mut self.back] {
            if draw.one_in(2) {
                line.duplication = draw.probability(10);
            }
            if let Some(order) = order {
                // Jitter does not reorder, but a delayed packet arrives after those that it delays.
                line.jitter = Span::ZERO;
                let span = Span::from_ns(1 + draw.between(0, nanoseconds(order.wait) / 2));
                line.reordering = Reordering { probability: draw.probability(20), span };
            }
        }
    }

    /// Round trip without queues.
    pub(crate) fn round_trip_ns(&self) -> u64 {
        let way = |line: &Parameters| (line.delay + line.jitter).as_ps().div_ceil(1_000);
        way(&self.there) + way(&self.back)
    }

    /// Longest delay behind a full queue.
    fn way_ns(&self) -> u64 {
        let way = |line: &Parameters| {
            let queue_ns =
                SECOND_NS * line.queue.bytes_at(line.rate) / line.rate.bytes_per_second();
            queue_ns + (line.delay + line.jitter).as_ps().div_ceil(1_000)
        };
        way(&self.there).max(way(&self.back))
    }
}

pub(crate) fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).expect("a span of a test")
}

fn lengths(draw: &mut Draw) -> Lengths {
    match draw.between(0, 3) {
        0 => Lengths::Constant(draw.bytes(40, LONGEST_BYTES)),
        1 => Lengths::InTurn(1_000, 200),
        _ => Lengths::Uniform,
    }
}

/// Channels share `bytes_per_second` by their quanta, with some spare capacity; occasionally one is
/// up to 30 % too slow.
fn lines(draw: &mut Draw, quanta: &[u32], bytes_per_second: u64, heal_ns: u64) -> Vec<LineCase> {
    let sum: u64 = quanta.iter().map(|quantum| u64::from(*quantum)).sum();
    let skew_ms = if draw.one_in(3) { 150 } else { 20 };
    let line = |quantum: &u32| {
        let share = bytes_per_second * u64::from(*quantum) / sum;
        let percent = if draw.one_in(10) { draw.between(70, 100) } else { draw.between(130, 400) };
        let rate = Rate::from_bytes_per_second((share * percent / 100).max(75_000));
        let delay = Span::from_ns(1_000 * draw.between(0, 1_000 * skew_ms));
        let queue_bytes = draw.between(16_000, 16_000 + rate.bytes_per_second() / 10);
        let clean = Parameters::clean(rate, queue_bytes, delay);
        let there = spoil(draw, clean.clone(), heal_ns);
        LineCase {
            back: Parameters {
                rate: Rate::from_bytes_per_second(10_000_000),
                ..spoil(draw, clean, heal_ns)
            },
            there,
        }
    };
    quanta.iter().map(line).collect()
}

/// Loss up to 80 %, bursts, jitter, bit errors and outages.
fn spoil(draw: &mut Draw, clean: Parameters, heal_ns: u64) -> Parameters {
    let mut line = clean;
    line.loss = match draw.between(0, 3) {
        0 => Loss::None,
        1 => Loss::Independent(draw.probability(80)),
        2 => Loss::Independent(draw.probability(5)),
        _ => Loss::Bursts(GilbertElliott {
            to_bad: draw.probability(20),
            to_good: Probability::new(0.05 + draw.probability(90).value()).expect("below one"),
            loss_good: draw.probability(2),
            loss_bad: Probability::new(0.5 + draw.probability(50).value()).expect("at most one"),
        }),
    };
    if draw.one_in(3) {
        line.jitter = Span::from_ns(1_000 * draw.between(1, 20_000));
    }
    if draw.one_in(4) {
        line.bit_errors = Probability::new(draw.probability(1).value() / 100.0).expect("small");
    }
    if draw.one_in(4) {
        let from_ns = draw.between(0, heal_ns - 1);
        let until_ns = draw.between(from_ns + 1, heal_ns);
        let time = |ns| Time::ZERO + Span::from_ns(ns);
        line.outages = vec![Outage { from: time(from_ns), until: time(until_ns) }];
    }
    line
}

fn sender_options(draw: &mut Draw, quanta: &[u32]) -> SenderOptions {
    let milliseconds =
        |draw: &mut Draw, least, most| Duration::from_millis(draw.between(least, most));
    let markers = MarkerPlan {
        every_rounds: draw.bytes(1, 20),
        before_channel: usize::try_from(draw.between(0, quanta.len() as u64 - 1)).expect("small"),
        interval: milliseconds(draw, 5, 40),
        idle_interval_max: Duration::from_secs(10),
    };
    let (reset_interval, reset_wait) = (milliseconds(draw, 20, 200), milliseconds(draw, 100, 800));
    SenderOptions { markers, reset_interval, reset_wait, ..SenderOptions::default() }
}

/// Largest load of a channel in bytes per second, once errors have stopped: its share by quanta,
/// which may have grown by a quarter, or the whole load in free order or if quanta follow rates.
fn needed(load: u64, sender: &SenderOptions, quanta: &[u32], channel: usize) -> u64 {
    let sum: u64 = quanta.iter().map(|quantum| u64::from(*quantum)).sum();
    let is_proportional = sender.order == Order::Strict && sender.shares.is_none();
    if is_proportional { load * u64::from(quanta[channel]) * 5 / 4 / sum } else { load }
}

/// Wait and packets per channel: enough for the skew, or both too small.
fn receiver_options(
    draw: &mut Draw,
    ample: bool,
    wait_ns: u64,
    gap_ns: u64,
) -> (ReceiverOptions, u64) {
    let (wait_ns, packets) = if ample {
        (
            wait_ns + MILLISECOND_NS * draw.between(0, 200),
            64 + 4 * (wait_ns + 200 * MILLISECOND_NS) / gap_ns,
        )
    } else {
        (MILLISECOND_NS * draw.between(1, 50), draw.between(1, 40))
    };
    let receiver = ReceiverOptions {
        wait: Duration::from_nanos(wait_ns),
        late_in_a_row_max: draw.bytes(1, 10),
        ..ReceiverOptions::default()
    };
    (receiver, packets)
}

/// In one of four cases, packets are charged rather than bytes.
fn charge(seed: u64, sender: &mut SenderOptions, receiver: &mut ReceiverOptions, packets: u64) {
    let is_counted = Draw::of(seed, "charge").one_in(4);
    receiver.charge = if is_counted { Charge::PACKETS } else { Charge::BYTES };
    receiver.buffer_bytes_max = packets * u64::from(receiver.charge.of(LONGEST_BYTES));
    sender.credits = sender.credits.map(|_| receiver.charge);
}

/// Request, reset and acknowledgement, each repeated after a loss, for several attempts.
fn settling_ns(sender: &SenderOptions, wait_ns: u64, way_ns: u64) -> u64 {
    4 * (wait_ns + 2 * way_ns + nanoseconds(sender.reset_interval))
}

/// With enough packets or a single one.
fn order_options(draw: &mut Draw) -> OrderOptions {
    let packets_max = if draw.one_in(10) { 1 } else { 256 };
    let wait = Duration::from_millis(draw.between(1, 20));
    OrderOptions { wait, packets_max, adapts: false }
}

/// Adapting requires repair: late packets replace copies.
fn adapting(seed: u64, order: OrderOptions, is_repaired: bool) -> OrderOptions {
    OrderOptions { adapts: is_repaired && Draw::of(seed, "adapts").one_in(2), ..order }
}

/// Free order requires control.
fn control(draw: &mut Draw, lines: &[LineCase], sender: &mut SenderOptions, free: bool) {
    sender.credits = draw.one_in(2).then(Charge::default);
    if free || draw.one_in(2) {
        sender.control =
            Some(ControlPlan { by: controlled(draw, lines), ..ControlPlan::default() });
    }
    if free {
        sender.order = Order::Free;
    } else {
        sender.shares = (sender.control.is_some() && draw.one_in(2)).then(SharePlan::default);
    }
}

/// A fixed rate is the mean of the channels.
fn controlled(draw: &mut Draw, lines: &[LineCase]) -> Controlled {
    match draw.between(0, 3) {
        0 => Controlled::Cubic,
        1 => {
            let sum: u64 = lines.iter().map(|line| line.there.rate.bytes_per_second()).sum();
            Controlled::FixedRate(sum / lines.len() as u64)
        }
        _ => Controlled::Bbr(BbrPlan { seed: draw.between(0, 1_000), ..BbrPlan::default() }),
    }
}

fn report_plan(draw: &mut Draw) -> ReportPlan {
    let interval = Duration::from_millis(draw.between(1, 20));
    ReportPlan { interval }
}

/// Packets kept and attempts, sufficient or not.
fn repair_plan(draw: &mut Draw) -> RepairPlan {
    let tries_max = u8::try_from(draw.between(1, 5)).expect("small");
    RepairPlan { packets: usize::try_from(draw.between(1, 4_096)).expect("small"), tries_max }
}

fn repair_requests(draw: &mut Draw, way_ns: u64) -> RepairRequests {
    RepairRequests {
        wait: Duration::from_nanos(draw.between(0, 4 * way_ns)),
        again: Duration::from_nanos(1_000 + draw.between(way_ns / 2, 2 * way_ns)),
    }
}
