//! Measures the CPU cost per packet at both ends of a stripe over 8 channels.
//!
//! `gingham-bench-stripe PACKETS (none|select|path|pipe|guaranteed|daemon)` prints one line of
//! JSON. Packets arrive in batches with the maximum skew: the last channel's packets arrive first.
//!
//! | mode | work per packet |
//! |---|---|
//! | `none` | draws a packet length and moves the packet through a channel's queue: benchmark overhead |
//! | `select` | chooses and charges a channel at one end |
//! | `path` | chooses a channel, receives the packet and delivers it in order |
//! | `pipe` | `path` with all markers and reports between the ends |
//! | `guaranteed` | `pipe` in guaranteed order, with tags |
//! | `daemon` | free order with all features: BBR per channel, windows and pacing, reports every millisecond, retransmission buffers, serialized tags and control messages |

use gingham_bench::timed;
use gingham_fairq::{Causal, SurplusRoundRobin};
use gingham_stripe::{
    ControlPlan, Epoch, Guarantee, Instant, Order, Receiver, ReceiverOptions, RepairPlan,
    RepairRequests, ReportPlan, Sender, SenderOptions, Tag,
};
use serde_json::{Value, json};
use std::hint::black_box;
use std::process::ExitCode;

const CHANNELS: usize = 8;
const BATCH: usize = 64;
const LONGEST_BYTES: u32 = 1_500;
const PACKET_NS: u64 = 1_000;

type Scheduler = SurplusRoundRobin<CHANNELS>;
/// Length in bytes, number and tag of each packet in flight, by channel.
type Batch = [Vec<(u32, u64, Option<Tag>)>; CHANNELS];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    None,
    Select,
    Path,
    Pipe,
    Guaranteed,
    Daemon,
}

const USAGE: &str = "usage: gingham-bench-stripe PACKETS (none|select|path|pipe|guaranteed|daemon)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    gingham_bench::report(measure(&arguments))
}

fn measure(arguments: &[String]) -> Result<Value, String> {
    let [packets, mode] = arguments else { return Err(USAGE.into()) };
    let mode = match mode.as_str() {
        "none" => Mode::None,
        "select" => Mode::Select,
        "path" => Mode::Path,
        "pipe" => Mode::Pipe,
        "guaranteed" => Mode::Guaranteed,
        "daemon" => Mode::Daemon,
        _ => return Err(USAGE.into()),
    };
    let packets: usize = packets.parse().map_err(|_| USAGE.to_owned())?;
    let packets = packets.next_multiple_of(BATCH);
    let (outcome, seconds) = timed(|| run(packets, mode));
    Ok(json!({ "packets": packets, "seconds": seconds, "outcome": outcome }))
}

/// Random packet lengths of 64 to 1,500 bytes (linear congruential generator).
struct Lengths(u64);

impl Lengths {
    fn next(&mut self) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        64 + u32::try_from(((self.0 >> 32) * 1_437) >> 32).expect("below 1,437")
    }
}

fn run(packets: usize, mode: Mode) -> u64 {
    let mut lengths = Lengths(1);
    match mode {
        Mode::Select => {
            let mut scheduler = scheduler();
            let mut sum = 0;
            for _ in 0..packets {
                sum += scheduler.current() as u64;
                scheduler.charge(lengths.next());
            }
            sum
        }
        _ => Ends::new(mode).run(packets, &mut lengths),
    }
}

fn scheduler() -> Scheduler {
    Scheduler::new(LONGEST_BYTES, &[1_500, 3_000, 4_500, 6_000, 1_500, 3_000, 4_500, 6_000])
        .expect("quanta that are long enough")
}

fn options(mode: Mode) -> (SenderOptions, ReceiverOptions) {
    let (sending, receiving) = (SenderOptions::default(), ReceiverOptions::default());
    match mode {
        Mode::Guaranteed => {
            (sending, ReceiverOptions { guaranteed: Some(Guarantee::default()), ..receiving })
        }
        Mode::Daemon => (
            SenderOptions {
                order: Order::Free,
                control: Some(ControlPlan::default()),
                repair: Some(RepairPlan::default()),
                ..sending
            },
            ReceiverOptions {
                order: Order::Free,
                guaranteed: Some(Guarantee { repair: Some(RepairRequests::default()) }),
                reports: Some(ReportPlan::default()),
                ..receiving
            },
        ),
        _ => (sending, receiving),
    }
}

struct Ends {
    mode: Mode,
    sender: Sender<Scheduler>,
    receiver: Receiver<Scheduler, u64>,
    now: Instant,
    given: u64,
    run_bytes: u64,
}

impl Ends {
    fn new(mode: Mode) -> Self {
        let (epoch, now) = (Epoch::new(1), Instant::ORIGIN);
        let (sending, receiving) = options(mode);
        Self {
            mode,
            sender: Sender::synchronised(scheduler(), sending, epoch, now)
                .expect("the defaults make sense"),
            receiver: Receiver::synchronised(scheduler(), receiving, epoch)
                .expect("the defaults make sense"),
            now,
            given: 0,
            run_bytes: 0,
        }
    }

    fn run(&mut self, packets: usize, lengths: &mut Lengths) -> u64 {
        let mut batch = Batch::default();
        for number in 0..packets as u64 {
            let length_bytes = lengths.next();
            if self.mode == Mode::Daemon && self.run_bytes == 0 {
                self.run_bytes = self.next_run(&mut batch);
            }
            self.run_bytes = self.run_bytes.saturating_sub(length_bytes.into());
            let (channel, tag) = self.send(number, length_bytes);
            batch[channel].push((length_bytes, number, tag));
            self.now = Instant::from_nanoseconds(self.now.nanoseconds() + PACKET_NS);
            if (number + 1).is_multiple_of(BATCH as u64) {
                self.receive(&mut batch);
            }
        }
        self.given
    }

    fn next_run(&mut self, batch: &mut Batch) -> u64 {
        loop {
            if let Some(run) = self.sender.poll_transmit(self.now) {
                return run.bytes;
            }
            self.receive(batch);
            let next_ns = self.now.nanoseconds() + PACKET_NS;
            self.now = self.sender.poll_timeout().max(Instant::from_nanoseconds(next_ns));
        }
    }

    fn send(&mut self, number: u64, length_bytes: u32) -> (usize, Option<Tag>) {
        let open = "nothing bounds the data in flight";
        match self.mode {
            Mode::None => (usize::try_from(number).expect("a count") % CHANNELS, None),
            Mode::Guaranteed | Mode::Daemon => {
                let (channel, tag) = self.sender.handle_tagged(self.now, length_bytes).expect(open);
                (channel, Some(tag))
            }
            _ => (self.sender.handle_packet(self.now, length_bytes).expect(open), None),
        }
    }

    fn receive(&mut self, batch: &mut Batch) {
        for (channel, frames) in batch.iter_mut().enumerate().rev() {
            for (length_bytes, number, tag) in frames.drain(..).map(black_box) {
                if self.mode == Mode::None {
                    continue;
                }
                let taken = match tag {
                    Some(tag) if self.mode == Mode::Daemon => {
                        let bytes = black_box(tag.to_bytes());
                        let (tag, _) = Tag::parse(&bytes).expect("it was written so");
                        self.receiver.handle_tagged(self.now, tag, length_bytes, number)
                    }
                    Some(tag) => self.receiver.handle_tagged(self.now, tag, length_bytes, number),
                    None => self.receiver.handle_packet(self.now, channel, length_bytes, number),
                };
                taken.expect("there is room for a batch");
            }
        }
        while let Some(number) = self.receiver.poll_packet(self.now) {
            assert_eq!(number, self.given, "packets come in order");
            self.given += 1;
        }
        match self.mode {
            Mode::Pipe | Mode::Guaranteed => self.talk(),
            Mode::Daemon => self.talk_in_bytes(),
            _ => {}
        }
    }

    fn talk_in_bytes(&mut self) {
        let formed = "it is well formed";
        while let Some((channel, message)) = self.sender.poll_message(self.now) {
            let bytes = black_box(message.to_bytes());
            self.receiver.handle_bytes(self.now, channel, &bytes).expect(formed);
        }
        while let Some((channel, message)) = self.receiver.poll_message(self.now) {
            let bytes = black_box(message.to_bytes());
            self.sender.handle_bytes(self.now, channel, &bytes).expect(formed);
        }
    }

    fn talk(&mut self) {
        while let Some((channel, message)) = self.sender.poll_message(self.now) {
            self.receiver.handle_message(self.now, channel, message).expect("it is well formed");
        }
        while let Some((channel, message)) = self.receiver.poll_message(self.now) {
            self.sender.handle_message(self.now, channel, message).expect("it is well formed");
        }
    }
}
