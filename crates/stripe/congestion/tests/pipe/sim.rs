//! A pipe in virtual time: senders, one queue served at a rate, a delay, and receivers that
//! acknowledge by counts.
//!
//! ```text
//!   Path --.                                   .--> receiver: counts, an acknowledgement each
//!   Path --+--> lost? --> queue | rate | delay +--> 4 packets or 5 ms
//!      ^                   full: lost                   |
//!      '-------------------------- delay ---------------'
//! ```
//!
//! Invariants: equal plans give equal runs; the packets of a flow are delivered in order.

use std::collections::VecDeque;

use gingham_congestion::{Acknowledgement, Control, Path, PathPlan};

pub(crate) const MILLISECOND: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MILLISECOND;
pub(crate) const PACKET: u64 = 1_250;
const ACKNOWLEDGED_PACKETS: u64 = 4;
const ACKNOWLEDGED_NS: u64 = 5 * MILLISECOND;
const BUCKET_NS: u64 = 100 * MILLISECOND;

#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    pub(crate) bits_per_second: u64,
    /// One-way delay, equal in both directions.
    pub(crate) delay_ns: u64,
    pub(crate) queue_bytes: u64,
    pub(crate) lost_millionths: u64,
    /// Maximum extra delay of a packet, without reordering.
    pub(crate) jitter_ns: u64,
    /// Interval between loss reports; `None` reports losses at once.
    pub(crate) report_interval_ns: Option<u64>,
    /// Interval at which senders check for permission to send; 0 for at once.
    pub(crate) wake_ns: u64,
    pub(crate) burst_ns: u64,
    pub(crate) seed: u64,
}

impl Pipe {
    pub(crate) fn new(megabits: u64, delay_ms: u64, queue_bytes: u64) -> Self {
        Self {
            bits_per_second: megabits * 1_000_000,
            delay_ns: delay_ms * MILLISECOND,
            queue_bytes,
            lost_millionths: 0,
            jitter_ns: 0,
            report_interval_ns: None,
            wake_ns: 0,
            burst_ns: MILLISECOND,
            seed: 1,
        }
    }

    pub(crate) fn content_bytes(&self) -> u64 {
        carried(self.bits_per_second, 2 * self.delay_ns)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a test are small")]
pub(crate) fn as_f64(count: u64) -> f64 {
    count as f64
}

fn carried(bits_per_second: u64, span_ns: u64) -> u64 {
    u64::try_from(u128::from(bits_per_second) * u128::from(span_ns) / 8_000_000_000)
        .expect("it fits")
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bucket {
    pub(crate) came_bytes: u64,
    pub(crate) lost_bytes: u64,
    pub(crate) in_flight_max: u64,
    pub(crate) estimate: u64,
}

pub(crate) struct Flow {
    pub(crate) path: Path,
    starts_ns: u64,
    source_bits_per_second: Option<u64>,
    source_sent_bytes: u64,
    sent: u64,
    /// Packets in flight: arrival time and number of each.
    forth: VecDeque<(u64, u64)>,
    back: VecDeque<(u64, Acknowledgement)>,
    received_packets: u64,
    expected: u64,
    reported_lost: u64,
    next_report_ns: u64,
    unacknowledged: u64,
    acknowledge_ns: u64,
    last_received_ns: u64,
    heard_ns: u64,
    pub(crate) buckets: Vec<Bucket>,
}

impl Flow {
    fn bucket(&mut self, now_ns: u64) -> &mut Bucket {
        let index = usize::try_from(now_ns / BUCKET_NS).expect("it fits");
        if self.buckets.len() <= index {
            self.buckets.resize(index + 1, Bucket::default());
        }
        &mut self.buckets[index]
    }

    pub(crate) fn goodput(&self, from_ns: u64, to_ns: u64) -> f64 {
        let came = self.sum(from_ns, to_ns, |bucket| bucket.came_bytes);
        as_f64(came) * 8e9 / as_f64(to_ns - from_ns)
    }

    pub(crate) fn sum(&self, from_ns: u64, to_ns: u64, of: impl Fn(&Bucket) -> u64) -> u64 {
        self.between(from_ns, to_ns).map(of).sum()
    }

    pub(crate) fn between(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = &Bucket> {
        let index = |at_ns| usize::try_from(at_ns / BUCKET_NS).expect("it fits");
        self.buckets.iter().take(index(to_ns)).skip(index(from_ns))
    }
}

#[derive(Clone, Copy)]
enum Event {
    Send,
    Arrive,
    Acknowledge,
    Acknowledged,
    Probe,
}

pub(crate) struct Sim {
    pub(crate) pipe: Pipe,
    pub(crate) flows: Vec<Flow>,
    pub(crate) now_ns: u64,
    backlog_bytes: u64,
    served_ns: u64,
    last_arrival_ns: u64,
    random: u64,
    pub(crate) waits_us: Vec<u32>,
}

impl Sim {
    pub(crate) fn new(pipe: Pipe) -> Self {
        let random = pipe.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Self {
            pipe,
            flows: Vec::new(),
            now_ns: 0,
            backlog_bytes: 0,
            served_ns: 0,
            last_arrival_ns: 0,
            random,
            waits_us: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, control: Control, starts_ns: u64) -> Self {
        let plan = PathPlan {
            burst: std::time::Duration::from_nanos(self.pipe.burst_ns),
            ..PathPlan::new(PACKET)
        };
        self.flows.push(Flow {
            path: Path::new(plan, control),
            starts_ns,
            source_bits_per_second: None,
            source_sent_bytes: 0,
            sent: 0,
            forth: VecDeque::new(),
            back: VecDeque::new(),
            received_packets: 0,
            expected: 0,
            reported_lost: 0,
            next_report_ns: 0,
            unacknowledged: 0,
            acknowledge_ns: u64::MAX,
            last_received_ns: 0,
            heard_ns: starts_ns,
            buckets: Vec::new(),
        });
        self
    }

    pub(crate) fn limit(&mut self, flow: usize, megabits: Option<u64>) {
        let flow = &mut self.flows[flow];
        flow.source_bits_per_second = megabits.map(|megabits| megabits * 1_000_000);
        (flow.starts_ns, flow.source_sent_bytes) = (self.now_ns.max(flow.starts_ns), 0);
    }

    pub(crate) fn set_rate(&mut self, megabits: u64) {
        self.serve();
        self.pipe.bits_per_second = megabits * 1_000_000;
    }

    fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 11
    }

    fn serve(&mut self) {
        let span_ns = self.now_ns - self.served_ns;
        let served = carried(self.pipe.bits_per_second, span_ns);
        if served >= self.backlog_bytes {
            (self.backlog_bytes, self.served_ns) = (0, self.now_ns);
        } else {
            self.backlog_bytes -= served;
            self.served_ns += time_ns(served, self.pipe.bits_per_second);
        }
    }

    pub(crate) fn run(&mut self, until_ns: u64) {
        while let Some((at_ns, index, event)) = self.next().filter(|next| next.0 < until_ns) {
            self.now_ns = at_ns.max(self.now_ns);
            match event {
                Event::Send => self.send(index),
                Event::Arrive => self.arrive(index),
                Event::Acknowledge => self.acknowledge(index),
                Event::Acknowledged => self.acknowledged(index),
                Event::Probe => self.probe(index),
            }
        }
        self.now_ns = until_ns;
    }

    fn next(&self) -> Option<(u64, usize, Event)> {
        let mut best: Option<(u64, usize, Event)> = None;
        for (index, flow) in self.flows.iter().enumerate() {
            let mut offer = |at_ns: u64, event| {
                if best.is_none_or(|(best_ns, ..)| at_ns < best_ns) {
                    best = Some((at_ns, index, event));
                }
            };
            if let Some((at_ns, _)) = flow.forth.front() {
                offer(*at_ns, Event::Arrive);
            }
            if let Some((at_ns, _)) = flow.back.front() {
                offer(*at_ns, Event::Acknowledged);
            }
            offer(flow.acknowledge_ns, Event::Acknowledge);
            if let Some(at_ns) = self.sends_at(flow) {
                offer(at_ns, Event::Send);
            }
            if flow.path.in_flight_bytes() > 0 {
                offer(flow.heard_ns + SECOND, Event::Probe);
            }
        }
        best
    }

    fn sends_at(&self, flow: &Flow) -> Option<u64> {
        let mut at_ns = flow.path.next_ns()?.max(self.now_ns).max(flow.starts_ns);
        if let Some(rate) = flow.source_bits_per_second {
            let given_ns = time_ns(flow.source_sent_bytes + PACKET, rate);
            at_ns = at_ns.max(flow.starts_ns + given_ns);
        }
        match self.pipe.wake_ns {
            0 => Some(at_ns),
            // Packets admitted at the same time are part of one burst.
            _ if at_ns == self.now_ns && self.now_ns.is_multiple_of(self.pipe.wake_ns) => {
                Some(at_ns)
            }
            wake_ns => Some(at_ns.div_ceil(wake_ns) * wake_ns),
        }
    }

    fn send(&mut self, index: usize) {
        self.serve();
        let is_lost =
            self.pipe.lost_millionths > 0 && self.draw() % 1_000_000 < self.pipe.lost_millionths;
        let is_full = self.backlog_bytes > self.pipe.queue_bytes;
        let jitter_ns = if self.pipe.jitter_ns > 0 { self.draw() % self.pipe.jitter_ns } else { 0 };
        let now_ns = self.now_ns;
        let flow = &mut self.flows[index];
        if flow.path.in_flight_bytes() == 0 {
            flow.heard_ns = now_ns;
        }
        flow.path.sent(now_ns, PACKET);
        flow.source_sent_bytes += PACKET;
        let number = flow.sent;
        flow.sent += 1;
        let in_flight = flow.path.in_flight_bytes();
        let bucket = flow.bucket(now_ns);
        bucket.in_flight_max = bucket.in_flight_max.max(in_flight);
        if is_lost || is_full {
            bucket.lost_bytes += PACKET;
        } else {
            let wait_ns = time_ns(self.backlog_bytes, self.pipe.bits_per_second);
            self.waits_us.push(u32::try_from(wait_ns / 1_000).expect("it fits"));
            self.backlog_bytes += PACKET;
            let served_ns = self.served_ns + time_ns(self.backlog_bytes, self.pipe.bits_per_second);
            let arrival_ns = served_ns + self.pipe.delay_ns + jitter_ns;
            self.last_arrival_ns = self.last_arrival_ns.max(arrival_ns);
            self.flows[index].forth.push_back((self.last_arrival_ns, number));
        }
    }

    fn arrive(&mut self, index: usize) {
        let now_ns = self.now_ns;
        let flow = &mut self.flows[index];
        let (_, number) = flow.forth.pop_front().expect("it was next");
        flow.received_packets += 1;
        flow.expected = number + 1;
        flow.last_received_ns = now_ns;
        flow.bucket(now_ns).came_bytes += PACKET;
        flow.unacknowledged += 1;
        if flow.unacknowledged == 1 {
            flow.acknowledge_ns = now_ns + ACKNOWLEDGED_NS;
        }
        if flow.unacknowledged == ACKNOWLEDGED_PACKETS {
            flow.acknowledge_ns = now_ns;
        }
    }

    fn acknowledge(&mut self, index: usize) {
        let (now_ns, delay_ns) = (self.now_ns, self.pipe.delay_ns);
        let report_interval_ns = self.pipe.report_interval_ns;
        let flow = &mut self.flows[index];
        if report_interval_ns.is_none_or(|_| now_ns >= flow.next_report_ns) {
            flow.reported_lost = flow.expected - flow.received_packets;
            flow.next_report_ns = now_ns + report_interval_ns.unwrap_or(0);
        }
        let accounted = flow.received_packets + flow.reported_lost;
        let acknowledgement = Acknowledgement {
            accounted_packets: accounted,
            accounted_bytes: accounted * PACKET,
            received_bytes: flow.received_packets * PACKET,
            received_at_ns: flow.last_received_ns,
            held_ns: Some(now_ns - flow.last_received_ns),
        };
        flow.back.push_back((now_ns + delay_ns, acknowledgement));
        (flow.unacknowledged, flow.acknowledge_ns) = (0, u64::MAX);
    }

    fn acknowledged(&mut self, index: usize) {
        let now_ns = self.now_ns;
        let flow = &mut self.flows[index];
        let (_, acknowledgement) = flow.back.pop_front().expect("it was next");
        flow.heard_ns = now_ns;
        assert!(flow.path.acknowledged(now_ns, &acknowledgement), "{acknowledgement:?}");
        let estimate = flow.path.bytes_per_second().unwrap_or(0) * 8;
        flow.bucket(now_ns).estimate = estimate;
    }

    /// Lets the receiver account for all packets, after a second without acknowledgements.
    fn probe(&mut self, index: usize) {
        let (now_ns, flow) = (self.now_ns, &mut self.flows[index]);
        flow.expected = flow.sent;
        flow.heard_ns = now_ns;
        flow.next_report_ns = 0;
        self.acknowledge(index);
    }

    pub(crate) fn wait_median_ns(&self, from: usize) -> u64 {
        let mut waits = self.waits_us[from..].to_vec();
        let middle = waits.len() / 2;
        u64::from(*waits.select_nth_unstable(middle).1) * 1_000
    }
}

/// Returns the transmission time; practically infinite for a rate of 0.
fn time_ns(bytes: u64, bits_per_second: u64) -> u64 {
    let bit_ns = u128::from(bytes) * 8_000_000_000;
    let span_ns = bit_ns.checked_div(u128::from(bits_per_second));
    span_ns.map_or(u64::MAX / 2, |span_ns| u64::try_from(span_ns).expect("it fits"))
}
